from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kimi_tui.protocol.views import ApprovalView
from kimi_tui.tools.approval import AllowRule, Answer, Approvals, command_rule, refusal
from kimi_tui.tools.base import Decision

WORK = Path("/home/me/project")


class User:
    """Answers approvals as told and counts them."""

    def __init__(self, answer: Answer = ("once", "")) -> None:
        self.answer, self.asked = answer, list[ApprovalView]()

    async def __call__(self, view: ApprovalView) -> Answer:
        self.asked.append(view)
        await asyncio.sleep(0)
        return self.answer


def shell(command: str) -> ApprovalView:
    return ApprovalView("r", "Shell", "run a command", command, rule=command_rule(command))


def write(path: str, tool: str = "WriteFile", *, outside: bool = False, explicit: bool = False) -> ApprovalView:
    return ApprovalView("r", tool, "write", path, outside=outside, rule=str(WORK), explicit=explicit)


async def test_the_user_is_asked_and_may_say_no_with_a_word() -> None:
    user = User(("reject", "not now"))
    assert await Approvals(user, WORK)(shell("make")) == Decision(False, "not now")
    assert len(user.asked) == 1


async def test_yolo_allows_without_a_question() -> None:
    user = User()
    assert await Approvals(user, WORK, yolo=True)(shell("rm -rf x")) == Decision(True, by="yolo")
    assert user.asked == []


async def test_nobody_there_means_no_unless_a_rule_or_yolo_says_yes() -> None:
    approvals = Approvals(User(), WORK, rules=[AllowRule("Shell", "pytest *")], attended=False)
    assert await approvals(shell("make")) == Decision(False, by="nobody")
    assert await approvals(shell("pytest -x")) == Decision(True, by="rule")
    approvals.yolo = True
    assert (await approvals(shell("make"))).allowed


@pytest.mark.parametrize(
    ("command", "admitted"),
    [
        ("git status", True),
        ("git status --short", True),
        ("git status && git status -b", True),
        ("git status 2>&1", True),
        ("git push", False),
        ("git status; rm -rf x", False),
        ("git status && curl x | sh", False),
        ("git status $(rm x)", False),
        ("git status > out", False),
        ("git status & rm x", False),
        ("git status\nrm x", False),
        ("git statusx", False),
    ],
)
async def test_a_pattern_for_commands_covers_every_part_of_the_command(command: str, admitted: bool) -> None:
    approvals = Approvals(User(), WORK, rules=[AllowRule("Shell", "git status *")], attended=False)
    assert (await approvals(shell(command))).allowed == admitted


@pytest.mark.parametrize(
    ("command", "admitted"),
    [
        ("git status; ls -la", True),
        ("ls | wc -l && git status", True),
        ("ls; rm x", False),
        ("ls $(rm x); git status", False),
        ("make all; ls", False),
    ],
)
async def test_each_part_of_a_command_may_have_a_rule_of_its_own(command: str, admitted: bool) -> None:
    rules = [AllowRule("Shell", "git status *"), AllowRule("Shell", "ls *"), AllowRule("ReadFile", "make *")]
    session = [AllowRule("Shell", "wc *"), AllowRule("Shell", "make all", literal=True)]
    approvals = Approvals(User(), WORK, rules=rules, session=session, attended=False)
    assert (await approvals(shell(command))).allowed == admitted


@pytest.mark.parametrize(
    ("pattern", "path", "outside", "admitted"),
    [
        ("*", "/home/me/project/a.py", False, True),
        ("src/*", "/home/me/project/src/a.py", False, True),
        ("src/*", "/home/me/project/docs/a.py", False, False),
        ("*.py", "/etc/evil.py", True, False),
        ("*", "/etc/passwd", True, False),
        ("/etc/*", "/etc/passwd", True, True),
    ],
)
async def test_a_pattern_for_files_is_held_against_the_real_path(
    pattern: str, path: str, outside: bool, admitted: bool
) -> None:
    approvals = Approvals(User(), WORK, rules=[AllowRule("WriteFile", pattern)], attended=False)
    assert (await approvals(write(path, outside=outside))).allowed == admitted


async def test_a_grant_for_the_session_covers_the_kind_of_command_and_can_be_saved() -> None:
    user = User(("session", ""))
    approvals = Approvals(user, WORK)
    await approvals(shell("pytest tests/a.py"))
    await approvals(shell("pytest -x"))
    assert len(user.asked) == 1
    assert approvals.session == [AllowRule("Shell", "pytest *")]
    user.answer = ("reject", "")
    again = Approvals(user, WORK, session=approvals.session)
    assert (await again(shell("pytest"))).by == "session"
    assert not (await again(shell("make"))).allowed


async def test_a_grant_for_a_dangerous_program_covers_only_that_very_command() -> None:
    user = User(("session", ""))
    approvals = Approvals(user, WORK)
    await approvals(shell("rm *.tmp"))
    await approvals(shell("rm *.tmp"))
    assert len(user.asked) == 1
    await approvals(shell("rm a.tmp"))
    assert len(user.asked) == 2


async def test_a_grant_to_write_in_the_work_folder_covers_editing_there_and_nothing_outside() -> None:
    user = User(("session", ""))
    approvals = Approvals(user, WORK)
    await approvals(write("/home/me/project/a.py"))
    await approvals(write("/home/me/project/b [1].py", "StrReplaceFile"))
    assert len(user.asked) == 1
    await approvals(write("/home/me/project2/a.py", outside=True))
    assert len(user.asked) == 2


async def test_what_needs_the_user_in_person_passes_by_no_rule() -> None:
    user = User(("session", ""))
    approvals = Approvals(user, WORK, rules=[AllowRule("WriteFile", "*")])
    view = write("/home/me/project/a.py", explicit=True)
    assert (await approvals(view)).allowed
    assert (await approvals(view)).allowed
    assert len(user.asked) == 2
    approvals.yolo = True
    assert (await approvals(view)).allowed
    assert len(user.asked) == 3
    approvals.attended = False
    assert await approvals(view) == Decision(False, by="nobody")


async def test_questions_come_one_at_a_time_and_a_grant_answers_those_that_wait() -> None:
    user = User(("session", ""))
    approvals = Approvals(user, WORK)
    decisions = await asyncio.gather(*(approvals(shell(f"pytest {n}")) for n in range(4)))
    assert all(decision.allowed for decision in decisions)
    assert len(user.asked) == 1


async def test_a_cancelled_question_leaves_the_way_free_for_the_next() -> None:
    waiting = asyncio.Event()

    async def ask(view: ApprovalView) -> Answer:
        if view.detail == "make":
            waiting.set()
            await asyncio.sleep(60)
        return ("once", "")

    approvals = Approvals(ask, WORK)
    task = asyncio.create_task(approvals(shell("make")))
    await waiting.wait()
    task.cancel()
    assert (await approvals(shell("ls"))).allowed


def test_refusals_say_who_refused() -> None:
    nobody = refusal(Decision(False, by="nobody"))
    told = refusal(Decision(False, "later"))
    silent = refusal(Decision(False))
    assert "nobody is there" in nobody.message and not nobody.stop_turn
    assert "later" in told.message and not told.stop_turn
    assert silent.stop_turn


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("pytest -x", "pytest *"),
        ("git commit -m 'a b'", "git commit *"),
        ("git -C x push", "git -C x push"),
        ("python3 x.py", "python3 x.py"),
        ("rm -rf x", "rm -rf x"),
        ("make && ./run", "make && ./run"),
        ("FOO=1 make", "FOO=1 make"),
        ("./script.sh a", "./script.sh a"),
    ],
)
def test_what_always_would_admit_is_no_wider_than_the_command_suggests(command: str, rule: str) -> None:
    assert command_rule(command) == rule

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_tui.own_environment import is_secret
from kimi_tui.tools import processes
from kimi_tui.tools.base import CallInterrupted, Decision
from kimi_tui.tools.environment import command_environment
from kimi_tui.tools.results import INTERRUPTED
from kimi_tui.tools.shell import Shell
from kimi_tui.tools.toolset import StepInterrupted, Toolset
from tests.tools.tool_desk import Desk, tool_call


def alive(token: str) -> list[int]:
    """Processes whose command line holds the token."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                if token in (entry / "cmdline").read_bytes().decode("utf-8", "replace") and state not in "ZX":
                    found.append(int(entry.name))
    return found


async def gone(token: str) -> bool:
    """They sleep for minutes: whatever is gone within one was ended. The kernel may take its time when it is busy."""
    end = time.monotonic() + 60
    while alive(token) and time.monotonic() < end:
        await asyncio.sleep(0.05)
    return not alive(token)


@pytest.fixture
def token() -> Iterator[str]:
    """A number of seconds that no other process sleeps; whoever still does is ended."""
    name = f"{300 + os.getpid() % 1000}.{time.monotonic_ns() % 10**9}"
    yield name
    for pid in alive(name):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


async def test_output_and_exit_code_come_back(desk: Desk) -> None:
    result = await desk.run(Shell(), command="pwd; echo err >&2; echo $((2 + 3))")
    assert result.output == f"{desk.work_dir}\nerr\n5\n"
    assert (result.outcome, result.brief, result.message) == ("ok", "exit 0", "Exit code 0.")


async def test_a_failing_command_is_an_error_with_its_code(desk: Desk) -> None:
    result = await desk.run(Shell(), command="echo no; exit 3")
    assert (result.outcome, result.brief, result.output) == ("error", "exit 3", "no\n")


async def test_a_command_has_no_terminal_and_no_input(desk: Desk) -> None:
    result = await desk.run(Shell(), command="test -t 0 || echo none; cat; (: </dev/tty) 2>/dev/null || echo no tty")
    assert result.output == "none\nno tty\n"


async def test_utf8_that_is_cut_between_reads_stays_whole(desk: Desk) -> None:
    program = desk.work_dir / "drip.py"
    program.write_text(
        "import os, time\n"
        "for piece in (b'begin \\xe4', b'\\xb8', b'\\xad \\xf0\\x9f\\x8d', b'\\x8e end\\n'):\n"
        "    os.write(1, piece); time.sleep(0.03)\n"
        "os.write(2, b'warn \\xe4'); time.sleep(0.03); os.write(2, b'\\xb8\\xad\\n')\n"
        "os.write(1, '林'.encode() * 30000 + b'\\n')\n"
    )
    result = await desk.run(Shell(), command=f"{sys.executable} drip.py")
    assert result.output == "begin 中 🍎 end\nwarn 中\n" + "林" * 30_000 + "\n"
    assert "".join(desk.live) == result.output


async def test_nul_and_bad_bytes_become_marks(desk: Desk) -> None:
    result = await desk.run(Shell(), command=r"printf 'a\000b\377\376c\n'")
    assert result.output == "a␀b\\xff\\xfec\n"


async def test_terminal_codes_are_dropped_and_progress_keeps_its_last_state(desk: Desk) -> None:
    result = await desk.run(Shell(), command=r"printf '\033[2J\033[31mred\033[0m\n10%%\r50%%\r100%%\r\ndone\r\n'")
    assert result.output == "red\n100%\ndone\n"


async def test_of_long_output_head_and_tail_are_kept_and_all_of_it_in_a_file(desk: Desk, tmp_path: Path) -> None:
    desk.output_dir = tmp_path / "outputs"
    result = await desk.run(Shell(), command="seq 1 40000")
    assert result.output.startswith("1\n2\n3\n")
    assert result.output.endswith("\n39999\n40000\n")
    assert len(result.output) < 51_000
    (file,) = desk.output_dir.iterdir()
    assert str(file) in result.output
    assert file.read_text().split() == [str(n) for n in range(1, 40_001)]


async def test_short_output_makes_no_file(desk: Desk, tmp_path: Path) -> None:
    desk.output_dir = tmp_path / "outputs"
    await desk.run(Shell(), command="echo a")
    assert not desk.output_dir.exists()


async def test_a_timeout_ends_all_that_was_started_also_when_term_is_ignored(desk: Desk, token: str) -> None:
    command = f"trap '' TERM; echo first; sleep {token} & sleep {token}"
    for seconds in (1, 8, 60):  # a busy machine needs longer to get to the first word
        result = await desk.run(Shell(), command=command, timeout=seconds)
        assert result.outcome == "timeout"
        assert f"Timed out after {seconds} s" in result.message
        assert await gone(token)
        if result.output:
            break
    assert result.output == "first\n"


@pytest.mark.parametrize(
    "command",
    [
        "sleep {0} & echo started",
        "sleep {0} </dev/null >/dev/null 2>&1 & echo started",
        "nohup sleep {0} & disown; echo started",
        "(setsid sleep {0} &) ; echo started",
    ],
)
async def test_a_child_left_in_the_background_does_not_hold_the_call(desk: Desk, token: str, command: str) -> None:
    result = await desk.run(Shell(), command=command.format(token))
    assert "started" in result.output
    assert "Still running in the background" in result.message
    assert f"sleep {token}" in result.message
    assert alive(token)


async def test_a_server_left_behind_can_still_write(desk: Desk, token: str) -> None:
    wait = "until [ -e go ]; do sleep 0.05; done"
    command = f"({wait}; echo late; echo ok > survived; exec sleep {token}) & echo up"
    result = await desk.run(Shell(), command=command)
    assert result.output == "up\n"
    (desk.work_dir / "go").touch()
    async with asyncio.timeout(60):
        while not (desk.work_dir / "survived").exists() or not (desk.work_dir / "survived").read_text():
            await asyncio.sleep(0.05)
    assert (desk.work_dir / "survived").read_text() == "ok\n"


@pytest.mark.parametrize(
    "command",
    [
        "sleep {0}",
        "sleep {0} & sleep {0} & wait",
        "bash -c 'trap \"\" TERM INT; sleep {0}; sleep {0}'",
        "setsid sleep {0}",
        "find / -maxdepth 1 -exec sleep {0} \\;",
        "setsid bash -c 'trap \"\" TERM; sleep {0}; sleep {0}' & wait",
        "env -i bash -c 'setsid sleep {0} & sleep {0}'",
    ],
)
async def test_an_interrupt_ends_every_process(desk: Desk, token: str, command: str) -> None:
    calls = [tool_call("Shell", {"command": command.format(token)})]
    task = asyncio.create_task(Toolset([Shell()]).run(calls, desk.call))
    while not alive(f"sleep\0{token}") and not task.done():
        await asyncio.sleep(0.02)
    assert alive(token)
    task.cancel()
    with pytest.raises(StepInterrupted) as stop:
        await task
    assert await gone(token)
    assert INTERRUPTED in stop.value.results.messages[0].text()


async def test_an_interrupt_at_the_very_start_leaves_nothing_behind(desk: Desk, token: str) -> None:
    for turns in range(12):
        task = asyncio.create_task(desk.run(Shell(), command=f"sleep {token}"))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert await gone(token)


async def test_an_interrupted_command_hands_over_its_output(desk: Desk) -> None:
    task = asyncio.create_task(desk.run(Shell(), command="echo before; sleep 60"))
    while not desk.live:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(CallInterrupted) as stop:
        await task
    assert stop.value.output == "before\n"


async def test_output_is_shown_while_the_command_runs(desk: Desk) -> None:
    task = asyncio.create_task(desk.run(Shell(), command="printf one; sleep 0.1; printf two; sleep 60", timeout=60))
    while "".join(desk.live) != "onetwo":
        await asyncio.sleep(0.01)
    assert not task.done()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def test_a_flood_is_bounded_on_the_screen_and_in_the_result(desk: Desk) -> None:
    result = await desk.run(Shell(), command="yes | head -c 20000000")
    assert len(result.output) < 51_000
    assert sum(map(len, desk.live)) < 10_000_000


async def test_keys_and_tokens_are_not_in_the_environment(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MOONSHOT_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "MY_KEY"):
        monkeypatch.setenv(name, f"very-secret-{name}")
    monkeypatch.setenv("ALSO", "very-secret-GITHUB_TOKEN")
    monkeypatch.setenv("PLAIN", "kept")
    result = await desk.run(Shell(), command="env; export -p")
    assert "very-secret" not in result.output
    assert "PLAIN=kept" in result.output


def test_names_that_only_look_like_secrets_are_kept() -> None:
    kept = ("SSH_AUTH_SOCK", "TOKENIZERS_PARALLELISM", "PATH", "KEYBOARD", "XAUTHORITY", "COMPASS", "PASSENGER_HOME")
    assert not any(is_secret(name) for name in kept)
    environment = command_environment({"BASH_ENV": "evil.sh", "BASH_FUNC_ls%%": "() { :; }", "LANG": "C.UTF-8"})
    assert "BASH_ENV" not in environment
    assert "BASH_FUNC_ls%%" not in environment
    assert environment["LANG"] == "C.UTF-8"


async def test_the_user_is_asked_with_the_whole_command(desk: Desk) -> None:
    desk.decision = Decision(False)
    await desk.run(Shell(), command="pytest -x tests")
    (view,) = desk.approvals
    assert (view.tool, view.detail, view.rule) == ("Shell", "pytest -x tests", "pytest *")


async def test_a_rejected_command_does_not_run_and_the_reason_is_told(desk: Desk) -> None:
    desk.decision = Decision(False, "use the Makefile")
    result = await desk.run(Shell(), command="touch made")
    assert result.outcome == "rejected"
    assert "use the Makefile" in result.message
    assert not result.stop_turn
    assert not (desk.work_dir / "made").exists()


async def test_error_interrupt_rejection_and_timeout_are_worded_differently(desk: Desk, token: str) -> None:
    toolset = Toolset([Shell()])

    async def told(command: str, timeout: int = 60) -> str:
        results = await toolset.run([tool_call("Shell", {"command": command, "timeout": timeout})], desk.call)
        return results.messages[0].text()

    failure, timeout = await told("exit 1"), await told("sleep 30", 1)
    task = asyncio.create_task(toolset.run([tool_call("Shell", {"command": f"sleep {token}"})], desk.call))
    while not alive(f"sleep\0{token}"):
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(StepInterrupted) as stop:
        await task
    desk.decision = Decision(False)
    rejected = await told("true")
    texts = [failure, timeout, stop.value.results.messages[0].text(), rejected]
    words = ["Exit code 1", "Timed out", "Interrupted by the user", "Rejected by the user"]
    assert [[word in text for word in words] for text in texts] == [[a == b for b in range(4)] for a in range(4)]


async def test_the_background_flag_is_refused_clearly(desk: Desk) -> None:
    result = await desk.run(Shell(), command="touch made", run_in_background=True, description="x")
    assert result.outcome == "error"
    assert "foreground" in result.message
    assert not (desk.work_dir / "made").exists()


async def test_a_work_folder_that_is_gone_is_said(desk: Desk) -> None:
    desk.work_dir.rmdir()
    result = await desk.run(Shell(), command="ls")
    assert result.outcome == "error"
    assert "could not be started" in result.message


async def test_odd_characters_in_a_command_do_not_crash(desk: Desk) -> None:
    for command in ("echo \ud800", "echo a\0b"):
        results = await Toolset([Shell()]).run([tool_call("Shell", {"command": command})], desk.call)
        assert "ERROR" in results.messages[0].text()


async def test_in_plan_mode_a_command_that_writes_is_stopped_with_a_reason(desk: Desk) -> None:
    desk.plan_file = desk.work_dir / "plan.md"
    desk.decision = Decision(False, by="nobody")
    result = await desk.run(Shell(), command="touch made")
    assert result.outcome == "error"
    assert "Plan mode is on" in result.message
    assert desk.approvals[0].explicit
    assert not (desk.work_dir / "made").exists()


async def test_in_plan_mode_reading_commands_run_without_a_question(desk: Desk) -> None:
    desk.plan_file = desk.work_dir / "plan.md"
    (desk.work_dir / "a.txt").write_text("hello\n")
    result = await desk.run(Shell(), command="cat a.txt | wc -l && ls")
    assert result.output.split() == ["1", "a.txt"]
    assert desk.approvals == []


async def test_in_plan_mode_reading_outside_the_work_folder_is_asked_for(desk: Desk) -> None:
    desk.plan_file = desk.work_dir / "plan.md"
    await desk.run(Shell(), command="cat /etc/hostname")
    assert [view.explicit for view in desk.approvals] == [False]


async def test_in_plan_mode_the_user_may_let_a_command_run(desk: Desk) -> None:
    desk.plan_file = desk.work_dir / "plan.md"
    result = await desk.run(Shell(), command="echo hi > made")
    assert result.outcome == "ok"
    assert (desk.work_dir / "made").read_text() == "hi\n"


async def test_where_there_is_no_proc_the_family_is_found_by_its_parents(
    desk: Desk, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_PROC", desk.work_dir)
    command = f"trap '' TERM; sleep {token} & (setsid sleep {token} & wait) & wait"
    task = asyncio.create_task(desk.run(Shell(), command=command))
    while len(alive(f"sleep\0{token}")) < 2:
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(CallInterrupted):
        await task
    assert await gone(token)

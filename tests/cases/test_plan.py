"""Plan mode: one file may be written, and the way out is the user's to open."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_tui.protocol.commands import SendPrompt, SetMode
from kimi_tui.protocol.events import SessionOpened, TurnEnded
from tests.cases.house import Reply, calls, house

CHANGES = [
    ("Shell", {"command": "touch made"}),
    ("Shell", {"command": "ls > list"}),
    ("WriteFile", {"path": "new.txt", "content": "x"}),
    ("StrReplaceFile", {"path": "old.txt", "edit": {"old": "a", "new": "b"}}),
]


async def test_what_changes_anything_is_stopped_with_a_reason(tmp_path: Path) -> None:
    async with house(tmp_path, [calls(*CHANGES), {"text": "I see."}], plan=True, afk=True) as it:
        (it.work / "old.txt").write_text("a")
        await it.turn("go")
        assert all("Plan mode is on" in text for text in it.spoken("tool")) and len(it.spoken("tool")) == 4
        assert [path.name for path in it.work.iterdir()] == ["old.txt"]
        assert (it.work / "old.txt").read_text() == "a"


def ways_around(place: Path) -> list[str]:
    """Paths that look like the plan and are not."""
    session = place / "session"
    return [
        f"{session}/../work/app.py",
        f"{session}/link.md",
        f"{session}/plan.md\0.py",
        f"{session}/PLAN.MD",
        f"{session}/plan.md/../../work/app.py",
        "plan.md",
    ]


async def test_only_the_plan_itself_is_written_whatever_the_path_looks_like(tmp_path: Path) -> None:
    paths = [*ways_around(tmp_path), f"{tmp_path}/session/plan.md"]
    replies = [calls(*(("WriteFile", {"path": path, "content": "# Plan\n"}) for path in paths)), {"text": "ok"}]
    async with house(tmp_path, replies, plan=True) as it:
        (it.work / "app.py").write_text("print()")
        (it.folder / "link.md").symlink_to(it.work / "app.py")
        await it.turn("plan")
        told = it.spoken("tool")
        assert [("ERROR" in text) for text in told] == [True] * 6 + [False]
        assert (it.work / "app.py").read_text() == "print()" and len(list(it.work.iterdir())) == 1
        assert (it.folder / "plan.md").read_text() == "# Plan\n"


def planned(place: Path) -> list[Reply]:
    plan = {"path": f"{place}/session/plan.md", "content": "1. look\n"}
    return [calls(("WriteFile", plan)), calls(("ExitPlanMode", {})), {"text": "done"}]


@pytest.mark.parametrize(("decision", "stays"), [("reject", True), ("once", False)])
async def test_the_user_is_asked_for_the_plan_even_where_everything_else_is_approved(
    decision: str, stays: bool, tmp_path: Path
) -> None:
    async with house(tmp_path, planned(tmp_path), yolo=True) as it:
        await it.do(SetMode("plan", True))
        it.tell(SendPrompt("plan it"))
        asked = await it.answer(decision)
        assert (asked.approval.tool, asked.approval.detail) == ("ExitPlanMode", "1. look\n")
        await it.until(TurnEnded)
        await it.idle()
    async with house(tmp_path, []) as it:
        assert it.seen(SessionOpened)[0].modes.plan is stays, "a restart keeps the mode"


async def test_with_nobody_there_the_plan_is_carried_out(tmp_path: Path) -> None:
    async with house(tmp_path, planned(tmp_path), plan=True, afk=True) as it:
        assert (await it.turn("plan it")).steps == 3
        assert "plan mode is off" in it.spoken("tool")[-1]


async def test_what_the_command_line_switched_on_can_be_switched_off(tmp_path: Path) -> None:
    async with house(tmp_path, [calls(("Shell", {"command": "touch made"})), {"text": "I see."}], yolo=True) as it:
        await it.do(SetMode("yolo", False))
        it.tell(SendPrompt("go"))
        await it.answer("reject")
        await it.until(TurnEnded)
        assert not (it.work / "made").exists()

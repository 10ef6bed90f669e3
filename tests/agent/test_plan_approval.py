"""Who approves a plan: the user in person; nobody else, unless nobody is there."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from kimi_tui.agent.session_tools import session_tools
from kimi_tui.protocol.commands import AnswerApproval, AnswerQuestion, SendPrompt, SetMode
from kimi_tui.protocol.events import ApprovalRequested, QuestionAsked, TurnEnded
from tests.agent.fakes import Bench, ScriptedModel, bench, calls, says

PLAN = "1. look\n2. do\n"
WAYS = [{"label": "fast"}, {"label": "careful"}]


async def planning(it: Bench, mode: Literal["yolo", "afk"]) -> None:
    """In plan mode, with a plan, and with the session's real tools."""
    for tool in session_tools(it.desk):
        it.desk.toolset.add(tool)
    await it.do(SetMode("plan", True))
    await it.do(SetMode(mode, True))
    it.desk.plan_file.parent.mkdir(parents=True, exist_ok=True)
    it.desk.plan_file.write_text(PLAN)


async def test_yolo_does_not_approve_a_plan(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("ExitPlanMode", {})), says("doing it"))
    async with bench(tmp_path, model) as it:
        await planning(it, "yolo")
        it.tell(SendPrompt("plan it"))
        asked = await it.until(ApprovalRequested)
        assert asked.approval.detail == PLAN and it.desk.modes.plan
        it.tell(AnswerApproval(asked.approval.request_id, "once"))
        await it.until(TurnEnded)
        assert not it.desk.modes.plan


async def test_declining_to_choose_a_way_keeps_planning(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("ExitPlanMode", {"options": WAYS})))
    async with bench(tmp_path, model) as it:
        await planning(it, "yolo")
        it.tell(SendPrompt("plan it"))
        asked = await it.until(QuestionAsked)
        it.tell(AnswerQuestion(asked.request_id, ()))
        await it.until(TurnEnded)
        assert it.desk.modes.plan


async def test_a_plan_goes_ahead_by_itself_when_nobody_is_there(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("ExitPlanMode", {"options": WAYS})), says("doing it"))
    async with bench(tmp_path, model) as it:
        await planning(it, "afk")
        assert (await it.turn("plan it")).reason == "done"
        assert not it.desk.modes.plan and not it.all(QuestionAsked)

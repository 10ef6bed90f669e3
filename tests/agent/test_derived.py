"""To-dos and plan mode follow the history when the user moves time, and stay when the model folds it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kimi_tui.agent.session_tools import session_tools
from kimi_tui.protocol.commands import Compact, RevertTo, SetMode, Undo
from kimi_tui.protocol.events import ModesChanged, TodosChanged
from kimi_tui.protocol.views import TodoItem
from tests.agent.fakes import Bench, ScriptedModel, bench, calls, says


def todo(title: str, status: str = "pending") -> tuple[str, dict[str, Any]]:
    return "SetTodoList", {"todos": [{"title": title, "status": status}]}


def equip(it: Bench) -> None:
    for tool in session_tools(it.desk):
        it.desk.toolset.add(tool)
    it.desk.set_mode("yolo", True)


async def test_going_back_brings_the_earlier_list_back(tmp_path: Path) -> None:
    model = ScriptedModel(calls(todo("one")), says("a"), calls(todo("two")), says("b"))
    async with bench(tmp_path, model) as it:
        equip(it)
        await it.turn("first")
        second = it.desk.context.n_checkpoints
        await it.turn("second")
        assert it.last(TodosChanged).todos == (TodoItem("two", "pending"),)
        await it.do(RevertTo(second))
        assert it.last(TodosChanged).todos == (TodoItem("one", "pending"),)
        await it.do(RevertTo(0))
        assert it.last(TodosChanged).todos == ()
        await it.do(Undo())
        await it.do(Undo())
        assert it.desk.state.todos == (TodoItem("two", "pending"),)


async def test_plan_mode_that_the_model_began_ends_when_that_is_taken_back(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("EnterPlanMode", {})), says("planning"))
    async with bench(tmp_path, model) as it:
        equip(it)
        await it.turn("plan it")
        assert it.last(ModesChanged).modes.plan
        await it.do(RevertTo(0))
        assert not it.desk.modes.plan
        await it.do(Undo())
        assert it.desk.modes.plan


async def test_plan_mode_that_the_user_switched_on_stays(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("a"))) as it:
        equip(it)
        await it.do(SetMode("plan", True))
        await it.turn("first")
        await it.do(RevertTo(0))
        assert it.desk.modes.plan


async def test_a_compaction_changes_neither(tmp_path: Path) -> None:
    model = ScriptedModel(calls(todo("one")), calls(("EnterPlanMode", {})), says("a"), says("b"))
    model.summaries = [says("Summary.", 40)]
    async with bench(tmp_path, model) as it:
        equip(it)
        await it.turn("first")
        await it.turn("second")
        await it.do(Compact())
        assert (it.desk.modes.plan, it.desk.state.todos) == (True, (TodoItem("one", "pending"),))


async def test_the_state_survives_a_restart(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(calls(todo("one")), says("a"))) as it:
        equip(it)
        await it.do(SetMode("plan", True))
        await it.turn("first")
    state, _ = it.desk.session.load_state()
    assert (state.plan, state.todos) == (True, (TodoItem("one", "pending"),))

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from kimi_tui.protocol.views import TodoItem
from kimi_tui.tools.ask_user import AskUserQuestion
from kimi_tui.tools.base import Decision
from kimi_tui.tools.plan_mode import KEEP_PLANNING, EnterPlanMode, ExitPlanMode
from kimi_tui.tools.send_dmail import SendDMail
from kimi_tui.tools.standard import standard_tools
from kimi_tui.tools.think import Think
from kimi_tui.tools.todo import SetTodoList
from kimi_tui.tools.toolset import Toolset
from tests.tools.tool_desk import Desk, tool_call


class Todos:
    items: Sequence[TodoItem] = ()

    def load(self) -> Sequence[TodoItem]:
        return self.items

    def save(self, items: Sequence[TodoItem]) -> None:
        self.items = items


class Modes:
    """Plan mode, switched as the agent would."""

    def __init__(self, plan: Path) -> None:
        self.plan, self.log = plan, list[str]()

    async def enter(self) -> Path:
        self.log.append("enter")
        return self.plan

    async def leave(self) -> None:
        self.log.append("leave")


@pytest.fixture
def modes(tmp_path: Path) -> Modes:
    return Modes(tmp_path / "plan.md")


def everything(modes: Modes) -> Toolset:
    todos = Todos()
    return Toolset(
        standard_tools(
            load_todos=todos.load,
            save_todos=todos.save,
            enter_plan=modes.enter,
            leave_plan=modes.leave,
            send_dmail=lambda message, checkpoint: None,
        )
    )


def test_the_tools_and_their_arguments_are_those_that_models_know(modes: Modes) -> None:
    expected = {
        "ReadFile": {"path", "line_offset", "n_lines"},
        "Glob": {"pattern", "directory", "include_dirs"},
        "Grep": {
            "pattern",
            "path",
            "glob",
            "type",
            "output_mode",
            "-i",
            "-n",
            "-A",
            "-B",
            "-C",
            "multiline",
            "head_limit",
        },
        "StrReplaceFile": {"path", "edit"},
        "WriteFile": {"path", "content", "mode"},
        "Shell": {"command", "timeout", "run_in_background", "description"},
        "ReadMediaFile": {"path"},
        "FetchURL": {"url"},
        "SetTodoList": {"todos"},
        "Think": {"thought"},
        "AskUserQuestion": {"questions"},
        "EnterPlanMode": set(),
        "ExitPlanMode": {"options"},
        "SendDMail": {"message", "checkpoint_id"},
    }
    specs = everything(modes).specs()
    assert {spec.name: set(spec.parameters["properties"]) for spec in specs} == expected
    for spec in specs:
        text = json.dumps(spec.parameters)
        assert spec.parameters["type"] == "object"
        assert not any(word in text for word in ("$ref", "$defs", '"title": "', '"null"'))
        assert len(spec.description) > 60


def test_each_tool_describes_its_row(modes: Modes) -> None:
    toolset = everything(modes)
    calls: dict[str, tuple[dict[str, Any], str, str]] = {
        "ReadFile": ({"path": "a.py"}, "Read", "a.py"),
        "Glob": ({"pattern": "*.py", "directory": "src"}, "Glob", "*.py in src"),
        "Grep": ({"pattern": "x"}, "Grep", "x"),
        "StrReplaceFile": ({"path": "a", "edit": {"old": "a", "new": "b"}}, "Edit", "a"),
        "WriteFile": ({"path": "a", "content": "x", "mode": "append"}, "Append", "a"),
        "Shell": ({"command": "ls\n  -la"}, "Shell", "ls -la"),
        "FetchURL": ({"url": "http://a"}, "Fetch", "http://a"),
        "SetTodoList": ({"todos": [{"title": "fix", "status": "in_progress"}]}, "To-dos", "fix"),
        "SendDMail": ({"message": "x", "checkpoint_id": 3}, "D-Mail", "to checkpoint 3"),
    }
    for name, (arguments, verb, subject) in calls.items():
        view = toolset.view(tool_call(name, arguments))
        assert (view.verb, view.subject) == (verb, subject)


async def test_a_thought_is_noted(desk: Desk) -> None:
    assert (await desk.run(Think(), thought="hm")).message == "Noted."


async def test_the_todo_list_is_set_and_shown(desk: Desk) -> None:
    todos = Todos()
    tool = SetTodoList(todos.load, todos.save)
    result = await desk.run(tool, todos=[{"title": "a", "status": "completed"}, {"title": "b", "status": "pending"}])
    assert todos.items == (TodoItem("a", "done"), TodoItem("b", "pending"))
    assert result.brief == "1 of 2 done"
    assert (await desk.run(tool)).output == "- [done] a\n- [pending] b"
    await desk.run(tool, todos=[])
    assert (await desk.run(tool)).message == "The list is empty."


QUESTION = {"question": "Which?", "header": "DB", "options": [{"label": "a", "description": "x"}, {"label": "b"}]}


async def test_answers_come_back_with_their_questions(desk: Desk) -> None:
    desk.answers = (("b", "c"),)
    result = await desk.run(AskUserQuestion(), questions=[{**QUESTION, "multi_select": True}])
    assert json.loads(result.output) == {"answers": {"Which?": "b, c"}}
    (view,) = desk.questions
    assert (view.header, view.multi_select, [option.label for option in view.options]) == ("DB", True, ["a", "b"])


@pytest.mark.parametrize("answers", [None, ()])
async def test_a_question_that_nobody_answers_is_given_up_politely(
    desk: Desk, answers: tuple[tuple[str, ...], ...] | None
) -> None:
    desk.answers = answers
    result = await desk.run(AskUserQuestion(), questions=[QUESTION])
    assert result.outcome == "ok"
    assert "There is no answer" in result.message


def test_a_letter_that_says_nothing_is_not_sent() -> None:
    with pytest.raises(ValidationError):
        SendDMail.Params(message="", checkpoint_id=0)


async def test_a_dmail_is_parked_or_its_refusal_told(desk: Desk) -> None:
    sent: list[tuple[str, int]] = []
    result = await desk.run(SendDMail(lambda text, number: sent.append((text, number))), message="hi", checkpoint_id=2)
    assert sent == [("hi", 2)]
    assert "NOT sent" in result.message

    def refuse(text: str, number: int) -> None:
        raise LookupError("there is no checkpoint 9")

    refused = await desk.run(SendDMail(refuse, (LookupError,)), message="hi", checkpoint_id=9)
    assert (refused.outcome, refused.message) == ("error", "The D-Mail was not sent: there is no checkpoint 9")


@pytest.mark.parametrize(
    ("decision", "entered"),
    [(Decision(True), True), (Decision(False), False), (Decision(False, by="nobody"), True)],
)
async def test_entering_plan_mode_asks_and_goes_by_itself_when_nobody_is_there(
    desk: Desk, modes: Modes, decision: Decision, entered: bool
) -> None:
    desk.decision = decision
    result = await desk.run(EnterPlanMode(modes.enter))
    assert modes.log == (["enter"] if entered else [])
    assert (str(modes.plan) in result.message) is entered
    assert result.stop_turn is not entered


async def test_plan_mode_is_entered_once(desk: Desk, modes: Modes) -> None:
    desk.plan_file = modes.plan
    assert "on already" in (await desk.run(EnterPlanMode(modes.enter))).message
    assert modes.log == []


async def test_leaving_needs_plan_mode_and_a_plan(desk: Desk, modes: Modes) -> None:
    tool = ExitPlanMode(modes.leave)
    assert "not on" in (await desk.run(tool)).message
    desk.plan_file = modes.plan
    assert "no plan yet" in (await desk.run(tool)).message
    assert modes.log == []


async def test_an_approved_plan_is_told_and_plan_mode_ends(desk: Desk, modes: Modes) -> None:
    desk.plan_file = modes.plan
    modes.plan.write_text("1. do it\n")
    result = await desk.run(ExitPlanMode(modes.leave))
    assert desk.approvals[0].detail == "1. do it\n"
    assert result.output == "1. do it\n"
    assert modes.log == ["leave"]


@pytest.mark.parametrize(("feedback", "stops"), [("shorter", False), ("", True)])
async def test_a_plan_that_is_sent_back_keeps_plan_mode_on(
    desk: Desk, modes: Modes, feedback: str, stops: bool
) -> None:
    desk.plan_file = modes.plan
    modes.plan.write_text("1. do it\n")
    desk.decision = Decision(False, feedback)
    result = await desk.run(ExitPlanMode(modes.leave))
    assert (result.outcome, result.stop_turn) == ("rejected", stops)
    assert feedback in result.message
    assert modes.log == []


@pytest.mark.parametrize(
    ("answers", "left", "told"),
    [
        ((("B",),), True, "The user chose: B."),
        ((("make it C",),), False, "make it C"),
        (((KEEP_PLANNING,),), False, "stays on"),
        (None, True, "would recommend"),
        ((), False, "stays on"),
    ],
)
async def test_with_several_ways_the_user_chooses_one(
    desk: Desk, modes: Modes, answers: tuple[tuple[str, ...], ...] | None, left: bool, told: str
) -> None:
    desk.plan_file = modes.plan
    desk.answers = answers
    modes.plan.write_text("A or B\n")
    result = await desk.run(ExitPlanMode(modes.leave), options=[{"label": "A"}, {"label": "B"}])
    assert desk.live == ["A or B\n"], "the plan can be read while the ways are shown"
    assert told in result.message
    assert modes.log == (["leave"] if left else [])


async def test_a_tool_without_arguments_takes_any_empty_form(desk: Desk, modes: Modes) -> None:
    for text in ("", None, "null", "{}", ' {"unknown": 1}'):
        toolset = Toolset([EnterPlanMode(modes.enter)])
        results = await toolset.run([tool_call("EnterPlanMode", text)], desk.call)
        assert "Plan mode is on" in results.messages[0].text()

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from pydantic import Field

from kimi_tui.protocol.messages import Message, ToolCall
from kimi_tui.protocol.views import ToolView
from kimi_tui.tools.base import Call, CallInterrupted, Params, ToolResult, failed
from kimi_tui.tools.results import AFTER_REJECTION, INTERRUPTED, NOT_STARTED
from kimi_tui.tools.toolset import StepInterrupted, Toolset, Watch
from tests.tools.tool_desk import Desk, tool_call


class Script:
    """A tool that does what the test says, and notes when it began and ended."""

    name: ClassVar[str] = "Look"
    description = "looks"
    read_only: ClassVar[bool] = True
    plan_safe: ClassVar[bool] = True

    class Params(Params):
        what: str = Field(description="what to look at")
        seconds: float = 0

    def __init__(self, act: Callable[[str], Any] | None = None) -> None:
        self.act = act or (lambda what: ToolResult(f"saw {what}"))
        self.log: list[str] = []

    def describe(self, params: Any) -> tuple[str, str]:
        return "Look", params.what

    async def __call__(self, params: Any, call: Call) -> ToolResult:
        self.log.append(f"+{params.what}")
        await asyncio.sleep(params.seconds)
        self.log.append(f"-{params.what}")
        result: ToolResult = self.act(params.what)
        return result


class Writer(Script):
    name = "Change"
    read_only = False
    plan_safe = False


def content(message: Message) -> str:
    return message.text("\n")


async def run(toolset: Toolset, desk: Desk, *calls: ToolCall, watch: Watch | None = None) -> list[Message]:
    return (await toolset.run(calls, desk.call, watch)).messages


async def test_a_result_is_a_tool_message_with_the_call_id(desk: Desk) -> None:
    (message,) = await run(Toolset([Script()]), desk, tool_call("Look", {"what": "a"}, "x7"))
    assert (message.role, message.tool_call_id, content(message)) == ("tool", "x7", "saw a")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("", "what: Field required"),
        (None, "what: Field required"),
        ("null", "what: Field required"),
        ("[1, 2]", "not a list"),
        ('"ls"', "not a string"),
        ("7", "not a number"),
        ('{"what": "a", "what": "b"}', "'what' is given twice"),
        ('{"what": "a\tb"}', "raw control character"),
        ('{"what": "a', "cut off"),
        ('{"what": ', "cut off"),
        ("{what: 1}", "not valid JSON"),
        ('{"what": NaN}', "NaN is not a JSON value"),
        ('{"what": ' + "[" * 100_000, "nested too deeply"),
        ('{"what": ["x"]}', "valid string"),
    ],
)
async def test_arguments_that_are_no_object_are_answered_and_never_run(
    desk: Desk, arguments: str | None, reason: str
) -> None:
    tool = Script()
    (message,) = await run(Toolset([tool]), desk, tool_call("Look", arguments))
    assert content(message).startswith("<system>ERROR: Look was not run.")
    assert reason in content(message)
    assert "what (required)" in content(message)
    assert tool.log == []


async def test_a_tool_whose_server_has_gone_is_answered_with_just_that(desk: Desk) -> None:
    (message,) = await run(Toolset([Script()]), desk, tool_call("mcp__docs__find"))
    assert "its server is not connected" in content(message)


async def test_an_unknown_tool_is_answered_with_the_known_ones(desk: Desk) -> None:
    (message,) = await run(Toolset([Script(), Writer()]), desk, tool_call("Lok", {"a": 1}))
    assert "Did you mean Look?" in content(message)
    assert "Look, Change" in content(message)


async def test_calls_that_only_read_run_together_and_answer_in_call_order(desk: Desk) -> None:
    class Relay(Script):
        async def __call__(self, params: Any, call: Call) -> ToolResult:
            if params.what == "slow":
                await fast_is_done.wait()
            result = await super().__call__(params, call)
            fast_is_done.set()
            return result

    fast_is_done, tool = asyncio.Event(), Relay()
    slow, fast = (tool_call("Look", {"what": what}, number) for number, what in (("1", "slow"), ("2", "fast")))
    messages = await run(Toolset([tool]), desk, slow, fast)
    assert tool.log == ["+fast", "-fast", "+slow", "-slow"]
    assert [message.tool_call_id for message in messages] == ["1", "2"]


async def test_calls_that_write_run_in_order_and_between_the_reads(desk: Desk) -> None:
    reader, writer = Script(), Writer()
    reader.log = writer.log
    calls = [
        tool_call("Look", {"what": "r1", "seconds": 0.02}, "1"),
        tool_call("Change", {"what": "w1", "seconds": 0.01}, "2"),
        tool_call("Change", {"what": "w2"}, "3"),
        tool_call("Look", {"what": "r2"}, "4"),
    ]
    await run(Toolset([reader, writer]), desk, *calls)
    assert writer.log == ["+r1", "-r1", "+w1", "-w1", "+w2", "-w2", "+r2", "-r2"]


async def test_equal_calls_of_one_step_run_once_and_share_the_result(desk: Desk) -> None:
    tool = Writer()
    calls = [
        tool_call("Change", '{"what": "a", "seconds": 0}', "1"),
        tool_call("Change", '{"seconds":0,"what":"a"}', "2"),
    ]
    messages = await run(Toolset([tool]), desk, *calls)
    assert tool.log == ["+a", "-a"]
    assert content(messages[0]) == content(messages[1]) == "saw a"
    assert [message.tool_call_id for message in messages] == ["1", "2"]


async def test_a_tool_that_breaks_does_not_take_the_others_along(desk: Desk) -> None:
    def act(what: str) -> ToolResult:
        if what == "bad":
            raise KeyError("lost")
        return ToolResult("fine")

    calls = [tool_call("Look", {"what": "bad"}, "1"), tool_call("Look", {"what": "good"}, "2")]
    first, second = await run(Toolset([Script(act)]), desk, *calls)
    assert "ERROR: Look broke: KeyError" in content(first)
    assert content(second) == "fine"


async def test_an_interrupt_leaves_exactly_one_result_a_call(desk: Desk) -> None:
    tool = Writer()
    calls = [
        tool_call("Change", {"what": "done"}, "1"),
        tool_call("Change", {"what": "long", "seconds": 60}, "2"),
        tool_call("Change", {"what": "never"}, "3"),
        tool_call("Change", {"what": "never"}, "4"),
        tool_call("Nope", {}, "5"),
    ]
    task = asyncio.create_task(Toolset([tool]).run(calls, desk.call))
    while "+long" not in tool.log:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(StepInterrupted) as stop:
        await task
    messages = stop.value.results.messages
    assert [message.tool_call_id for message in messages] == ["1", "2", "3", "4", "5"]
    assert content(messages[0]) == "saw done"
    assert INTERRUPTED in content(messages[1])
    assert NOT_STARTED in content(messages[2]) and NOT_STARTED in content(messages[3])
    assert "no tool 'Nope'" in content(messages[4])


async def test_an_interrupted_tool_hands_over_what_it_had(desk: Desk) -> None:
    class Partial(Script):
        async def __call__(self, params: Any, call: Call) -> ToolResult:
            begun.set()
            try:
                await asyncio.sleep(600)
            except asyncio.CancelledError:
                raise CallInterrupted("half of it") from None
            raise AssertionError

    begun = asyncio.Event()
    task = asyncio.create_task(Toolset([Partial()]).run([tool_call("Look", {"what": "a"})], desk.call))
    await begun.wait()
    task.cancel()
    with pytest.raises(StepInterrupted) as stop:
        await task
    (message,) = stop.value.results.messages
    assert INTERRUPTED in content(message)
    assert "half of it" in content(message)


async def test_a_second_interrupt_does_not_lose_the_results(desk: Desk) -> None:
    class Slow(Script):
        async def __call__(self, params: Any, call: Call) -> ToolResult:
            begun.set()
            try:
                await asyncio.sleep(600)
            finally:
                await asyncio.sleep(0.05)
            raise AssertionError

    begun = asyncio.Event()
    task = asyncio.create_task(Toolset([Slow()]).run([tool_call("Look", {"what": "a"})], desk.call))
    await begun.wait()
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(StepInterrupted) as stop:
        await task
    assert len(stop.value.results.messages) == 1


async def test_after_a_rejection_without_a_word_nothing_more_of_the_step_runs(desk: Desk) -> None:
    tool = Writer(lambda what: ToolResult(outcome="rejected", message="no", stop_turn=True))
    calls = [tool_call("Change", {"what": "a"}, "1"), tool_call("Change", {"what": "b"}, "2")]
    results = await Toolset([tool]).run(calls, desk.call)
    assert results.stop == "tool_rejected"
    assert tool.log == ["+a", "-a"]
    assert AFTER_REJECTION in content(results.messages[1])


async def test_twelve_equal_steps_end_the_turn_and_a_reset_starts_anew(desk: Desk) -> None:
    toolset = Toolset([Script()])
    texts = ['{"what":"a","seconds":0}', '{ "seconds": 0, "what": "a" }']
    results = [await toolset.run([tool_call("Look", texts[n % 2], str(n))], desk.call) for n in range(12)]
    assert [result.stop for result in results] == [""] * 11 + ["tool_call_repeat"]
    assert "<system-reminder>" in content(results[2].messages[0])
    assert "12 steps in a row" in results[-1].stop_text
    toolset.repeats.reset()
    again = await toolset.run([tool_call("Look", texts[0], "x")], desk.call)
    assert (again.stop, content(again.messages[0])) == ("", "saw a")


async def test_plan_mode_refuses_what_is_not_safe_in_it(desk: Desk) -> None:
    desk.plan_file = desk.work_dir / "plan.md"
    tool = Writer()
    (message,) = await run(Toolset([tool]), desk, tool_call("Change", {"what": "a"}))
    assert "Plan mode is on" in content(message)
    assert tool.log == []


async def test_each_call_is_announced_once_and_finished_once(desk: Desk) -> None:
    seen: list[tuple[str, str, str]] = []
    watch = Watch(
        on_started=lambda view: seen.append(("start", view.call_id, view.outcome)),
        on_finished=lambda view: seen.append(("end", view.call_id, view.outcome)),
    )
    calls = [tool_call("Look", {"what": "a"}, "1"), tool_call("Look", {"what": "a"}, "2"), tool_call("Nope", "", "3")]
    await run(Toolset([Script()]), desk, *calls, watch=watch)
    assert sorted(seen) == [
        ("end", "1", "ok"),
        ("end", "2", "ok"),
        ("end", "3", "error"),
        ("start", "1", "running"),
        ("start", "2", "running"),
        ("start", "3", "running"),
    ]


async def test_a_hook_may_answer_in_place_of_the_run(desk: Desk) -> None:
    async def before(view: ToolView, arguments: dict[str, Any]) -> ToolResult | None:
        return failed(f"blocked {arguments['what']}")

    tool = Script()
    (message,) = await run(Toolset([tool]), desk, tool_call("Look", {"what": "a"}), watch=Watch(before=before))
    assert content(message) == "<system>ERROR: blocked a</system>"
    assert tool.log == []


async def test_a_result_without_text_still_says_something(desk: Desk) -> None:
    (message,) = await run(Toolset([Script(lambda what: ToolResult())]), desk, tool_call("Look", {"what": "a"}))
    assert content(message) == "<system>Done; there was no output.</system>"


async def test_no_control_code_or_lone_surrogate_reaches_the_log(desk: Desk) -> None:
    tool = Script(lambda what: ToolResult("a\0b\x1b[31m\ud800\x9b"))
    (message,) = await run(Toolset([tool]), desk, tool_call("Look", {"what": "a"}))
    text = json.dumps(message.model_dump(), ensure_ascii=False)
    text.encode("utf-8")
    assert content(message) == "a␀b␛[31m\ufffd\\x9b"


async def test_the_card_of_a_stored_call_looks_as_it_did(desk: Desk) -> None:
    toolset = Toolset([Script(lambda what: ToolResult("it", "timeout", "took too long", "timeout"))])
    shown: list[ToolView] = []
    call = tool_call("Look", {"what": "a"})
    (message,) = await run(toolset, desk, call, watch=Watch(on_finished=shown.append))
    stored = Message.model_validate(json.loads(message.model_dump_json(exclude_none=True)))
    card = toolset.view(call, stored)
    assert (card.verb, card.subject, card.outcome, card.brief) == ("Look", "a", "timeout", "timeout")
    assert card.output == shown[0].output


def test_the_card_of_a_result_that_kimi_cli_wrote_says_how_it_ended() -> None:
    call = tool_call("Look", {"what": "a"})
    message = Message(role="tool", tool_call_id="c1", content="<system>ERROR: no such thing</system>")
    assert Toolset([Script()]).view(call, message).outcome == "error"


def test_specs_are_plain_schemas_in_the_order_given() -> None:
    specs = Toolset([Writer(), Script()]).specs()
    assert [spec.name for spec in specs] == ["Change", "Look"]
    assert specs[1].parameters == {
        "type": "object",
        "properties": {
            "what": {"type": "string", "description": "what to look at"},
            "seconds": {"type": "number", "default": 0},
        },
        "required": ["what"],
    }

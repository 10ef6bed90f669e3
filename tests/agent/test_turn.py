"""A turn from the prompt to its end: what is told, in which order, and what is on disk."""

from __future__ import annotations

import asyncio
from pathlib import Path

from kimi_tui.llm.model import Finish, ModelFault, TextPiece, ThinkPiece, Usage
from kimi_tui.protocol.commands import Interrupt, SendPrompt
from kimi_tui.protocol.events import (
    CheckpointCreated,
    MessageStored,
    Noticed,
    PromptReturned,
    RetryScheduled,
    StepEnded,
    StreamReset,
    TextDelta,
    TitleChanged,
    TokensChanged,
    ToolCallFinished,
    ToolOutputDelta,
    TranscriptReset,
    TurnEnded,
    TurnStarted,
)
from tests.agent.fakes import Asks, Echo, ScriptedModel, Step, Wait, bench, calls, quick, says

PROMPT = "system_prompt: You are a test."


async def test_a_plain_answer_is_told_and_stored_in_order(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("Hello you"))) as it:
        ended = await it.turn("hi")
        assert (ended.reason, ended.steps) == ("done", 1)
        kinds = it.kinds()
        assert kinds[kinds.index("TurnStarted") :] == [
            "TurnStarted",
            "StepStarted",
            "CheckpointCreated",
            "TextDelta",
            "MessageStored",
            "TokensChanged",
            "StepEnded",
            "TitleChanged",
            "TurnEnded",
        ]
        assert it.told() == [PROMPT, "checkpoint 0", "user: hi", "checkpoint 1", "assistant: Hello you", "usage 100"]
        assert "".join(event.text for event in it.all(TextDelta)) == "Hello you"
        assert it.last(TokensChanged).tokens.exact == 100


async def test_the_answer_is_on_disk_before_its_tools_run(tmp_path: Path) -> None:
    wait = Wait()
    async with bench(tmp_path, ScriptedModel(calls(("Wait", {})), says("ok")), tools=[wait]) as it:
        it.tell(SendPrompt("go"))
        await wait.begun.wait()
        assert it.told()[-2:] == ["assistant:  [Wait]", "usage 100"]
        wait.go.set()
        await it.until(TurnEnded)
        assert it.told()[-3:] == ["checkpoint 2", "assistant: ok", "usage 100"]
        assert "tool: <system>" not in it.told()[-4] and it.told()[-4] == "tool: waited"


async def test_what_tools_do_is_told_while_it_happens_and_kept_in_the_chat(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("Echo", {"text": "one"}), ("Echo", {"text": "two"}), text="Look:"), says("Done"))
    async with bench(tmp_path, model, tools=[Echo()]) as it:
        await it.turn("echo")
        assert [event.text for event in it.all(ToolOutputDelta)] == ["one", "two"]
        assert [event.tool.brief for event in it.all(ToolCallFinished)] == ["echoed", "echoed"]
        stored = it.all(MessageStored)[0]
        assert stored.start == 1
        assert [(entry.kind, entry.tool.outcome if entry.tool else "") for entry in stored.entries] == [
            ("assistant", ""),
            ("tool", "running"),
            ("tool", "running"),
        ]
        chat = it.desk.transcript.entries
        assert [(entry.kind, entry.text or (entry.tool and entry.tool.output)) for entry in chat] == [
            ("user", "echo"),
            ("assistant", "Look:"),
            ("tool", "one"),
            ("tool", "two"),
            ("assistant", "Done"),
        ]


async def test_after_a_restart_the_chat_and_the_counts_are_the_same(tmp_path: Path) -> None:
    model = ScriptedModel(
        [ThinkPiece("hm"), *calls(("Echo", {"text": "one"}), text="Look:")],
        says("Done"),
        calls(("Asks", {})),
    )
    async with bench(tmp_path, model, tools=[Echo(), Asks()]) as it:
        await it.turn("echo")
        before, tokens = it.desk.transcript.entries, it.desk.tokens()
    async with bench(tmp_path, model, tools=[Echo(), Asks()]) as again:
        opened = await again.until(TranscriptReset)
        assert list(opened.entries) == before
        assert opened.tokens == tokens
        assert [row.label for row in opened.timeline] == ["answered", "echo"]


async def test_one_row_a_step_and_the_prompt_names_the_first(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("Echo", {"text": "one"})), calls(("Echo", {"text": "two"})), says("Done"))
    async with bench(tmp_path, model, tools=[Echo()]) as it:
        await it.turn("please echo")
        assert [event.row.checkpoint for event in it.all(CheckpointCreated)] == [0, 2, 3]
        rows = [event.row for event in it.all(StepEnded)]
        assert [row.label for row in rows] == ["please echo", "called Echo two", "answered"]
        assert [row.turn for row in rows] == [True, False, False]


async def test_a_stream_that_breaks_is_asked_for_again_and_stored_once(tmp_path: Path) -> None:
    broken = [TextPiece("The answer is"), ModelFault("connection", "the connection broke")]
    async with bench(tmp_path, ScriptedModel(broken, says("The answer is 42."))) as it:
        await it.turn("what?")
        assert it.last(RetryScheduled).reason == "the connection broke"
        assert len(it.all(StreamReset)) == 1
        assert [line for line in it.told() if line.startswith("assistant")] == ["assistant: The answer is 42."]


async def test_a_model_that_cannot_answer_ends_the_turn_and_keeps_the_prompt(tmp_path: Path) -> None:
    fault = ModelFault("auth", "The key is wrong.", hint="Set MOONSHOT_API_KEY.")
    async with bench(tmp_path, ScriptedModel([fault])) as it:
        ended = await it.turn("hi")
        assert (ended.reason, ended.message, ended.hint) == ("failed", "The key is wrong.", "Set MOONSHOT_API_KEY.")
        assert it.told() == [PROMPT, "checkpoint 0", "user: hi", "checkpoint 1"]


async def test_a_missing_usage_leaves_an_estimate_and_never_nothing(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("Hello there, how are you?", None))) as it:
        await it.turn("hi")
        tokens = it.last(TokensChanged).tokens
        assert (tokens.exact, tokens.exact_at) == (0, None)
        assert tokens.pending > 5


async def test_the_steps_of_a_turn_are_bounded(tmp_path: Path) -> None:
    replies = [calls(("Echo", {"text": str(number)})) for number in range(9)]
    async with bench(tmp_path, ScriptedModel(*replies), tools=[Echo()], loop=quick(max_steps=3)) as it:
        ended = await it.turn("loop")
        assert (ended.reason, ended.steps) == ("max_steps", 3)


async def test_the_same_call_over_and_over_ends_the_turn(tmp_path: Path) -> None:
    replies = [calls(("Echo", {"text": "again"})) for _ in range(20)]
    async with bench(tmp_path, ScriptedModel(*replies), tools=[Echo()]) as it:
        ended = await it.turn("loop")
        assert (ended.reason, ended.steps) == ("tool_call_repeat", 12)


async def test_a_prompt_for_a_model_that_is_not_ready_waits(tmp_path: Path) -> None:
    model = ScriptedModel(says("Now I can"))
    model.prepared.clear()
    async with bench(tmp_path, model) as it:
        it.tell(SendPrompt("hi"))
        while not it.desk.steering.prompts:
            await asyncio.sleep(0)
        assert not it.all(TurnStarted)
        model.prepared.set()
        assert (await it.until(TurnEnded)).reason == "done"


async def test_a_model_that_cannot_be_made_ready_gives_the_prompt_back(tmp_path: Path) -> None:
    model = ScriptedModel()
    model.preparation = [ModelFault("not_ready", "The weights are missing.")]
    async with bench(tmp_path, model) as it:
        it.tell(SendPrompt("hi"))
        assert (await it.until(PromptReturned)).text == "hi"


async def test_stopping_the_download_gives_the_prompt_back_and_the_next_one_tries_again(tmp_path: Path) -> None:
    model = ScriptedModel(says("Hello"))
    model.prepared.clear()
    async with bench(tmp_path, model) as it:
        it.tell(SendPrompt("hi"), Interrupt())
        assert (await it.until(PromptReturned)).text == "hi"
        model.prepared.set()
        assert (await it.turn("hi again")).reason == "done"


async def test_the_session_is_called_after_its_first_prompt(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("a"), says("b"))) as it:
        await it.turn("Fix the   parser\nplease")
        await it.turn("and more")
        assert [event.title for event in it.all(TitleChanged)] == ["Fix the parser please"]


async def test_a_command_nobody_understands_is_answered(tmp_path: Path) -> None:
    from kimi_tui.protocol.commands import Command

    async with bench(tmp_path, ScriptedModel()) as it:
        await it.do(Command())
        assert "not understood" in it.last(Noticed).text


async def test_thinking_alone_is_not_an_answer_to_store_when_stopped(tmp_path: Path) -> None:
    hold = asyncio.Event()
    async with bench(tmp_path, ScriptedModel([ThinkPiece("hm"), hold, Usage(1, 1), Finish("stop")])) as it:
        it.tell(SendPrompt("hi"))
        while not it.model.requests:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        it.tell(Interrupt())
        assert (await it.until(TurnEnded)).reason == "interrupted"
        assert it.told()[-1] == "checkpoint 1"


def thinks(reason: str = "stop", text: str = "") -> list[Step]:
    return [ThinkPiece("hm"), *([TextPiece(text)] if text else []), Usage(90, 10), Finish(reason)]


async def test_a_model_that_only_thinks_is_asked_for_an_answer(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(thinks(text="\n\n"), thinks("length"), says("42"))) as it:
        ended = await it.turn("what is it?")
        assert (ended.reason, ended.steps) == ("done", 3)
        roles = [message.role for message in it.desk.context.history]
        assert roles == ["user", "assistant", "user", "assistant", "user", "assistant"]
        assert it.model.sent(2)[-1].startswith("user: <system>Your last reply held neither text")


async def test_a_model_that_never_says_anything_is_not_asked_for_ever(tmp_path: Path) -> None:
    model = ScriptedModel(*(thinks() for _ in range(9)))
    async with bench(tmp_path, model) as it:
        ended = await it.turn("what is it?")
        assert (ended.reason, ended.steps) == ("failed", 4)
        assert ended.message == "the model did not answer"
        model.replies[:] = [thinks(), says("42")]
        assert (await it.turn("and now?")).reason == "done"


async def test_calls_in_between_are_progress(tmp_path: Path) -> None:
    silent_now_and_then = [reply for n in range(4) for reply in (thinks(), calls(("Echo", {"text": f"{n}"})))]
    async with bench(tmp_path, ScriptedModel(*silent_now_and_then, says("done")), tools=[Echo()]) as it:
        assert (await it.turn("go")).reason == "done"


async def test_an_answer_that_was_cut_off_is_said_to_be(tmp_path: Path) -> None:
    cut: list[Step] = [TextPiece("half an ans"), Usage(90, 10), Finish("length")]
    async with bench(tmp_path, ScriptedModel(cut)) as it:
        assert (await it.turn("go")).reason == "done"
        assert "cut off" in it.last(Noticed).text


async def test_a_model_that_is_paid_for_nothing_is_asked_for_an_answer(tmp_path: Path) -> None:
    nothing: list[Step] = [Usage(90, 1), Finish("stop")]
    async with bench(tmp_path, ScriptedModel(nothing, says("42"))) as it:
        assert ((await it.turn("what is it?")).reason, it.told()[-2]) == ("done", "assistant: 42")


async def test_an_answer_that_the_filter_took_is_told(tmp_path: Path) -> None:
    some: list[Step] = [TextPiece("half an ans"), Usage(90, 10), Finish("content_filter")]
    none: list[Step] = [Usage(90, 1), Finish("content_filter")]
    async with bench(tmp_path, ScriptedModel(some, none)) as it:
        assert (await it.turn("go")).reason == "done"
        assert "content filter" in it.last(Noticed).text
        ended = await it.turn("again")
        assert (ended.reason, ended.message) == ("failed", "the provider's content filter withheld the answer")

"""What the user sends while a turn runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kimi_tui.agent.opening import opened
from kimi_tui.protocol.commands import Interrupt, RunSlash, SendPrompt, Steer, TakeBackQueued, TakeQueued
from kimi_tui.protocol.events import (
    MessageStored,
    Noticed,
    PromptReturned,
    QueueChanged,
    SessionOpened,
    SteerTaken,
    TurnEnded,
    TurnStarted,
)
from kimi_tui.protocol.views import Draft
from kimi_tui.session import DraftFile
from tests.agent.fakes import Echo, ScriptedModel, Wait, bench, calls, says


async def test_steers_join_between_two_steps_in_order_and_once(tmp_path: Path) -> None:
    wait = Wait()
    async with bench(tmp_path, ScriptedModel(calls(("Wait", {})), says("ok")), tools=[wait]) as it:
        it.tell(SendPrompt("go"))
        await wait.begun.wait()
        it.tell(*(Steer(f"line {number}") for number in range(5)))
        while len(it.desk.steering.steers) < 5:
            await asyncio.sleep(0)
        wait.go.set()
        await it.until(TurnEnded)
        assert it.model.sent()[-6:] == ["tool: waited", *(f"user: line {number}" for number in range(5))]
        assert [event.entry.text for event in it.all(SteerTaken)] == [f"line {number}" for number in range(5)]
        assert it.last(QueueChanged) == QueueChanged((), ())


async def test_a_steer_forces_another_step_when_the_turn_would_end(tmp_path: Path) -> None:
    hold = asyncio.Event()
    model = ScriptedModel([*says("All done.")[:1], hold, *says("All done.")[1:]], says("Yes, B too."))
    async with bench(tmp_path, model) as it:
        it.tell(SendPrompt("do A"))
        while not model.requests:
            await asyncio.sleep(0)
        it.tell(Steer("also B"))
        hold.set()
        ended = await it.until(TurnEnded)
        assert ended.steps == 2
        assert [line for line in it.told() if "B" in line] == ["user: also B", "assistant: Yes, B too."]


@pytest.mark.parametrize("moment", range(0, 24, 2))
async def test_a_steer_sent_as_the_turn_ends_is_sent_exactly_once(tmp_path: Path, moment: int) -> None:
    async with bench(tmp_path, ScriptedModel(says("All done."), says("Yes, B too."))) as it:
        it.tell(SendPrompt("do A"))
        await it.until(MessageStored)
        for _ in range(moment):
            await asyncio.sleep(0)
        it.tell(Steer("also B"))
        async with asyncio.timeout(60):
            while "assistant: Yes, B too." not in it.told_if_any() or it.agent.busy:
                await asyncio.sleep(0)
        told = it.told()
        assert told.count("user: also B") == 1
        assert told.index("user: also B") > told.index("assistant: All done.")
        assert [entry.text for entry in it.desk.transcript.entries].count("also B") == 1


async def test_without_a_turn_a_steer_is_a_prompt(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("ok"))) as it:
        it.tell(Steer("hi"))
        await it.until(TurnEnded)
        assert it.all(TurnStarted)[0].entry.turn


async def test_one_text_is_taken_out_of_the_queue_and_put_back_where_it_was(tmp_path: Path) -> None:
    wait = Wait()
    async with bench(tmp_path, ScriptedModel(calls(("Wait", {})), says("ok")), tools=[wait]) as it:
        it.tell(SendPrompt("go"))
        await wait.begun.wait()
        it.tell(*(SendPrompt(text, images) for text, images in (("a", ()), ("b", ("data:b",)), ("c", ()))))
        it.tell(TakeQueued("prompts", 1, "b"))
        assert await it.until(PromptReturned) == PromptReturned("b", "", ("data:b",))
        assert it.last(QueueChanged) == QueueChanged((), ("a", "c"))
        it.tell(SendPrompt("B", ("data:b",), place=1), Steer("s1"), Steer("s2"), Steer("s0", place=0))
        it.tell(TakeQueued("steers", 2, "s2", drop=True))
        while it.last(QueueChanged) != QueueChanged(("s0", "s1"), ("a", "B", "c")):
            await asyncio.sleep(0)
        it.tell(Interrupt())
        await it.until(TurnEnded)


async def test_what_is_no_longer_in_the_queue_cannot_be_taken_out_of_it(tmp_path: Path) -> None:
    wait = Wait()
    async with bench(tmp_path, ScriptedModel(calls(("Wait", {})), says("ok")), tools=[wait]) as it:
        it.tell(SendPrompt("go"))
        await wait.begun.wait()
        it.tell(SendPrompt("later"), TakeQueued("prompts", 0, "another"))
        assert (await it.until(Noticed)).text == "that has been sent already"
        assert it.last(QueueChanged) == QueueChanged((), ("later",))
        it.tell(Interrupt())
        await it.until(TurnEnded)


async def test_what_waits_is_on_the_disk_as_long_as_it_waits(tmp_path: Path) -> None:
    wait = Wait()
    async with bench(tmp_path, ScriptedModel(calls(("Wait", {})), says("ok"), says("ok")), tools=[wait]) as it:
        it.desk.steering.changed = it.desk.keep_queue
        it.tell(SendPrompt("go"))
        await wait.begun.wait()
        it.tell(SendPrompt("later"), Steer("now"))
        while len(it.desk.state.queued) < 2:
            await asyncio.sleep(0)
        await it.desk.state_file.flush()
        assert it.desk.session.load_state()[0].queued == ("now", "later")
        wait.go.set()
        await it.until(TurnEnded, 2)
        await it.desk.state_file.flush()
        assert it.desk.session.load_state()[0].queued == ()


async def test_prompts_queue_for_after_the_turn(tmp_path: Path) -> None:
    wait = Wait()
    model = ScriptedModel(calls(("Wait", {})), says("one"), says("two"), says("three"))
    async with bench(tmp_path, model, tools=[wait]) as it:
        it.tell(SendPrompt("first"))
        await wait.begun.wait()
        it.tell(SendPrompt("second"), SendPrompt("third"))
        wait.go.set()
        await it.until(TurnEnded, 3)
        assert [event.entry.text for event in it.all(TurnStarted)] == ["first", "second", "third"]


async def test_what_waits_can_be_taken_back(tmp_path: Path) -> None:
    wait = Wait()
    async with bench(tmp_path, ScriptedModel(calls(("Wait", {})), says("ok")), tools=[wait]) as it:
        it.tell(SendPrompt("go"))
        await wait.begun.wait()
        it.tell(Steer("steer"), SendPrompt("later"), TakeBackQueued())
        assert (await it.until(PromptReturned)).text == "steer\n\nlater"
        wait.go.set()
        await it.until(TurnEnded)
        assert len(it.all(TurnStarted)) == 1 and not it.all(SteerTaken)


async def test_steers_of_a_stopped_turn_are_not_sent_later(tmp_path: Path) -> None:
    wait = Wait()
    async with bench(tmp_path, ScriptedModel(calls(("Wait", {})), says("ok")), tools=[wait]) as it:
        it.tell(SendPrompt("A"))
        await wait.begun.wait()
        it.tell(Steer("old steer"), Interrupt())
        await it.until(TurnEnded)
        await it.idle()
        assert it.last(PromptReturned).text == "old steer"
        await it.turn("B")
        assert "user: old steer" not in it.model.sent()


async def test_a_slash_command_in_mid_turn_never_reaches_the_model(tmp_path: Path) -> None:
    wait = Wait()
    async with bench(tmp_path, ScriptedModel(calls(("Wait", {})), says("ok")), tools=[wait, Echo()]) as it:
        it.tell(SendPrompt("go"))
        await wait.begun.wait()
        it.tell(RunSlash("nonsense", "x"))
        wait.go.set()
        await it.until(TurnEnded)
        assert "/nonsense" in it.last(Noticed).text
        assert not [text for text in it.model.sent() if "nonsense" in text]


async def test_what_waited_when_the_program_was_killed_is_a_draft_again(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel()) as it:
        await it.until(SessionOpened)
        it.desk.state.queued = ("first", "second")
        await asyncio.to_thread(DraftFile(it.desk.session).save, Draft("half a thought"))
        told = [event for event in await opened(it.desk) if isinstance(event, SessionOpened)]
        assert [event.draft for event in told] == [Draft("first\n\nsecond\n\nhalf a thought")]
        await it.desk.state_file.flush()
        state, _ = it.desk.session.load_state()
        assert (DraftFile(it.desk.session).load(), state.queued) == (told[0].draft, ())

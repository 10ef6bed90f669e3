"""`/btw`: asked beside the conversation, answered once, and gone."""

from __future__ import annotations

import asyncio
from pathlib import Path

from kimi_tui.llm.model import ModelFault
from kimi_tui.protocol.commands import Interrupt, RunSlash, SendPrompt
from kimi_tui.protocol.events import AsideEnded, AsideStarted, Noticed, TextDelta, TurnEnded
from tests.agent.fakes import Echo, ScriptedModel, Wait, bench, calls, says


def everything_on_disk(folder: Path) -> str:
    return "".join(path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file())


async def test_a_question_aside_is_answered_from_the_conversation_and_leaves_no_trace(tmp_path: Path) -> None:
    model = ScriptedModel(says("It is in parser.py."), says("Because of the tabs."), says("On."))
    async with bench(tmp_path, model, tools=[Echo()]) as b:
        await b.turn("where is it?")
        before, deltas = b.told(), len(b.all(TextDelta))
        await b.do(RunSlash("btw", "why there, secretly?"))
        assert b.last(AsideStarted).question == "why there, secretly?"
        assert b.last(AsideEnded) == AsideEnded("why there, secretly?", "Because of the tabs.")
        assert model.requests[-1].tools == ()
        assert model.sent()[-1].endswith("why there, secretly?") and "user: where is it?" in model.sent()[0]
        assert b.told() == before and len(b.all(TextDelta)) == deltas
        assert "secretly" not in everything_on_disk(tmp_path)
        await b.turn("go on")
        assert "secretly" not in "".join(model.sent())


async def test_it_can_be_asked_while_a_turn_runs(tmp_path: Path) -> None:
    wait = Wait()
    model = ScriptedModel(calls(("Wait", {})), says("aside"), says("the end"))
    async with bench(tmp_path, model, tools=[wait]) as b:
        b.tell(SendPrompt("go"))
        await wait.begun.wait()
        b.tell(RunSlash("btw", "what are you doing?"))
        assert (await b.until(AsideEnded)).answer == "aside"
        wait.go.set()
        assert (await b.until(TurnEnded)).reason == "done"


async def test_esc_stops_it(tmp_path: Path) -> None:
    model = ScriptedModel([asyncio.Event()])
    async with bench(tmp_path, model) as b:
        b.tell(RunSlash("btw", "hm?"))
        await b.until(AsideStarted)
        b.tell(Interrupt())
        assert (await b.until(AsideEnded)).fault == "stopped"


async def test_a_model_that_cannot_answer_says_why(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel([ModelFault("auth", "the key was refused", hint="Set it.")])) as b:
        b.tell(RunSlash("btw", "hm?"))
        assert (await b.until(AsideEnded)).fault == "the key was refused Set it."


async def test_without_a_question_nothing_is_asked(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel()) as b:
        await b.do(RunSlash("btw", " "))
        assert "needs a question" in b.last(Noticed).text

"""Resources of servers that a prompt names: read from a real server, sent along, and shown as they were typed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kimi_tui.agent.mentions import Mention, mentions_in
from kimi_tui.llm.model import Finish, TextPiece
from kimi_tui.protocol.commands import Interrupt, RunSlash, SendPrompt, Steer
from kimi_tui.protocol.events import (
    Noticed,
    PromptReturned,
    ResourcesChanged,
    ServerAwaited,
    SteerTaken,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from kimi_tui.protocol.views import ResourceView
from tests.agent.fakes import Bench, ScriptedModel, says
from tests.agent.running import eventually
from tests.agent.test_mcp_servers import plain, session, until_state

LENDER = plain("lends")
KNOWN = frozenset({("my", "notes://today."), ("my:own", "x://y")})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@my:notes://today", [("my", "notes://today")]),
        ("see @my:a://b, (@my:c://d) and @my:a://b!", [("my", "a://b"), ("my", "c://d")]),
        ("the dot of @my:notes://today. belongs to it", [("my", "notes://today.")]),
        ("看看 @my:笔记://今天。", [("my", "笔记://今天")]),
        ('@"the docs:file:///my guide.md"', [("the docs", "file:///my guide.md")]),
        ("@my:own:x://y", [("my:own", "x://y")]),
        ("mail me@my:a://b or @other:a://b, @my, @my:", []),
    ],
)
def test_what_is_named_is_found(text: str, found: list[tuple[str, str]]) -> None:
    servers = ("my", "the docs", "my:own")
    assert mentions_in(text, servers, KNOWN) == tuple(Mention(*each) for each in found)


async def test_what_a_prompt_names_is_sent_along_and_the_chat_shows_what_was_typed(tmp_path: Path) -> None:
    model = ScriptedModel(says("rain"))
    async with session(tmp_path, model, my=LENDER) as it:
        told = await it.until(ResourcesChanged)
        assert told.resources == (ResourceView("my", "notes://today", "today"),)
        assert (await it.turn("what does @my:notes://today say?")).reason == "done"
        assert model.sent()[0] == (
            'user: what does @my:notes://today say?\n\n<resource address="my:notes://today">\nRain, 漢字.\n</resource>'
        )
        assert it.last(TurnStarted).entry.text == "what does @my:notes://today say?"
        assert it.last(Noticed).text == "@my:notes://today: 1 line sent along"


async def test_what_cannot_be_read_is_told_to_both_and_stops_nothing(tmp_path: Path) -> None:
    model = ScriptedModel(says("well"), says("well"))
    async with session(tmp_path, model, my=LENDER, bad=plain("crash")) as it:
        await until_state(it, "my", "ready")
        await until_state(it, "bad", "failed")
        assert (await it.turn("@my:notes://gone and @bad:x://y")).reason == "done"
        assert "my:notes://gone, which could not be read: The server my refused" in model.sent()[0]
        assert "The server bad is not connected" in model.sent()[0]
        assert (await it.turn("@nobody:x://y")).reason == "done"
        assert model.sent(1)[-1] == "user: @nobody:x://y"


async def test_reading_can_be_stopped_and_the_prompt_comes_back(tmp_path: Path) -> None:
    async with session(tmp_path, ScriptedModel(), my=LENDER) as it:
        await until_state(it, "my", "ready")
        it.tell(SendPrompt("@my:notes://never"))
        assert (await it.until(ServerAwaited)).server == "my"
        it.tell(Interrupt())
        assert (await it.until(TurnEnded)).reason == "interrupted"
        assert it.last(PromptReturned).text == "@my:notes://never"
        assert it.last(ServerAwaited).server == ""


async def test_a_steer_takes_along_what_it_names(tmp_path: Path) -> None:
    said = asyncio.Event()
    model = ScriptedModel([TextPiece("first"), said, Finish("stop")], says("second"))
    async with session(tmp_path, model, my=LENDER) as it:
        await it.until(ResourcesChanged)
        it.tell(SendPrompt("begin"))
        await it.until(TextDelta)
        await it_steers(it, "@my:notes://today")
        said.set()
        assert (await it.until(TurnEnded)).reason == "done"
        assert it.last(SteerTaken).entry.text == "@my:notes://today"
        assert "Rain, 漢字." in model.sent(1)[-1]


async def test_steers_are_not_lost_when_the_reading_for_one_is_stopped(tmp_path: Path) -> None:
    said = asyncio.Event()
    model = ScriptedModel([TextPiece("first"), said, Finish("stop")], says("second"))
    async with session(tmp_path, model, my=LENDER) as it:
        await until_state(it, "my", "ready")
        it.tell(SendPrompt("begin"))
        await it.until(TextDelta)
        await it_steers(it, "@my:notes://never", "and this")
        said.set()
        await it.until(ServerAwaited)
        it.tell(Interrupt())
        assert (await it.until(TurnEnded)).reason == "interrupted"
        assert it.last(PromptReturned).text == "@my:notes://never\n\nand this"


async def it_steers(it: Bench, *texts: str) -> None:
    """All of it waits."""
    it.tell(*(Steer(text) for text in texts))
    await eventually(lambda: len(it.desk.steering.steers) == len(texts))


async def test_words_of_a_server_name_nothing(tmp_path: Path) -> None:
    """A prompt of one server must not have another one read."""
    model = ScriptedModel(says("fine"))
    async with session(tmp_path, model, my=plain("lends", "sly")) as it:
        await until_state(it, "my", "ready")
        it.tell(RunSlash("mcp:my:review", "x"))
        await it.until(TurnEnded)
        assert model.sent()[0] == "user: Review this Python: x @my:notes://today"

"""Servers of tools in a session: when they start, what the model is offered, what the screen is told."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kimi_tui.agent.agent import Agent
from kimi_tui.agent.outbox import Outbox
from kimi_tui.agent.session_servers import SessionServers
from kimi_tui.mcp import server
from kimi_tui.protocol.commands import ListMcp, RestartMcp, SetMode
from kimi_tui.protocol.events import McpChanged, ModelReady, Noticed
from kimi_tui.session import Session
from kimi_tui.settings import McpSettings
from tests.agent.fakes import Bench, FakeOpener, ScriptedModel, build_desk, calls, says
from tests.agent.running import running
from tests.mcp.benches import HERE


def plain(*how: str) -> McpSettings:
    return McpSettings(command=sys.executable, args=("-I", "-S", str(HERE / "plain_server.py"), *how))


@asynccontextmanager
async def session(
    folder: Path, model: ScriptedModel, *, headless: bool = False, **servers: McpSettings
) -> AsyncIterator[Bench]:
    outbox = Outbox()
    desk = build_desk(outbox, Session(folder / "s", folder), model, headless=headless)
    desk.servers = SessionServers(servers, folder / "mcp.json", folder, desk.toolset, desk.emit)
    await desk.context.restore()
    async with running(Bench(Agent(desk, FakeOpener(outbox, build_desk), outbox), model, outbox, folder / "s")) as it:
        yield it


async def connected(it: Bench, name: str) -> McpChanged:
    count = 1
    while True:
        event = await it.until(McpChanged, count)
        if any(view.name == name and view.state == "ready" for view in event.servers):
            return event
        count += 1


async def test_the_model_is_offered_the_tools_of_servers_and_calls_them(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("mcp__my__echo", {"text": "over there"})), says("ok"))
    async with session(tmp_path, model, my=plain()) as it:
        await it.until(ModelReady)
        event = await connected(it, "my")
        assert "mcp__my__echo" in event.servers[0].tools
        await it.do(SetMode("yolo", True))
        await it.turn("say it")
        assert "mcp__my__echo" in [spec.name for spec in model.requests[0].tools]
        assert model.sent(1)[-1] == "tool: over there"


async def test_a_broken_server_does_not_stop_a_turn_and_is_told_once(tmp_path: Path) -> None:
    model = ScriptedModel(says("hello"), says("again"))
    async with session(tmp_path, model, bad=McpSettings(command="/no/such/program"), deaf=plain("deaf")) as it:
        await it.until(ModelReady)
        assert (await it.turn("hi")).reason == "done"
        assert (await it.turn("hi")).reason == "done"
        await it.until(Noticed)
        assert [event.text for event in it.all(Noticed)] == [
            "the MCP server bad does not work: there is no program '/no/such/program'; /mcp shows how it stands"
        ]


async def test_without_a_screen_the_first_turn_waits_for_the_servers(tmp_path: Path) -> None:
    model = ScriptedModel(says("hello"))
    async with session(tmp_path, model, headless=True, my=plain()) as it:
        await it.turn("hi")
        assert "mcp__my__echo" in [spec.name for spec in model.requests[0].tools]


async def test_a_server_that_dies_takes_its_tools_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "WAITS", (60.0,))
    model = ScriptedModel(calls(("mcp__my__die", {})), says("it is gone"))
    async with session(tmp_path, model, my=plain()) as it:
        await it.until(ModelReady)
        await connected(it, "my")
        await it.do(SetMode("yolo", True))
        assert (await it.turn("kill it")).reason == "done"
        assert "ended before it answered" in model.sent(1)[-1]
        while it.last(McpChanged).servers[0].state == "ready":
            await it.until(McpChanged, len(it.all(McpChanged)) + 1)
        assert "mcp__my__die" not in it.desk.toolset


async def test_servers_are_listed_and_started_anew_on_demand(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text(
        json.dumps({"mcpServers": {"off": {"url": "http://127.0.0.1:9/", "disabled": True}}})
    )
    async with session(tmp_path, ScriptedModel(), my=plain()) as it:
        await it.until(ModelReady)
        await connected(it, "my")
        await it.do(ListMcp())
        states = {view.name: (view.state, view.transport) for view in it.last(McpChanged).servers}
        assert states == {"off": ("stopped", "http"), "my": ("ready", "stdio")}
        before = len(it.all(McpChanged))
        await it.do(RestartMcp("my"))
        assert [event.servers[1].state for event in it.all(McpChanged)[before:]][:2] == ["stopped", "starting"]
        await it.do(RestartMcp("nobody"))
        assert "no MCP server nobody" in it.last(Noticed).text

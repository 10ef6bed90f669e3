"""Servers of tools in a session: when they start, what the model is offered, what the screen is told."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from kimi_tui.agent.agent import Agent
from kimi_tui.agent.outbox import Outbox
from kimi_tui.agent.session_commands import keep_told
from kimi_tui.agent.session_servers import SessionServers
from kimi_tui.protocol.commands import ListMcp, RestartMcp, SendPrompt, SetMode
from kimi_tui.protocol.events import McpChanged, Noticed, TurnEnded
from kimi_tui.session import Session
from kimi_tui.settings import McpSettings
from tests.agent.fakes import Bench, FakeOpener, ScriptedModel, build_desk, calls, says
from tests.agent.running import eventually, running
from tests.mcp.benches import HERE


def plain(*how: str, **more: Any) -> McpSettings:
    return McpSettings(command=sys.executable, args=("-I", "-S", str(HERE / "plain_server.py"), *how), **more)


@asynccontextmanager
async def session(
    folder: Path, model: ScriptedModel, *, headless: bool = False, **servers: McpSettings
) -> AsyncIterator[Bench]:
    outbox = Outbox()
    desk = build_desk(outbox, Session(folder / "s", folder), model, headless=headless)
    desk.servers = SessionServers(
        servers, folder / "mcp.json", folder, folder / "logs", folder / "grants", desk.toolset, desk.emit
    )
    keep_told(desk)
    await desk.context.restore()
    async with running(Bench(Agent(desk, FakeOpener(outbox, build_desk), outbox), model, outbox, folder / "s")) as it:
        yield it


async def until_state(it: Bench, name: str, state: str) -> None:
    """The screen has been told that the server is in this state, be it in another one by now."""

    def reached() -> bool:
        return any((view.name, view.state) == (name, state) for told in it.all(McpChanged) for view in told.servers)

    await eventually(reached)


async def test_the_first_turn_without_a_screen_has_the_tools_and_a_server_that_dies_takes_them_with_it(
    tmp_path: Path,
) -> None:
    model = ScriptedModel(calls(("mcp__my__echo", {"text": "over there"})), calls(("mcp__my__die", {})), says("gone"))
    async with session(tmp_path, model, headless=True, my=plain("one life", str(tmp_path / "mark"))) as it:
        it.tell(SetMode("yolo", True), SendPrompt("say it, then kill it"))
        await eventually(lambda: bool(it.all(TurnEnded)))
        assert "mcp__my__echo" in [spec.name for spec in model.requests[0].tools]
        assert model.sent(1)[-1] == "tool: over there"
        assert "ended before it answered" in model.sent(2)[-1]
        await until_state(it, "my", "failed")
        await eventually(lambda: "mcp__my__die" not in it.desk.toolset)


async def test_broken_servers_stop_no_turn_and_all_can_be_listed_and_started_anew(tmp_path: Path) -> None:
    servers = {"off": {"url": "http://127.0.0.1:9/", "disabled": True}}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    model = ScriptedModel(says("hello"), says("again"))
    async with session(
        tmp_path, model, bad=McpSettings(command="/no/such/program"), deaf=plain("deaf"), my=plain()
    ) as it:
        assert (await it.turn("hi")).reason == "done"
        await until_state(it, "bad", "failed")
        assert [event.text for event in it.all(Noticed)] == [
            "the MCP server bad does not work: there is no program '/no/such/program'; /mcp shows how it stands"
        ]
        assert (await it.turn("hi")).reason == "done"
        await until_state(it, "my", "ready")
        await it.do(ListMcp())
        states = {view.name: (view.state, view.transport) for view in it.last(McpChanged).servers}
        assert states == {
            "off": ("stopped", "http"),
            "bad": ("failed", "stdio"),
            "deaf": ("starting", "stdio"),
            "my": ("ready", "stdio"),
        }
        before = len(it.all(McpChanged))
        await it.do(RestartMcp("my"))
        await eventually(lambda: len(it.all(McpChanged)) >= before + 2)
        assert [event.servers[3].state for event in it.all(McpChanged)[before:]][:2] == ["stopped", "starting"]
        await it.do(RestartMcp("nobody"))
        assert "no MCP server nobody" in it.last(Noticed).text

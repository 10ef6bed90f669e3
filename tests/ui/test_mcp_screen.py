"""The servers of tools: how they stand, what went wrong, and starting one anew."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from textual.pilot import Pilot

from kimi_tui.protocol.commands import AnswerSignInMcp, ListMcp, RestartMcp, SignInMcp, SignOutMcp
from kimi_tui.protocol.events import McpChanged
from kimi_tui.protocol.views import McpServerView
from kimi_tui.ui.screens.mcp import Mcp
from kimi_tui.ui.theme import LIGHT
from tests.ui.samples import NOW
from tests.ui.stage import Stage

READY = McpServerView(
    "docs", "ready", "http", "https://docs.example/mcp", ("mcp__docs__find", "mcp__docs__read"), ("find", "read")
)
BROKEN = McpServerView(
    "db",
    "failed",
    "stdio",
    "db-server",
    error="it ended with exit code 3",
    retry_at=NOW + 30,
    said="[warn] no \x1b[31mdatabase\x1b[0m\nTraceback: nothing to connect to",
)
STOPPED = McpServerView("old", "stopped", "sse", "https://old.example/sse")
SERVERS = (READY, BROKEN, STOPPED)


@asynccontextmanager
async def shown(
    size: tuple[int, int] = (120, 24), servers: tuple[McpServerView, ...] = SERVERS
) -> AsyncIterator[tuple[Stage, Mcp, Pilot[None]]]:
    def opened() -> Mcp:
        screen = Mcp()
        screen.servers.clock = lambda: NOW
        return screen

    app = Stage(opened)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        screen = app.screen_stack[1]
        assert isinstance(screen, Mcp)
        app.tell(McpChanged(servers))
        await pilot.pause()
        yield app, screen, pilot


def texts(rows: list[list[tuple[str, str]]]) -> list[str]:
    return ["".join(text for text, _ in row).strip() for row in rows]


def reading(screen: Mcp) -> list[str]:
    return [screen.reading.render_line(y).text.strip() for y in range(screen.reading.size.height)]


async def test_each_server_tells_its_state_its_transport_and_its_tools() -> None:
    async with shown() as (app, screen, _pilot):
        assert app.commands == [ListMcp()]
        rows = [" ".join(screen.servers.render_line(y).text.split()) for y in range(3)]
        assert rows == ["›✓ docs http 2 tools", "✗ db stdio failed", "■ old sse stopped"]
        assert screen.facts(80) == "1 of 3 ready · 2 tools"
        assert reading(screen)[:3] == ["tools", "find", "read"]


async def test_a_broken_server_tells_its_error_what_it_said_and_when_it_is_tried_again() -> None:
    async with shown() as (_, screen, pilot):
        await pilot.press("down")
        await pilot.pause()
        assert "tries again in 30s" in texts(screen.head(70))[0]
        assert texts(screen.head(70))[1] == "stdio · db-server"
        assert reading(screen)[:6] == [
            "error",
            "it ended with exit code 3",
            "",
            "what it said",
            "[warn] no database",
            "Traceback: nothing to connect to",
        ]


async def test_a_server_is_started_anew_with_one_key() -> None:
    async with shown() as (app, screen, pilot):
        await pilot.press("down", "r")
        await pilot.pause()
        assert app.commands[-1] == RestartMcp("db")
        app.tell(McpChanged((READY, McpServerView("db", "starting", "stdio", "db-server"), STOPPED)))
        await pilot.pause()
        assert screen.servers.item is not None and screen.servers.item.state == "starting"


LOCKED = McpServerView("wiki", "locked", "http", "https://wiki.example/mcp", error="it wants you to sign in")
AT = "https://login.example/authorize?" + "&".join(f"part{number}=value" for number in range(12))


async def test_a_server_that_waits_for_a_sign_in_says_so_and_takes_it_with_one_key() -> None:
    async with shown(servers=(LOCKED,)) as (app, screen, pilot):
        assert " ".join(screen.servers.render_line(0).text.split()) == "›⊘ wiki http sign in"
        assert list(screen.keys())[1] == ("s", "sign in")
        await pilot.press("s")
        assert app.commands[-1] == SignInMcp("wiki")
        app.tell(McpChanged((replace(LOCKED, sign_in_at=AT),)))
        await pilot.pause()
        assert "".join(reading(screen)[1:]).startswith(AT)
        await pilot.press("c")
        assert app.clipboard == AT
        await pilot.press("p", *"http://127.0.0.1:1/callback?code=x", "enter")
        await pilot.pause()
        assert app.commands[-1] == AnswerSignInMcp("wiki", "http://127.0.0.1:1/callback?code=x")
        await pilot.press("o")
        assert app.commands[-1] == SignOutMcp("wiki")


async def test_the_keys_of_a_sign_in_do_nothing_where_there_is_none() -> None:
    async with shown() as (app, screen, pilot):
        before = list(app.commands)
        await pilot.press("p", "c", "o", "down", "s")
        await pilot.pause()
        assert app.commands == before and len(app.screen_stack) == 2
        app.tell(McpChanged((replace(READY, signed_in=True),)))
        await pilot.press("home", "o")
        await pilot.pause()
        assert app.commands[-1] == SignOutMcp("docs") and list(screen.keys())[2] == ("o", "sign out")


async def test_a_tool_with_a_name_of_its_own_for_the_model_is_told_with_both() -> None:
    odd = McpServerView("文 件", "ready", "stdio", "files", ("mcp______read_0a1b2c3d",), ("读.取",))
    async with shown(servers=(odd,)) as (_, screen, _pilot):
        assert reading(screen)[:2] == ["tools", "读.取  mcp______read_0a1b2c3d"]


async def test_without_servers_it_says_how_to_set_one_up() -> None:
    async with shown(servers=()) as (_, screen, pilot):
        assert "[mcp" in " ".join(texts(screen.head(70)))
        await pilot.press("r")


@pytest.mark.parametrize("size", [(60, 16), (200, 60), (20, 5), (1, 1)])
async def test_any_size_is_survived(size: tuple[int, int]) -> None:
    async with shown(size=size) as (app, _, pilot):
        await pilot.press("down", "enter", "escape", "escape")
        await pilot.pause()
        assert len(app.screen_stack) == 1


def test_it_looks_as_it_did(snap_compare: Callable[..., bool]) -> None:
    def opened() -> Mcp:
        screen = Mcp()
        screen.servers.clock = lambda: NOW
        return screen

    async def answered(pilot: Pilot[None]) -> None:
        assert isinstance(pilot.app, Stage)
        await pilot.pause()
        pilot.app.tell(McpChanged(SERVERS))
        await pilot.press("down")
        await pilot.pause()

    assert snap_compare(Stage(opened, LIGHT), run_before=answered, terminal_size=(110, 20))

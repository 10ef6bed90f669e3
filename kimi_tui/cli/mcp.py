"""`kimi-tui mcp`: the servers of tools that are configured; signing in to one, and out."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import click

from kimi_tui.faults import Fault
from kimi_tui.literal import one_line
from kimi_tui.mcp import HostedServers, McpFault, ServerConfig, read_servers
from kimi_tui.mcp.grants import Grants
from kimi_tui.options import LaunchOptions
from kimi_tui.places import grants_folder, logs_folder, mcp_file
from kimi_tui.settings import load_settings

_config_option = click.option("--config-file", "file", type=click.Path(exists=True, dir_okay=False, path_type=Path))


@click.group("mcp", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """The servers of tools: under [mcp.NAME] in the configuration, and in mcp.json of the data folder."""


@command.command("list")
@_config_option
def list_them(file: Path | None) -> None:
    """Show which are configured, and to which you are signed in."""
    grants = Grants(grants_folder())
    for config in _configured(file).values():
        signed_in = config.takes_sign_in and grants.of(config) is not None
        state = "off" if config.disabled else "signed in" if signed_in else ""
        parts = (config.name, config.transport, config.shown_target, state)
        print(one_line(" · ".join(part for part in parts if part)))


@command.command("auth")
@click.argument("name")
@_config_option
def auth(name: str, file: Path | None) -> None:
    """Sign in to the server NAME with a browser.

    If the browser runs on another machine, paste the address where it ended up."""
    asyncio.run(_sign_in(_named(name, file)))


@command.command("reset-auth")
@click.argument("name")
@_config_option
def reset_auth(name: str, file: Path | None) -> None:
    """Forget the sign-in to the server NAME."""
    known = Grants(grants_folder()).forget(_named(name, file))
    print(one_line(f"signed out of {name}" if known else f"you were not signed in to {name}"))


def _configured(file: Path | None) -> dict[str, ServerConfig]:
    settings = load_settings(LaunchOptions(work_dir=Path.cwd(), config_file=file))
    servers, notices = read_servers(settings.mcp, mcp_file())
    for notice in notices:
        print(f"kimi-tui: {one_line(notice)}", file=sys.stderr)
    return {server.name: server for server in servers}


def _named(name: str, file: Path | None) -> ServerConfig:
    servers = _configured(file)
    if name not in servers:
        raise Fault(f"there is no MCP server {name}", hint=f"There are: {', '.join(servers) or 'none'}.")
    return servers[name]


async def _sign_in(config: ServerConfig) -> None:
    """Tell the address, and take what is typed meanwhile for where the browser ended up."""
    told: set[str] = set()

    def tell() -> None:
        address = servers.status()[0].sign_in_at
        if address and address not in told:
            if not told:
                _read_lines(answer)
            told.add(address)
            print(f"Sign in with any browser at\n\n{address}\n")
            print(
                "A browser on another machine ends on a page that cannot be reached: paste its address here.",
                flush=True,
            )

    async def answer(line: str) -> None:
        try:
            await servers.signed_in(config.name, line)
        except McpFault as fault:
            print(f"kimi-tui: {one_line(str(fault))}", file=sys.stderr)

    servers = HostedServers((config,), Path.cwd(), logs_folder(), grants_folder(), changed=tell)
    try:
        if await servers.sign_in(config.name):
            print(one_line(f"signed in to {config.name}"))
    except McpFault as fault:
        raise Fault(str(fault)) from None
    finally:
        await servers.close()


def _read_lines(answer: Callable[[str], Coroutine[Any, Any, None]]) -> None:
    """In a thread that nobody waits for, since a read of the keyboard cannot be stopped; past the buffers of Python,
    whose locks such a thread would still hold at the exit."""
    loop = asyncio.get_running_loop()

    def read() -> None:
        rest = b""
        while data := os.read(0, 1 << 16):
            *lines, rest = (rest + data).split(b"\n")
            for line in filter(None, (line.decode("utf-8", "replace").strip() for line in lines)):
                asyncio.run_coroutine_threadsafe(answer(line), loop)

    threading.Thread(target=read, daemon=True).start()

"""Servers under test, with what they told."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kimi_tui.mcp import HostedServers, HostedTool, McpResult, ServerConfig
from kimi_tui.mcp.grants import Grants
from kimi_tui.mcp.server import McpTool, Server
from kimi_tui.mcp.servers import Servers
from kimi_tui.protocol.views import McpServerView

HERE = Path(__file__).parent


@dataclass
class Bench:
    servers: Servers | HostedServers
    notices: list[str] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    lent: frozenset[str] = frozenset()
    """The tools that could be called at the moment that was waited for last."""
    _told: list[tuple[McpServerView, frozenset[str]]] = field(default_factory=list)
    _newest: dict[str, McpServerView] = field(default_factory=dict)
    _read: int = 0

    def changed(self) -> None:
        """Keep every state that a server is ever in."""
        lent = frozenset(tool.name for tool in self.servers.tools())
        self._told += [(view, lent) for view in self.servers.status() if self._newest.get(view.name) != view]
        self._newest = {view.name: view for view in self.servers.status()}
        self.news.set()

    def view(self, name: str) -> McpServerView:
        return next(view for view in self.servers.status() if view.name == name)

    def tool(self, name: str) -> McpTool | HostedTool:
        return next(tool for tool in self.servers.tools() if tool.name == name)

    def plain(self, name: str) -> Server:
        """The server itself, where it is kept in this process."""
        assert isinstance(self.servers, Servers)
        return self.servers.named(name)

    @property
    def hosted(self) -> HostedServers:
        """All of them, where another process keeps them."""
        assert isinstance(self.servers, HostedServers)
        return self.servers

    async def call(self, name: str, **arguments: Any) -> McpResult:
        self._read = len(self._told)
        return await self.tool(name).call(arguments)

    async def until(self, name: str, wanted: Callable[[McpServerView], bool]) -> McpServerView:
        """The server's view when it was as wanted for the first time since the last call, or since the one that was
        waited for before, be it another one by now: a server that failed is not failed for long."""
        async with asyncio.timeout(60):
            while True:
                while self._read < len(self._told):
                    view, self.lent = self._told[self._read]
                    self._read += 1
                    if view.name == name and wanted(view):
                        return view
                self.news.clear()
                await self.news.wait()


@asynccontextmanager
async def serving(
    *configs: ServerConfig, work_dir: Path = HERE, grants: Path = HERE / "no grants"
) -> AsyncIterator[Bench]:
    """Started, and closed at the end."""
    bench = Bench(Servers(configs, work_dir, Grants(grants)))
    bench.servers = Servers(configs, work_dir, Grants(grants), changed=bench.changed, notice=bench.notices.append)
    bench.servers.start()
    try:
        yield bench
    finally:
        await bench.servers.close()


def plain(name: str, *how: str, **fields: Any) -> ServerConfig:
    """The server without the SDK."""
    return ServerConfig(name, "stdio", sys.executable, ("-I", "-S", str(HERE / "plain_server.py"), *how), **fields)


def sdk(name: str, **fields: Any) -> ServerConfig:
    """The server with the SDK, over stdio."""
    return ServerConfig(name, "stdio", sys.executable, (str(HERE / "sdk_server.py"),), **fields)


@asynccontextmanager
async def http_address(*how: str) -> AsyncIterator[tuple[str, asyncio.subprocess.Process]]:
    """The server with the SDK, over HTTP, the old way with `sse`, behind a key with `locked`: where it is."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(HERE / "sdk_server.py"), *(how or ("http",))),
        stdout=asyncio.subprocess.PIPE,
        env=dict(os.environ),
    )
    assert process.stdout is not None
    port = int(await process.stdout.readline())
    try:
        yield f"http://127.0.0.1:{port}/{'sse' if 'sse' in how else 'mcp'}", process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()

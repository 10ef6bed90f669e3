"""All servers of a session, in this process; `HostedServers` keeps them in another one.

servers = Servers(configs, work_dir, grants, changed=…, notice=…)
servers.start()                     # in the background, each on its own: nobody waits for any of them
servers.tools(); servers.status()
await servers.restart("github")
await servers.close()
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from kimi_tui.mcp.config import ServerConfig
from kimi_tui.mcp.faults import McpFault
from kimi_tui.mcp.grants import Grants
from kimi_tui.mcp.offers import McpPrompt, McpResource
from kimi_tui.mcp.server import McpTool, Server
from kimi_tui.protocol.views import McpServerView


class Servers:
    """Costs nothing while none is configured: the SDK is loaded by the first one that starts."""

    def __init__(
        self,
        configs: Sequence[ServerConfig],
        work_dir: Path,
        grants: Grants,
        *,
        changed: Callable[[], None] = lambda: None,
        notice: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.changed = changed
        self._servers = {config.name: Server(config, str(work_dir), grants, self._tell, notice) for config in configs}

    def start(self) -> None:
        """Connect to all that are not switched off."""
        for server in self._servers.values():
            if not server.config.disabled:
                server.start()

    def status(self) -> tuple[McpServerView, ...]:
        return tuple(server.view() for server in self._servers.values())

    def tools(self) -> tuple[McpTool, ...]:
        """Of all servers that are connected now."""
        return tuple(tool for server in self._servers.values() for tool in server.tools)

    def prompts(self) -> tuple[McpPrompt, ...]:
        return tuple(prompt for server in self._servers.values() for prompt in server.prompts)

    def resources(self) -> tuple[tuple[str, McpResource], ...]:
        """With the name of the server where they are read."""
        return tuple((server.name, one) for server in self._servers.values() for one in server.resources_known)

    def named(self, name: str) -> Server:
        """Raises McpFault when there is none of that name."""
        server = self._servers.get(name)
        if server is None:
            raise McpFault(f"There is no MCP server {name!r}. There are: {', '.join(self._servers) or 'none'}.")
        return server

    async def settled(self, seconds: float) -> None:
        """Wait until each server that was started is ready or has failed, but no longer than that."""
        waiting = [
            asyncio.create_task(server.settled.wait())
            for server in self._servers.values()
            if not server.config.disabled and not server.settled.is_set()
        ]
        if waiting:
            _, late = await asyncio.wait(waiting, timeout=seconds)
            for task in late:
                task.cancel()

    async def restart(self, name: str) -> bool:
        """Connect anew, also to one that is switched off. False when there is no such server."""
        server = self._servers.get(name)
        if server is not None:
            await server.restart()
        return server is not None

    async def close(self) -> None:
        """Disconnect from all, at the same time."""
        self.changed = lambda: None
        await asyncio.gather(*(server.stop() for server in self._servers.values()))

    def _tell(self) -> None:
        self.changed()

"""What can be asked of a server that is connected: to use a tool, to fill in a prompt, to read."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from kimi_tui.mcp.config import ServerConfig
from kimi_tui.mcp.content import McpResult, prompt_of, resource_of, result_of
from kimi_tui.mcp.faults import McpFault
from kimi_tui.mcp.offers import McpResource, resources_of

if TYPE_CHECKING:
    from mcp import Client

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")


class Calls:
    """Made from wherever they come; each may take as long as the server's configuration says.

    `told` puts a fault into words without secrets, `why` says why there is no connection.
    """

    def __init__(self, config: ServerConfig, told: Callable[[BaseException], str], why: Callable[[], str]) -> None:
        self.client: Client | None = None
        """Where they go; None while there is no connection."""
        self._config, self._told, self._why = config, told, why

    async def call(self, tool: str, arguments: dict[str, Any]) -> McpResult:
        """Have a tool do something. Raises McpFault when the server cannot answer."""
        return result_of(await self._asked(lambda client: client.call_tool(tool, _sendable(arguments))))

    async def prompt(self, name: str, arguments: dict[str, str]) -> McpResult:
        """A prompt with its arguments filled in. Raises McpFault."""
        return prompt_of(await self._asked(lambda client: client.get_prompt(name, _sendable(arguments))))

    async def read(self, uri: str) -> McpResult:
        """A resource. Raises McpFault."""
        return resource_of(await self._asked(lambda client: client.read_resource(uri)))

    async def resources(self) -> list[McpResource]:
        """What can be read, templates last. Raises McpFault."""
        return await self._asked(resources_of)

    async def _asked(self, question: Callable[[Client], Awaitable[Answer]]) -> Answer:
        name, client = self._config.name, self.client
        if client is None:
            why = self._why()
            raise McpFault(f"The server {name} is not connected{f': {why}' if why else ''}.")
        try:
            async with asyncio.timeout(self._config.timeout):
                return await question(client)
        except Exception as fault:
            log.info("a call of %s failed: %s", name, type(fault).__name__)
            raise McpFault(self._explained(fault)) from None

    def _explained(self, fault: Exception) -> str:
        import mcp.types as sdk
        from mcp import MCPError

        name = self._config.name
        if isinstance(fault, TimeoutError):
            return f"The server {name} gave no answer within {self._config.timeout:g} s."
        if isinstance(fault, MCPError) and fault.error.code == sdk.CONNECTION_CLOSED:
            return f"The connection to the server {name} ended before it answered."
        return f"The server {name} refused: {self._told(fault)}"


def _sendable(arguments: dict[str, Any]) -> dict[str, Any]:
    """Without lone surrogates: they cannot be encoded, and the SDK would drop the connection over one."""
    text = json.dumps(arguments, ensure_ascii=False).encode("utf-8", "replace")
    sent: dict[str, Any] = json.loads(text)
    return sent

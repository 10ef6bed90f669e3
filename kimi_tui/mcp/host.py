"""The process that speaks to MCP servers: `python -m kimi_tui.mcp.host`.

The SDK takes seconds to load, and what servers send has to be parsed and checked: neither may hold up the screen.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

from kimi_tui.llm.host import Emit, serve
from kimi_tui.llm.masking import remember
from kimi_tui.mcp.config import ServerConfig
from kimi_tui.mcp.content import McpResult
from kimi_tui.mcp.faults import McpFault
from kimi_tui.mcp.grants import Grants
from kimi_tui.mcp.servers import Servers


class Hosting:
    """`watch` starts the servers and tells how they stand until it is cancelled; and `call`, `prompt`, `resources`,
    `read`, `restart`, `sign_in`, `signed_in`, `sign_out`, `close`."""

    def __init__(self) -> None:
        self._servers = Servers((), Path(), Grants(Path()))

    async def handle(self, request: dict[str, Any], emit: Emit) -> None:
        match request["do"]:
            case "watch":
                await self._watch(request, emit)
            case "call":
                emit(await _answered(self._call(request["name"], request["arguments"])))
            case "prompt":
                emit(await _answered(self._prompt(request["server"], request["name"], request["arguments"])))
            case "read":
                emit(await _answered(self._read(request["server"], request["uri"])))
            case "resources":
                emit(await self._resources(request["server"]))
            case "restart":
                await self._servers.restart(request["name"])
            case "sign_in" | "signed_in" | "sign_out" as do:
                emit(await self._signing(do, request))
            case "close":
                await self._servers.close()

    async def _watch(self, request: dict[str, Any], emit: Emit) -> None:
        configs = [ServerConfig(**{**config, "args": tuple(config["args"])}) for config in request["servers"]]
        for secret in (secret for config in configs for secret in config.secrets):
            remember(secret)
        servers = self._servers = Servers(
            configs,
            Path(request["work_dir"]),
            Grants(Path(request["grants"])),
            changed=lambda: emit(self._standing()),
            notice=lambda text: emit({"notice": text}),
        )
        servers.start()
        emit(self._standing())
        try:
            await asyncio.Event().wait()
        finally:
            await servers.close()

    def _standing(self) -> dict[str, Any]:
        tools = [
            {
                "name": tool.name,
                "server": tool.server.name,
                "original": tool.original,
                "description": tool.description,
                "schema": tool.schema,
            }
            for tool in self._servers.tools()
        ]
        return {
            "servers": [dataclasses.asdict(view) for view in self._servers.status()],
            "tools": tools,
            "prompts": [dataclasses.asdict(prompt) for prompt in self._servers.prompts()],
            "resources": [(server, dataclasses.asdict(one)) for server, one in self._servers.resources()],
        }

    async def _call(self, name: str, arguments: dict[str, Any]) -> McpResult:
        tool = next((tool for tool in self._servers.tools() if tool.name == name), None)
        if tool is None:
            raise McpFault(f"The server of {name} is not connected.")
        return await tool.call(arguments)

    async def _prompt(self, server: str, name: str, arguments: dict[str, str]) -> McpResult:
        return await self._servers.named(server).calls.prompt(name, arguments)

    async def _read(self, server: str, uri: str) -> McpResult:
        return await self._servers.named(server).calls.read(uri)

    async def _resources(self, server: str) -> dict[str, Any]:
        try:
            found = await self._servers.named(server).calls.resources()
        except McpFault as fault:
            return {"refused": str(fault)}
        return {"resources": [dataclasses.asdict(resource) for resource in found]}

    async def _signing(self, do: str, request: dict[str, Any]) -> dict[str, Any]:
        try:
            server = self._servers.named(request["server"])
            match do:
                case "sign_in":
                    await server.sign_in()
                case "signed_in":
                    server.door.take(request["address"])
                case "sign_out":
                    return {"known": await server.sign_out()}
        except McpFault as fault:
            return {"refused": str(fault)}
        return {"known": True}


async def _answered(asked: Awaitable[McpResult]) -> dict[str, Any]:
    try:
        result = await asked
    except McpFault as fault:
        return {"refused": str(fault)}
    images = [part.image_url.url for part in result.images]
    return {"text": result.text, "images": images, "failed": result.failed}


if __name__ == "__main__":
    serve(Hosting().handle)

"""ListMcpResources and ReadMcpResource: what servers have for reading, beside their tools."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, Protocol

from pydantic import Field

from kimi_tui.protocol.views import ApprovalView
from kimi_tui.resources import prompt
from kimi_tui.tools.approval import permit
from kimi_tui.tools.base import Call, Params, Tool, ToolResult, failed
from kimi_tui.tools.remote import RemoteResult, remote_output
from kimi_tui.tools.text import one_line, plural


class ResourceLine(Protocol):
    """One thing to be read."""

    @property
    def uri(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str: ...


class ResourceServers(Protocol):
    """The servers that have something to be read."""

    def readable(self) -> tuple[str, ...]:
        """Their names."""

    async def resources(self, server: str) -> Sequence[ResourceLine]:
        """Raises one of the faults that the tools were told of."""

    async def read(self, server: str, uri: str) -> RemoteResult:
        """The same."""


Faults = tuple[type[Exception], ...]


def resource_tools(servers: ResourceServers, faults: Faults) -> list[Tool]:
    return [ListMcpResources(servers, faults), ReadMcpResource(servers, faults)]


class ListMcpResourcesParams(Params):
    server: str = Field(default="", description="Only of this server; left out: of all.")


class ListMcpResources:
    name: ClassVar[str] = "ListMcpResources"
    Params: ClassVar[type[Params]] = ListMcpResourcesParams
    read_only: ClassVar[bool] = True
    plan_safe: ClassVar[bool] = True

    def __init__(self, servers: ResourceServers, faults: Faults) -> None:
        self._servers, self._faults = servers, faults

    @cached_property
    def description(self) -> str:
        return prompt("tools/list_mcp_resources")

    def describe(self, params: ListMcpResourcesParams) -> tuple[str, str]:
        return "Resources", params.server or "of all servers"

    async def __call__(self, params: ListMcpResourcesParams, call: Call) -> ToolResult:
        """Needs no approval: it tells names."""
        names = (params.server,) if params.server else self._servers.readable()
        told = await asyncio.gather(*(self._of(name) for name in names))
        lines = [line for _, lines in told for line in lines]
        faults = " ".join(fault for fault, _ in told if fault)
        if faults and not lines:
            return failed(faults, brief="failed")
        message = f"{plural(len(lines), 'resource')}. {faults}".strip()
        return ToolResult("\n".join(lines), message=message, brief=plural(len(lines), "resource"))

    async def _of(self, server: str) -> tuple[str, list[str]]:
        """What went wrong, and a line for each resource: server, address, name, and what it is."""
        try:
            found = await self._servers.resources(server)
        except self._faults as fault:
            return str(fault), []
        parts = ((server, one.uri, one_line(one.name), one_line(one.about)) for one in found)
        return "", [" · ".join(part for part in line if part) for line in parts]


class ReadMcpResourceParams(Params):
    server: str = Field(min_length=1, description="The server's name, as ListMcpResources gives it.")
    uri: str = Field(min_length=1, description="The address; in a template each {name} is filled in.")


class ReadMcpResource:
    name: ClassVar[str] = "ReadMcpResource"
    Params: ClassVar[type[Params]] = ReadMcpResourceParams
    read_only: ClassVar[bool] = True
    plan_safe: ClassVar[bool] = True

    def __init__(self, servers: ResourceServers, faults: Faults) -> None:
        self._servers, self._faults = servers, faults

    @cached_property
    def description(self) -> str:
        return prompt("tools/read_mcp_resource")

    def describe(self, params: ReadMcpResourceParams) -> tuple[str, str]:
        return "Resource", f"{params.uri} of {params.server}"

    async def __call__(self, params: ReadMcpResourceParams, call: Call) -> ToolResult:
        """Asks like every call of a server: an address made up by the model leads anywhere the server may go."""
        view = ApprovalView(call.id, self.name, f"read from {params.server}", params.uri, rule=params.uri)
        refused = await permit(call, view)
        if refused is not None:
            return refused
        try:
            result = await self._servers.read(params.server, params.uri)
        except self._faults as fault:
            return failed(str(fault), brief="failed")
        return remote_output(result, self.name, call)

"""The servers of the open session: their tools in the toolset, their prompts as commands, their state on the screen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_tui.agent import server_prompts
from kimi_tui.agent.known_prompts import KnownPrompts
from kimi_tui.mcp import HostedServers, HostedTool, McpFault, McpPrompt, McpResource, McpResult, read_servers
from kimi_tui.protocol.commands import AnswerSignInMcp, ListMcp, RestartMcp, SignInMcp, SignOutMcp
from kimi_tui.protocol.events import Event, McpChanged, Noticed, ResourcesChanged
from kimi_tui.protocol.views import ResourceView, SlashCommand
from kimi_tui.settings import McpSettings
from kimi_tui.tools.remote import remote_tool
from kimi_tui.tools.remote_resources import resource_tools
from kimi_tui.tools.toolset import Toolset

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent

PATIENCE = 20.0
"""Seconds that a run without a screen waits for its servers before the first turn."""


class SessionServers:
    """Started when the model is ready; a turn uses what is there when it begins its next step."""

    def __init__(
        self,
        configured: Mapping[str, McpSettings],
        file: Path,
        work_dir: Path,
        log_dir: Path,
        grants_dir: Path,
        toolset: Toolset,
        emit: Callable[[Event], None],
    ) -> None:
        servers, self.notices = read_servers(configured, file)
        self._toolset, self._emit = toolset, emit
        self._offered: dict[str, HostedTool] = {}
        self._prompts: tuple[McpPrompt, ...] = ()
        """Those that can be typed: of servers that are ready, and what is known of others from before."""
        self._ready: frozenset[str] = frozenset()
        self._known = KnownPrompts(grants_dir / "prompts.json")
        self._readable: tuple[ResourceView, ...] = ()
        self.commands_changed: Callable[[], None] = lambda: None
        """Other prompts are there now."""
        self._servers = HostedServers(servers, work_dir, log_dir, grants_dir, changed=self._follow, notice=self._warn)
        self._started = False
        self._expected = tuple(server.name for server in servers if not server.disabled)
        if self._expected:
            self._known.load()
            self._prompts = self._known.of(self._expected)
        self._told = McpChanged(())

    def start(self) -> None:
        """Connect in the background; only the first time."""
        if not self._started:
            self._started = True
            self._servers.start()

    async def settled(self) -> None:
        """Wait for the servers, but not for ever."""
        await self._servers.settled(PATIENCE)

    def commands(self) -> tuple[SlashCommand, ...]:
        """The prompts that can be typed."""
        return server_prompts.commands(self._prompts, self._ready)

    def prompt_named(self, name: str) -> McpPrompt | None:
        """By its slash command, without the slash."""
        return next((prompt for prompt in self._prompts if server_prompts.command_name(prompt) == name), None)

    async def ready(self, name: str) -> bool:
        """Wait until this server is no longer starting; then whether it is ready."""
        self.start()
        view = await self._servers.decided(name)
        return view is not None and view.state == "ready"

    async def prompt(self, prompt: McpPrompt, arguments: dict[str, str]) -> McpResult:
        """Filled in by its server. Raises McpFault."""
        return await self._servers.prompt(prompt.server, prompt.name, arguments)

    def readable(self) -> tuple[str, ...]:
        """The servers that have something to be read."""
        return tuple(view.name for view in self._servers.status() if view.resources)

    @property
    def names(self) -> tuple[str, ...]:
        """Of all servers that are configured."""
        return tuple(view.name for view in self._servers.status())

    @property
    def addresses(self) -> frozenset[tuple[str, str]]:
        """Server and address of all that is known to be there for reading."""
        return frozenset((one.server, one.uri) for one in self._readable)

    async def resources(self, server: str) -> list[McpResource]:
        return await self._servers.resources(server)

    async def read(self, server: str, uri: str) -> McpResult:
        return await self._servers.read(server, uri)

    def event(self) -> McpChanged:
        return McpChanged(self._servers.status())

    async def restart(self, name: str) -> bool:
        """False when there is no such server."""
        return await self._servers.restart(name)

    async def sign_in(self, name: str) -> None:
        """Returns when the user has signed in. Raises McpFault."""
        await self._servers.sign_in(name)

    async def signed_in(self, name: str, address: str) -> None:
        """Where the user's browser ended up. Raises McpFault."""
        await self._servers.signed_in(name, address)

    async def sign_out(self, name: str) -> None:
        """Forget the user's sign-in, and one that is under way. Raises McpFault."""
        await self._servers.sign_out(name)

    async def close(self) -> None:
        await self._servers.close()

    def _follow(self) -> None:
        """Offer the tools that are there now, and no others."""
        tools = {tool.name: tool for tool in self._servers.tools()}
        for name in self._offered.keys() - tools.keys():
            self._toolset.remove(name)
        for name, tool in tools.items():
            if self._offered.get(name) != tool:
                self._toolset.add(remote_tool(tool, (McpFault,)))
        self._offered = tools
        self._offer_reading()
        self._follow_prompts()
        readable = tuple(ResourceView(server, one.uri, one.name) for server, one in self._servers.readable())
        if self._readable != readable:
            self._readable = readable
            self._emit(ResourcesChanged(readable))
        if (event := self.event()) != self._told:
            self._told = event
            self._emit(event)

    def _follow_prompts(self) -> None:
        """Offer the prompts of the servers that are ready, and the remembered ones of those that are not."""
        prompts = self._servers.prompts()
        ready = frozenset(view.name for view in self._servers.status() if view.state == "ready")
        for name in ready - self._ready:
            self._known.learn(name, tuple(prompt for prompt in prompts if prompt.server == name))
        prompts += self._known.of(name for name in self._expected if name not in ready)
        if (prompts, ready) != (self._prompts, self._ready):
            self._prompts, self._ready = prompts, ready
            self.commands_changed()

    def _offer_reading(self) -> None:
        """The tools that read, as long as there is anything to be read."""
        for tool in resource_tools(self, (McpFault,)):
            if not self.readable():
                self._toolset.remove(tool.name)
            elif tool.name not in self._toolset:
                self._toolset.add(tool)

    def _warn(self, text: str) -> None:
        self._emit(Noticed(text, "warning"))


async def list_servers(agent: Agent, command: ListMcp) -> None:
    servers = agent.desk.servers
    agent.emit(servers.event() if servers is not None else McpChanged(()))


async def restart_server(agent: Agent, command: RestartMcp) -> None:
    servers = agent.desk.servers
    if servers is None or not await servers.restart(command.name):
        agent.emit(Noticed(f"there is no MCP server {command.name}", "warning"))


async def sign_in(agent: Agent, command: SignInMcp) -> None:
    await _told(agent, lambda servers: servers.sign_in(command.name))


async def answer_sign_in(agent: Agent, command: AnswerSignInMcp) -> None:
    await _told(agent, lambda servers: servers.signed_in(command.name, command.address))


async def sign_out(agent: Agent, command: SignOutMcp) -> None:
    await _told(agent, lambda servers: servers.sign_out(command.name))


async def _told(agent: Agent, asked: Callable[[SessionServers], Awaitable[None]]) -> None:
    servers = agent.desk.servers
    try:
        if servers is None:
            raise McpFault("there are no MCP servers here")
        await asked(servers)
    except McpFault as fault:
        agent.emit(Noticed(str(fault), "warning"))

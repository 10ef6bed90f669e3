"""The servers of a session, kept by a process of their own (see `host`): this is its other end.

servers = HostedServers(configs, work_dir, log_dir, grants_dir, changed=…, notice=…)
servers.start()                     # in the background: nobody waits for any of them
servers.tools(); servers.status()
await servers.restart("github")
await servers.close()
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kimi_tui.llm.child import Child
from kimi_tui.llm.model import ModelFault
from kimi_tui.mcp.config import ServerConfig
from kimi_tui.mcp.content import McpResult
from kimi_tui.mcp.faults import McpFault
from kimi_tui.mcp.offers import McpPrompt, McpResource
from kimi_tui.protocol.messages import ImageURLPart
from kimi_tui.protocol.views import McpServerView

HOST = "kimi_tui.mcp.host"
GOODBYE = 3.0
"""Seconds that servers get to end."""


@dataclass(frozen=True, slots=True)
class HostedTool:
    """A tool of a server, as a model may be offered it."""

    name: str
    """For the model: `mcp__<server>__<tool>`."""
    server: str
    original: str
    """What the server calls it."""
    description: str
    schema: dict[str, Any]
    child: Child = field(repr=False, compare=False)

    @property
    def shown(self) -> tuple[str, str]:
        """Server and tool, as the user knows them."""
        return self.server, self.original

    async def call(self, arguments: dict[str, Any]) -> McpResult:
        """Raises McpFault. Cancelling tells the server that nobody waits any more."""
        return _result(await _asked(self.child, "call", name=self.name, arguments=arguments))


_UNANSWERED = {"refused": "The call was not answered."}


async def _asked(child: Child, do: str, otherwise: dict[str, Any] = _UNANSWERED, **what: Any) -> dict[str, Any]:
    """The one answer of the process; `otherwise` when it gives none. Raises McpFault."""
    answer = otherwise
    try:
        async for event in child.call(do, **what):
            answer = event
    except ModelFault:
        answer = {"refused": "The process that speaks to the MCP servers has ended."}
    if "refused" in answer:
        raise McpFault(answer["refused"])
    return answer


def _result(answer: dict[str, Any]) -> McpResult:
    images = tuple(ImageURLPart(image_url=ImageURLPart.ImageURL(url=url)) for url in answer["images"])
    return McpResult(answer["text"], images, answer["failed"])


class HostedServers:
    """Costs nothing while no server is configured or all are switched off."""

    def __init__(
        self,
        configs: Sequence[ServerConfig],
        work_dir: Path,
        log_dir: Path,
        grants_dir: Path,
        *,
        changed: Callable[[], None] = lambda: None,
        notice: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._configs, self._work_dir = {config.name: config for config in configs}, work_dir
        self._grants_dir = grants_dir
        self._changed, self._notice = changed, notice
        self._child = Child(HOST, log_dir / "mcp.log")
        self._views = tuple(_at_rest(config) for config in configs)
        self._tools: tuple[HostedTool, ...] = ()
        self._prompts: tuple[McpPrompt, ...] = ()
        self._readable: tuple[tuple[str, McpResource], ...] = ()
        self._watching: asyncio.Task[None] | None = None
        self._news, self._known = asyncio.Event(), asyncio.Event()
        self._closed = False

    def start(self) -> None:
        """Start all that are not switched off."""
        if any(not config.disabled for config in self._configs.values()):
            self._watch()

    def status(self) -> tuple[McpServerView, ...]:
        return self._views

    def tools(self) -> tuple[HostedTool, ...]:
        """Of all servers that are connected now."""
        return self._tools

    def prompts(self) -> tuple[McpPrompt, ...]:
        return self._prompts

    def readable(self) -> tuple[tuple[str, McpResource], ...]:
        """What the servers have for reading, each with its server's name."""
        return self._readable

    async def prompt(self, server: str, name: str, arguments: dict[str, str]) -> McpResult:
        """A prompt with its arguments filled in. Raises McpFault."""
        return _result(await _asked(self._child, "prompt", server=server, name=name, arguments=arguments))

    async def resources(self, server: str) -> list[McpResource]:
        """What can be read there. Raises McpFault."""
        answer = await _asked(self._child, "resources", server=server)
        return [McpResource(**resource) for resource in answer["resources"]]

    async def read(self, server: str, uri: str) -> McpResult:
        """Raises McpFault."""
        return _result(await _asked(self._child, "read", server=server, uri=uri))

    async def settled(self, seconds: float) -> None:
        """Wait until each server that was started is ready or has failed, but no longer than that."""
        try:
            async with asyncio.timeout(seconds):
                while self._watching and any(view.state == "starting" for view in self._views):
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return

    async def decided(self, name: str) -> McpServerView | None:
        """How it stands once it is no longer starting; None when there is no such server."""
        while True:
            view = next((view for view in self._views if view.name == name), None)
            if view is None or view.state != "starting":
                return view
            self._news.clear()
            await self._news.wait()

    async def restart(self, name: str) -> bool:
        """Connect anew, also to one that is switched off. False when there is no such server."""
        if name not in self._configs:
            return False
        if self._watching is None or self._watching.done():
            self._configs[name] = dataclasses.replace(self._configs[name], disabled=False)
            self._watch()
            return True
        try:
            async for _ in self._child.call("restart", name=name):
                pass
        except ModelFault as fault:
            self._lost(fault)
        return True

    async def sign_in(self, name: str) -> bool:
        """Have the user sign in: a view tells the address. False when that was given up. Raises McpFault."""
        await self._up()
        return bool((await _asked(self._child, "sign_in", {"known": False}, server=name))["known"])

    async def signed_in(self, name: str, address: str) -> None:
        """Where the user's browser ended up. Raises McpFault."""
        await _asked(self._child, "signed_in", server=name, address=address)

    async def sign_out(self, name: str) -> bool:
        """Forget the sign-in. False when there was none. Raises McpFault."""
        await self._up()
        return bool((await _asked(self._child, "sign_out", server=name))["known"])

    async def close(self) -> None:
        """Disconnect from all; the programs that were started are ended, and the process that kept them."""
        self._closed = True
        if self._watching is None:
            return
        if self._watching.done():  # the process has gone, and the servers with it
            await self._child.close()
            return
        try:
            async with asyncio.timeout(GOODBYE):
                async for _ in self._child.call("close"):
                    pass
        except (ModelFault, TimeoutError):
            pass
        self._watching.cancel()
        await asyncio.gather(self._watching, return_exceptions=True)
        await self._child.close()

    async def _up(self) -> None:
        """The process is there, and knows its servers; none is started that is switched off."""
        if self._watching is None or self._watching.done():
            self._watch()
        await self._known.wait()

    def _watch(self) -> None:
        """Start the process, and in it all servers that are not switched off."""
        self._views = tuple(
            view if self._configs[view.name].disabled else dataclasses.replace(view, state="starting", error="")
            for view in self._views
        )
        self._known.clear()
        self._watching = asyncio.create_task(self._follow(), name="watch the MCP servers")
        self._tell()

    async def _follow(self) -> None:
        what: dict[str, Any] = {
            "servers": [dataclasses.asdict(config) for config in self._configs.values()],
            "work_dir": str(self._work_dir),
            "grants": str(self._grants_dir),
        }
        try:
            async for event in self._child.call("watch", **what):
                self._take(event)
        except ModelFault as fault:
            self._lost(fault)

    def _take(self, event: dict[str, Any]) -> None:
        if "notice" in event:
            self._notice(event["notice"])
            return
        self._views = tuple(_view(view) for view in event["servers"])
        self._tools = tuple(HostedTool(**tool, child=self._child) for tool in event["tools"])
        self._prompts = tuple(_prompt(prompt) for prompt in event["prompts"])
        self._readable = tuple((server, McpResource(**one)) for server, one in event["resources"])
        self._known.set()
        self._tell()

    def _lost(self, fault: ModelFault) -> None:
        """The process has ended without being asked to."""
        self._known.set()
        if self._closed:
            return
        error = "the process that speaks to the servers has ended"
        self._tools, self._prompts, self._readable = (), (), ()
        self._views = tuple(view if view.state == "stopped" else _gone(view, error) for view in self._views)
        self._notice(f"the MCP servers are gone: {error}; /mcp starts them again. {fault.hint}".strip())
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        if not self._closed:
            self._changed()


def _gone(view: McpServerView, error: str) -> McpServerView:
    return dataclasses.replace(view, state="failed", tools=(), originals=(), prompts=(), resources=False, error=error)


def _view(view: dict[str, Any]) -> McpServerView:
    lists = {name: tuple(view[name]) for name in ("tools", "originals", "prompts")}
    return McpServerView(**{**view, **lists})


def _prompt(prompt: dict[str, Any]) -> McpPrompt:
    return McpPrompt(**{**prompt, "arguments": tuple((name, needed) for name, needed in prompt["arguments"])})


def _at_rest(config: ServerConfig) -> McpServerView:
    return McpServerView(config.name, "stopped", config.transport, config.shown_target)

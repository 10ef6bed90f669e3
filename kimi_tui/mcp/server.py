"""One server: a task of its own connects to it, keeps the connection, and connects anew when it breaks.

Only that task enters and leaves the connection; calls are made from wherever they come.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from kimi_tui.mcp.config import ServerConfig
from kimi_tui.mcp.content import McpResult, prompt_of, resource_of, result_of
from kimi_tui.mcp.faults import McpFault, masked, told
from kimi_tui.mcp.names import tool_name
from kimi_tui.mcp.schema import Schema, strict
from kimi_tui.mcp.wire import Ears, connection, load
from kimi_tui.protocol.views import McpServerView, McpState

if TYPE_CHECKING:
    from mcp import Client

log = logging.getLogger(__name__)

WAITS = (1.0, 2.0, 5.0, 15.0, 60.0)
"""Seconds before each further attempt; after the last one the server stays as it is until it is asked for."""
STEADY = 30.0
"""Seconds that a connection must have held for earlier failures to be forgotten."""
TOOLS = 128
"""Of one server, at most."""
PROMPTS = 64
RESOURCES = 500
"""Of one server, at most; further ones are not listed, but can be read."""
DESCRIPTION = 4000
"""Characters of a tool's description."""

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool of a server, as a model may be offered it."""

    name: str
    """For the model: `mcp__<server>__<tool>`."""
    server: Server
    original: str
    """What the server calls it."""
    description: str
    schema: Schema

    async def call(self, arguments: dict[str, Any]) -> McpResult:
        """Raises McpFault. Cancelling tells the server that nobody waits any more."""
        return await self.server.call(self.original, arguments)


@dataclass(frozen=True, slots=True)
class McpPrompt:
    """A request that a server has ready for the user."""

    server: str
    name: str
    description: str
    arguments: tuple[tuple[str, bool], ...] = ()
    """Name, and whether it must be given."""


@dataclass(frozen=True, slots=True)
class McpResource:
    """Something that can be read from a server. `uri` may be a template with `{names}`."""

    uri: str
    name: str
    about: str = ""
    """Kind and description, where they are known."""


class Server:
    """`changed` is called on every change of state, tools or error; `failed` once for a row of failures."""

    def __init__(
        self, config: ServerConfig, work_dir: str, changed: Callable[[], None], failed: Callable[[str], None]
    ) -> None:
        self.config = config
        self.tools: tuple[McpTool, ...] = ()
        self.prompts: tuple[McpPrompt, ...] = ()
        self.has_resources = False
        self.settled = asyncio.Event()
        """It has become ready, or has failed, at least once since it was started."""
        self._work_dir, self._changed, self._failed = work_dir, changed, failed
        self._state: McpState = "stopped"
        self._error = ""
        self._retry_at: float | None = None
        self._failures = 0
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._ended = False
        self._ears = Ears(self._on_end, self._news.set)

    @property
    def name(self) -> str:
        return self.config.name

    def view(self) -> McpServerView:
        return McpServerView(
            name=self.name,
            state=self._state,
            transport=self.config.transport,
            target=self.config.shown_target,
            tools=tuple(tool.name for tool in self.tools),
            prompts=tuple(prompt.name for prompt in self.prompts),
            resources=self.has_resources,
            error=self._error,
            retry_at=self._retry_at,
            said=masked(self._ears.said, self.config.secrets),
        )

    def start(self) -> None:
        """Connect in the background. Does nothing when that is under way."""
        if self._task is None or self._task.done():
            self._failures = 0
            self.settled.clear()
            self._set("starting")
            self._task = asyncio.create_task(self._live(), name=f"mcp server {self.name}")

    async def stop(self) -> None:
        """Disconnect; a program that was started is ended."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        self._set("stopped")

    async def restart(self) -> None:
        await self.stop()
        self.start()

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
        client = self._client
        if client is None:
            raise McpFault(f"The server {self.name} is not connected{f': {self._error}' if self._error else ''}.")
        try:
            async with asyncio.timeout(self.config.timeout):
                return await question(client)
        except Exception as fault:
            log.info("a call of %s failed: %s", self.name, type(fault).__name__)
            raise McpFault(masked(self._explained(fault), self.config.secrets)) from None

    def _explained(self, fault: Exception) -> str:
        import mcp.types as sdk
        from mcp import MCPError

        if isinstance(fault, TimeoutError):
            return f"The server {self.name} gave no answer within {self.config.timeout:g} s."
        if isinstance(fault, MCPError) and fault.error.code == sdk.CONNECTION_CLOSED:
            return f"The connection to the server {self.name} ended before it answered."
        return f"The server {self.name} refused: {self._told(fault)}"

    async def _live(self) -> None:
        """Connect, keep, and connect again, until cancelled or given up."""
        while True:
            begun = time.monotonic()
            self._set("starting")
            try:
                await self._connect_and_keep()
                fault: str = "the connection ended"
            except Exception as error:
                fault = self._told(error)
                hopeless = isinstance(error, FileNotFoundError | PermissionError)
            else:
                hopeless = False
            finally:
                self._client = None
            if time.monotonic() - begun > STEADY:
                self._failures = 0
            if not await self._another_attempt(self._with_last_words(fault), hopeless):
                return

    async def _connect_and_keep(self) -> None:
        """Returns when the server ends the connection."""
        await asyncio.to_thread(load)
        self._ended = False
        async with contextlib.AsyncExitStack() as stack:
            async with asyncio.timeout(self.config.startup_timeout):
                probing = self._failures % 2 == 0
                opening = connection(self.config, self._work_dir, self._ears, probing=probing)
                client = await stack.enter_async_context(opening)
                await self._look(client)
            self._client = client
            self._error = ""
            self._set("ready")
            while not self._ended:
                await self._news.wait()
                self._news.clear()
                if not self._ended:
                    await self._look(client)
                    self._changed()

    async def _another_attempt(self, fault: str, hopeless: bool) -> bool:
        """Tell what went wrong, and wait until it is time to try again. False: not by itself."""
        self._offer_nothing()
        self._error = fault
        if self._failures == 0:
            self._failed(fault)
        again = not hopeless and self._failures < len(WAITS)
        wait = WAITS[self._failures] if again else 0.0
        self._failures += 1
        self._retry_at = time.time() + wait if again else None
        self._set("failed")
        await asyncio.sleep(wait)
        self._retry_at = None
        return again

    def _offer_nothing(self) -> None:
        self.tools, self.prompts, self.has_resources = (), (), False

    async def _look(self, client: Client) -> None:
        """What it offers now. Only tools must be told in good order for a server to be of use."""
        self.tools = await self._listed(client)
        capabilities = client.server_capabilities
        self.has_resources = capabilities.resources is not None
        self.prompts = await self._listed_prompts(client) if capabilities.prompts is not None else ()

    async def _listed_prompts(self, client: Client) -> tuple[McpPrompt, ...]:
        try:
            page = await client.list_prompts()
        except Exception as fault:
            log.warning("the prompts of %s could not be listed: %s", self.name, type(fault).__name__)
            return ()
        return tuple(_prompt(self.name, prompt) for prompt in page.prompts[:PROMPTS])

    async def _listed(self, client: Client) -> tuple[McpTool, ...]:
        found: dict[str, McpTool] = {}
        cursor: str | None = None
        while len(found) < TOOLS:
            page = await client.list_tools(cursor=cursor)
            for tool in page.tools:
                made = self._tool(tool)
                found.setdefault(made.name, made)
            cursor = page.next_cursor
            if not cursor or not page.tools:
                break
        return tuple(found.values())[:TOOLS]

    def _tool(self, tool: Any) -> McpTool:
        description = (tool.description or tool.title or tool.name).strip()[:DESCRIPTION]
        return McpTool(tool_name(self.name, tool.name), self, tool.name, description, strict(tool.input_schema))

    def _on_end(self) -> None:
        self._ended = True
        self._news.set()

    def _set(self, state: McpState) -> None:
        self._state = state
        if state == "stopped":
            self._offer_nothing()
            self._client = None
        if state != "starting":
            self.settled.set()
        self._changed()

    def _told(self, fault: BaseException) -> str:
        seconds, status = self.config.startup_timeout, self._ears.status
        return masked(told(fault, target=self.config.target, seconds=seconds, status=status), self.config.secrets)

    def _with_last_words(self, fault: str) -> str:
        """What a program said last on its standard error is most often why it ended."""
        lines: Sequence[str] = [line.strip() for line in self._ears.said.splitlines() if line.strip()]
        if not lines or self.config.transport != "stdio":
            return fault
        return f"{fault}; its last words: {masked(lines[-1][:200], self.config.secrets)}"


async def resources_of(client: Client) -> list[McpResource]:
    """The resources of a server, then its templates; many servers have only one of the two."""
    import mcp.types as sdk
    from mcp import MCPError

    found: list[McpResource] = []
    cursor: str | None = None
    while len(found) < RESOURCES:
        page = await client.list_resources(cursor=cursor)
        found += [_resource(one.uri, one) for one in page.resources]
        cursor = page.next_cursor
        if not cursor or not page.resources:
            break
    try:
        templates = (await client.list_resource_templates()).resource_templates
    except MCPError as fault:
        if fault.error.code != sdk.METHOD_NOT_FOUND:
            raise
        templates = []
    return [*found, *(_resource(one.uri_template, one) for one in templates)][:RESOURCES]


def _resource(uri: str, one: Any) -> McpResource:
    about = " · ".join(filter(None, (one.mime_type, one.description)))
    return McpResource(uri, (one.title or one.name)[:200], about[:DESCRIPTION])


def _prompt(server: str, prompt: Any) -> McpPrompt:
    description = " ".join((prompt.description or prompt.title or prompt.name).split())[:DESCRIPTION]
    arguments = tuple((argument.name, bool(argument.required)) for argument in prompt.arguments or ())
    return McpPrompt(server, prompt.name, description, arguments)


def _sendable(arguments: dict[str, Any]) -> dict[str, Any]:
    """Without lone surrogates: they cannot be encoded, and the SDK would drop the connection over one."""
    text = json.dumps(arguments, ensure_ascii=False).encode("utf-8", "replace")
    sent: dict[str, Any] = json.loads(text)
    return sent

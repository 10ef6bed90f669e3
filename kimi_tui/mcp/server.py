"""One server: a task of its own connects to it, keeps the connection, and connects anew when it breaks.

Only that task enters and leaves the connection; calls are made from wherever they come.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kimi_tui.mcp.calls import Calls
from kimi_tui.mcp.config import ServerConfig
from kimi_tui.mcp.content import McpResult
from kimi_tui.mcp.door import Door
from kimi_tui.mcp.faults import McpFault, masked, told
from kimi_tui.mcp.grants import Grants
from kimi_tui.mcp.names import tool_name
from kimi_tui.mcp.offers import DESCRIPTION, McpPrompt, McpResource, prompts_of
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
        return await self.server.calls.call(self.original, arguments)


class Server:
    """`changed` is called on every change of state, tools or error; `notice` is told once of a row of failures."""

    def __init__(
        self,
        config: ServerConfig,
        work_dir: str,
        grants: Grants,
        changed: Callable[[], None],
        notice: Callable[[str], None],
    ) -> None:
        self.config = config
        self.tools: tuple[McpTool, ...] = ()
        self.prompts: tuple[McpPrompt, ...] = ()
        self.has_resources = False
        self.resources_known: tuple[McpResource, ...] = ()
        """What can be read there, as it was told when it became ready."""
        self.settled = asyncio.Event()
        """It has become ready, or has failed, at least once since it was started."""
        self.door = Door(config, grants, changed)
        self._work_dir, self._grants, self._changed, self._notice = work_dir, grants, changed, notice
        self._state: McpState = "stopped"
        self._error = ""
        self._retry_at: float | None = None
        self._failures = 0
        self.calls = Calls(config, self._told, lambda: self._error)
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
            originals=tuple(tool.original for tool in self.tools),
            prompts=tuple(prompt.name for prompt in self.prompts),
            resources=self.has_resources,
            error=self._error,
            retry_at=self._retry_at,
            said=self._masked(self._ears.said),
            sign_in_at=self.door.address,
            signed_in=self.door.signed_in,
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

    async def sign_in(self) -> None:
        """Have the user sign in, and connect. Raises McpFault."""
        await self.stop()
        self._set("locked")
        try:
            await self.door.sign_in()
        except McpFault as fault:
            self._error = self._masked(str(fault))
            self._changed()
            raise McpFault(self._error) from None
        self.start()

    async def sign_out(self) -> bool:
        """Forget the user's sign-in. False when there was none."""
        known = await self.door.sign_out()
        if known:
            await self.restart()
        return known

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
                self.calls.client = None
            if self.door.opens_for(self._ears.asked_for):
                self._lock()
                return
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
                opening = connection(self.config, self._work_dir, self._grants, self._ears, probing=probing)
                client = await stack.enter_async_context(opening)
                await self._look(client)
            self.calls.client = client
            self._error = ""
            self._set("ready")
            await self._look_for_reading(client)
            while not self._ended:
                await self._news.wait()
                self._news.clear()
                if not self._ended:
                    await self._look(client)
                    self._changed()
                    await self._look_for_reading(client)

    async def _another_attempt(self, fault: str, hopeless: bool) -> bool:
        """Tell what went wrong, and wait until it is time to try again. False: not by itself."""
        self._offer_nothing()
        self._error = fault
        if self._failures == 0:
            self._notice(f"the MCP server {self.name} does not work: {fault}; /mcp shows how it stands")
        again = not hopeless and self._failures < len(WAITS)
        wait = WAITS[self._failures] if again else 0.0
        self._failures += 1
        self._retry_at = time.time() + wait if again else None
        self._set("failed")
        await asyncio.sleep(wait)
        self._retry_at = None
        return again

    def _lock(self) -> None:
        """Wait for the user."""
        self._offer_nothing()
        self._error = f"it wants you to sign in: s in /mcp, or kimi-tui mcp auth {shlex.quote(self.name)}"
        self._notice(f"the MCP server {self.name}: {self._error}")
        self._set("locked")

    def _offer_nothing(self) -> None:
        self.tools, self.prompts, self.has_resources, self.resources_known = (), (), False, ()

    async def _look(self, client: Client) -> None:
        """What it offers now. Only tools must be told in good order for a server to be of use."""
        self.tools = await self._listed(client)
        capabilities = client.server_capabilities
        self.has_resources = capabilities.resources is not None
        self.prompts = await prompts_of(self.name, client) if capabilities.prompts is not None else ()

    async def _look_for_reading(self, client: Client) -> None:
        """What it has for reading: nobody waits for that, and a server that cannot tell is of use all the same."""
        if self.has_resources and not self._ended:
            with contextlib.suppress(McpFault):
                self.resources_known = tuple(await self.calls.resources())
                self._changed()

    async def _listed(self, client: Client) -> tuple[McpTool, ...]:
        found: dict[str, McpTool] = {}
        cursor: str | None = None
        while len(found) < TOOLS:
            known = len(found)
            page = await client.list_tools(cursor=cursor)
            for tool in page.tools:
                made = self._tool(tool)
                found.setdefault(made.name, made)
            cursor = page.next_cursor
            if not cursor or len(found) == known:  # a list that goes round brings nothing new
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
            self.calls.client = None
        if state != "starting":
            self.settled.set()
        self._changed()

    def _told(self, fault: BaseException) -> str:
        seconds, status = self.config.startup_timeout, self._ears.status
        return self._masked(told(fault, target=self.config.target, seconds=seconds, status=status))

    def _masked(self, text: str) -> str:
        return masked(text, self.door.secrets)

    def _with_last_words(self, fault: str) -> str:
        """What a program said last on its standard error is most often why it ended."""
        lines: Sequence[str] = [line.strip() for line in self._ears.said.splitlines() if line.strip()]
        if not lines or self.config.transport != "stdio":
            return fault
        return f"{fault}; its last words: {self._masked(lines[-1][:200])}"

"""The connection to one server: the only module that loads the SDK, and only when there is a server to speak with."""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import sys
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from kimi_tui.mcp.config import ServerConfig
from kimi_tui.mcp.grants import Grants
from kimi_tui.mcp.lines import LONGEST, WholeLines
from kimi_tui.mcp.mending import mend

if TYPE_CHECKING:
    from types import TracebackType

    import httpx2
    from mcp import Client
    from mcp.client import Transport
    from mcp.shared._stream_protocols import ReadStream

CLIENT = "kimi-tui"
GRACE = 0.4
"""Seconds that a program gets to end when its input does, and again when it is asked to: nobody waits at the exit."""
SAID = 4000
"""Characters that are kept of what a server writes to its standard error."""


_NEWS = {f"notifications/{kind}/list_changed" for kind in ("tools", "prompts", "resources")}


class Ears:
    """What is heard of a connection beside its answers."""

    def __init__(self, on_end: Callable[[], None], on_news: Callable[[], None]) -> None:
        self.on_end, self.on_news = on_end, on_news
        self.status = 0
        """Of the newest HTTP response."""
        self.asked_for: str | None = None
        """What a server that let nobody in asks for (`WWW-Authenticate`); None: it did let somebody in."""
        self._said: deque[str] = deque()

    @property
    def said(self) -> str:
        return "".join(self._said)[-SAID:]

    def refused(self, asked_for: str) -> None:
        """Nobody is let in, or not any more."""
        self.asked_for = asked_for
        self.on_end()

    def hear(self, text: str) -> None:
        self._said.append(text)
        while sum(map(len, self._said)) - len(self._said[0]) > SAID:
            self._said.popleft()


_LOADING = threading.Lock()
"""Of two threads that load a package whose modules import each other, one gets a module that is not whole yet."""


def load(*more: str) -> None:
    """Load the SDK, and more modules that need it; takes a second or two: for a worker thread."""
    with _LOADING:
        for module in ("mcp", "mcp.client.stdio", "mcp.client.streamable_http", "mcp.client.sse", *more):
            importlib.import_module(module)
        _adapt()


def _adapt() -> None:
    """What does not suit us: how long the SDK waits at the exit, that it copies a long line with every piece of it, how
    little it takes at once in the old way over HTTP, and what it logs."""
    stdio: Any = sys.modules["mcp.client.stdio"]
    stdio.TextReceiveStream = WholeLines
    stdio.PROCESS_TERMINATION_TIMEOUT, stdio.FORCE_KILL_TIMEOUT = GRACE, GRACE
    utilities, sse = sys.modules["mcp.shared._httpx_utils"], sys.modules["mcp.client.sse"]
    vars(sse)["sse_within_origin"] = partial(vars(utilities)["sse_within_origin"], max_event_size=LONGEST)
    for name in ("mcp", "client", "httpx2", "httpcore2"):  # they write what passes, addresses with keys included
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


@asynccontextmanager
async def connection(
    config: ServerConfig, work_dir: str, grants: Grants, ears: Ears, *, probing: bool
) -> AsyncGenerator[Client, None]:
    """A client that has shaken hands. `probing`: also by the newest protocol, which some old servers do not survive.

    Must be entered and left in the same task. Raises what the SDK raises.
    """
    from mcp import Client
    from mcp.types import Implementation

    async with AsyncExitStack() as stack:
        transport = await _transport(config, work_dir, grants, ears, stack)

        async def on_message(message: Any) -> None:
            if getattr(message, "method", "") in _NEWS:
                ears.on_news()

        client = Client(
            _Heard(transport, ears.on_end),
            mode="auto" if probing else "legacy",
            cache=None,
            # of the handshake and the list of tools, for which the limit on starting is meant; calls have their own
            read_timeout_seconds=config.timeout + config.startup_timeout,
            client_info=Implementation(name=CLIENT, version=_version()),
            message_handler=on_message,
        )
        yield await stack.enter_async_context(client)


def _version() -> str:
    from kimi_tui import __version__

    return __version__


async def _transport(
    config: ServerConfig, work_dir: str, grants: Grants, ears: Ears, stack: AsyncExitStack
) -> Transport:
    if config.transport == "stdio":
        from mcp.client.stdio import StdioServerParameters, stdio_client

        errors = await stack.enter_async_context(_heard_errors(ears))
        parameters = StdioServerParameters(
            command=config.command,
            args=list(config.args),
            env=dict(config.env),
            cwd=config.cwd or work_dir,
            encoding_error_handler="replace",
        )
        return stdio_client(parameters, errlog=errors)
    ears.asked_for = None
    bearer = _bearer(config, grants, ears)
    if config.transport == "sse":
        return _sse(config, bearer, ears)
    return await _http(config, bearer, ears, stack)


def _bearer(config: ServerConfig, grants: Grants, ears: Ears) -> httpx2.Auth | None:
    """What a sign-in gave goes along, where there may be one."""
    if not config.takes_sign_in:
        return None
    from kimi_tui.mcp.bearer import Bearer

    return Bearer(config, grants, ears.refused)


def _sse(config: ServerConfig, bearer: httpx2.Auth | None, ears: Ears) -> Transport:
    from mcp.client.sse import sse_client

    def client(
        headers: dict[str, str] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
    ) -> httpx2.AsyncClient:
        return _http_client(ears, headers or {}, timeout, bearer, follow=True)

    return sse_client(config.url, headers=dict(config.headers), sse_read_timeout=3600, httpx_client_factory=client)


async def _http(config: ServerConfig, bearer: httpx2.Auth | None, ears: Ears, stack: AsyncExitStack) -> Transport:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    client = _http_client(ears, config.headers, httpx2.Timeout(30.0, read=max(300.0, config.timeout)), bearer)
    await stack.enter_async_context(client)
    return streamable_http_client(config.url, http_client=client, max_sse_event_size=LONGEST)


def _http_client(
    ears: Ears,
    headers: Mapping[str, str],
    timeout: httpx2.Timeout | None,
    bearer: httpx2.Auth | None,
    *,
    follow: bool = False,
) -> httpx2.AsyncClient:
    import httpx2

    async def note(response: httpx2.Response) -> None:
        ears.status = response.status_code

    return httpx2.AsyncClient(
        headers=dict(headers), timeout=timeout, auth=bearer, follow_redirects=follow, event_hooks={"response": [note]}
    )


@asynccontextmanager
async def _heard_errors(ears: Ears) -> AsyncGenerator[TextIO, None]:
    """A pipe for a server's standard error: what it writes must not get onto the screen."""
    if os.name == "nt":  # its event loop cannot read such a pipe
        with os.fdopen(os.open(os.devnull, os.O_WRONLY), "w") as nowhere:
            yield nowhere
        return
    receive, send = os.pipe()
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(receive, "rb", 0)
    )

    async def listen() -> None:
        while data := await reader.read(1 << 14):
            ears.hear(data.decode("utf-8", "replace"))

    listening = asyncio.create_task(listen(), name="read a server's errors")
    try:
        with os.fdopen(send, "w") as writer:
            yield writer
    finally:
        listening.cancel()
        transport.close()


class _Heard:
    """A transport whose end is noticed: nobody asks a server that is idle, so nobody would see it go."""

    def __init__(self, inner: Transport, on_end: Callable[[], None]) -> None:
        self._inner, self._on_end = inner, on_end

    async def __aenter__(self) -> Any:
        read, write = await self._inner.__aenter__()
        return _HeardStream(read, self._on_end), write

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._inner.__aexit__(kind, value, trace)


def _mended(message: Any) -> Any:
    """The same message; the result in it made what the SDK takes."""
    answer = getattr(message, "message", None)
    if answer is not None and isinstance(result := getattr(answer, "result", None), dict):
        answer.result = mend(result)
    return message


class _HeardStream:
    """The stream of a server's messages, mended where need be, with an ear at its end."""

    def __init__(self, inner: ReadStream[Any], on_end: Callable[[], None]) -> None:
        self._inner, self._on_end = inner, on_end

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __aiter__(self) -> _HeardStream:
        return self

    async def __anext__(self) -> Any:
        try:
            return _mended(await self._inner.__anext__())
        except StopAsyncIteration:
            self._on_end()
            raise

    async def receive(self) -> Any:
        return _mended(await self._inner.receive())

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> _HeardStream:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._inner.__aexit__(kind, value, trace)

"""Where the browser comes back to after a sign-in: a door on this machine that is open for as long as that takes."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from http import HTTPStatus
from types import TracebackType
from urllib.parse import parse_qsl, urlsplit

from kimi_tui.mcp.faults import McpFault

PATH = "/callback"
SLOWEST = 10.0
"""Seconds in which a request must have said what it wants."""
_DONE = "kimi-tui has what it needs: you can close this page."
_NOT_OURS = "This is not the answer to the sign-in that is under way."

Answer = dict[str, str]


class Callback:
    """async with Callback() as callback: …callback.address…; callback.expect(state); await callback.answer()"""

    def __init__(self, port: int = 0) -> None:
        self._port = port
        self._server: asyncio.Server | None = None
        self._state = ""
        self._answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

    async def __aenter__(self) -> Callback:
        self._server = await asyncio.start_server(self._visited, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}{PATH}"

    def expect(self, state: str) -> None:
        """Only what comes with this word is taken: any page that the browser shows can send it here."""
        self._state = state

    async def answer(self) -> Answer:
        """What the browser brought: `code`, `state`, perhaps `iss`. Raises McpFault when the sign-in was refused."""
        answer = await self._answer
        if "code" not in answer:
            why = " · ".join(filter(None, (answer.get("error"), answer.get("error_description"))))
            raise McpFault(f"the sign-in was refused: {' '.join(why.split())[:300] or 'no reason was given'}")
        return answer

    def take(self, address: str) -> None:
        """Where a browser on another machine ended up. Raises McpFault when that is not what is waited for."""
        if not self._taken(address):
            raise McpFault(f"that is not the address where the browser ended up: it begins with {self.address}?")

    def _taken(self, address: str) -> bool:
        given = dict(parse_qsl(urlsplit(address.strip()).query, keep_blank_values=True))
        state = given.get("state", "").encode("utf-8", "replace")
        if not self._state or not secrets.compare_digest(state, self._state.encode()):
            return False
        if not self._answer.done():
            self._answer.set_result(given)
        return True

    async def _visited(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ValueError, TimeoutError, asyncio.IncompleteReadError):
            async with asyncio.timeout(SLOWEST):
                request = (await reader.readline()).decode("latin-1").split()
                while (await reader.readline()).strip():
                    pass
            method, target = [*request, "", ""][:2]
            is_it = method == "GET" and urlsplit(target).path == PATH and self._taken(target)
            writer.write(_page(HTTPStatus.OK, _DONE) if is_it else _page(HTTPStatus.BAD_REQUEST, _NOT_OURS))
            await writer.drain()
        writer.close()


def _page(status: HTTPStatus, text: str) -> bytes:
    head = f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: text/plain; charset=utf-8\r\n"
    return f"{head}Content-Length: {len(text)}\r\nConnection: close\r\n\r\n{text}".encode()

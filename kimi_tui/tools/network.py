"""Getting one page over HTTP, with bounds on time, size and redirections, and an eye on where it leads."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx

from kimi_tui import __version__
from kimi_tui.tools.text import one_line

SECONDS = 30.0
SIZE_LIMIT = 2 << 20
"""Bytes of a page that are loaded."""
REDIRECTS = 5

_HEADERS = {"User-Agent": f"kimi-tui/{__version__}", "Accept": "text/html,text/plain,application/json;q=0.9,*/*;q=0.5"}


class NetworkFault(Exception):
    """The page cannot be had. `str(fault)` says why."""

    def __init__(self, message: str, brief: str = "failed") -> None:
        super().__init__(message)
        self.brief = brief


@dataclass(frozen=True, slots=True)
class Page:
    url: str
    kind: str
    """Media type, without parameters."""
    body: bytes
    text: str
    cut: bool


class Visitor:
    """Goes and gets pages. `transport` is for tests that need no network."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None, seconds: float = SECONDS) -> None:
        self._transport, self._seconds = transport, seconds

    async def fetch(self, text: str, may_visit: Callable[[httpx.URL], Awaitable[bool]]) -> Page | None:
        """The page, or None when `may_visit` said no to it or to where it leads. Raises NetworkFault.

        The time that `may_visit` takes, for the user may have to think, does not count.
        """
        url = _parsed(text)
        async with httpx.AsyncClient(transport=self._transport, headers=_HEADERS, timeout=self._seconds) as client:
            for _ in range(REDIRECTS + 1):
                if not await may_visit(url):
                    return None
                found = await self._once(client, url)
                if isinstance(found, Page):
                    return found
                url = _parsed(str(found))
        raise NetworkFault(f"{one_line(text)} leads through more than {REDIRECTS} redirections.")

    async def _once(self, client: httpx.AsyncClient, url: httpx.URL) -> Page | httpx.URL:
        try:
            async with asyncio.timeout(self._seconds), client.stream("GET", url) as response:
                return await _received(response)
        except TimeoutError:
            raise NetworkFault(f"{url.host} did not answer within {self._seconds:.0f} s.", "timed out") from None
        except httpx.TimeoutException:
            raise NetworkFault(f"{url.host} did not answer within {self._seconds:.0f} s.", "timed out") from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as fault:
            raise NetworkFault(
                f"{url.host} could not be reached: {one_line(str(fault)) or type(fault).__name__}"
            ) from None


async def _received(response: httpx.Response) -> Page | httpx.URL:
    if response.has_redirect_location:
        return response.url.join(response.headers["location"])
    if response.status_code >= 400:
        code = response.status_code
        raise NetworkFault(f"The server answered {code} {response.reason_phrase} for {response.url}.", f"HTTP {code}")
    body = bytearray()
    async for data in response.aiter_bytes():
        body += data
        if len(body) > SIZE_LIMIT:
            break
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    data = bytes(body[:SIZE_LIMIT])
    return Page(str(response.url), kind, data, _decoded(data, response.charset_encoding), len(body) > SIZE_LIMIT)


def _decoded(data: bytes, charset: str | None) -> str:
    try:
        return data.decode(charset or "utf-8", "replace")
    except LookupError:
        return data.decode("utf-8", "replace")


def _parsed(text: str) -> httpx.URL:
    try:
        url = httpx.URL(text.strip())
    except (httpx.InvalidURL, ValueError) as fault:
        raise NetworkFault(f"{one_line(text)} is no address: {fault}") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise NetworkFault(f"{one_line(text)} is not an http:// or https:// address.")
    return url


def origin(url: httpx.URL) -> str:
    """Scheme, host and port: `http://127.0.0.1:8000`."""
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


async def is_private(url: httpx.URL) -> bool:
    """Whether the host is this machine or one of a private network, by any of its addresses.

    A name that cannot be resolved here is left to the request: it fails, or a proxy knows it.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(url.host, url.port or 443, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    return any(not _public(str(address[4][0])) for address in found)


def _public(address: str) -> bool:
    ip = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(ip, "ipv4_mapped", None)
    return (mapped or ip).is_global

"""A server as people write them, with the SDK: over stdio, or over HTTP (the new way or the old) on a port here."""

from __future__ import annotations

import asyncio
import base64
import socket
import sys
from pathlib import Path
from typing import Any, Literal

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Image
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import AssistantMessage, Message, UserMessage
from pydantic import BaseModel

DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

server = MCPServer("sample")


class Point(BaseModel):
    x: int
    y: int | None = None
    next: Point | None = None


@server.tool()
def add(a: int, b: int = 1) -> str:
    """Adds two numbers."""
    return str(a + b)


@server.tool()
def walk(start: Point, way: Literal["up", "down"] = "up") -> str:
    """Takes a nested argument."""
    return f"from {start.x} {way}"


@server.tool()
def picture() -> Image:
    """Gives an image."""
    return Image(data=DOT, format="png")


@server.tool()
def breaks() -> str:
    """Does not work."""
    raise ToolError("out of paper")


@server.tool()
async def waits(seconds: float, note: str) -> str:
    """Waits, and writes down when it is told to stop."""
    try:
        Path(note).write_text("begun")
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        Path(note).write_text("cancelled")
        raise
    return "waited"


@server.tool()
def much(lines: int) -> str:
    """Gives a long text."""
    return "".join(f"line {number} 漢字\n" for number in range(lines))


@server.prompt()
def review(code: str, language: str = "Python") -> str:
    """Asks for a review."""
    return f"Review this {language}: {code}"


@server.prompt()
def talk() -> list[Message]:
    """Both sides."""
    return [UserMessage("What is it?"), AssistantMessage("A parser."), UserMessage("Since when?")]


@server.resource("notes://today", description="What was written today")
def today() -> str:
    return "Rain, 漢字."


@server.resource("notes://{day}/page", mime_type="text/markdown")
def page(day: str) -> str:
    return f"# {day}"


@server.resource("pictures://dot", mime_type="image/png")
def dot() -> bytes:
    return DOT


class Locked:
    """Lets nobody in without the key."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        keys = dict(scope.get("headers") or ())
        if scope["type"] == "http" and keys.get(b"authorization") != b"Bearer open-sesame":
            await send({"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", b"Bearer")]})
            await send({"type": "http.response.body", "body": b"who are you?"})
            return
        await self._app(scope, receive, send)


def serve_http(how: list[str]) -> None:
    """On a free port, which is printed."""
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    app: Any = server.sse_app() if "sse" in how else server.streamable_http_app()
    config = uvicorn.Config(Locked(app) if "locked" in how else app, log_level="error")
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    serve_http(sys.argv[1:]) if sys.argv[1:] else server.run("stdio")

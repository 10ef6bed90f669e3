"""A server as people write them, with the SDK: over stdio, or over HTTP on a port of this machine."""

from __future__ import annotations

import asyncio
import base64
import socket
import sys
from pathlib import Path
from typing import Literal

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Image
from mcp.server.mcpserver.exceptions import ToolError
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


def serve_http() -> None:
    """On a free port, which is printed."""
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="error")).run(sockets=[listening])


if __name__ == "__main__":
    serve_http() if sys.argv[1:] == ["http"] else server.run("stdio")

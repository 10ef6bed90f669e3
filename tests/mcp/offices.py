"""A running server that wants its users to sign in, and a browser that does as it is told."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from kimi_tui.mcp import ServerConfig

HERE = Path(__file__).parent


@dataclass
class Office:
    """The running server: where it is, and what has happened there."""

    address: str
    process: asyncio.subprocess.Process
    heard: list[str] = field(default_factory=list)

    async def says(self, word: str) -> str:
        """The next line that begins like that."""
        assert self.process.stdout is not None
        async with asyncio.timeout(60):
            while line := (await self.process.stdout.readline()).decode().strip():
                self.heard.append(line)
                if line.startswith(word):
                    return line
        raise AssertionError("it has ended")

    async def all_said(self) -> list[str]:
        """Everything, to its end, which this is."""
        assert self.process.stdout is not None
        self.process.kill()
        self.heard += (await self.process.stdout.read()).decode().splitlines()
        return self.heard

    def config(self, **fields: object) -> ServerConfig:
        return ServerConfig("my", "http", url=f"{self.address}/mcp", auth="oauth", **fields)  # type: ignore[arg-type]


@asynccontextmanager
async def office(*how: str) -> AsyncIterator[Office]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(HERE / "oauth_server.py"), *how, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        yield Office((await process.stdout.readline()).decode().strip(), process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def browse(address: str, *, back: bool = True) -> str:
    """What a browser does: it goes where it is sent. `back` False: it cannot reach this machine. Where it ended up."""
    async with httpx2.AsyncClient(timeout=60, trust_env=False) as browser:
        answer = await browser.get(address)
        assert answer.status_code == 302, answer.text
        end = answer.headers["location"]
        if back:
            page = await browser.get(end)
            assert page.status_code == 200, page.text
        return str(end)

"""`kimi-tui mcp`: signing in and out without a screen."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from kimi_tui.cli.main import run
from tests.mcp.offices import browse, office

CONFIG = """
[mcp.my]
url = "{address}/mcp"
auth = "oauth"
[mcp.program]
command = "docs-server"
[mcp.off]
url = "https://docs.example/mcp?key=not-to-be-shown"
disabled = true
"""


async def kimi(*words: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "kimi_tui", "mcp", *words),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def line_with(stream: asyncio.StreamReader | None, word: str) -> str:
    assert stream is not None
    async with asyncio.timeout(60):
        while line := (await stream.readline()).decode():
            if word in line:
                return line.strip()
    raise AssertionError(f"it ended without {word}")


async def test_one_signs_in_from_another_machine_and_out_again(home: Path) -> None:
    async with office() as there:
        (home / "config.toml").write_text(CONFIG.format(address=there.address))
        signing = await kimi("auth", "my")
        assert signing.stdin is not None and signing.stderr is not None
        address = await line_with(signing.stdout, "/authorize")
        end = await browse(address, back=False)
        signing.stdin.write(b"what now?\n")
        await signing.stdin.drain()
        assert "not the address" in await line_with(signing.stderr, "kimi-tui")
        signing.stdin.write(end.encode() + b"\n")
        await signing.stdin.drain()
        assert await line_with(signing.stdout, "signed") == "signed in to my"
        assert await signing.wait() == 0

        listed = (await (await kimi("list")).communicate())[0].decode()
        assert listed.splitlines() == [
            f"my · http · {there.address}/mcp · signed in",
            "program · stdio · docs-server",
            "off · http · https://docs.example/mcp · off",
        ]
        assert (await (await kimi("reset-auth", "my")).communicate())[0] == b"signed out of my\n"
        assert (await (await kimi("reset-auth", "my")).communicate())[0] == b"you were not signed in to my\n"


def test_what_cannot_be_signed_in_to_is_one_line(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "config.toml").write_text(CONFIG.format(address="http://127.0.0.1:1"))
    assert run(["mcp", "auth", "nobody"]) == 1
    assert "There are: my, program, off." in capsys.readouterr().err
    assert run(["mcp", "auth", "program"]) == 1
    assert "takes no sign-in" in capsys.readouterr().err
    assert run(["mcp", "auth", "my"]) == 1
    assert capsys.readouterr().err.count("\n") == 1

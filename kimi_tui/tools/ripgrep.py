"""The `rg` program: where it is, and a bounded run of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

OUTPUT_LIMIT = 8 << 20
"""Bytes of output after which `rg` is stopped."""
SECONDS = 20.0

COMMON = ("--no-config", "--color=never", "--hidden", "--no-require-git", "--glob=!**/.git", "--null")
"""Ignore files count with or without a repository, hidden files are searched, `.git` is not."""


@cache
def rg_path() -> str | None:
    """The one that was installed with this program, else the system's, else None."""
    beside = Path(sys.executable).parent / ("rg.exe" if os.name == "nt" else "rg")
    return str(beside) if beside.is_file() else shutil.which("rg")


@dataclass(frozen=True, slots=True)
class Found:
    """What `rg` printed. `cut` says why it is not all: `too much` or `too slow`; empty otherwise."""

    output: bytes
    complaint: str
    cut: str = ""


async def run_rg(program: str, arguments: Sequence[str], cwd: Path) -> Found:
    """Run it in `cwd` without input. Ends it when it prints too much, takes too long, or when cancelled."""
    process = await asyncio.create_subprocess_exec(
        program,
        *arguments,
        cwd=cwd,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    complaint = asyncio.create_task(process.stderr.read(1 << 16))
    output, cut = bytearray(), ""
    try:
        async with asyncio.timeout(SECONDS):
            while data := await process.stdout.read(1 << 16):
                output += data
                if len(output) > OUTPUT_LIMIT:
                    cut = "too much"
                    break
    except TimeoutError:
        cut = "too slow"
    finally:
        await _stop(process)
        text = (await complaint).decode("utf-8", "replace").strip()
    return Found(bytes(output), text, cut)


async def _stop(process: asyncio.subprocess.Process) -> None:
    """End it, unless it has closed its output and is about to end by itself."""
    if process.stdout is not None and not process.stdout.at_eof():
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    await process.wait()

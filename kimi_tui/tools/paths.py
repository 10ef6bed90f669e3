"""From a path as the model wrote it to the real place it means, and whether that lies inside the allowed folders.

Everything is resolved once, links followed; what is checked, shown and opened afterwards is the real path.
"""

from __future__ import annotations

import difflib
import os
import re
import stat
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from kimi_tui.protocol.views import ApprovalView, DiffView
from kimi_tui.spelling import spell, unspelled
from kimi_tui.tools.approval import permit
from kimi_tui.tools.base import Call, ToolResult, failed
from kimi_tui.tools.text import one_line


class PathFault(ValueError):
    """The path cannot be used. `str(fault)` says why, for the model."""


@dataclass(frozen=True, slots=True)
class Place:
    """A real place on the disk."""

    path: Path
    """Absolute, links followed."""
    shown: str
    """As it is told: relative to the work folder where it lies inside; can be given back to any tool."""
    outside: bool
    """Not inside the work folder or a folder added to it."""
    root: Path
    """The allowed folder it lies in; for a place outside, its own folder."""


def locate(text: str, call: Call) -> Place:
    """The real place. Follows links, `~` and both spellings of composed characters. Raises PathFault."""
    wanted = _absolute(text, call.work_dir)
    path = Path(os.path.realpath(_present(wanted)))
    if _is_link(path):
        raise PathFault(f"{spell(text)} is a link that leads round in a circle.")
    for allowed in (call.work_dir, *call.allowed_dirs):
        root = Path(os.path.realpath(allowed))
        if path.is_relative_to(root):
            return Place(path, _shown(path, call), False, root)
    return Place(path, spell(path), True, path if path.is_dir() else path.parent)


def _is_link(path: Path) -> bool:
    """Real paths end in a link only where following it never came to an end."""
    try:
        return path.is_symlink()
    except OSError:
        return False


def _absolute(text: str, work_dir: Path) -> str:
    if not text.strip():
        raise PathFault("The path is empty.")
    if "\0" in text:
        raise PathFault("The path holds a NUL character.")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", text):
        raise PathFault(f"{one_line(text)} is a URL; a path in the file system is wanted.")
    if text == "~" or (text.startswith("~/") and not os.path.lexists(work_dir / text)):
        text = str(Path.home()) + text[1:]
    return str(work_dir / text)


def _present(wanted: str) -> str:
    """What exists under that name: letter by letter, with escapes read, or in the other Unicode form; else `wanted`."""
    if os.path.lexists(wanted):
        return wanted
    plain = unspelled(wanted)
    if plain != wanted and os.path.lexists(plain):
        return plain
    return _equivalent(wanted) or wanted


def _equivalent(wanted: str) -> str | None:
    """The one existing path that reads the same though its characters are composed differently."""
    if wanted.isascii():
        return None
    found = Path(wanted).anchor
    for part in Path(wanted).parts[1:]:
        step = str(Path(found) / part)
        if not os.path.lexists(step):
            same = [name for name in _names(found) if _composed(name) == _composed(part)]
            if len(same) != 1:
                return None
            step = str(Path(found) / same[0])
        found = step
    return found


def _names(folder: str) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(folder)]
    except OSError:
        return []


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _shown(path: Path, call: Call) -> str:
    work_dir = Path(os.path.realpath(call.work_dir))
    return spell(path.relative_to(work_dir) if path.is_relative_to(work_dir) else path)


def regular_file(place: Place) -> os.stat_result:
    """Its stat. Raises PathFault, saying what it is, for everything that is not a file with contents."""
    try:
        found = place.path.stat()
    except FileNotFoundError:
        raise PathFault(f"There is no file {place.shown}.{_similar(place)}") from None
    except NotADirectoryError:
        raise PathFault(f"{place.shown} goes through something that is not a folder.") from None
    if not stat.S_ISREG(found.st_mode):
        raise PathFault(f"{place.shown} is {kind(found.st_mode)}, not a file that can be read or edited.")
    return found


def opened(path: Path) -> BinaryIO:
    """For reading. What has nothing to give now (a log or trace of the kernel's) ends, and keeps no reader waiting."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    return os.fdopen(os.open(path, flags), "rb")


def contents(path: Path) -> bytes:
    """All of it, as far as it can be had now."""
    with opened(path) as file:
        return file.read() or b""


def kind(mode: int) -> str:
    """`a folder`, `a named pipe` …"""
    tests = (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a block device"),
    )
    return next((name for test, name in tests if test(mode)), "something special")


def _similar(place: Place) -> str:
    names = difflib.get_close_matches(place.path.name, _names(str(place.path.parent)), n=3, cutoff=0.6)
    return f" Its folder has: {', '.join(spell(name) for name in names)}." if names else ""


def free_to_read(place: Place, call: Call) -> bool:
    """Whether it may be read without a question."""
    return not place.outside or (call.output_dir is not None and place.path.is_relative_to(call.output_dir.resolve()))


async def admit_reading(place: Place, call: Call, tool: str, what: str = "read") -> ToolResult | None:
    """None when it may be read; outside the allowed folders the user is asked, with the real path."""
    if free_to_read(place, call):
        return None
    return await permit(call, _view(place, call, tool, f"{what} outside the work folder"))


async def admit_writing(
    place: Place, call: Call, tool: str, what: str, diffs: tuple[DiffView, ...]
) -> ToolResult | None:
    """None when it may be written. In plan mode that is the plan file, which needs no question, and nothing else."""
    if call.plan_file is not None:
        if place.path == call.plan_file.resolve():
            return None
        return failed(
            f"Plan mode is on: the only file that may be written is the plan, {spell(call.plan_file)}. "
            f"{place.shown} was not changed.",
            brief="plan mode",
        )
    return await permit(call, _view(place, call, tool, f"{what} {place.shown}", diffs))


def _view(place: Place, call: Call, tool: str, action: str, diffs: tuple[DiffView, ...] = ()) -> ApprovalView:
    return ApprovalView(
        request_id=call.id,
        tool=tool,
        action=action,
        detail=spell(place.path),
        diffs=diffs,
        outside=place.outside,
        rule=spell(place.root),
    )


def explain(fault: OSError | ValueError) -> str:
    """One sentence about a fault of the file system."""
    if not isinstance(fault, OSError):
        return str(fault)
    name = fault.filename if isinstance(fault.filename, str) else ""
    return f"{fault.strerror or type(fault).__name__}{f': {spell(name)}' if name else ''}."

"""A change to one file, from the question to the user to the bytes on the disk."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from kimi_tui.protocol.views import DiffView
from kimi_tui.tools.base import Call, ToolResult
from kimi_tui.tools.diffs import change as difference
from kimi_tui.tools.diffs import counts
from kimi_tui.tools.disk import replace_file
from kimi_tui.tools.paths import PathFault, Place, admit_writing, locate
from kimi_tui.tools.stray_bytes import mixes_encodings
from kimi_tui.tools.text_file import Coding


@dataclass(frozen=True)
class Change:
    """What a file is now and what it shall be. `data` is None where no file is yet."""

    place: Place
    data: bytes | None
    before: str
    after: str
    coding: Coding
    verb: str
    """For the question: `edit`, `create`, `overwrite`, `append to`."""
    diff: DiffView = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "diff", difference(self.place.shown, self.before, self.after))

    def encoded(self) -> bytes:
        """Raises PathFault when the file's encoding has no room for a character."""
        if mixes_encodings(self.before, self.after):
            raise PathFault(
                f"{self.place.shown} is not UTF-8, and its encoding is not known: only ASCII, and bytes in the form "
                r"`\xe9`, can be put into it. Convert it first (`iconv`) to write anything else."
            )
        try:
            return self.coding.encode(self.after)
        except UnicodeEncodeError as fault:
            raise PathFault(
                f"{self.place.shown} is {self.coding}, which cannot hold the text: {fault.reason}."
            ) from None


async def carry_out(change: Change, path: str, call: Call, tool: str) -> ToolResult:
    """Ask, and then write, if the file and what `path` leads to are still the same. Raises PathFault, OSError."""
    data = change.encoded()
    refused = await admit_writing(change.place, call, tool, change.verb, (change.diff,))
    if refused is not None:
        return refused
    linked = await asyncio.shield(asyncio.to_thread(_write, change, data, path, call))
    return ToolResult(message=_told(change, linked), brief=counts(change.diff), diffs=(change.diff,))


def _write(change: Change, data: bytes, path: str, call: Call) -> bool:
    if locate(path, call).path != change.place.path:
        raise PathFault(f"{change.place.shown} leads somewhere else now; nothing was written.")
    return replace_file(change.place.path, data, change.data)


def _told(change: Change, linked: bool) -> str:
    done = {"create": "Created", "overwrite": "Overwrote", "append to": "Appended to"}.get(change.verb, "Edited")
    notes = f"{done} {change.place.shown} ({counts(change.diff)} lines)."
    if change.coding != Coding():
        notes += f" Encoding kept: {change.coding}."
    if linked:
        notes += " The file had other hard links: those keep the old contents."
    return notes

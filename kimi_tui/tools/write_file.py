"""WriteFile: a new file, a new text for an old one, or more at its end."""

from __future__ import annotations

import asyncio
from functools import cached_property
from typing import ClassVar, Literal

from pydantic import Field

from kimi_tui.resources import prompt
from kimi_tui.tools.base import Call, Params, ToolResult, failed
from kimi_tui.tools.change import Change, carry_out
from kimi_tui.tools.paths import PathFault, Place, explain, locate
from kimi_tui.tools.text_file import Coding, TextFile, line_ending, read_text


class WriteFileParams(Params):
    path: str = Field(description="The file, relative to the work folder or absolute. Missing folders are made.")
    content: str = Field(description="The text to write.")
    mode: Literal["overwrite", "append"] = Field(
        default="overwrite", description="Replace the whole file, or add to its end."
    )


class WriteFile:
    name: ClassVar[str] = "WriteFile"
    Params: ClassVar[type[Params]] = WriteFileParams
    read_only: ClassVar[bool] = False
    plan_safe: ClassVar[bool] = True

    @cached_property
    def description(self) -> str:
        return prompt("tools/write_file")

    def describe(self, params: WriteFileParams) -> tuple[str, str]:
        return ("Append" if params.mode == "append" else "Write"), params.path

    async def __call__(self, params: WriteFileParams, call: Call) -> ToolResult:
        try:
            place = await asyncio.to_thread(locate, params.path, call)
            if params.path.endswith("/") and not place.path.is_dir():
                raise PathFault(f"{place.shown} ends with a slash: a folder, not a file.")
            change = await asyncio.to_thread(_prepare, place, params)
            return await carry_out(change, params.path, call, self.name)
        except (PathFault, OSError) as fault:
            return failed(explain(fault))


def _prepare(place: Place, params: WriteFileParams) -> Change:
    old = read_text(place) if place.path.exists() else None
    if old is None:
        return Change(place, None, "", params.content, Coding(), "create")
    added = _fitted(params.content, old)
    if params.mode == "append":
        return Change(place, old.data, old.text, old.text + added, old.coding, "append to")
    return Change(place, old.data, old.text, added, old.coding, "overwrite")


def _fitted(content: str, old: TextFile) -> str:
    """With the line endings of the file that is there, unless the text brings its own."""
    if "\r" in content or line_ending(old.text) == "\n":
        return content
    return content.replace("\n", "\r\n")

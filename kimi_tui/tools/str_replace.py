"""StrReplaceFile: put one text in the place of another, once or everywhere, one edit or several."""

from __future__ import annotations

import asyncio
import json
from functools import cached_property
from typing import Any, ClassVar

from pydantic import BaseModel, Field, field_validator

from kimi_tui.resources import prompt
from kimi_tui.tools.base import Call, Params, ToolResult, failed
from kimi_tui.tools.change import Change, carry_out
from kimi_tui.tools.edits import EditFault, Replacement, apply
from kimi_tui.tools.paths import PathFault, Place, explain, locate
from kimi_tui.tools.stray_bytes import has_stray_bytes, with_stray_bytes
from kimi_tui.tools.text_file import read_text


class Edit(BaseModel):
    old: str = Field(min_length=1, description="The text as it stands in the file, blanks and line breaks included.")
    new: str = Field(description="The text that comes in its place.")
    replace_all: bool = Field(
        default=False, description="Replace it wherever it stands; else it must fit exactly once."
    )


class StrReplaceFileParams(Params):
    path: str = Field(description="The file, relative to the work folder or absolute.")
    edit: Edit | list[Edit] = Field(description="One edit, or several that are made one after the other, all or none.")

    @field_validator("edit", mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        """Some models write the edit as JSON inside the JSON."""
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError:
            return value

    @property
    def edits(self) -> list[Edit]:
        return self.edit if isinstance(self.edit, list) else [self.edit]


class StrReplaceFile:
    name: ClassVar[str] = "StrReplaceFile"
    Params: ClassVar[type[Params]] = StrReplaceFileParams
    read_only: ClassVar[bool] = False
    plan_safe: ClassVar[bool] = True

    @cached_property
    def description(self) -> str:
        return prompt("tools/str_replace_file")

    def describe(self, params: StrReplaceFileParams) -> tuple[str, str]:
        return "Edit", params.path

    async def __call__(self, params: StrReplaceFileParams, call: Call) -> ToolResult:
        try:
            place = await asyncio.to_thread(locate, params.path, call)
            change = await asyncio.to_thread(_prepare, place, params.edits)
            return await carry_out(change, params.path, call, self.name)
        except (PathFault, EditFault, OSError) as fault:
            return failed(explain(fault))


def _prepare(place: Place, edits: list[Edit]) -> Change:
    if not edits:
        raise EditFault("There is no edit in the list.")
    old = read_text(place)
    text, _ = apply(old.text, [_replacement(edit, old.text) for edit in edits])
    return Change(place, old.data, old.text, text, old.coding, "edit")


def _replacement(edit: Edit, text: str) -> Replacement:
    """Bytes can be given as ReadFile shows them (`\\xe9`), unless the file holds these very letters."""
    if edit.old in text or not has_stray_bytes(text):
        return Replacement(edit.old, edit.new, edit.replace_all)
    return Replacement(with_stray_bytes(edit.old), with_stray_bytes(edit.new), edit.replace_all)

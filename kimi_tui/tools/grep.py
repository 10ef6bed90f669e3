"""Grep: lines of files that fit a regular expression."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from kimi_tui.resources import prompt
from kimi_tui.spelling import spell
from kimi_tui.tools.base import Call, Params, ToolResult, failed
from kimi_tui.tools.grep_walk import search
from kimi_tui.tools.paths import PathFault, Place, admit_reading, explain, locate, regular_file
from kimi_tui.tools.ripgrep import COMMON, rg_path, run_rg
from kimi_tui.tools.text import clip, one_line, plural, visible

LINE_LIMIT = 500
"""Characters of a line that are shown."""

Mode = Literal["content", "files_with_matches", "count_matches"]
Line = tuple[str, str]
"""Path, and what stands after it (`:12:text`, `:3`, nothing)."""


class GrepParams(Params):
    pattern: str = Field(min_length=1, description="Regular expression (ripgrep's dialect).")
    path: str = Field(default=".", description="File or folder to search; the work folder if left out.")
    glob: str | None = Field(
        default=None, description="Only files whose name fits, e.g. `*.py`, `*.{ts,tsx}`, `!*.min.js`."
    )
    file_type: str | None = Field(
        default=None, alias="type", description="Only files of a type, e.g. py, js, rust, md."
    )
    output_mode: Mode = Field(
        default="files_with_matches",
        description="`content`: the lines; `files_with_matches`: the paths; `count_matches`: matches per file.",
    )
    ignore_case: bool = Field(default=False, alias="-i", description="Upper and lower case are the same.")
    line_number: bool = Field(default=True, alias="-n", description="Line numbers, with `content`.")
    before: int | None = Field(default=None, ge=0, alias="-B", description="Lines before each match, with `content`.")
    after: int | None = Field(default=None, ge=0, alias="-A", description="Lines after each match, with `content`.")
    context: int | None = Field(default=None, ge=0, alias="-C", description="Lines around each match, with `content`.")
    multiline: bool = Field(default=False, description="Let the expression reach over line breaks; `.` fits them too.")
    head_limit: int | None = Field(
        default=250, ge=0, description="At most so many lines or entries; 0 for all that fit."
    )


class Grep:
    name: ClassVar[str] = "Grep"
    Params: ClassVar[type[Params]] = GrepParams
    read_only: ClassVar[bool] = True
    plan_safe: ClassVar[bool] = True

    @cached_property
    def description(self) -> str:
        return prompt("tools/grep")

    def describe(self, params: GrepParams) -> tuple[str, str]:
        return "Grep", params.pattern if params.path == "." else f"{params.pattern} in {params.path}"

    async def __call__(self, params: GrepParams, call: Call) -> ToolResult:
        try:
            place = await asyncio.to_thread(locate, params.path or ".", call)
            refused = await admit_reading(place, call, self.name, "search")
            if refused is not None:
                return refused
            if not place.path.is_dir():
                regular_file(place)
            program = rg_path()
            if program is None:
                return _told(*await asyncio.to_thread(_walked, place, params), params)
            return _told(*await _by_rg(program, place, params, call), params)
        except (PathFault, OSError) as fault:
            return failed(explain(fault))


async def _by_rg(program: str, place: Place, params: GrepParams, call: Call) -> tuple[list[Line], str]:
    """The lines and a note. Raises PathFault when the expression is no good."""
    work_dir = call.work_dir.resolve()
    inside = place.path.is_relative_to(work_dir)
    target = place.path.relative_to(work_dir) if inside else place.path
    found = await run_rg(program, [*COMMON, *_options(params), "--", str(target)], work_dir)
    parse = _paths if params.output_mode == "files_with_matches" else _parsed
    lines = await asyncio.to_thread(parse, found.output)
    if found.complaint and not lines:
        raise PathFault(f"The search failed: {one_line(found.complaint, 600)}")
    notes = {"too much": "There is much more.", "too slow": "Stopped after some time; narrow the search down."}
    return lines, notes.get(found.cut, "")


def _options(params: GrepParams) -> list[str]:
    options = {
        "content": ["--with-filename", "--no-heading", f"--max-columns={LINE_LIMIT}", "--max-columns-preview"],
        "files_with_matches": ["--files-with-matches"],
        "count_matches": ["--count-matches", "--with-filename"],
    }[params.output_mode]
    if params.output_mode == "content":
        options.append("--line-number" if params.line_number else "--no-line-number")
        for flag, count in (("-B", params.before), ("-A", params.after), ("-C", params.context)):
            options += [f"{flag}{count}"] if count else []
    options += ["--ignore-case"] if params.ignore_case else []
    options += ["--multiline", "--multiline-dotall"] if params.multiline else []
    options += [f"--glob={params.glob}"] if params.glob else []
    options += [f"--type={params.file_type}"] if params.file_type else []
    return [*options, f"--regexp={params.pattern}"]


def _paths(output: bytes) -> list[Line]:
    return [(_path(name), "") for name in sorted(output.split(b"\0")) if name]


def _parsed(output: bytes) -> list[Line]:
    """The lines of `rg`, ordered by path: it searches in parallel, but equal searches shall have equal results."""
    found: list[Line] = []
    path = ""
    for line in output.replace(b"\r\n", b"\n").split(b"\n"):
        name, mark, rest = line.partition(b"\0")
        if mark:
            path = _path(name)
            found.append((path, _separator(rest) + rest.decode("utf-8", "backslashreplace")))
        elif line:
            found.append((path, line.decode("utf-8", "backslashreplace")))
    return sorted(found, key=lambda pair: pair[0])


def _separator(rest: bytes) -> str:
    """`-` before a context line, as `rg` would put it without the NUL; a match gets `:`."""
    return "-" if re.match(rb"\d+-", rest) else ":"


def _path(name: bytes) -> str:
    return spell(os.fsdecode(name.removeprefix(b"./")))


def _walked(place: Place, params: GrepParams) -> tuple[list[Line], str]:
    context = params.context or 0
    found = search(
        place.path,
        _expression(params),
        glob=params.glob,
        before=params.before or context,
        after=params.after or context,
        multiline=params.multiline,
    )
    lines: list[Line] = []
    for path, matches, text in found:
        name = spell(path if place.shown == "." else str(Path(place.shown) / path)) if path else place.shown
        if params.output_mode == "content":
            lines += [(name, _walked_line(number, line, hit, params)) for number, line, hit in text]
        else:
            lines.append((name, f":{matches}" if params.output_mode == "count_matches" else ""))
    return sorted(lines, key=lambda pair: pair[0]), ""


def _walked_line(number: int, line: str, hit: bool, params: GrepParams) -> str:
    sign = ":" if hit else "-"
    return f"{sign}{number}{sign}{line}" if params.line_number else f"{sign}{line}"


def _expression(params: GrepParams) -> re.Pattern[str]:
    flags = (re.IGNORECASE if params.ignore_case else 0) | (re.DOTALL if params.multiline else 0) | re.MULTILINE
    try:
        return re.compile(params.pattern, flags)
    except re.error as fault:
        raise PathFault(f"The regular expression is not valid: {fault}") from None


def _told(lines: Sequence[Line], note: str, params: GrepParams) -> ToolResult:
    if not lines:
        return ToolResult(message=f"No matches. {note}".strip(), brief="no matches")
    shown = lines[: params.head_limit or None]
    output = clip("\n".join(_row(path, rest) for path, rest in shown))
    files = len({path for path, _ in lines})
    many = plural(len(lines), "line") + f" in {plural(files, 'file')}" if params.output_mode == "content" else ""
    brief = many or plural(files, "file")
    if len(shown) < len(lines):
        brief_shown = f"The first {len(shown):,} of {len(lines):,} are shown (head_limit)."
        note = f"{brief_shown} {note}".strip()
    return ToolResult(output, message=f"{brief}. {note}".strip(), brief=brief)


def _row(path: str, rest: str) -> str:
    text = visible(rest)
    if rest == "--":
        return rest
    return path + (text if len(text) <= LINE_LIMIT + 40 else f"{text[: LINE_LIMIT + 40]} […]")

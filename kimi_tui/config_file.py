"""Reads a TOML file so that every fault in it names the file, the line and the key. Loads no pydantic."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kimi_tui.faults import Fault
from kimi_tui.options import UiOptions

Keys = tuple[str | int, ...]
"""A place in a TOML document; a number is an index into an array of tables."""


class ConfigFault(Fault):
    """A fault in the configuration: which file, which line, which key, what is wrong."""


def fault_in(file: Path, line: int | None, what: str) -> ConfigFault:
    place = f"{file}, line {line}" if line else str(file)
    return ConfigFault(f"{place}: {what}", hint="Mend it, or start with another one: --config-file FILE.")


def read_text(file: Path) -> str:
    """The file's text, empty when there is none. Raises `ConfigFault`."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise fault_in(file, line, "not UTF-8 text") from error
    except OSError as error:
        raise ConfigFault(f"cannot read {file}: {error.strerror or error}") from error


def parse(text: str, file: Path) -> dict[str, Any]:
    """The document. Raises `ConfigFault` with line and key."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_fault(text, file, str(error)) from error


def _syntax_fault(text: str, file: Path, message: str) -> ConfigFault:
    found = re.search(r"\(at line (\d+), column \d+\)", message)
    lines = text.splitlines()
    number = int(found[1]) if found else len(lines)
    what = re.sub(r"\s*\(at .*?\)$", "", message)
    source = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    if header := re.match(r"\[\[?([^\]]*)\]", source):
        key = f"[{header[1].strip()}]"
    else:
        key = source.partition("=")[0].strip() if "=" in source else ""
    if what.startswith(("Cannot overwrite", "Cannot declare", "Cannot mutate", "Cannot redefine")):
        return fault_in(file, number, f"{key or 'a key'} is given twice")
    return fault_in(file, number, f"{what[:1].lower()}{what[1:]}{f' (at {key})' if key else ''}")


def line_of(text: str, keys: Sequence[str | int]) -> int | None:
    """The line, counted from 1, that sets `keys`, or the nearest table or key around it."""
    wanted = tuple(keys)
    best, best_length = None, 0
    for number, found in _places(text):
        shared = min(len(found), len(wanted))
        if found[:shared] == wanted[:shared] and (len(found) <= len(wanted)) and shared > best_length:
            best, best_length = number, shared
    return best


def _places(text: str) -> Iterator[tuple[int, Keys]]:
    table: Keys = ()
    counts: dict[Keys, int] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if line.startswith("[["):
            keys = _dotted(line[2:].partition("]]")[0])
            counts[keys] = counts.get(keys, -1) + 1
            table = (*keys, counts[keys])
            yield number, table
        elif line.startswith("["):
            table = _dotted(line[1:].rpartition("]")[0])
            yield number, table
        elif "=" in line and not line.startswith("#"):
            yield number, (*table, *_dotted(line.partition("=")[0]))


def _dotted(text: str) -> Keys:
    """`a."b.c"` → `("a", "b.c")`, by asking the parser itself; nothing for what is no key."""
    try:
        value: Any = tomllib.loads(f"{text} = 0")
    except tomllib.TOMLDecodeError:
        return ()
    keys: list[str | int] = []
    while isinstance(value, dict) and len(value) == 1:
        ((key, value),) = value.items()
        keys.append(key)
    return tuple(keys)


def read_ui_options(file: Path) -> UiOptions:
    """The `[ui]` table and what the environment says of it, for the first frame. Raises `ConfigFault` when the file is
    no TOML; a value of the wrong type counts as not given here, since the full check that follows names it."""
    table = parse(read_text(file), file).get("ui")
    ui = (table if isinstance(table, dict) else {}) | dict(_said_outside())
    plain = UiOptions()
    keys = ui.get("keys")
    theme, images = ui.get("theme"), ui.get("images")
    return UiOptions(
        theme=theme if isinstance(theme, str) else plain.theme,
        images=images if isinstance(images, str) else plain.images,
        plain=_flag(ui, "plain", plain.plain),
        ascii=_flag(ui, "ascii", plain.ascii),
        notifications=_flag(ui, "notifications", plain.notifications),
        keys={name: key for name, key in keys.items() if isinstance(key, str)} if isinstance(keys, dict) else {},
    )


_FLAGS = dict.fromkeys(("1", "true", "t", "yes", "y", "on"), True)
_FLAGS |= dict.fromkeys(("0", "false", "f", "no", "n", "off"), False)


def _said_outside() -> Iterator[tuple[str, str | bool]]:
    """What variables like `KIMI_TUI_UI__THEME` say, read as the full check reads them."""
    for name, value in os.environ.items():
        option = name.lower().removeprefix("kimi_tui_ui__")
        if option == name.lower():
            continue
        if option in ("theme", "images"):
            yield option, value
        elif option in ("plain", "ascii", "notifications") and value.lower() in _FLAGS:
            yield option, _FLAGS[value.lower()]


def _flag(table: dict[str, Any], name: str, default: bool) -> bool:
    value = table.get(name)
    return value if isinstance(value, bool) else default

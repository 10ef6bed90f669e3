"""The dependency rule: a room uses the rooms below it, and each foreign library has one door."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "kimi_tui"

BASE = {
    "settings",
    "resources",
    "options",
    "config_file",
    "config_layers",
    "places",
    "faults",
    "literal",
    "sizes",
    "own_environment",
    "spelling",
}
PROTOCOL = BASE | {"protocol"}
CONTEXT = PROTOCOL | {"context"}
ENGINE = CONTEXT | {"session", "llm"}
MIDDLE = ("injections", "tools", "hooks", "flows", "skills", "background", "mcp")
AGENT = ENGINE | set(MIDDLE)

MAY_USE: dict[str, set[str]] = {
    "settings": (BASE - {"settings"}) | {"unknown_keys"},
    "resources": set(),
    "sizes": set(),
    "options": set(),
    "config_file": {"faults", "options"},
    "config_layers": {"config_file", "options"},
    "unknown_keys": {"config_file", "config_layers"},
    "places": {"faults"},
    "faults": set(),
    "literal": set(),
    "own_environment": set(),
    "spelling": set(),
    "protocol": set(),
    "context": PROTOCOL,
    "session": CONTEXT,
    "llm": CONTEXT,
    **dict.fromkeys(MIDDLE, ENGINE),
    "agent": AGENT,
    "ui": PROTOCOL,
    "bootstrap": AGENT | {"agent", "ui"},
    "cli": AGENT | {"agent", "ui", "bootstrap"},
    "__main__": AGENT | {"agent", "ui", "bootstrap", "cli"},
}

ONE_DOOR = {"textual": "ui", "rich": "ui", "litellm": "llm", "xllamacpp": "llm", "mcp": "mcp"}

MODULES = sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else path.stem


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_uses_only_the_rooms_below_it(path: Path) -> None:
    room = room_of(path)
    if room == "__init__":
        return
    assert room in MAY_USE, f"an unknown room: {room}"
    for name in imports(path):
        top, _, rest = name.partition(".")
        if top == "kimi_tui" and rest:
            target = rest.partition(".")[0]
            assert target == room or target in MAY_USE[room], f"{room} imports {name}"
        door = ONE_DOOR.get(top)
        assert door is None or door == room, f"only {door} may import {top}, not {room}"


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("kimi_tui.context", ("textual", "litellm")),
        ("kimi_tui.agent", ("textual", "rich", "litellm")),
        ("kimi_tui.protocol.events", ("pydantic", "textual")),
    ],
)
def test_importing_a_room_does_not_load_what_it_must_not_know(module: str, absent: tuple[str, ...]) -> None:
    code = f"import sys, {module}; print(*(set({absent!r}) & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_can_be_read_in_one_sitting(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 350


@pytest.mark.parametrize("path", sorted((PACKAGE / "ui").rglob("*.py")), ids=lambda path: path.stem)
def test_no_method_of_the_screen_is_called_by_a_key_that_happens_to_have_its_name(path: Path) -> None:
    """Textual calls `key_at` of the widget with the focus when `@` is pressed."""
    methods = [
        function.name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        for function in node.body
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert not [name for name in methods if name.startswith(("key_", "_key_"))]

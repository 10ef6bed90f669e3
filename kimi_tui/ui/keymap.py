"""Keys from the config: which names there are, and what is wrong with a table of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from textual.binding import Binding, BindingType
from textual.dom import DOMNode


def bindings_of(node: DOMNode) -> list[BindingType]:
    """All bindings of a widget or screen and of what it is made from, as far as they are ours."""
    ours = [kind for kind in type(node).__mro__ if kind.__module__.startswith("kimi_tui.")]
    return [binding for kind in ours for binding in kind.__dict__.get("BINDINGS", ())]


def defaults(bindings: Iterable[BindingType]) -> dict[str, str]:
    """Name of the action → its key, of the bindings that have a name."""
    return {found.id: found.key for found in bindings if isinstance(found, Binding) and found.id}


def problems(keys: Mapping[str, str], known: Mapping[str, str]) -> list[str]:
    """One line for each name that does not exist and each key that two actions would share."""
    said = [
        f"[ui.keys] {name}: there is no such action; there are {', '.join(sorted(known))}."
        for name in keys
        if name not in known
    ]
    taken: dict[str, str] = {}
    for name, given in {**known, **{name: key for name, key in keys.items() if name in known}}.items():
        for key in given.split(","):
            other = taken.setdefault(key.strip(), name)
            if other != name:
                said.append(f"[ui.keys] {key.strip()} is the key of both {other} and {name}.")
    return said

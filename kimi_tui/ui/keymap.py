"""Keys from the config: which names there are, what is wrong with a table of them, and how keys are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from textual.binding import Binding, BindingType
from textual.dom import DOMNode


def bindings_of(node: DOMNode) -> list[BindingType]:
    """All bindings of a widget or screen and of what it is made from, as far as they are ours."""
    ours = [kind for kind in type(node).__mro__ if kind.__module__.startswith("kimi_tui.")]
    return [binding for kind in ours for binding in kind.__dict__.get("BINDINGS", ())]


def named(bindings: Iterable[BindingType]) -> dict[str, Binding]:
    """The bindings that have a name, by it."""
    return {found.id: found for found in bindings if isinstance(found, Binding) and found.id}


def defaults(bindings: Iterable[BindingType]) -> dict[str, str]:
    """Name of the action → its key."""
    return {name: found.key for name, found in named(bindings).items()}


def in_force(binding: Binding, keys: Mapping[str, str]) -> str:
    """The first key that a binding has now that the config has had its say."""
    return (keys.get(binding.id or "") or binding.key).split(",")[0].strip()


def spelled(key: str) -> str:
    """A key as people write it: `esc`, `ctrl+t`, `F1`."""
    return re.sub(r"\bf(\d+)$", r"F\1", key.replace("escape", "esc").replace("slash", "/"))


def short(key: str) -> str:
    """The same for a place with little room: `^T`."""
    return re.sub(r"\Actrl\+([a-z])\Z", lambda found: f"^{found[1].upper()}", spelled(key))


class Names:
    """How texts name the keys of actions: as the config has them, else as usual."""

    def __init__(self, keys: Mapping[str, str] | None = None) -> None:
        """`keys` are those of the config."""
        self._keys = keys or {}

    def __call__(self, action: str, usual: str) -> str:
        return spelled(self._first(action)) or usual

    def short(self, action: str, usual: str) -> str:
        return short(self._first(action)) or usual

    @property
    def given(self) -> list[str]:
        """All keys of the config."""
        return [key.strip() for keys in self._keys.values() for key in keys.split(",")]

    def _first(self, action: str) -> str:
        return self._keys.get(action, "").split(",")[0].strip()


USUAL = Names()


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

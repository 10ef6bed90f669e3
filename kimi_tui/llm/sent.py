"""Parts of what a server sent, taken for what they should be: whatever is of another kind counts as not sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def mapping(value: Any) -> Mapping[str, Any]:
    """An object, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def mappings(value: Any) -> Sequence[Mapping[str, Any]]:
    """The objects of a list."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list | tuple) else []


def word(value: Any) -> str:
    """A string; some servers send a number for an id."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else ""


def count(value: Any) -> int:
    """A number of tokens."""
    return max(0, int(value)) if isinstance(value, int | float) else 0

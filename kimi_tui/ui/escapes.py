"""Alt with a key as most terminals send it: an escape, then the key.

Textual waits a tenth of a second for more of such a sequence; what is typed meanwhile is taken for a part of it, and of
Alt+Enter only Enter is left. Sequences that it knows are keys at once.
"""

from __future__ import annotations

from string import ascii_lowercase
from typing import Any, NamedTuple, cast

from textual import _ansi_sequences


class Named(NamedTuple):
    """A key that Textual's own list lacks."""

    value: str


def teach() -> None:
    """Let Textual know these keys; sequences that it knows keep their meaning."""
    known = cast(dict[str, Any], _ansi_sequences.ANSI_SEQUENCES_KEYS)
    known.setdefault("\x1b\r", (Named("alt+enter"),))
    for letter in ascii_lowercase:
        known.setdefault(f"\x1b{letter}", (Named(f"alt+{letter}"),))

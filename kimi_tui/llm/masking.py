"""Keeps secrets out of everything that is shown or logged."""

from __future__ import annotations

import io
import re
from typing import TextIO

from kimi_tui.own_environment import secret_values

MASK = "•••"

_SHAPES = re.compile(
    r"""
      \b(?:sk|pk|rk|xai|gsk|hf|ghp|gho|glpat|nvapi|pplx|r8|tgp|fw)[-_][A-Za-z0-9_*\-]{6,}
    | \bAIza[A-Za-z0-9_\-]{20,}
    | \bAKIA[A-Z0-9]{12,}
    | \beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-.]+
    """,
    re.VERBOSE,
)
_NAMED = re.compile(
    r"""(?ix)
    ( (?: proxy-)?authorization | (?:x-)?api[-_ ]?key | x-goog-api-key | access[-_]token | secret[-_]?key | password )
    ( ["']? \s* (?: [:=] | \sis\s ) \s* ["']? (?: bearer\s+ | basic\s+ )? )
    [^\s"',;}{)]{4,}
    """
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=\-]{8,}")
_IN_URL = re.compile(r"://[^/\s:@]+:[^/\s@]+@")
_SHORTEST = 8
"""Characters. Anything shorter would mask plain words."""


_remembered: set[str] = set()


def remember(secret: str | None) -> None:
    """From now on this text is masked in this process, whatever it looks like."""
    if secret and len(secret) >= _SHORTEST:
        _remembered.add(secret)


def mask(text: str) -> str:
    """The text with a mask for everything that looks like a secret, was remembered as one, or stands in a variable
    of the environment whose name says so."""
    for secret in sorted(_remembered.union(secret_values()), key=len, reverse=True):
        text = text.replace(secret, MASK)
    text = _SHAPES.sub(MASK, text)
    text = _NAMED.sub(rf"\1\2{MASK}", text)
    text = _BEARER.sub(rf"\1 {MASK}", text)
    return _IN_URL.sub(f"://{MASK}@", text)


class MaskedStream(io.TextIOBase):
    """A text stream in front of another one, for whatever libraries print."""

    def __init__(self, behind: TextIO) -> None:
        self._behind = behind

    def write(self, text: str) -> int:
        self._behind.write(mask(text))
        return len(text)

    def flush(self) -> None:
        self._behind.flush()

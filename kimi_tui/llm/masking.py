"""Keeps secrets out of everything that is shown or logged."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

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
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$")


def mask(text: str, known: Iterable[str] = ()) -> str:
    """The text with everything that looks like a secret, and the `known` ones, replaced by a mask."""
    for secret in sorted(known, key=len, reverse=True):
        if len(secret) >= 6:
            text = text.replace(secret, MASK)
    text = _SHAPES.sub(MASK, text)
    text = _NAMED.sub(rf"\1\2{MASK}", text)
    text = _BEARER.sub(rf"\1 {MASK}", text)
    return _IN_URL.sub(f"://{MASK}@", text)


def secrets_of_environment() -> tuple[str, ...]:
    """Values of variables whose names say that they are secret."""
    return tuple(value for name, value in os.environ.items() if _SECRET_NAME.search(name) and len(value) >= 8)

"""Strikes keys out of what is printed or logged."""

from __future__ import annotations

import re

from kimi_tui.own_environment import secret_values

_SECRET = re.compile(
    r"(?:(?<![A-Za-z0-9])|(?<=\\n))sk-[\w-]{6,}|\b(?:xai|gsk|ghp|hf|AIza)[-_]?[\w-]{16,}"
    r"|(?i:(?<=bearer )|(?<=api_key=)|(?<=api-key: ))[\w.~+/=-]{6,}"
)


def masked(text: str) -> str:
    """The text without anything that looks like a key, or is one of the environment's."""
    for value in secret_values():
        text = text.replace(value, "***")
    return _SECRET.sub("***", text)

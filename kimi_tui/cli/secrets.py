"""Strikes keys out of what is printed or logged."""

from __future__ import annotations

import os
import re

_SECRET = re.compile(
    r"(?:(?<![A-Za-z0-9])|(?<=\\n))sk-[\w-]{6,}|\b(?:xai|gsk|ghp|hf|AIza)[-_]?[\w-]{16,}"
    r"|(?i:(?<=bearer )|(?<=api_key=)|(?<=api-key: ))[\w.~+/=-]{6,}"
)
_SECRET_NAME = re.compile(r"(_KEY|_TOKEN|_SECRET|PASSWORD)$")
_SHORTEST = 8


def masked(text: str) -> str:
    """The text without anything that looks like a key, or is one of the environment's."""
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST and _SECRET_NAME.search(name):
            text = text.replace(value, "***")
    return _SECRET.sub("***", text)

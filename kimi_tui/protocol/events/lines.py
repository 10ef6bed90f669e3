"""An event as a line of JSON."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from kimi_tui.protocol.events.base import Event

_LINE_ENDS = {number: f"\\u{number:04x}" for number in (0x85, 0x2028, 0x2029)}
"""What some readers take for the end of a line; JSON's own encoder leaves them as they are."""


def to_json(event: Event) -> str:
    """One line of JSON, for every notion of a line: `{"event": "TextDelta", …}`. Lone surrogates are replaced."""
    body: dict[str, Any] = {"event": type(event).__name__, **dataclasses.asdict(event)}
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_LINE_ENDS).encode("utf-8", "replace").decode("utf-8")

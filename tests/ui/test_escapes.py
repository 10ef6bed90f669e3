"""What arrives from a terminal that knows no newer way to tell of Alt."""

from __future__ import annotations

import pytest
from textual import events
from textual._xterm_parser import XTermParser

from kimi_tui.ui import escapes


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        ("\x1b\r", ["alt+enter"]),
        ("a\x1b\rbc", ["a", "alt+enter", "b", "c"]),
        ("\x1btdo", ["alt+t", "d", "o"]),
        ("\x1b[1;3A\x1bu", ["alt+up", "alt+u"]),
        ("\x1bf", ["ctrl+right"]),
        ("\r\x7f", ["enter", "backspace"]),
    ],
)
def test_alt_is_a_key_at_once_whatever_follows(sent: str, keys: list[str]) -> None:
    escapes.teach()
    parser = XTermParser()
    assert [event.key for event in parser.feed(sent) if isinstance(event, events.Key)] == keys

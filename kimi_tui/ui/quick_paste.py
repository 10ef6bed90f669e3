"""Big pastes in a moment: what stands between the marks of a paste is taken as it comes, not sign by sign.

Textual looks at every sign of a paste for the end of it; a megabyte keeps it busy for a second.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual import events
from textual.message import Message

from kimi_tui.ui.any_input import AnyInput

BEGIN, END = "\x1b[200~", "\x1b[201~"


class QuickPaste(AnyInput):
    """Reads the terminal's input; pastes whose beginning comes in one piece are collected here."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pasted: list[str] | None = None
        """What has come of a paste that has not ended."""
        self._held = ""
        """The last signs that came: they may be a part of the marks."""

    @property
    def pasting(self) -> bool:
        return self._pasted is not None

    def feed(self, data: str) -> Iterable[Message]:
        if not data:
            yield from super().feed(data)
        while data:
            if self._pasted is None:
                before, begin, data = (self._held + data).partition(BEGIN)
                self._pasted = [] if begin else None
                self._held = "" if begin else _opening(before)
                if before := before.removesuffix(self._held):
                    yield from super().feed(before)
            else:
                pasted, end, data = (self._held + data).partition(END)
                keep = len(pasted) if end else max(0, len(pasted) - len(END) + 1)
                self._held = pasted[keep:]
                self._pasted.append(pasted[:keep])
                if end:
                    whole, self._pasted = "".join(self._pasted), None
                    yield events.Paste(whole.replace("\x00", ""))


def _opening(text: str) -> str:
    """What of the mark stands at the end. Less than three signs of it may be keys of their own."""
    return next((BEGIN[:size] for size in range(len(BEGIN) - 1, 2, -1) if text.endswith(BEGIN[:size])), "")

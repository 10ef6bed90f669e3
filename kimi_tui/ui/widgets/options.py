"""A short list to choose from: the heart of every dialog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.geometry import Size
from textual.message import Message

from kimi_tui.ui.cells import literal
from kimi_tui.ui.tones import Span, spread
from kimi_tui.ui.widgets.lines import Lines


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that can be chosen. `about` says what it does, behind the label."""

    key: str
    label: str
    about: str = ""
    tone: str = ""


class Options(Lines):
    """Posts `Chosen(key)` on Enter or a click, `Highlighted(key)` when the cursor moves."""

    @dataclass
    class Chosen(Message):
        key: str

    @dataclass
    class Highlighted(Message):
        key: str

    def __init__(self, options: Sequence[Option], *, numbered: bool = False, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.options = list(options)
        self.numbered = numbered
        self._label_width = max((cell_len(literal(option.label)) for option in options), default=0)

    def on_mount(self) -> None:
        self.resized()

    def change(self, options: Sequence[Option]) -> None:
        self.options = list(options)
        self._label_width = max((cell_len(literal(option.label)) for option in options), default=0)
        self.resized()
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.options)

    def total(self) -> int:
        return len(self.options)

    def spans(self, index: int, width: int) -> list[Span]:
        option = self.options[index]
        left: list[Span] = [("› " if index == self.cursor else "  ", "now strong")]
        if self.numbered:
            left.append((f"{index + 1} ", "moved" if index < 9 else "faint"))
        strong = "strong " if index == self.cursor else ""
        left.append((literal(option.label), f"{strong}{option.tone}"))
        if option.about and width >= self._label_width + 16:
            gap = " " * (self._label_width - cell_len(literal(option.label)) + 3)
            left.append((gap + literal(option.about), "quiet"))
        return spread(left, [], width)

    def moved(self) -> None:
        self.post_message(self.Highlighted(self.options[self.cursor].key))

    def chosen(self) -> None:
        self.post_message(self.Chosen(self.options[self.cursor].key))

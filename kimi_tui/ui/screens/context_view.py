"""What fills the context, largest first: categories with bars, their largest items, and the sum that the gauge shows.

Asks for `MeasureContext` and listens to `ContextMeasured`. Solid bars are exact, hatched ones and a `~` are estimates.
Enter or Space folds the items of a category; `x` drops the result of a tool, after a question.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message

from kimi_tui.protocol.commands import DropResult, MeasureContext
from kimi_tui.protocol.events import ContextMeasured, ContextSwitched, Event
from kimi_tui.protocol.views import Tokens, TokenShare
from kimi_tui.ui.cells import ago, count, fit, literal
from kimi_tui.ui.listening import ask
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.screens.dialog import Ask
from kimi_tui.ui.screens.page import Page
from kimi_tui.ui.tones import Rows, Span
from kimi_tui.ui.widgets.lines import Lines
from kimi_tui.ui.widgets.options import Option
from kimi_tui.ui.widgets.sheet import Sheet, paragraph

OPEN = 2
"""Categories whose items are shown from the start."""
LONGEST = 64
"""Cells for an item's name: its figure should not be far away."""


def accounted(shares: Sequence[TokenShare], tokens: Tokens) -> list[TokenShare]:
    """Largest first; what the shares leave of the gauge's total is a share of its own, so that they add up."""
    rest = tokens.total - sum(share.tokens for share in shares)
    found = sorted((share for share in shares if share.tokens), key=lambda share: -share.tokens)
    return [*found, TokenShare("not broken down", rest, False)] if rest else found


class Shares(Lines):
    """Categories and, where unfolded, their items."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "choose", "fold", show=False)]

    class Moved(Message):
        """The cursor rests on another row."""

    def __init__(self, marks: Marks, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.marks = marks
        self.shares: list[TokenShare] = []
        self.tokens = Tokens()
        self._open: set[str] = set()
        self._rows: list[tuple[int, int]] = []
        """(share, item) of each row; item −1 is the category itself."""

    def show(self, shares: Sequence[TokenShare], tokens: Tokens) -> None:
        first = not self.shares
        self.shares, self.tokens = accounted(shares, tokens), tokens
        if first:
            self._open = {share.category for share in self.shares[:OPEN]}
        self._list()

    def _list(self) -> None:
        self._rows = []
        for place, share in enumerate(self.shares):
            self._rows.append((place, -1))
            if share.category in self._open:
                self._rows += [(place, item) for item in range(len(share.items))]
        self.resized()

    def total(self) -> int:
        return len(self._rows)

    def stops(self, index: int) -> bool:
        """On categories, and on what can be dropped."""
        return self._rows[index][1] < 0 or self._entry(index) is not None

    def _entry(self, index: int) -> int | None:
        place, item = self._rows[index]
        entries = self.shares[place].entries
        return entries[item] if 0 <= item < len(entries) else None

    @property
    def droppable(self) -> tuple[int, str, int] | None:
        """Under the cursor: the chat entry of a result, what it is, its tokens."""
        if not self._rows or (entry := self._entry(self.cursor)) is None:
            return None
        place, item = self._rows[self.cursor]
        return (entry, *self.shares[place].items[item])

    def moved(self) -> None:
        self.post_message(self.Moved())

    def chosen(self) -> None:
        if self.droppable:
            return
        self._open ^= {self.shares[self._rows[self.cursor][0]].category}
        self._list()

    def spans(self, index: int, width: int) -> list[Span]:
        place, item = self._rows[index]
        share = self.shares[place]
        return self._category(share, width) if item < 0 else self._item(share.items[item], share.exact, width)

    def _category(self, share: TokenShare, width: int) -> list[Span]:
        fold = " " if not share.items else self.marks.unfolded if share.category in self._open else self.marks.folded
        part = share.tokens / max(1, self.tokens.total)
        figure = f"{'' if share.exact else '~'}{count(share.tokens)}"
        name = fit(literal(share.category), min(20, max(6, width - 20)))
        spans: list[Span] = [
            (f"{fold} ", "faint"),
            (name, "strong"),
            (f"{figure:>7}", ""),
            (f"{part:>5.0%}  ", "quiet"),
        ]
        room = width - sum(len(text) for text, _ in spans) - 1
        cells = max(0, min(room, round(room * part)))
        sign, tone = (self.marks.exact, "now") if share.exact else (self.marks.pending, "moved")
        return [*spans, (sign * cells, tone)]

    def _item(self, item: tuple[str, int], exact: bool, width: int) -> list[Span]:
        figure = f"{'' if exact else '~'}{count(item[1])}"
        room = max(0, min(width - 14, LONGEST))
        return [("    ", ""), (fit(literal(item[0]), room), "quiet"), (f"{figure:>8}", "faint")]


def outlook(tokens: Tokens, now: float) -> list[str]:
    """How much room is left, and how old the exact figure is."""
    said = []
    if tokens.trigger:
        left = tokens.trigger - tokens.total
        said.append(
            f"compacts at {count(tokens.trigger)}" + (f", {count(left)} to go" if left > 0 else ", with the next step")
        )
    if tokens.reserve:
        said.append(f"{count(tokens.reserve)} kept for the reply")
    age = ago(tokens.exact_at, now)
    said.append(f"exact figure: {age}{'' if age == 'now' else ' old'}" if age else "no exact figure yet")
    return said


class ContextView(Page):
    """See the module."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("x,delete", "drop", "drop this result")]

    def __init__(self, marks: Marks = UNICODE) -> None:
        super().__init__()
        self.shares = Shares(marks, classes="listing")
        self.clock = time.time

    def body(self) -> ComposeResult:
        yield self.shares
        yield Sheet(self._about, classes="about")

    def on_mount(self) -> None:
        self.shares.focus()
        ask(self, MeasureContext())

    def take(self, event: Event) -> None:
        if isinstance(event, ContextMeasured):
            self.shares.show(event.shares, event.tokens)
            self.query_one(".about", Sheet).changed()
            self.frame_changed()
        elif isinstance(event, ContextSwitched):
            ask(self, MeasureContext())

    @on(Shares.Moved)
    def _look_again(self) -> None:
        self.frame_changed()

    def action_drop(self) -> None:
        found = self.shares.droppable
        if found is None:
            return
        entry, name, tokens = found
        about = (
            f"Frees about {count(tokens)} tokens. The call stays, a short note takes the place of its result. "
            "It can be undone."
        )
        options = (Option("drop", "drop the result"), Option("cancel", "keep it"))

        def drop(answer: str | None) -> None:
            if answer == "drop":
                ask(self, DropResult(entry))

        self.app.push_screen(Ask(f"Drop {literal(name)}?", options, about), drop)

    def _about(self, width: int) -> Rows:
        return paragraph(" · ".join(outlook(self.shares.tokens, self.clock())), width, "quiet", 3)

    def title_words(self) -> str:
        return "CONTEXT"

    def facts(self, width: int) -> str:
        tokens = self.shares.tokens
        if not self.shares.shares:
            return "measuring …"
        figures = count(tokens.exact) + (f" + ~{count(tokens.pending)}" if tokens.pending else "")
        if tokens.window <= 0:
            return figures
        share = f"{min(9.99, tokens.total / tokens.window):.0%}"
        return f"{figures} of {count(tokens.window)} · {share}" if width > 44 else f"{figures} · {share}"

    def keys(self) -> Sequence[tuple[str, str]]:
        act = ("x", "drop this result") if self.shares.droppable else ("enter", "unfold")
        return (("↑↓", "move"), act, ("━", "exact"), ("╍ ~", "estimated"), ("esc", "back"))

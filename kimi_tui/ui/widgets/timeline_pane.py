"""The sidebar: headline, timeline and preview. The app talks to `timeline` and `preview`; the pane joins the two."""

from __future__ import annotations

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from kimi_tui.protocol.views import RevertPreview
from kimi_tui.ui.cells import count, cut_start, literal, plural
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.tones import Rows, Span, spread, stylesheet
from kimi_tui.ui.widgets.preview import Preview
from kimi_tui.ui.widgets.sheet import Sheet
from kimi_tui.ui.widgets.timeline import Timeline

FILTER_WORDS = {"all": "", "turns": "turns", "jumps": "jumps", "named": "named"}


class Headline(Sheet):
    """`TIMELINE  8 · 3 files`, the filter when one is on, the query while searching."""

    sifted: Timeline.Sifted | None = None

    def rows(self, width: int) -> Rows:
        state = self.sifted
        if state is None:
            return [[("TIMELINE", "strong quiet")]]
        if state.searching or state.query:
            room = width - 2 - (4 if not state.searching else 0)
            query = cut_start(literal(state.query), room)
            caret = ("▏", "now") if state.searching else (" esc", "quiet")
            return [[("/", "moved"), (query, ""), caret]]
        facts = count(state.checkpoints)
        if state.files > 1:
            facts += " · " + plural(state.files, "file")
        title: list[Span] = [("TIMELINE", "strong quiet")]
        word = FILTER_WORDS[state.filter]
        if word:
            title += [(" ", ""), (f" {word} ", "found")]
        return [spread(title, [(facts, "quiet")] if cell_len(facts) + 10 < width else [], width)]


class TimelinePane(Vertical):
    """See the module."""

    DEFAULT_CSS = stylesheet("timeline_pane")

    def __init__(self, *, marks: Marks = UNICODE, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.headline = Headline(classes="headline")
        self.timeline = Timeline(marks=marks)
        self.preview = Preview(marks=marks)

    def compose(self) -> ComposeResult:
        yield self.headline
        yield self.timeline
        yield self.preview

    def show_preview(self, preview: RevertPreview) -> None:
        """The agent's answer to `PreviewRevert`; dropped when the cursor has moved on."""
        self.preview.show(preview)

    @on(Timeline.Highlighted)
    @on(Timeline.Pointed)
    def _aim(self, event: Timeline.Highlighted | Timeline.Pointed) -> None:
        self.preview.aim(event.row)

    @on(Timeline.Sifted)
    def _count(self, event: Timeline.Sifted) -> None:
        self.headline.sifted = event
        self.headline.changed()
        self.preview.mark(event.marked)

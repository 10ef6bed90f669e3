"""The graph of a flow, live: its nodes as a list, where the walk stands, how often it came by, which ways it went.

Listens to `FlowStarted`, `FlowMoved` and `FlowEnded`. The list follows the walk until the reader moves the cursor;
Enter shows what the model is told at the node under it, in full.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.message import Message

from kimi_tui.protocol.events import Event, FlowStarted
from kimi_tui.protocol.views import FlowNodeView
from kimi_tui.ui.cells import cut, literal, plural
from kimi_tui.ui.flow_run import FlowRun, figures, follow
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.screens.page import Page
from kimi_tui.ui.text import one_line
from kimi_tui.ui.tones import Rows, Span, spread
from kimi_tui.ui.widgets.lines import Lines
from kimi_tui.ui.widgets.readout import printed
from kimi_tui.ui.widgets.sheet import Sheet, paragraph

READ_ROWS = 14
"""Rows of a node's text that are shown at once."""

_NAMES = {"begin": "BEGIN", "end": "END"}


@dataclass(frozen=True, slots=True)
class _Row:
    """A node, or with `way` one of the ways that lead on from it."""

    node: FlowNodeView
    way: tuple[str, str] | None = None


def walk_order(nodes: Sequence[FlowNodeView]) -> list[FlowNodeView]:
    """From BEGIN along the ways, each node once; what cannot be reached is left out."""
    known = {node.id: node for node in nodes}
    waiting = [node for node in nodes if node.kind == "begin"]
    found: dict[str, FlowNodeView] = {}
    while waiting:
        node = waiting.pop()
        if node.id in found:
            continue
        found[node.id] = node
        waiting += [known[target] for _, target in reversed(node.ways) if target in known]
    ordered = [node for node in found.values() if node.kind != "end"]
    return [*ordered, *(node for node in found.values() if node.kind == "end")]


def _rows(nodes: Sequence[FlowNodeView]) -> list[_Row]:
    """Nodes in order; the ways are listed where there is a choice, or where the next row is not where it goes on."""
    rows: list[_Row] = []
    ordered = walk_order(nodes)
    for place, node in enumerate(ordered):
        rows.append(_Row(node))
        after = ordered[place + 1].id if place + 1 < len(ordered) else ""
        if len(node.ways) > 1 or any(target != after for _, target in node.ways):
            rows += [_Row(node, way) for way in node.ways]
    return rows


class Graph(Lines):
    """The nodes of one walk and the ways between them. Posts `Moved` and `Chosen`; `node` is under the cursor."""

    class Moved(Message):
        pass

    class Chosen(Message):
        pass

    def __init__(self, marks: Marks, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.marks = marks
        self.run: FlowRun | None = None
        self._rows: list[_Row] = []
        self._labels: dict[str, str] = {}
        self._following = True

    def show(self, run: FlowRun | None) -> None:
        if run is not None and (self.run is None or run.flow is not self.run.flow):
            self._rows = _rows(run.flow.nodes)
            self._labels = {node.id: _label(node) for node in run.flow.nodes}
            self._following = True
        self.run = run
        self.resized()
        if self._following and run is not None and run.at is not None:
            here = (index for index, row in enumerate(self._rows) if row.way is None and self._stands_at(row.node))
            self.rest(next(here, 0), tell=False)
        self.refresh()

    @property
    def node(self) -> FlowNodeView | None:
        return self._rows[self.cursor].node if self.cursor < len(self._rows) else None

    def moved(self) -> None:
        self._following = False
        self.post_message(self.Moved())

    def chosen(self) -> None:
        self.post_message(self.Chosen())

    def total(self) -> int:
        return len(self._rows)

    def stops(self, index: int) -> bool:
        return self._rows[index].way is None

    def _stands_at(self, node: FlowNodeView) -> bool:
        run = self.run
        return run is not None and run.ended is None and run.at is not None and run.at.node == node.id

    def spans(self, index: int, width: int) -> list[Span]:
        row = self._rows[index]
        return self._node(row.node, width) if row.way is None else self._way(row.node, row.way, width)

    def _node(self, node: FlowNodeView, width: int) -> list[Span]:
        visits = self.run.visits.get(node.id, 0) if self.run else 0
        here, marks = self._stands_at(node), self.marks
        mark, tone = (marks.now, "now") if here else (marks.point, "quiet") if visits else (marks.gone, "faint")
        kind = "?" if node.kind == "decision" else " "
        left: list[Span] = [
            (f"{mark} ", tone),
            (f"{kind} ", "moved"),
            (cut(self._labels[node.id], width - 14), "strong" if here else "" if visits else "quiet"),
        ]
        return spread(left, [(_times(visits), "quiet")], width)

    def _way(self, node: FlowNodeView, way: tuple[str, str], width: int) -> list[Span]:
        label, target = way
        gone = self.run.taken.get((node.id, label), 0) if self.run else 0
        left: list[Span] = [
            (f"    {self.marks.corner} ", "faint"),
            (cut(literal(one_line(label)), 30), "now" if gone else "quiet"),
            (f" {self.marks.arrow} " if label else f"{self.marks.arrow} ", "faint"),
            (self._labels.get(target, literal(target)), "quiet"),
        ]
        room = width - 10
        return spread(_within(left, room), [(_times(gone), "quiet")], width)


def _within(spans: list[Span], room: int) -> list[Span]:
    taken = sum(len(text) for text, _ in spans[:-1])
    text, tone = spans[-1]
    return [*spans[:-1], (cut(text, max(1, room - taken)), tone)]


def _times(number: int) -> str:
    return f"×{number}" if number > 1 else ""


def _label(node: FlowNodeView) -> str:
    return _NAMES.get(node.kind, literal(" ".join(node.label.split())) or literal(node.id))


class FlowScreen(Page):
    """See the module."""

    def __init__(self, run: FlowRun | None, marks: Marks = UNICODE) -> None:
        super().__init__()
        self.run = run
        self.graph = Graph(marks, classes="listing")
        self._reading = False
        """The node under the cursor is read in full."""

    def body(self) -> ComposeResult:
        yield self.graph
        yield Sheet(self._about, classes="about")

    def on_mount(self) -> None:
        self.graph.focus()
        self.graph.show(self.run)

    def take(self, event: Event) -> None:
        run = follow(self.run, event)
        if run is self.run and not isinstance(event, FlowStarted):
            return
        self.run = run
        self.graph.show(run)
        self.query_one(".about", Sheet).changed()
        self.frame_changed()

    @on(Graph.Chosen)
    def _read(self) -> None:
        self._set_reading(not self._reading)

    @on(Graph.Moved)
    def _follow(self) -> None:
        self._set_reading(self._reading)

    def action_back(self) -> None:
        if self._reading:
            self._set_reading(False)
        else:
            super().action_back()

    def _set_reading(self, reading: bool) -> None:
        self._reading = reading
        self.query_one(".about", Sheet).changed()
        self.frame_changed()

    def _about(self, width: int) -> Rows:
        node = self.graph.node
        return _in_full(node, width) if self._reading and node else self._stands(width)

    def _stands(self, width: int) -> Rows:
        """How the walk goes."""
        run = self.run
        if run is None:
            return paragraph("No flow has run yet. /ralph and /flow:<name> start one.", width, "quiet", 2)
        if run.ended is not None:
            return paragraph(literal(one_line(run.ended.message)), width, "quiet", 3)
        if run.at is None:
            return paragraph("starting", width, "quiet", 1)
        again = f"asked {run.at.asks + 1} times · " if run.at.asks else ""
        came = f"came by {literal(one_line(run.at.choice))} · " if run.at.choice else ""
        return paragraph(f"{again}{came}{literal(one_line(run.at.label))}", width, "quiet", 3)

    def title_words(self) -> str:
        return f"FLOW {literal(one_line(self.run.flow.name))}" if self.run else "FLOW"

    def facts(self, width: int) -> str:
        if self.run is None:
            return ""
        said = figures(self.run)
        return " · ".join(said if width > 50 else said[:1])

    def keys(self) -> Sequence[tuple[str, str]]:
        if self._reading:
            return (("↑↓", "move"), ("enter", "less"), ("esc", "less"))
        return (("↑↓", "move"), ("enter", "read"), ("?", "decision"), ("×2", "came by twice"), ("esc", "back"))


def _in_full(node: FlowNodeView, width: int) -> Rows:
    """What the model is told at a node, with its own line breaks."""
    rows = printed(node.label.strip() or node.id, width)
    more: Rows = [[(f"and {plural(len(rows) - READ_ROWS, 'more row')}", "faint")]] if len(rows) > READ_ROWS else []
    return [*rows[:READ_ROWS], *more]

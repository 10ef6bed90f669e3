"""Commands and subagents in the background: which run and for how long, how the others ended."""

from __future__ import annotations

import signal
import time

from kimi_tui.protocol.views import SubagentView, TaskView
from kimi_tui.ui.cells import ago, exact, lasted, literal, size
from kimi_tui.ui.helper import helper_head
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.tones import Rows, Span, spread
from kimi_tui.ui.widgets.searched import PickList
from kimi_tui.ui.widgets.sheet import paragraph
from kimi_tui.ui.widgets.status import short_path


def mark_of(task: TaskView, marks: Marks) -> Span:
    known = {
        "running": (marks.running, "now"),
        "done": (marks.ok, "good"),
        "failed": (marks.bad, "bad"),
        "stopped": (marks.stopped, "moved"),
    }
    return known.get(task.status, (marks.gone, "quiet"))


def state_of(task: TaskView) -> str:
    """`running`, `exit 1`, `SIGKILL`, `stopped`, `lost`."""
    if task.status not in ("done", "failed") or task.exit_code is None:
        return task.status
    return f"exit {task.exit_code}" if task.exit_code >= 0 else _signal(-task.exit_code)


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def took(task: TaskView, now: float) -> str:
    """How long it has run, or ran; empty when nobody knows."""
    if not task.started_at:
        return ""
    end = now if task.status == "running" else task.ended_at
    return lasted(end - task.started_at) if end else ""


def origin_of(task: TaskView) -> str:
    """Where it comes from, when not from this run of this session."""
    if task.session:
        return f"of session {literal(task.session).rstrip('/').rpartition('/')[2]}"
    return "left over" if task.orphan else ""


class TaskList(PickList[TaskView]):
    """See the module. Those that run stand first, the newest of the others after them."""

    def __init__(self, marks: Marks = UNICODE, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.marks = marks
        self.clock = time.time

    def words(self, item: TaskView) -> str:
        return f"{item.id} {item.command} {item.description} {state_of(item)} {origin_of(item)}"

    def same(self, one: TaskView, other: TaskView) -> bool:
        return one.id == other.id and one.session == other.session

    def spans(self, index: int, width: int) -> list[Span]:
        item = self.shown[index]
        mark, tone = mark_of(item, self.marks)
        lead: Span = (self.marks.cursor if index == self.cursor and self.has_focus else " ", "now")
        left: list[Span] = [(f"{mark} ", tone)]
        if origin := origin_of(item):
            left.append((f"{origin if width > 60 else 'left over'}  ", "moved"))
        left += _name(item, 2 * width)
        state = f"{state_of(item)}  " if item.status != "running" else ""
        right: list[Span] = [(state, "quiet"), (f"{took(item, self.clock()):>6}", "faint")]
        return [lead, *spread(left, right, width - 2)]

    def about(self, width: int) -> Rows:
        """Everything known about the one under the cursor."""
        item = self.item
        if item is None:
            nothing = "nothing found" if self.items else "nothing runs in the background"
            return paragraph(nothing, width, "quiet", 2)
        mark, tone = mark_of(item, self.marks)
        ended = f"ended {ago(item.ended_at, self.clock())} ago" if item.ended_at else ""
        right = took(item, self.clock())
        rows: Rows = [spread([(f"{mark} ", tone), (state_of(item), "strong")], [(right, "quiet")], width)]
        rows += paragraph("".join(text for text, _ in _name(item, 4 * width)), width, "", 3)
        rows += [_gauge(item.agent, width, self.marks)] if item.agent else []
        said = [
            "" if item.agent else item.description,
            item.reason,
            ended.replace("ended now ago", "ended just now"),
            origin_of(item),
        ]
        rows += paragraph(" · ".join(literal(part) for part in said if part), width, "quiet", 2) if any(said) else []
        process = f"process {item.pid}" if item.pid and item.status == "running" else ""
        whose = f"subagent {item.agent.id}" if item.agent else process
        facts = [item.id, whose, size(item.output_size) if item.output_size else ""]
        rows += paragraph(" · ".join(literal(fact) for fact in facts if fact), width, "faint", 2)
        return [*rows, [(short_path(item.output_file, width), "faint")]] if item.output_file else rows


def _name(task: TaskView, limit: int) -> list[Span]:
    """A command as it is; a subagent by its type and what it is to do."""
    if task.agent is None:
        return [(exact(task.command[:limit]), "")]
    return [(f"{literal(task.agent.type)} ", "quiet"), (exact(task.agent.description[:limit]), "")]


def _gauge(agent: SubagentView, width: int, marks: Marks) -> list[Span]:
    """How full its memory is, and what it is at."""
    row = helper_head(agent, agent.state == "running", width, marks)
    return [(piece.text, piece.style) for piece in row.pieces[2:]]


def in_order(tasks: tuple[TaskView, ...]) -> list[TaskView]:
    """What runs first, and the newest first."""
    return sorted(tasks, key=lambda task: (task.status != "running", -(task.ended_at or task.started_at)))

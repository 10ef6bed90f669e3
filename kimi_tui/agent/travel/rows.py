"""The timeline as the sidebar draws it: one row a step, one a jump, one a file that was left behind; newest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from kimi_tui.agent.gauge import Scale
from kimi_tui.agent.marks import mark_of, said, unwrapped
from kimi_tui.agent.transcript import View
from kimi_tui.agent.travel.spans import Span, last_spans, owner, prompt_of, spans
from kimi_tui.context import CheckpointMark, Context, Projection, Switch, Timeline
from kimi_tui.protocol.messages import Message, ToolCall
from kimi_tui.protocol.views import SwitchView, TimelineRow, ToolView

if TYPE_CHECKING:
    from kimi_tui.agent.desk import Desk

_LABEL = 80
"""Characters of a label, at most."""

_DID = {
    "Shell": "ran",
    "ReadFile": "read",
    "ReadMediaFile": "looked at",
    "WriteFile": "wrote",
    "StrReplaceFile": "edited",
    "Glob": "listed",
    "Grep": "searched",
    "FetchURL": "fetched",
    "SetTodoList": "planned",
    "Think": "thought",
    "AskUserQuestion": "asked",
    "EnterPlanMode": "began a plan",
    "ExitPlanMode": "showed the plan",
    "SendDMail": "sent a D-Mail",
    "Agent": "delegated",
}
_BY_FILE = {"ReadFile", "ReadMediaFile", "WriteFile", "StrReplaceFile"}
_TELLING = ("StrReplaceFile", "WriteFile", "Shell")
"""What a step is named after, when it did several things."""


def newest_checkpoint(context: Context) -> int | None:
    """The checkpoint to go back to for what is added now."""
    marks = context.checkpoints
    return marks[owner(context.history, marks, len(marks) - 1)].id if marks else None


def mark_named(context: Context, checkpoint: int, offset: int | None = None) -> CheckpointMark:
    """The checkpoint of that id (the newest of several), or at that offset. Raises ValueError."""
    for mark in reversed(context.checkpoints):
        if mark.id == checkpoint and offset in (None, mark.offset):
            return mark
    raise ValueError(f"There is no checkpoint {checkpoint} in this timeline.")


def rotation_path(desk: Desk, file: str) -> Path:
    """Where a rotation lies. Raises ValueError for a name that is none of this session's."""
    if desk.context.timeline.node_of(file) is None:
        raise ValueError(f"{file} is not a timeline of this session")
    return desk.context.file_backend.parent / file


def newest_rows(desk: Desk) -> Iterator[TimelineRow]:
    """From the row of the step that is under way on. There is one: a checkpoint was set."""
    context = desk.context
    return map(_live(desk, desk.scale).row, last_spans(context.history, context.checkpoints))


def all_rows(desk: Desk) -> tuple[TimelineRow, ...]:
    """The whole tree."""
    context, scale = desk.context, desk.scale
    story = _live(desk, scale)
    jumps = lineage(context.timeline, context.checkpoints, len(context.history))
    rows = [(span.start, 1, story.row(span)) for span in spans(context.history, context.checkpoints)]
    there = set(context.timeline.files.values())  # undo and redo move files: what they took back is no rotation now
    for index, switch in jumps:
        rows += [(index, 0, rotation_row(switch))] if switch.file in there else []
        rows.append((index, 0, switch_row(switch, scale, undoable=switch is context.timeline.last)))
    left = there - {switch.file for _, switch in jumps}
    elsewhere = [rotation_row(switch) for switch in context.timeline.switches if switch.file in left]
    ordered = [row for _, _, row in sorted(rows, key=lambda each: each[:2])]
    return (*reversed(ordered), *reversed(elsewhere))


def rows_of(desk: Desk, file: str, past: Projection) -> tuple[TimelineRow, ...]:
    """The steps of a rotation, newest first. Runs in a worker: estimates what was not counted."""
    node = desk.context.timeline.node_of(file)
    names = desk.context.timeline.names(node.id) if node else {}
    past.history.calibration = desk.context.calibration
    story = _Story(past, desk.toolset.view, names, desk.scale, file)
    return tuple(reversed([story.row(span) for span in spans(past.history, past.checkpoints)]))


@dataclass(frozen=True, slots=True)
class _Story:
    """A timeline, and what is needed to tell of its steps."""

    past: Projection
    view: View
    names: Mapping[int, str]
    scale: Scale
    file: str | None = None

    def row(self, span: Span) -> TimelineRow:
        before = self.scale(span.mark.tokens, span.mark.counted)
        after = self._after(span)
        return TimelineRow(
            "checkpoint",
            checkpoint=span.mark.id,
            file=self.file,
            label=label(span, self.past.history, self.view),
            turn=span.turn,
            tokens=after - before if after >= before else None,
            exact=span.tokens_after is not None and span.mark.exact_at is not None,
            messages=span.stop - span.start,
            at=span.mark.at,
            depth=0 if self.file is None else 1,
            name=self.names.get(span.mark.id, ""),
            offset=span.mark.offset,
        )

    def _after(self, span: Span) -> int:
        if span.tokens_after is None:
            return self.scale(self.past.tokens, self.past.counted)
        return self.scale(span.tokens_after, span.counted_after)


def _live(desk: Desk, scale: Scale) -> _Story:
    return _Story(desk.context.projection, desk.toolset.view, desk.context.timeline.names(), scale)


def lineage(timeline: Timeline, marks: Sequence[CheckpointMark], length: int) -> list[tuple[int, Switch]]:
    """The jumps that the live timeline went through, with the index of the first message after each; oldest first.

    A later jump to before an earlier one has taken that one back: it is no longer part of the way here.
    """
    found: list[tuple[int, Switch]] = []
    birth, limit = timeline.live.birth, length + 1
    while birth is not None:
        index = _landing(birth, marks, length)
        if index < limit:
            found.append((index, birth))
            limit = index
        birth = timeline.birth(birth.parent) if birth.parent is not None else None
    return found[::-1]


def _landing(switch: Switch, marks: Sequence[CheckpointMark], length: int) -> int:
    """A system prompt that came later has moved all records away from where they were then: checkpoints before the one
    that the jump went to are before it all the same."""
    if switch.parent is None:
        return 0
    if switch.offset is None:
        return min(switch.messages[1], length)
    first, number = switch.offset, switch.checkpoint or 0
    after = (mark.history_index for mark in marks if mark.offset >= first and mark.id >= number)
    return next(after, min(switch.messages[1], length))


def switch_view(switch: Switch, scale: Scale) -> SwitchView:
    """A jump in plain values, its figures as the gauge showed them."""
    (before, after), counted = switch.tokens, switch.counted
    return SwitchView(
        why=switch.why,
        file=switch.file,
        at=switch.at,
        from_checkpoint=switch.last_checkpoint,
        to_checkpoint=switch.checkpoint,
        messages_before=switch.messages[0],
        messages_after=switch.messages[1],
        tokens_before=scale(before, counted[0]),
        tokens_after=scale(after, counted[1]),
        note=switch.note,
    )


def switch_row(switch: Switch, scale: Scale, *, undoable: bool) -> TimelineRow:
    view = switch_view(switch, scale)
    return TimelineRow(
        "switch",
        checkpoint=switch.checkpoint,
        label=first_line(switch.note),
        tokens=view.tokens_after - view.tokens_before,
        messages=view.messages_before - view.messages_after,
        at=switch.at,
        switch=view,
        undoable=undoable,
    )


def rotation_row(switch: Switch) -> TimelineRow:
    return TimelineRow(
        "rotation",
        file=switch.file,
        label=switch.file.removesuffix(".jsonl"),
        messages=switch.messages[0],
        size=switch.size,
        at=switch.at,
        depth=1,
    )


def label(span: Span, history: Sequence[Message], view: View) -> str:
    """What the step is remembered by: the prompt of a turn's first, else what it did or said."""
    messages = history[span.start : span.stop]
    prompt = prompt_of(history, span)
    if prompt is not None:
        return first_line(said(prompt) or prompt.text(" ")) or "(an image)"
    if any(mark_of(message) == "summary" for message in messages):
        return "the summary"
    for message in messages:
        if message.role == "assistant":
            return _did(message, view)
    return next((f"D-Mail: {unwrapped(message)}" for message in messages if mark_of(message) == "dmail"), "…")[:_LABEL]


def _did(message: Message, view: View) -> str:
    calls = message.tool_calls or []
    if not calls:
        return "answered" if message.text().strip() or not message.content else "thought"
    named = next((call for name in _TELLING for call in calls if call.function.name == name), calls[0])
    more = f" and {len(calls) - 1} more" if len(calls) > 1 else ""
    return first_line(_deed(named, view(named, None)) + more)


def _deed(call: ToolCall, view: ToolView) -> str:
    name = call.function.name
    subject = PurePath(view.subject).name if name in _BY_FILE else view.subject
    return f"{_DID.get(name, f'called {name}')} {subject}".strip()


def first_line(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _LABEL else line[: _LABEL - 1] + "…"

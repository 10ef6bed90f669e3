"""What has to happen whenever time was moved: everything derived from the erased span goes with it."""

from __future__ import annotations

import asyncio

from kimi_tui.agent.desk import Desk
from kimi_tui.agent.transcript import Transcript
from kimi_tui.agent.travel.rows import all_rows, lineage, switch_view
from kimi_tui.context import Node, Switch, Timeline
from kimi_tui.protocol.events import ContextSwitched, TranscriptReset
from kimi_tui.protocol.views import Entry, SwitchView

TAIL = 400
"""Entries that a reset brings along; earlier ones are asked for."""

_WORDS = {
    "revert": "going back",
    "dmail": "the D-Mail",
    "compact": "the compaction",
    "clear": "clearing",
    "prepend": "the new system prompt",
    "restore": "restoring a rotation",
    "undo": "the undo",
    "redo": "the redo",
    "repair": "the repair",
    "prune": "the pruning",
    "foreign": "what another program did",
}


async def moved(desk: Desk, switch: Switch, prompt: str | None = None) -> None:
    """Forget what the erased span had led to, read the chat anew and tell the screen."""
    desk.toolset.repeats.reset()
    view = switch_view(switch, desk.scale)
    transcript, event = await asyncio.to_thread(projected, desk, view, prompt)
    desk.transcript = transcript
    _keep_beside(desk)
    desk.emit(ContextSwitched(view))
    desk.emit(event)
    desk.tell_nearness(event.tokens)


def _keep_beside(desk: Desk) -> None:
    """Remember with the session what the model has counted beside the messages: where no count is left, the gauge goes
    by it after a restart, too."""
    known = (desk.model.view.name, desk.beside) if desk.beside is not None else None
    if known is not None and known != desk.state.beside and desk.parent is None:
        desk.state.beside = known
        desk.keep_state()


async def begin(desk: Desk) -> None:
    """Before the session is written to: what the screen knows by its place in the file is told anew if that moves."""
    if await desk.begin():
        await shown_anew(desk)


async def shown_anew(desk: Desk) -> None:
    """The same time, other rows or other entries: read everything again and tell the screen."""
    desk.transcript, event = await asyncio.to_thread(projected, desk)
    desk.emit(event)


def projected(
    desk: Desk, switch: SwitchView | None = None, prompt: str | None = None
) -> tuple[Transcript, TranscriptReset]:
    """The chat and the timeline, from what the context holds. Long for long sessions: runs in a worker."""
    context, scale = desk.context, desk.scale
    jumps = lineage(context.timeline, context.checkpoints, len(context.history))
    transcript = Transcript(desk.toolset.view, desk.pins.holds)
    transcript.load(context.history, context.checkpoints, [(index, switch_view(each, scale)) for index, each in jumps])
    if desk.model.view.about and not context.history:
        transcript.note(Entry("note", desk.model.view.about))
    return transcript, TranscriptReset(
        total=len(transcript.entries),
        entries=tuple(transcript.entries[-TAIL:]),
        timeline=all_rows(desk),
        tokens=desk.tokens(),
        switch=switch,
        prompt=prompt,
        undo=undo_words(desk),
        redo=redo_words(desk),
    )


def undo_words(desk: Desk) -> str:
    """What `Undo` would take back now; empty when nothing."""
    timeline = desk.context.timeline
    if desk.files.undoing(timeline).next_undo is not None:
        return "putting the files back"
    return _words(timeline, timeline.live) if desk.context.undo_target() else ""


def redo_words(desk: Desk) -> str:
    """What `Redo` would do again; empty when nothing."""
    timeline, target = desk.context.timeline, desk.context.redo_target()
    moves = desk.files.undoing(timeline)
    if moves.next_redo is not None:
        return "putting the files back"
    return _words(timeline, target) if target and moves.redo else ""


def _words(timeline: Timeline, node: Node) -> str:
    """How a timeline first came to be, whatever undo and redo have made of it since."""
    birth = node.birth
    while birth is not None and birth.why in ("undo", "redo") and birth.parent is not None:
        birth = timeline.birth(birth.parent)
    return _WORDS[birth.why] if birth is not None else "the last jump"

"""One message gives way to another in the middle of a timeline; every other line keeps its bytes."""

from __future__ import annotations

from array import array

from kimi_tui.context import lines
from kimi_tui.context.log import Piece, Span
from kimi_tui.context.reading import read_file
from kimi_tui.context.store import Publish, Store
from kimi_tui.context.switching import described, replace_with
from kimi_tui.context.timeline import Switch
from kimi_tui.context.tokens import estimate_text_tokens
from kimi_tui.protocol.messages import Message


def replace(store: Store, index: int, message: Message, usage: int | None, note: str) -> tuple[Switch, Publish]:
    """The message at `index` of the history becomes this one; then `usage` is the count, where it is given.

    Raises `IndexError` when there is no such message and `OSError`, with nothing changed."""
    with store.writing():
        if not store.loaded:
            store.reload()
        spans = array("Q")
        read_file(store.paths.live, spans=spans)
        start, stop = spans[2 * index], spans[2 * index + 1]
        added = lines.joined([] if usage is None else [lines.of_usage(usage, store.now())])
        put = lines.joined(lines.of_messages(message))
        pieces: list[Piece] = [Span(None, 0, start), put, Span(None, stop, store.projection.size), added]
        old = store.projection
        tokens = old.tokens + _difference(store, index, message) if usage is None else usage
        counted = old.counted if usage is None else usage > 0
        switch = described(store, "prune", store.timeline.live_id, None, len(old.history), tokens, counted, note=note)
        return replace_with(store, switch, pieces)


def _difference(store: Store, index: int, message: Message) -> int:
    """Tokens that a message of the pending part adds by becoming this one; one that was counted stays counted."""
    old = store.projection
    if index < old.pending_from:
        return 0
    before, after = ([old.history[index]], [message])
    return estimate_text_tokens(after, store.calibration) - estimate_text_tokens(before, store.calibration)

"""The chat as a projection of the history: the same after a restart as while it happened.

One message gives any number of entries; a tool's result changes the entry of its call. Entries are only ever added at
the end, so their indexes are stable until time moves.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from kimi_tui.agent.marks import Mark, mark_of, meta, shown, unwrapped
from kimi_tui.agent.travel.spans import spans
from kimi_tui.context import CheckpointMark
from kimi_tui.protocol.messages import AudioURLPart, ImageURLPart, Message, TextPart, ThinkPart, ToolCall, VideoURLPart
from kimi_tui.protocol.views import Entry, SwitchView, ToolView

View = Callable[[ToolCall, Message | None], ToolView]
"""The card of a call, with its result where there is one."""

Notes = Sequence[tuple[int, SwitchView]]
"""Where time was moved: the jump, and the index of the first message after it."""


class Transcript:
    """All entries of the live timeline."""

    def __init__(self, view: View, pinned: Callable[[Message], bool] = lambda message: False) -> None:
        self._view, self._pinned = view, pinned
        self.entries: list[Entry] = []
        self._firsts: list[int] = []
        self._open: dict[str, list[tuple[int, ToolCall]]] = {}
        """Where the cards of the newest calls of an id stand; some providers give all calls of an answer one id."""
        self._story: SwitchView | None = None

    def load(self, history: Sequence[Message], marks: Sequence[CheckpointMark], notes: Notes = ()) -> None:
        """Start over from a whole history. Calls without a result were interrupted."""
        self.entries, self._firsts, self._open, self._story = [], [], {}, None
        waiting = sorted(notes, key=lambda note: note[0])
        for index, (message, checkpoint, turn) in enumerate(_with_checkpoints(history, marks)):
            while waiting and waiting[0][0] <= index:
                self.tell(waiting.pop(0)[1])
            self.add(message, checkpoint=checkpoint, turn=turn)
        for _, switch in waiting:
            self.tell(switch)
        self.close_calls()

    def add(self, message: Message, *, checkpoint: int | None, turn: bool = False) -> int:
        """Take the next message in. Returns the index of its first entry, were there one."""
        start = len(self.entries)
        self._firsts.append(start)
        if message.role == "tool":
            self._finish(message)
        else:
            pinned = self._pinned(message)
            for entry in self._entries(message):
                turned = turn and entry.kind == "user"
                self._append(replace(entry, checkpoint=checkpoint, turn=turned, pinned=pinned))
        return start

    def note(self, entry: Entry) -> int:
        """Add an entry that stands for no message."""
        self.entries.append(entry)
        return len(self.entries) - 1

    def tell(self, switch: SwitchView) -> None:
        """Note that time was moved. A letter or a summary that follows tells the story itself."""
        if switch.why in ("compact", "dmail"):
            self._story = switch
        else:
            self.note(Entry("note", switch.note, switch=switch, at=switch.at))

    def first_of(self, message_index: int) -> int:
        """The index of the first entry that came of that message or a later one."""
        return self._firsts[message_index] if message_index < len(self._firsts) else len(self.entries)

    def message_of(self, index: int) -> int | None:
        """The message that an entry stands for; of a call, the message that made it. None for a note."""
        found = bisect_right(self._firsts, index) - 1
        if not 0 <= index < len(self.entries) or found < 0 or self.entries[index].kind in ("note", "error"):
            return None
        return found

    def pin(self, message_index: int, on: bool) -> tuple[int, tuple[Entry, ...]]:
        """Show a message as pinned, or no longer. Returns its entries and where they start."""
        start, stop = self.first_of(message_index), self.first_of(message_index + 1)
        for index in range(start, stop):
            if self.entries[index].kind != "note":
                self.entries[index] = replace(self.entries[index], pinned=on)
        return start, tuple(self.entries[start:stop])

    def finish(self, view: ToolView) -> None:
        """A running call has ended; `view` knows more than the log will (the change it made)."""
        for index, _ in self._running(view.call_id):
            self.entries[index] = replace(self.entries[index], tool=view)
            return

    def close_calls(self) -> None:
        """Whatever still seems to run does not."""
        for call_id in list(self._open):
            self._close(call_id)

    def _close(self, call_id: str) -> None:
        for index, view in self._running(call_id):
            self.entries[index] = replace(self.entries[index], tool=replace(view, outcome="interrupted"))
        self._open.pop(call_id, None)

    def _running(self, call_id: str) -> Iterator[tuple[int, ToolView]]:
        """The cards of that id that wait for their result, in the order of their calls."""
        for index, _ in self._open.get(call_id, ()):
            view = self.entries[index].tool
            if view and view.outcome == "running":
                yield index, view

    def _append(self, entry: Entry) -> None:
        if self._story and entry.kind in ("summary", "dmail"):
            entry, self._story = replace(entry, switch=self._story), None
        self.entries.append(entry)

    def _finish(self, message: Message) -> None:
        calls = dict(self._open.get(message.tool_call_id or "", ()))
        for index, _ in self._running(message.tool_call_id or ""):
            self.entries[index] = replace(self.entries[index], tool=self._view(calls[index], message))
            return

    def _entries(self, message: Message) -> Iterator[Entry]:
        at = meta(message).get("at")
        if message.role == "assistant":
            yield from _said(message, at)
            for call in message.tool_calls or ():
                self._close(call.id)
            for call in message.tool_calls or ():
                self._open.setdefault(call.id, []).append((len(self.entries), call))
                yield Entry("tool", tool=self._view(call, None), at=at)
        elif message.role == "user":
            yield from _user_entries(message, at)


def entries_of(view: View, messages: Sequence[Message]) -> tuple[Entry, ...]:
    """Some messages by themselves, as the chat shows them."""
    transcript = Transcript(view)
    transcript.load(messages, ())
    return tuple(transcript.entries)


def _said(message: Message, at: Any) -> Iterator[Entry]:
    seconds = meta(message).get("seconds")
    for part in message.content:
        if isinstance(part, ThinkPart) and part.think.strip():
            yield Entry("thinking", part.think, at=at)
        elif isinstance(part, TextPart) and part.text.strip():
            yield Entry("assistant", part.text, at=at, seconds=seconds)


_KINDS: dict[Mark, Any] = {"reminder": "injection", "system": "injection", "dmail": "dmail", "summary": "summary"}


def _user_entries(message: Message, at: Any) -> Iterator[Entry]:
    mark = mark_of(message)
    if mark == "checkpoint":
        return
    if mark == "":
        yield Entry("user", shown(message), images=captions(message), at=at)
    elif mark == "shell":
        yield Entry("tool", tool=shell_view(message), at=at)
    else:
        yield Entry(_KINDS[mark], unwrapped(message), at=at)


def captions(message: Message) -> tuple[str, ...]:
    """What is attached, in words."""
    names: dict[type, str] = {ImageURLPart: "image", AudioURLPart: "audio", VideoURLPart: "video"}
    media = [part for part in message.content if type(part) in names]
    return tuple(f"{names[type(part)]} {number}" for number, part in enumerate(media, 1))


def shell_view(message: Message) -> ToolView:
    """A command that the user ran, out of the message that told the model."""
    command, _, output = unwrapped(message).partition("\n")
    brief = meta(message).get("brief")
    return ToolView(
        call_id="",
        name="!",
        verb="You ran",
        subject=command.removeprefix("$ "),
        outcome="error" if meta(message).get("outcome") == "error" else "ok",
        brief=brief if isinstance(brief, str) else "",
        output=output,
    )


def _with_checkpoints(
    history: Sequence[Message], marks: Sequence[CheckpointMark]
) -> Iterator[tuple[Message, int | None, bool]]:
    """Every message with the checkpoint to go back to, and whether it opened a turn."""
    head = marks[0].history_index if marks else len(history)
    yield from ((message, None, False) for message in history[:head])
    for span in spans(history, marks):
        turn = span.turn
        for message in history[span.start : span.stop]:
            opens = turn and message.role == "user" and mark_of(message) == ""
            yield message, span.mark.id, opens
            turn = turn and not opens

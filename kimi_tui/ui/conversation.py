"""The chat as a list of blocks: a fold over the agent's events that knows nothing of rows and widgets.

Stored entries have an index in the agent's own list; entries that are only said on the screen have none; what is
still being streamed hangs at the end until `MessageStored` puts the stored entries in its place.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import Entry, EntryKind, SubagentView, ToolView

LIVE_TAIL = 16_384
"""Characters of a running tool's output that are kept for the screen."""


@dataclass(slots=True, eq=False)
class Block:
    """One entry on the screen. Compared by identity: it keeps its fold state whatever its entry becomes."""

    entry: Entry | None
    """None: not loaded yet."""
    open: bool = False
    """Text still flows into it."""
    unfolded: bool | None = None
    """The user's own choice for this block; None follows the rest."""
    live: str = ""
    """The end of what a running tool has printed."""
    helper: SubagentView | None = None
    """The agent that the call started."""

    @property
    def kind(self) -> EntryKind | None:
        return self.entry.kind if self.entry else None


@dataclass(slots=True)
class Changes:
    """What has changed since it was last asked for."""

    cut: int | None = None
    """From this position on the list is another one; None when only blocks have changed."""
    blocks: set[Block] = field(default_factory=set)
    reset: bool = False


class Conversation:
    """The blocks, in order, and how to find one by its stored index or its tool call."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.changes = Changes()
        self._stored = 0
        self._said: list[int] = []
        self._calls: dict[str, Block] = {}

    def __len__(self) -> int:
        return len(self.blocks)

    @property
    def stored(self) -> int:
        """How many entries the agent has stored."""
        return self._stored

    def take_changes(self) -> Changes:
        changes, self.changes = self.changes, Changes()
        return changes

    def position(self, index: int) -> int:
        """Where the entry with that stored index stands among the blocks."""
        return index + bisect_right(self._said, index)

    def index(self, position: int) -> int | None:
        """The stored index of the block at a position; None for what is not stored."""
        if position >= self._live_start:
            return None
        before = sum(1 for order, index in enumerate(self._said) if index + order < position)
        index = position - before
        return index if self.position(index) == position else None

    @property
    def _live_start(self) -> int:
        return self._stored + len(self._said)

    # --- the fold ------------------------------------------------------------------------------------------------

    def apply(self, event: ev.Event) -> None:
        """Events that do not concern the chat are let pass."""
        match event:
            case ev.TextDelta(text):
                self._flow("assistant", text)
            case ev.ThinkingDelta(text):
                self._flow("thinking", text)
            case ev.ToolCallStarted(tool) | ev.ToolCallFinished(tool):
                self._tool(tool)
            case ev.ToolOutputDelta(call_id, text):
                self._output(call_id, text)
            case ev.SubagentChanged(subagent):
                self._helped(subagent)
            case ev.SubagentRead(call_id, SubagentView() as subagent, steps):
                self._helped_before(call_id, subagent, steps)
            case ev.MessageStored(start, entries):
                self._store(start, entries)
            case ev.TurnStarted(entry, index) | ev.SteerTaken(index, entry) | ev.EntryAdded(index, entry):
                self._add(index, entry)
            case ev.StreamReset() | ev.TurnEnded():
                self._drop_live()
            case ev.TranscriptReset(total, entries):
                self.reset(total, entries)
            case ev.EntriesLoaded(start, entries):
                self._fill(start, entries)
            case ev.EntriesChanged(start, entries):
                self._change(start, entries)

    def reset(self, total: int, entries: Sequence[Entry]) -> None:
        self.blocks = [Block(None) for _ in range(total - len(entries))] + [Block(entry) for entry in entries]
        self._stored = len(self.blocks)
        self._said.clear()
        self._calls.clear()
        for block in self.blocks[total - len(entries) :]:
            self._know(block)
        self.changes = Changes(cut=0, reset=True)

    def say(self, entry: Entry) -> None:
        """Only for the screen: not stored, gone at the next reset."""
        position = self._live_start
        self._said.append(self._stored)
        self.blocks.insert(position, Block(entry))
        self._cut(position)

    def _flow(self, kind: EntryKind, text: str) -> None:
        last = self.blocks[-1] if len(self.blocks) > self._live_start else None
        if last is None or last.kind != kind or not last.open:
            self._close()
            if not text.strip():
                return
            self.blocks.append(Block(Entry(kind, text.lstrip("\n")), open=True))
            self._cut(len(self.blocks) - 1)
        elif last.entry is not None:
            last.entry = replace(last.entry, text=last.entry.text + text)
            self.changes.blocks.add(last)

    def _close(self) -> None:
        for block in self.blocks[self._live_start :]:
            if block.open:
                block.open = False
                self.changes.blocks.add(block)

    def _tool(self, tool: ToolView) -> None:
        block = self._calls.get(tool.call_id)
        if block is None:
            self._close()
            block = self._calls[tool.call_id] = Block(Entry("tool", tool=tool))
            self.blocks.append(block)
            self._cut(len(self.blocks) - 1)
        elif block.entry is not None:
            block.entry = replace(block.entry, tool=tool)
            self.changes.blocks.add(block)

    def _output(self, call_id: str, text: str) -> None:
        if block := self._calls.get(call_id):
            block.live = (block.live + text)[-LIVE_TAIL:]
            self.changes.blocks.add(block)

    def _helped(self, subagent: SubagentView) -> None:
        if block := self._calls.get(subagent.call_id):
            block.helper = subagent
            self.changes.blocks.add(block)

    def _helped_before(self, call_id: str, subagent: SubagentView, steps: str) -> None:
        """What a subagent did when this was not there to see it; what was seen is newer."""
        block = self._calls.get(call_id)
        if block is not None and block.helper is None:
            block.helper, block.live = subagent, steps[-LIVE_TAIL:]
            self.changes.blocks.add(block)

    def _store(self, start: int, entries: Sequence[Entry]) -> None:
        """Stored entries take the place of the streamed blocks, which keep their fold state."""
        live = self.blocks[self._live_start :]
        del self.blocks[self._live_start :]
        position = len(self.blocks)
        for offset, entry in enumerate(entries):
            self._put(start + offset, self._reused(entry, live))
        self._cut(position)

    def _reused(self, entry: Entry, live: list[Block]) -> Block:
        for block in live:
            same_call = (
                entry.tool and block.entry and block.entry.tool and block.entry.tool.call_id == entry.tool.call_id
            )
            if same_call or (entry.tool is None and block.kind == entry.kind):
                live.remove(block)
                block.entry, block.open = entry, False
                self.changes.blocks.add(block)
                return block
        block = Block(entry)
        self._know(block)
        return block

    def _know(self, block: Block) -> None:
        """Remember the block of a call; what was read back from a file may have no id."""
        if block.entry and block.entry.tool and block.entry.tool.call_id:
            self._calls[block.entry.tool.call_id] = block

    def _add(self, index: int | None, entry: Entry) -> None:
        if index is None:
            self.say(entry)
            return
        if entry.tool and entry.tool.call_id in self._calls:
            self._tool(entry.tool)
            return
        position = min(self.position(index), self._live_start)
        self._put(index, Block(entry))
        self._cut(position)

    def _put(self, index: int, block: Block) -> None:
        if index < self._stored:
            self.blocks[self.position(index)] = block
            return
        self.blocks.insert(self._live_start, block)
        self._stored += 1
        self._know(block)

    def _drop_live(self) -> None:
        if len(self.blocks) > self._live_start:
            for block in self.blocks[self._live_start :]:
                if block.entry and block.entry.tool:
                    self._calls.pop(block.entry.tool.call_id, None)
            del self.blocks[self._live_start :]
            self._cut(len(self.blocks))

    def _fill(self, start: int, entries: Sequence[Entry]) -> None:
        for offset, entry in enumerate(entries):
            position = self.position(start + offset)
            if position >= self._live_start:
                return
            block = self.blocks[position]
            if block.entry is None:
                block.entry = entry
                self.changes.blocks.add(block)
                self._know(block)

    def _change(self, start: int, entries: Sequence[Entry]) -> None:
        """Blocks that are loaded look different; they keep their fold state."""
        for offset, entry in enumerate(entries):
            position = self.position(start + offset)
            if position < self._live_start and (block := self.blocks[position]).entry is not None:
                block.entry = entry
                self.changes.blocks.add(block)

    def _cut(self, position: int) -> None:
        cut = self.changes.cut
        self.changes.cut = position if cut is None else min(cut, position)

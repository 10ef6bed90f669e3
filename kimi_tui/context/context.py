"""The agent's memory: an append-only log on disk and what it says. The disk is the truth, memory a projection of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from kimi_tui.context import budget as budgets
from kimi_tui.context import lines, replacing, retention, switching
from kimi_tui.context.budget import Budget, Pruning
from kimi_tui.context.calibration import Calibration
from kimi_tui.context.disk import Disk
from kimi_tui.context.lines import Line
from kimi_tui.context.lock import LockHolder
from kimi_tui.context.log import Durability
from kimi_tui.context.projection import CheckpointMark, CheckpointRef, Problem, Projection
from kimi_tui.context.quick import is_quick
from kimi_tui.context.records import without_surrogates
from kimi_tui.context.store import Publish, Store
from kimi_tui.context.switching import Plan
from kimi_tui.context.timeline import Node, Switch, Timeline
from kimi_tui.context.tokens import estimate_text_tokens
from kimi_tui.context.writer import Writer
from kimi_tui.protocol.messages import Message
from kimi_tui.protocol.views import SwitchWhy

INLINE_BELOW = 256 << 10
"""Bytes that are written on the spot: faster than handing them to a thread."""


class ContextView:
    """What can be read of a context. Costs nothing; never touches the disk but for bodies of big files."""

    def __init__(self, store: Store, path: Path) -> None:
        self._store = store
        self._path = path

    @property
    def history(self) -> Sequence[Message]:
        return self._store.projection.history

    @property
    def token_count(self) -> int:
        """The last exact count; 0 before the first."""
        return self._store.projection.token_count

    @property
    def pending_tokens(self) -> int:
        """Estimate of what was appended since the exact count."""
        return self._store.projection.pending

    @property
    def token_count_with_pending(self) -> int:
        return self._store.projection.tokens

    @property
    def calibration(self) -> Calibration | None:
        """What is known of the model that the pending part is an estimate for."""
        return self._store.projection.history.known()

    def estimate(self, messages: Iterable[Message]) -> int:
        """Tokens of any messages, reckoned as the pending part is."""
        return estimate_text_tokens(messages, self.calibration)

    @property
    def exact_at(self) -> float | None:
        """When the exact count was recorded, in seconds since the epoch; None when unknown."""
        return self._store.projection.exact_at

    @property
    def pending_since(self) -> int:
        """Index of the first message that the exact count does not cover."""
        return self._store.projection.pending_from

    @property
    def n_checkpoints(self) -> int:
        """The id that the next checkpoint gets."""
        return self._store.projection.next_id

    @property
    def checkpoints(self) -> Sequence[CheckpointMark]:
        """Of the live timeline, oldest first."""
        return self._store.projection.checkpoints

    @property
    def system_prompt(self) -> str | None:
        return self._store.projection.system_prompt

    @property
    def file_backend(self) -> Path:
        return self._path

    @property
    def timeline(self) -> Timeline:
        return self._store.timeline

    @property
    def problems(self) -> Sequence[Problem]:
        """What was damaged, repaired or changed by others, since the context was opened."""
        return self._store.problems

    @property
    def holder(self) -> LockHolder | None:
        """Who writes the session, when it is only open for reading here."""
        return self._store.holder

    def undo_target(self) -> Node | None:
        """The timeline that `undo` would go back to."""
        undo = self.timeline.undo
        return self.timeline.node(undo[-1]) if undo else None

    def redo_target(self) -> Node | None:
        redo = self.timeline.redo
        return self.timeline.node(redo[-1]) if redo else None


class Context(ContextView):
    """Memory that can be appended to, checkpointed, rewound and folded.

    Every change is on the disk before it is in memory, and is never interrupted: a cancelled call has either done
    nothing or everything. Raises `SessionLocked` when the session is not ours to write, `OSError` when the disk
    refuses; nothing has changed then.
    """

    def __init__(
        self,
        file_backend: Path,
        *,
        durability: Durability = "step",
        read_only: bool = False,
        clock: Callable[[], float] | None = None,
        calibration: Calibration | None = None,
        disk: Disk | None = None,
    ) -> None:
        """`clock` stamps checkpoints and counts with the time; without one, records are exactly kimi-cli's.
        `calibration` is what is known of the model, and learns from its reports; without one, the last reports in the
        file teach what they can."""
        store = Store(
            file_backend,
            durability=durability,
            read_only=read_only,
            clock=clock,
            calibration=calibration,
            disk=disk,
        )
        super().__init__(store, file_backend)
        self._writer = Writer()
        self._indexing: asyncio.Task[None] | None = None

    async def restore(self) -> bool:
        """Replays the file and takes the session's lock. True when there was anything.

        Raises `RuntimeError` when messages were appended before."""
        if self.history:
            raise RuntimeError("The context has been written to before it was restored")
        await self._run(self._store.open, at_once=is_quick(self._store.paths.live))
        return self._store.log.size > 0

    async def append_message(self, message: Message | Sequence[Message]) -> None:
        await self._append(lines.of_messages(message))

    async def update_token_count(self, token_count: int) -> None:
        await self._append([lines.of_usage(token_count, self._store.now())])

    async def checkpoint(self, add_user_message: bool) -> None:
        store = self._store
        await self._run(lambda: store.checkpoint(add_user_message=add_user_message), at_once=not self._waits_for_disk)

    async def write_system_prompt(self, prompt: str) -> None:
        await self._writer.change(lambda: switching.prepend(self._store, prompt))

    async def commit(
        self,
        *,
        messages: Sequence[Message] = (),
        usage: int | None = None,
        guessed: bool = False,
        sync: bool = False,
    ) -> None:
        """Appends a group with one write: the leading assistant message, the usage, then the other messages. A usage
        that the provider did not report but that was `guessed` teaches the estimates nothing."""
        group = lines.of_messages(messages)
        if usage is not None:
            lead = 1 if messages and messages[0].role == "assistant" else 0
            group.insert(lead, lines.of_usage(usage, self._store.now()))
        await self._append(group, sync=sync, guessed=guessed)

    async def sync(self) -> None:
        """What was appended survives a power cut after this."""
        await self._writer.change(self._store.sync)

    async def revert_to(self, checkpoint_id: int) -> None:
        """Forgets the checkpoint and everything after it. Raises `ValueError` when it does not exist."""
        await self.rewrite("revert", keep_until=CheckpointRef(checkpoint_id))

    async def clear(self) -> None:
        await self.rewrite("clear", keep_until=None)

    async def rewrite(
        self,
        why: SwitchWhy,
        *,
        keep_until: CheckpointRef | None,
        system_prompt: str | None = None,
        checkpoint: bool = False,
        add_user_message: bool = False,
        messages: Sequence[Message] = (),
        usage: int | None = None,
        note: str = "",
    ) -> Switch:
        """The one atomic switch: what stands before `keep_until` (None: nothing), then what is given, in this order,
        becomes the live timeline; the old one becomes a rotation."""
        plan = Plan(why, keep_until, system_prompt, checkpoint, add_user_message, messages, usage, note)
        return await self._writer.in_thread(lambda: switching.rewrite(self._store, plan))

    async def go_to(
        self,
        file: str,
        *,
        until: CheckpointRef | None = None,
        why: SwitchWhy = "restore",
        messages: Sequence[Message] = (),
        note: str = "",
    ) -> Switch:
        """A rotation, or what stands in it before a checkpoint, then these messages become the live timeline."""
        return await self._writer.in_thread(lambda: switching.go_to(self._store, file, until, why, note, messages))

    async def replace_message(self, index: int, message: Message, *, usage: int | None, note: str = "") -> Switch:
        """One message of the history becomes another and the count becomes `usage`; nothing else changes.

        Raises `IndexError` when there is no such message."""
        return await self._writer.in_thread(lambda: replacing.replace(self._store, index, message, usage, note))

    async def undo(self) -> Switch | None:
        """Takes back the last switch, whatever made it. None when there is none."""
        target = self.undo_target()
        return None if target is None else await self.go_to(target.file, why="undo")

    async def redo(self) -> Switch | None:
        target = self.redo_target()
        return None if target is None else await self.go_to(target.file, why="redo")

    async def name_checkpoint(self, checkpoint: int, name: str, *, file: str | None = None) -> None:
        """The user's name for a checkpoint of the live timeline or of a rotation; an empty one takes it away.

        Raises `ValueError` for an unknown file."""
        node = self.timeline.live if file is None else self.timeline.node_of(file)
        if node is None:
            raise ValueError(f"{file} is not a timeline of this session")
        await self._writer.change(lambda: self._store.name_checkpoint(node.id, checkpoint, without_surrogates(name)))

    async def pin(self, file: str, on: bool = True) -> None:
        """No policy removes a pinned rotation. Raises `ValueError` for an unknown file."""
        if self.timeline.node_of(file) is None:
            raise ValueError(f"{file} is not a timeline of this session")
        await self._writer.change(lambda: self._store.pin(file, on))

    async def pruning(self, budget: Budget) -> Pruning:
        """What the budget asks for; nothing is done. Raises `OSError`."""
        return await asyncio.to_thread(budgets.pruning, self._store, budget)

    async def compress(self, file: str) -> int:
        """Packs a rotation; returns the bytes that this frees. Raises `ValueError` when it is not one."""
        return await self._writer.in_thread(lambda: retention.compress(self._store, file))

    async def delete(self, file: str) -> int:
        """Removes a rotation for good; returns the bytes that this frees. Raises `ValueError` for a pinned one."""
        return await self._writer.in_thread(lambda: retention.delete(self._store, file))

    def calibrate(self, calibration: Calibration | None) -> None:
        """Another model is asked from now on: estimates are for it, and what the old one reported teaches nothing."""
        store = self._store
        store.calibration = store.projection.history.calibration = calibration
        store.projection.reported = False

    @property
    def projection(self) -> Projection:
        """Everything that memory knows, as `compare` wants it."""
        return self._store.projection

    async def close(self) -> None:
        if self._indexing is not None:
            await asyncio.wait([self._indexing])
        await self._writer.change(self._store.close)

    async def _append(self, group: Sequence[Line], *, sync: bool = False, guessed: bool = False) -> None:
        if group:
            size = lines.size_of(group)
            if size >= lines.WEIGHED_ABOVE:
                group = await asyncio.to_thread(lines.weighed, group)
            at_once = size < INLINE_BELOW and not sync and not self._waits_for_disk
            await self._run(lambda: self._store.commit(group, sync=sync, guessed=guessed), at_once=at_once)
            if self._store.index_is_due() and (self._indexing is None or self._indexing.done()):
                self._indexing = asyncio.create_task(self._renew_index(), name="renew the index")

    async def _renew_index(self) -> None:
        (await asyncio.to_thread(self._store.renew_index))()

    async def _run(self, work: Callable[[], Publish], *, at_once: bool) -> None:
        await (self._writer.at_once(work) if at_once else self._writer.change(work))

    @property
    def _waits_for_disk(self) -> bool:
        return self._store.log.durability == "always"

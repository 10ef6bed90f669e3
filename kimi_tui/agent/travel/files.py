"""Files in time: a snapshot on either side of every step that may change files, and the way back.

Nothing here is ever in the way of a turn: when git fails, recording ends for as long as the session is open, the user
is told in one line, and the turn goes on.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from kimi_tui.agent.travel.undoing import Undoing
from kimi_tui.context import CheckpointMark, Timeline
from kimi_tui.faults import Fault
from kimi_tui.protocol.views import DiffView, FileTouched
from kimi_tui.session import Session
from kimi_tui.session.snapshots import (
    Limits,
    Passage,
    RestoreResult,
    Snapshot,
    SnapshotLog,
    Snapshots,
    Stretch,
    Why,
    Wish,
    stretches,
)
from kimi_tui.settings import SnapshotSettings
from kimi_tui.tools.base import Tool
from kimi_tui.tools.readonly import is_read_only

log = logging.getLogger(__name__)

CLOSING_SECONDS = 5.0
"""Time that a snapshot gets to end in when a turn ends or the session is closed."""


PATIENCE_SECONDS = 20.0
"""Time that a tool waits for the first snapshot of a large folder."""

_OWN_STATE = frozenset(("AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "SendDMail", "SetTodoList"))
"""Tools that change the session, not the work dir."""


def may_change_files(tool: Tool | None, arguments: Mapping[str, Any]) -> bool:
    """Whether a call needs a snapshot before it."""
    if tool is None or tool.read_only or tool.name in _OWN_STATE:
        return False
    return tool.name != "Shell" or not is_read_only(str(arguments.get("command", "")))


class Files:
    """Of one open session."""

    def __init__(
        self,
        snapshots: Snapshots,
        book: SnapshotLog,
        *,
        recording: bool = True,
        tell: Callable[[str], None] = log.warning,
        clock: Callable[[], float] = time.time,
        keep_days: int = 30,
    ) -> None:
        """`tell` shows the user a line; `keep_days` is how long snapshots of other sessions are kept."""
        self._snapshots, self._book, self._recording = snapshots, book, recording
        self._tell, self._clock, self._keep_days = tell, clock, keep_days
        self._open: Passage | None = None
        """The passage of the running step."""
        self._steps: set[object] = set()
        """Whose steps it is for: the session's own, and those of subagents that work beside it."""
        self._beginning = asyncio.Lock()
        self._takes: set[asyncio.Task[None]] = set()
        self._newest: asyncio.Task[None] | None = None
        """Records what the last step has changed."""
        self._late = False
        """A tool has waited in vain."""
        self._tidying: asyncio.Task[None] | None = None

    # --- while the agent works ---

    def warm(self) -> None:
        """A turn begins: bring the snapshots up to date beside it, so that none has to be waited for later."""
        if self._recording and not self._takes:
            self._beside(self._warm())

    async def before_change(self, mark: CheckpointMark, step: object = None) -> None:
        """A tool that may change files is about to run in the step of this checkpoint: record how they are.

        Steps that run side by side (`step` tells them apart) share one passage, which ends with the last of them."""
        self._steps.add(step)
        async with self._beginning:  # calls that run side by side are of one step, and need one snapshot
            await self._begin(mark)

    async def _begin(self, mark: CheckpointMark) -> None:
        if not self._recording or self._open is not None:
            return
        try:
            if not await self._ready():
                return
            snapshot = await self._snapshots.take()
            if snapshot is None:
                self._stop_recording(self._snapshots.off)
                return
            passage = Passage(at=self._clock(), checkpoint=mark.id, made=mark.at, before=snapshot.id)
            self._open = await asyncio.to_thread(self._book.begin, passage)
        except (Fault, OSError) as fault:
            self._stop_recording(f"files are no longer recorded: {fault}")

    def step_ended(self, step: object = None) -> None:
        """Record in the background what the step's tools have changed."""
        self._steps.discard(step)
        if self._open is not None and not self._steps:
            self._newest = self._beside(self._after(self._open))
            self._open = None

    async def turn_ended(self) -> None:
        """From now on it is the user who changes files: what the agent has changed is to be recorded first."""
        if self._newest is not None:
            await asyncio.wait([self._newest], timeout=CLOSING_SECONDS)

    async def close(self) -> None:
        """Let the last step be recorded, for a short time; anything else ends now."""
        await self.turn_ended()
        self._recording = False
        self._snapshots.stop()
        tidying = [self._tidying] if self._tidying is not None else []
        await asyncio.gather(*self._takes, *tidying, return_exceptions=True)

    # --- going back ---

    def since(self, mark: CheckpointMark) -> list[Passage]:
        """What has changed files since a checkpoint."""
        return self._book.since(mark.id, mark.at)

    def since_left(self, timeline: str, at: float) -> list[Passage]:
        """What has changed files since a timeline was left."""
        return self._book.since_left(timeline, at)

    def moved_with(self, timeline: str) -> list[Passage] | None:
        """What has changed files since a timeline was left, if files went along when it was; else None."""
        moved = self._book.left(timeline)
        return None if moved is None else [passage for passage in self._book.passages if passage.n >= moved.n]

    def undoing(self, timeline: Timeline) -> Undoing:
        """What undo and redo would do, with the restores of files alone among the jumps."""
        return Undoing.of(timeline, self._book.alone)

    async def touched(self, passages: Sequence[Passage]) -> tuple[FileTouched, ...]:
        """What taking these passages back would change on the disk."""
        found = await self._wishes(passages)
        return tuple(FileTouched(wish.path, edited, wish.change) for wish, edited in found if wish.change)

    async def unreachable(self, paths: Sequence[str]) -> tuple[FileTouched, ...]:
        """Those of the paths that tools have written which cannot be put back, and why."""
        found = await self._snapshots.unreachable(paths)
        return tuple(FileTouched(path, stays=why) for path, why in found.items())

    async def diff(self, passages: Sequence[Passage], path: str) -> DiffView | None:
        """What taking them back would change in one file; None when that is not text, or nothing."""
        wish = next((wish for wish, _ in await self._wishes(passages) if wish.path == path), None)
        return None if wish is None else await self._snapshots.text_of(wish)

    async def take_back(
        self,
        passages: Sequence[Passage],
        why: Why,
        *,
        live: str = "",
        overwrite: Sequence[str] = (),
        of: int | None = None,
    ) -> tuple[Passage, RestoreResult] | None:
        """Take back what was done to files in these passages, while that timeline is `live`; be it nothing, this moment
        can be come back to.

        None when files are not recorded. Raises Fault, OSError before anything is touched. Must not be cut short."""
        async with self._beginning:  # a subagent that is about to change something waits
            await self._cut()
            spans = await self._spans(passages)
            if not spans and not self._recording:
                return None
            passage = Passage(why=why, at=self._clock(), of=of, live=live)
            begun: list[Passage] = []

            def begin(present: Snapshot) -> None:
                begun.append(self._book.begin(msgspec.structs.replace(passage, before=present.id)))

            result = await self._snapshots.take_back(spans, overwrite=frozenset(overwrite), begun=begin)
            await asyncio.to_thread(self._book.add, begun[0].n, after=result.after.id)
            return begun[0], result

    async def went_with(self, passage: Passage, timeline: str) -> None:
        """A restore went with leaving this timeline: whoever takes that back takes back both."""
        await asyncio.to_thread(self._book.add, passage.n, left=timeline)

    # --- inside ---

    async def _wishes(self, passages: Sequence[Passage]) -> list[tuple[Wish, bool]]:
        spans = await self._spans(passages)
        return await self._snapshots.touched(spans) if spans else []

    async def _spans(self, passages: Sequence[Passage]) -> list[Stretch]:
        """The stretches of these passages, once the last of them has ended."""
        if not passages:
            return []
        await self._settle()
        known = {passage.n: passage for passage in self._book.passages}
        found = [known[passage.n] for passage in passages]
        if not found[-1].after and (now := await self._snapshots.take()) is not None:
            found[-1] = msgspec.structs.replace(found[-1], after=now.id)  # looked at only: nothing is written down
        return stretches(found)

    async def _cut(self) -> None:
        """What a subagent is just changing is recorded up to here; what it changes from here on, with its next call."""
        passage, self._open = self._open, None
        self._steps.clear()
        if passage is not None:
            await self._after(passage)

    async def _warm(self) -> None:
        if await self._snapshots.take(gentle=True) is None:
            self._stop_recording(self._snapshots.off)

    async def _after(self, passage: Passage) -> None:
        snapshot = await self._snapshots.take(gentle=True)
        if snapshot is not None:
            await asyncio.to_thread(self._book.add, passage.n, after=snapshot.id)
        if self._tidying is None:
            self._tidying = asyncio.create_task(self._tidy(), name="tidy snapshots")

    async def _tidy(self) -> None:
        wanted = frozenset(oid for each in self._book.passages for oid in (each.before, each.after) if oid)
        try:
            await self._snapshots.tidy(self._keep_days, wanted)
        except (Fault, OSError) as fault:
            log.warning("old snapshots stay where they are: %s", fault)

    def _beside(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(self._guarded(work), name="record files")
        self._takes.add(task)
        task.add_done_callback(self._takes.discard)
        return task

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except (Fault, OSError) as fault:
            self._stop_recording(f"files are no longer recorded: {fault}")
        except Exception:
            log.exception("recording files broke")
            self._stop_recording("files are no longer recorded: the log has the details")

    async def _ready(self) -> bool:
        """Wait for what is being recorded, but not for ever, and only once: a tool is waiting, and the user with it."""
        if self._takes:
            _, late = await asyncio.wait(self._takes, timeout=0 if self._late else PATIENCE_SECONDS)
            if late:
                if not self._late:
                    self._tell("files are not recorded yet: the first look at this folder takes long")
                self._late = True
                return False
        await self._settle()
        return True

    async def _settle(self) -> None:
        """Wait for what is being recorded. A step that was cut off (the program was killed) ends now."""
        if self._takes:
            await asyncio.wait(self._takes)
        last = self._book.last
        if last is not None and not last.after and self._open is None and self._recording:
            await self._after(last)

    def _stop_recording(self, why: str) -> None:
        if self._recording:
            self._recording = False
            self._tell(why)


def files_of(
    session: Session, wanted: SnapshotSettings, tell: Callable[[str], None], *, recording: bool = True
) -> Files:
    """The files of a session, as the settings want them. Runs in a worker: reads the session's log of snapshots."""
    if not wanted.enabled:
        return nothing_recorded()
    limits = Limits(file_bytes=wanted.max_file_megabytes << 20, files=wanted.max_files)
    book = SnapshotLog(session.folder)
    book.load()
    snapshots = Snapshots(session.work_dir, limits=limits, hide=[session.folder])
    return Files(snapshots, book, recording=recording, tell=tell, keep_days=wanted.keep_days)


class FilesBeside(Files):
    """What a subagent in the background does to files: recorded among the session's own changes, at the checkpoint at
    which the session stands at that moment; where it has none, all having been taken back, at the last there was."""

    def __init__(self, files: Files, marks: Callable[[], Sequence[CheckpointMark]]) -> None:
        super().__init__(files._snapshots, files._book, recording=False)
        self._files, self._marks = files, marks
        self._mark = marks()[-1]

    def warm(self) -> None:
        """The session does that."""

    async def before_change(self, mark: CheckpointMark, step: object = None) -> None:
        self._mark = next(reversed(self._marks()), self._mark)
        await self._files.before_change(self._mark, self)

    def step_ended(self, step: object = None) -> None:
        self._files.step_ended(self)

    async def turn_ended(self) -> None:
        await self._files.turn_ended()


def nothing_recorded() -> Files:
    """For sessions whose files are not recorded: nothing can be put back."""
    nowhere = Path(os.devnull)
    return Files(Snapshots(nowhere), SnapshotLog(nowhere), recording=False)

"""Log, projection, journal and lock of one session, together. Blocking, one call at a time.

The disk comes first: what changes memory is handed back as a function, to be called where memory is read. By then
the disk has said yes, and what is left cannot fail.
"""

from __future__ import annotations

import contextlib
import errno
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kimi_tui.context import lines
from kimi_tui.context.adoption import build_timeline
from kimi_tui.context.calibration import Calibration
from kimi_tui.context.disk import Disk, read_at
from kimi_tui.context.history import thinks
from kimi_tui.context.indexing import Indexing
from kimi_tui.context.journal import Entry, Journal, Label, Pin
from kimi_tui.context.lines import Line
from kimi_tui.context.lock import LockHolder, SessionLock, SessionLocked
from kimi_tui.context.log import Durability, Log, Span
from kimi_tui.context.paths import Paths
from kimi_tui.context.projection import Problem, Projection
from kimi_tui.context.reading import fold, without_collector
from kimi_tui.context.records import Usage
from kimi_tui.context.recovery import bring_back, clean_up, lost, not_brought_back
from kimi_tui.context.timeline import Timeline

_NO_FOLDER = (FileNotFoundError, NotADirectoryError)
"""There is nothing to open, and nothing to lock before something is written."""

_KNOWS_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}

Publish = Callable[[], None]


class Store:
    def __init__(
        self,
        path: Path,
        *,
        durability: Durability = "step",
        read_only: bool = False,
        clock: Callable[[], float] | None = None,
        calibration: Calibration | None = None,
        disk: Disk | None = None,
    ) -> None:
        disk = disk or Disk()
        self.paths = Paths.of(path)
        self.calibration = calibration
        """What is known of the model that reports; learns from what it reports."""
        self.projection = self.calibrated(Projection(self.paths.live.name))
        self.timeline = Timeline(self.paths.live.name)
        self.problems: list[Problem] = []
        self.holder: LockHolder | None = None
        self.disk = disk
        self.log = Log(self.paths, disk, durability)
        self.journal = Journal(self.paths, disk, durable=durability != "off")
        self.loaded = False
        """Memory holds the whole file, not only what was appended here."""
        self._read_only = read_only
        self._clock = clock
        self._lock = SessionLock(self.paths.lock)
        self._indexing = Indexing(self.log, disk)
        self._torn = False
        """The last line lacks its end, and the disk has not let us add it yet."""
        self._keeps_lock = False
        """The lock is ours until `close`; else it is taken for each write."""
        weakref.finalize(self, _let_go, self.log, self._lock)

    def calibrated(self, projection: Projection) -> Projection:
        projection.history.calibration = self.calibration
        return projection

    # --- opening ---

    def open(self) -> Publish:
        """Reads the session for writing, or for reading when somebody else writes it. Raises `OSError`."""
        problems: list[Problem] = []
        self._keeps_lock = not self._read_only and self._take_lock(problems)
        try:
            with without_collector():
                timeline = self._look_around(problems)
                projection, size = self._load(problems, mend=self._keeps_lock)
        except BaseException:
            self._lock.release()
            self._keeps_lock = False
            raise

        def publish() -> None:
            self.projection, self.log.size, self.timeline = projection, size, timeline
            self.problems = problems + projection.problems
            self.loaded = True

        return publish

    def _look_around(self, problems: list[Problem]) -> Timeline:
        """The tree of timelines, after what a crash left behind was put in order (when the session is ours)."""
        listing = self.paths.listed()
        if self._keeps_lock:
            listing = clean_up(listing, self.disk)
        told = self.journal.read()
        timeline = build_timeline(listing, told)
        if self._keeps_lock and told.unfinished:
            self.journal.done(told.unfinished)
        newest = lost(self.paths, timeline)
        if newest and not self._keeps_lock:
            problems.append(not_brought_back(newest, self.paths.live))
        elif newest:
            problems.append(bring_back(newest, self.log, self.disk, timeline))
            timeline = build_timeline(self.paths.listed(), self.journal.read())
        return timeline

    def _take_lock(self, problems: list[Problem]) -> bool:
        try:
            self.holder = self._lock.acquire()
        except OSError as error:
            if error.errno in _KNOWS_NO_LOCKS or isinstance(error, _NO_FOLDER):
                return True
            what = f"The session cannot be written here ({os.strerror(error.errno or 0)})."
            problems.append(Problem(self.paths.lock.name, what, kind="disk"))
            return False
        return self.holder is None

    def _load(self, problems: list[Problem], *, mend: bool) -> tuple[Projection, int]:
        try:
            projection, torn = self._indexing.read()
        except FileNotFoundError:
            return self.calibrated(Projection(self.paths.live.name)), 0
        self._torn = torn and projection.size > 0
        if self._torn and mend:
            self.log.size = projection.size
            with contextlib.suppress(OSError):  # the first write tries again; reading needs no room on the disk
                self._seal(projection)
            problems.append(_told_as_torn(projection, closed=not self._torn))
        return self.calibrated(projection), projection.size

    # --- writing ---

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Around every change: the session is ours, and memory knows what others did to the file meanwhile."""
        self._claim()
        try:
            self._catch_up()
            yield
        finally:
            if not self._keeps_lock:
                self._lock.release()
                if not self.loaded:
                    self.log.close()

    def _claim(self) -> None:
        if self._read_only or self.holder is not None:
            raise SessionLocked(self.paths.live, self.holder)
        if self._lock.held:
            return
        if not self.paths.folder.is_dir():
            self.disk.mkdir(self.paths.folder)
        try:
            holder = self._lock.acquire()
        except OSError as error:
            if error.errno not in _KNOWS_NO_LOCKS:
                raise
            return
        if holder is not None:
            raise SessionLocked(self.paths.live, holder)

    def _catch_up(self) -> None:
        state = self.log.state()
        if state == "ours" and self._torn:
            self._seal(self.projection)
        elif state == "grown" and not self._torn:
            self._take_in_tail()
        elif state in ("grown", "replaced"):
            self._take_in_whole()
        elif state == "missing":
            self.log.switch([Span(None, 0, self.log.size)], keep_old=False, announce=_nobody)
            self._tell("The file was deleted by another program and was written anew.", "foreign")

    def _take_in_tail(self) -> None:
        """Records that somebody else appended."""
        with self.paths.live.open("rb") as file:
            file.seek(self.log.size)
            if not self.loaded and not self.projection.size:
                self._skip_to_end(file.seek(0, os.SEEK_END))
                return
            before = len(self.projection.history)
            torn = fold(file, self.projection)
        self.log.size = self.projection.size
        if torn:
            self._seal(self.projection)
        count = len(self.projection.history) - before
        self._tell(f"Another program writes to this file too; {count} message{'s' * (count != 1)} came in.", "foreign")

    def _skip_to_end(self, size: int) -> None:
        """A context that was not asked to restore knows only what it writes itself."""
        self.log.size = self.projection.size = size
        self.log.open()
        with self.paths.live.open("rb") as file:
            if read_at(file.fileno(), 1, size - 1) != b"\n":
                self._seal(self.projection)

    def _seal(self, projection: Projection) -> None:
        """Closes the last line. Needs no sync: if it is lost the line is torn again, and what follows is synced with
        it."""
        self._torn = True
        self.log.append(b"\n")
        self._torn = False
        projection.seal()

    def _take_in_whole(self) -> None:
        self.log.close()
        self.reload()
        self._tell("Another program rewrote the file; it was read anew.", "foreign")

    def reload(self) -> None:
        """Memory becomes what the file says."""
        problems: list[Problem] = []
        self.projection, self.log.size = self._load(problems, mend=True)
        self.problems += problems + self.projection.problems
        self.timeline = build_timeline(self.paths.listed(), self.journal.read())
        self.loaded = True

    def _tell(self, what: str, kind: str) -> None:
        self.problems.append(Problem(self.paths.live.name, what, kind=kind))

    def commit(self, group: Sequence[Line], *, sync: bool = False, guessed: bool = False) -> Publish:
        """Appends the records with one write. All or nothing; raises `OSError` or `SessionLocked`."""
        with self.writing():
            return self.append(group, sync=sync, guessed=guessed)

    def append(self, group: Sequence[Line], *, sync: bool = False, guessed: bool = False) -> Publish:
        if self.log.append(lines.joined(group), sync=sync):
            return lambda: self._fold_in_reports(group, guessed=guessed)
        return self._take_in_tail

    def checkpoint(self, *, add_user_message: bool) -> Publish:
        """Appends a checkpoint under the next free id, told to the model when asked for."""
        with self.writing():
            number = self.projection.next_id
            group = [lines.of_checkpoint(number, self.now(), lambda: self.projection.tokens)]
            if add_user_message:
                group += lines.of_messages(lines.visible_checkpoint(number))
            return self.append(group)

    def name_checkpoint(self, timeline: str, checkpoint: int, name: str) -> Publish:
        with self.writing():
            self.journal.write(Entry(label=Label(timeline, checkpoint, name)))

        def publish() -> None:
            self.timeline = self.timeline.named(timeline, checkpoint, name)

        return publish

    def pin(self, file: str, on: bool) -> Publish:
        with self.writing():
            self.journal.write(Entry(pin=Pin(file, on)))

        def publish() -> None:
            self.timeline = self.timeline.with_pin(file, on)

        return publish

    def fold_in(self, group: Sequence[Line]) -> None:
        for line in group:
            self.projection.apply(line.record, len(line.data), line.message, line.cost)

    def _fold_in_reports(self, group: Sequence[Line], *, guessed: bool) -> None:
        """The same for records that come from a running turn: its counts are what a model has reported, unless they
        had to be guessed; guesses teach nothing."""
        for line in group:
            counted = isinstance(line.record, Usage)
            if isinstance(line.record, Usage) and not guessed:
                self._learn(line.record.token_count)
            self.fold_in([line])
            self.projection.reported = not guessed if counted else self.projection.reported

    def _learn(self, exact: int) -> None:
        projection, calibration = self.projection, self.calibration
        if calibration is None or not projection.reported:
            return
        # what was thought counts in the report that comes with it and no more in the next: both say little of text
        if not any(map(thinks, projection.history[max(0, projection.pending_from - 1) :])):
            cost = projection.history.cost(projection.pending_from, len(projection.history))
            calibration.learn(cost, exact - projection.token_count)

    def now(self) -> float | None:
        return None if self._clock is None else round(self._clock(), 3)

    def sync(self) -> Publish:
        """What was appended survives a power cut. Raises `OSError`."""
        self.log.sync()
        return _nothing

    def index_is_due(self) -> bool:
        """The next start would have much to read that no index knows."""
        return self._keeps_lock and self._indexing.is_due()

    def renew_index(self) -> Publish:
        """Writes it as of now; see `Indexing.renew`."""
        return self._indexing.renew()

    def close(self) -> Publish:
        if self._keeps_lock:
            self._indexing.save()
        self.log.close()
        self._lock.release()
        self._keeps_lock = False
        return _nothing


def _let_go(log: Log, lock: SessionLock) -> None:
    """A context that was dropped without being closed, as kimi-cli's always are, holds nothing any more."""
    log.close()
    lock.release()


def _nothing() -> None:
    """Nothing in memory changes."""


def _nobody(rotation: str) -> None:
    """A switch that leaves no rotation has nobody to tell."""


def _told_as_torn(projection: Projection, *, closed: bool) -> Problem:
    """One word about the last line, in place of what was said of it as damaged."""
    what = "The last record had no line end; it has one now."
    start = None
    if projection.left_out and projection.left_out[-1][1] == projection.size:
        start = projection.problems.pop().byte
        what = "The last record was cut off in the middle; it is kept, and closed so that it can harm no other."
    if not closed:
        what = "The last record has no line end; the disk has no room for one, so it gets it with the next write."
    return Problem(projection.name, what, projection.lines, start, "repaired" if closed else "disk")

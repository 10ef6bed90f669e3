"""What memory knows of a timeline: a pure fold over its records. Opens no file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import msgspec

from kimi_tui.context.calibration import Cost
from kimi_tui.context.history import Body, History
from kimi_tui.context.records import Bad, Checkpoint, Foreign, MessageLine, Record, SystemPrompt, Usage
from kimi_tui.context.reports import Report
from kimi_tui.protocol.messages import Message


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a file that the user should know: damaged, repaired, or changed by somebody else."""

    file: str
    what: str
    """One sentence."""
    line: int | None = None
    """From 1."""
    byte: int | None = None
    """Where the line starts."""
    kind: str = "damaged"
    """`damaged` (a line that cannot be read, kept), `repaired`, `unknown`, `foreign`, `recovered`, `disk`."""


@dataclass(frozen=True, slots=True)
class CheckpointRef:
    """Names a checkpoint. Ids can repeat in a file, offsets cannot: the offset decides when it is given."""

    id: int
    offset: int | None = None


class CheckpointMark(msgspec.Struct, eq=False):
    """A checkpoint of a timeline, and all that was true right before it. (A struct, as thousands are made at once.)"""

    id: int
    offset: int
    """Where its record starts in the file, in bytes."""
    lines: int
    """How many lines stand before it."""
    history_index: int
    """How many messages stand before it."""
    exact: int
    """The last exact token count before it."""
    pending_from: int
    """Index of the first message that the exact count does not cover."""
    exact_at: float | None
    at: float | None
    """When it was set; None in files of other programs."""
    system_prompt: str | None
    _history: History
    _tokens: int | None = None

    @property
    def tokens(self) -> int:
        """Tokens of the context right before it, pending ones included."""
        if self._tokens is None:
            self._tokens = self.exact + self._history.tokens(self.pending_from, self.history_index)
        return self._tokens

    @property
    def known_tokens(self) -> int | None:
        """The same as far as it need not be estimated now."""
        return self._tokens

    def tokens_now(self, more: Iterable[Message] = ()) -> int:
        """The same by what is known of the model today: what a context that is cut here, and goes on with these
        messages, will say of itself."""
        return self.exact + self._history.tokens(self.pending_from, self.history_index, more)

    @property
    def counted(self) -> bool:
        """Whether a model had counted the context before it."""
        return self.exact > 0

    @property
    def ref(self) -> CheckpointRef:
        return CheckpointRef(self.id, self.offset)


Range = tuple[int, int]


@dataclass(slots=True, eq=False)
class Projection:
    """Messages, checkpoints and counts of one timeline."""

    name: str = ""
    """The file's name, for problems."""
    history: History = field(default_factory=History)
    checkpoints: list[CheckpointMark] = field(default_factory=list)
    system_prompt: str | None = None
    token_count: int = 0
    exact_at: float | None = None
    """When the exact count was recorded; None when unknown."""
    pending_from: int = 0
    reported: bool = False
    """The exact count was reported by a model in this process, and is no estimate after a compaction."""
    next_id: int = 0
    size: int = 0
    """Bytes folded so far."""
    lines: int = 0
    problems: list[Problem] = field(default_factory=list)
    left_out: list[Range] = field(default_factory=list)
    """Lines that a rewritten file does not take over: damaged or blank."""
    prompts: list[Range] = field(default_factory=list)

    @property
    def pending(self) -> int:
        """Estimated tokens of the messages since the exact count."""
        return self.history.tokens(self.pending_from, len(self.history))

    @property
    def tokens(self) -> int:
        return self.token_count + self.pending

    def tokens_with(self, more: Iterable[Message]) -> int:
        """The same when these messages follow."""
        return self.token_count + self.history.tokens(self.pending_from, len(self.history), more)

    @property
    def counted(self) -> bool:
        """Whether a model's count is part of the tokens; else they are an estimate of the messages alone."""
        return self.token_count > 0

    def apply(self, record: Record, length: int, body: Body | None = None, cost: Cost | None = None) -> None:
        """Folds the next `length` bytes of the file, one line, in. `body` is what a message line holds, `cost` its
        tokens where they are known already."""
        start, self.size = self.size, self.size + length
        self.lines += 1
        if isinstance(record, MessageLine):
            assert body is not None
            self.history.add(body, cost)
        elif isinstance(record, Checkpoint):
            self._mark(record, start)
        elif isinstance(record, Usage):
            self._count(record)
        elif isinstance(record, SystemPrompt):
            self.system_prompt = self.history.prompt = record.content
            self.prompts.append((start, self.size))
        elif isinstance(record, Foreign):
            self._note(record, start)
        else:
            self._leave_out(record, start)

    def _mark(self, record: Checkpoint, start: int) -> None:
        stamp = record.kt
        mark = CheckpointMark(
            id=record.id,
            offset=start,
            lines=self.lines - 1,
            history_index=len(self.history),
            exact=self.token_count,
            pending_from=self.pending_from,
            exact_at=self.exact_at,
            at=stamp.at if stamp else None,
            system_prompt=self.system_prompt,
            _history=self.history,
            _tokens=stamp.tokens if stamp else None,
        )
        self.checkpoints.append(mark)
        self.next_id = record.id + 1

    def _count(self, record: Usage) -> None:
        self.token_count = record.token_count
        self.exact_at = record.kt.at if record.kt else None
        self.reported = False
        self.pending_from = len(self.history)
        self.history.reports.append(Report(self.pending_from, self.token_count))

    def _note(self, record: Foreign, start: int) -> None:
        if not record.role.startswith("_"):
            what = f"A record of the unknown role {record.role[:40]!r} is kept but not read."
            self.problems.append(Problem(self.name, what, self.lines, start, "unknown"))

    def _leave_out(self, record: Record, start: int) -> None:
        self.left_out.append((start, self.size))
        if isinstance(record, Bad):
            what = f"A damaged record of {self.size - start} bytes is skipped ({record.why})."
            self.problems.append(Problem(self.name, what, self.lines, start))

    def seal(self) -> None:
        """The last line, which had no line end, has one now."""
        if self.left_out and self.left_out[-1][1] == self.size:
            self.left_out[-1] = (self.left_out[-1][0], self.size + 1)
        self.size += 1

    def find(self, ref: CheckpointRef) -> CheckpointMark:
        """Raises `ValueError` when there is no such checkpoint. Of several with one id, the last is meant."""
        for mark in reversed(self.checkpoints):
            if mark.offset == ref.offset if ref.offset is not None else mark.id == ref.id:
                if mark.id == ref.id:
                    return mark
                break
        raise ValueError(f"Checkpoint {ref.id} is not in this timeline{self._known_ids()}")

    def _known_ids(self) -> str:
        ids = sorted({mark.id for mark in self.checkpoints})
        if not ids:
            return ", which has no checkpoints"
        if ids == list(range(ids[0], ids[-1] + 1)):
            return f", which has {ids[0]} to {ids[-1]}" if len(ids) > 1 else f", which only has {ids[0]}"
        return ", which has " + ", ".join(map(str, ids[:20])) + (" …" if len(ids) > 20 else "")

    def kept(self, mark: CheckpointMark | None, *, prompts: bool = True) -> list[Range]:
        """The ranges of the file before the checkpoint (None: of all of it) that a rewritten file takes over:
        no damaged lines, and no system prompts unless they are wanted."""
        stop = self.size if mark is None else mark.offset
        ranges, start = [], 0
        for bad_start, bad_stop in self._gone(prompts):
            if bad_start >= stop:
                break
            if bad_start > start:
                ranges.append((start, bad_start))
            start = bad_stop
        if start < stop:
            ranges.append((start, stop))
        return ranges

    def _gone(self, prompts: bool) -> list[Range]:
        return self.left_out if prompts else sorted(self.left_out + self.prompts)

    def cut(self, mark: CheckpointMark | None, *, prompts: bool = True) -> None:
        """Becomes the projection of a file made of the `kept` ranges."""
        gone = _Gone(self._gone(prompts))
        stop, lines = (self.size, self.lines) if mark is None else (mark.offset, mark.lines)
        if mark is not None:
            self._forget_from(mark)
        for other in self.checkpoints:
            other.lines -= gone.count(other.offset)
            other.offset -= gone.before(other.offset)
        self.prompts = [_moved(span, -gone.before(span[0])) for span in self.prompts if prompts and span[0] < stop]
        self.size, self.lines = stop - gone.before(stop), lines - gone.count(stop)
        self.problems, self.left_out = [], []

    def _forget_from(self, mark: CheckpointMark) -> None:
        self.history.cut(mark.history_index)
        self.history.cut_reports(Report(mark.pending_from, mark.exact))
        del self.checkpoints[self.checkpoints.index(mark) :]
        self.system_prompt = self.history.prompt = mark.system_prompt
        self.token_count, self.exact_at, self.pending_from = mark.exact, mark.exact_at, mark.pending_from
        self.reported = False
        self.next_id = self.checkpoints[-1].id + 1 if self.checkpoints else 0

    def prepend(self, text: str, length: int) -> None:
        """A system prompt of `length` bytes now stands before everything."""
        for mark in self.checkpoints:
            mark.offset += length
            mark.lines += 1
            mark.system_prompt = text
        self.system_prompt = self.history.prompt = text
        self.prompts = [(0, length), *(_moved(span, length) for span in self.prompts)]
        self.left_out = [_moved(span, length) for span in self.left_out]
        self.size += length
        self.lines += 1


def _moved(span: Range, by: int) -> Range:
    return span[0] + by, span[1] + by


class _Gone:
    """Lines taken out of a file: how many, and how many bytes, stood before an offset."""

    def __init__(self, ranges: Sequence[Range]) -> None:
        self._stops = [stop for _, stop in ranges]
        self._bytes = [0, *accumulate(stop - start for start, stop in ranges)]

    def count(self, offset: int) -> int:
        return bisect_right(self._stops, offset)

    def before(self, offset: int) -> int:
        return self._bytes[self.count(offset)]

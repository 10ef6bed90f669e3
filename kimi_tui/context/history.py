"""The messages of a timeline, in order. Bodies are read when asked for: from memory, or from a big file itself."""

from __future__ import annotations

import errno
import os
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import overload

from kimi_tui.context.calibration import Calibration, Cost
from kimi_tui.context.disk import read_exactly
from kimi_tui.context.records import read_message
from kimi_tui.context.reports import LOOKED_AT, Report, taught_by
from kimi_tui.context.tokens import message_cost, tokens_of, total
from kimi_tui.protocol.messages import Message, ThinkPart

CACHED_BYTES = 4 << 20
"""Lines of a big file whose messages are kept after they were read."""


class Pages:
    """A file that bodies are read from. It stays readable when the name is given to another file.

    Messages stay in memory up to `keep` bytes of lines; None keeps them all."""

    def __init__(self, path: Path, keep: int | None = CACHED_BYTES) -> None:
        self._keep_bytes = keep
        self._fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
        self._cached: OrderedDict[int, tuple[Message, int]] = OrderedDict()
        self._size = 0

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode."""
        status = os.fstat(self._fd)
        return status.st_dev, status.st_ino

    def read(self, start: int, stop: int) -> Message:
        """Raises `OSError` when somebody has changed the file in place."""
        found = self._cached.get(start)
        if found is None:
            try:
                found = (read_message(read_exactly(self._fd, start, stop)), stop - start)
            except (EOFError, ValueError) as error:
                raise OSError(errno.EIO, f"another program changed the session's file at byte {start}") from error
            self._keep(start, found)
        return found[0]

    def _keep(self, start: int, found: tuple[Message, int]) -> None:
        self._cached[start] = found
        self._size += found[1]
        while self._keep_bytes is not None and self._size > self._keep_bytes and len(self._cached) > 1:
            self._size -= self._cached.popitem(last=False)[1][1]

    def __del__(self) -> None:
        os.close(self._fd)


Body = Message | bytes | tuple[int, int]
"""A message, the line that holds it, or where that line stands in the pages."""


class History(Sequence[Message]):
    """Reads like a list of messages and equals one. Only the context that owns it changes it."""

    def __init__(self, messages: Iterable[Message] = (), pages: Pages | None = None) -> None:
        self._bodies: list[Body] = list(messages)
        self._costs: list[Cost | None] = [None] * len(self._bodies)
        self.calibration: Calibration | None = None
        """Of the model, when somebody knows it; else what the reports in the log teach."""
        self.reports: list[Report] = []
        self.prompt: str | None = None
        self._taught: tuple[tuple[int, Report], Calibration | None] | None = None
        self._pages = pages

    def __len__(self) -> int:
        return len(self._bodies)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        if isinstance(index, slice):
            return [self._at(position) for position in range(*index.indices(len(self._bodies)))]
        return self._at(range(len(self._bodies))[index])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str | bytes):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # mutable, like the list it stands for

    def __repr__(self) -> str:
        return f"History({len(self)} messages)"

    def _at(self, position: int) -> Message:
        body = self._bodies[position]
        if isinstance(body, Message):
            return body
        if isinstance(body, bytes):
            message = read_message(body)
            self._bodies[position] = message
            return message
        assert self._pages is not None
        return self._pages.read(*body)

    def cost(self, start: int, stop: int) -> Cost:
        """Of `self[start:stop]`; each message is looked at once."""
        return total(self._cost_at(position) for position in range(start, min(stop, len(self._bodies))))

    def _cost_at(self, position: int) -> Cost:
        cost = self._costs[position]
        if cost is None:
            cost = self._costs[position] = message_cost(self._at(position))
        return cost

    def tokens(self, start: int, stop: int, more: Iterable[Message] = ()) -> int:
        """Estimated tokens of `self[start:stop]`, and of more messages that follow these, as they were or would be
        estimated when the last report was of what stands before `start`."""
        cost = total([self.cost(start, stop), *map(message_cost, more)])
        return tokens_of(cost, self.known(start)) if any(cost) else 0

    def known(self, covered: int | None = None) -> Calibration | None:
        """What estimates are made by, when reports are known up to this message; None: all."""
        count = len(self.reports) if covered is None else bisect_right(self.reports, covered, key=_covers)
        if self.calibration is not None or not count:
            return self.calibration
        newest = (count, self.reports[count - 1])
        if self._taught is None or self._taught[0] != newest:
            self._taught = (
                newest,
                taught_by(self.reports[max(0, count - LOOKED_AT - 1) : count], self._telling_cost, self.prompt),
            )
        return self._taught[1]

    def _telling_cost(self, start: int, stop: int) -> Cost | None:
        """None when something was thought: that counts in the report that comes with it, and no more in the next."""
        positions = range(max(0, start - 1), stop)
        return None if any(thinks(self._at(position)) for position in positions) else self.cost(start, stop)

    def add(self, body: Body, cost: Cost | None = None) -> None:
        self._bodies.append(body)
        self._costs.append(cost)

    def extend(self, bodies: Sequence[Body]) -> None:
        self._bodies += bodies
        self._costs += [None] * len(bodies)

    def cut(self, length: int) -> None:
        """Forgets everything from position `length` on. Reports are forgotten apart (`cut_reports`)."""
        del self._bodies[length:]
        del self._costs[length:]
        self._taught = None  # other messages may come, and a report that looks the same

    def cut_reports(self, last: Report) -> None:
        """Forgets all after the last one that is meant."""
        while self.reports and self.reports[-1] != last:
            self.reports.pop()


def _covers(report: Report) -> int:
    return report.covers


def thinks(message: Message) -> bool:
    return any(isinstance(part, ThinkPart) for part in message.content)

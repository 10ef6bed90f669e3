"""The index of the live file in the life of a context: believed when it opens, renewed as it grows, left behind."""

from __future__ import annotations

import contextlib
import os
from array import array
from collections.abc import Callable

from kimi_tui.context import index
from kimi_tui.context.disk import Disk
from kimi_tui.context.index import Index
from kimi_tui.context.log import Log
from kimi_tui.context.packed import BUFFER
from kimi_tui.context.projection import Projection
from kimi_tui.context.reading import LAZY_ABOVE, fold, read_live

_LAZY_ABOVE = index.WORTH_IT if os.name == "posix" else LAZY_ABOVE


class Indexing:
    def __init__(self, log: Log, disk: Disk) -> None:
        self._log = log
        self._disk = disk
        self._index: Index | None = None
        """Of the file as it was opened. What was appended since is not in it, and is read by the next start."""
        self._index_of = 0
        """The generation of the log that it is of."""
        self._looked_at = (0, 0)
        """The generation of the log when an index was last thought of, and its size then."""

    def read(self) -> tuple[Projection, bool]:
        """The live file, by its index when there is one to believe, and whether its last line lacks its end.

        Raises `OSError`."""
        paths = self._log.paths
        self._index_of = self._log.generation
        found = index.load(paths.live, paths.index)
        if found is None:
            return self._replay()
        projection, self._index = found
        if paths.live.stat().st_size == projection.size:
            return projection, False
        with paths.live.open("rb", buffering=BUFFER) as file:
            file.seek(projection.size)
            return projection, fold(file, projection, lazy=True)

    def _replay(self) -> tuple[Projection, bool]:
        live = self._log.paths.live
        status, spans = live.stat(), array("Q")
        projection, torn = read_live(live, lazy_above=_LAZY_ABOVE, spans=spans)
        worth_it = projection.size >= index.WORTH_IT and os.name == "posix"
        self._index = index.make(projection, spans, status) if worth_it and not torn else None
        return projection, torn

    def is_due(self) -> bool:
        """Much has been appended since the index was written, or since a switch."""
        generation, size = self._looked_at
        if generation != self._log.generation or not size:
            self._looked_at = (self._log.generation, self._log.size)
            return False
        return os.name == "posix" and self._log.size - size >= index.EVERY

    def renew(self) -> Callable[[], None]:
        """Writes it as of now, so that the next start is fast even after a kill. Changes nothing else, and may run
        beside everything else but `save`. A disk that refuses is no harm."""
        generation = self._log.generation
        self._looked_at = (generation, self._log.size)
        old = self._index if self._index_of == generation else None
        made: Index | None = None
        with contextlib.suppress(OSError):
            made = index.renewed(old, self._log.paths.live)
            if made is not None:
                self._write(made)

        def publish() -> None:
            if made is not None and generation == self._log.generation:
                self._index, self._index_of = made, generation

        return publish

    def save(self) -> None:
        """Leaves what is known of the file for the next start."""
        if self._index is not None and self._index_of == self._log.generation and self._log.state() == "ours":
            self._write(self._index)

    def _write(self, made: Index) -> None:
        index.save(made, self._log.paths.live, self._log.paths.index, self._disk)

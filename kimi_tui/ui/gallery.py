"""Pictures that the terminal itself shows: sent in slices, placed, and forgotten when they are no longer needed."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from kimi_tui.ui import kitty
from kimi_tui.ui.rows import Piece, Row

SLICE = 16
"""Commands of 4 KB that are written at once."""
PAUSE = 0.005
"""Seconds between two looks at whether what was written has gone out."""
MOST = (1_200, 1_000)
"""Pixels of a picture that is sent."""
NUMBERS = 0xFFFFFF


@dataclass(slots=True, eq=False)
class Gallery:
    """One terminal. `write` hands it a command; `free` says whether what was written before has gone out, so that keys
    and frames never stand in line behind a large picture."""

    write: Callable[[str], None]
    free: Callable[[], bool] = lambda: True
    cell: Callable[[], tuple[int, int]] = lambda: (10, 20)
    """Width and height of a cell in pixels, as they are now."""
    most: tuple[int, int] = MOST
    _last: int = field(default_factory=lambda: secrets.randbelow(NUMBERS))
    """Numbers are the terminal's, which others may use as well: they begin anywhere."""
    _hanging: set[int] = field(default_factory=set)
    _sending: bool = False
    _later: list[str] = field(default_factory=list)
    """What was to be said while a picture was sent: nothing may come between its parts."""

    async def hang(self, png: bytes) -> Hung:
        """Send a picture; one at a time. Takes as long as the terminal does."""
        self._last = self._last % NUMBERS + 1
        number = self._last
        self._hanging.add(number)
        self._sending = True
        commands = [*kitty.transmission(number, png)]
        try:
            while commands:
                if self.free():
                    self.write("".join(commands[:SLICE]))
                    del commands[:SLICE]
                await asyncio.sleep(PAUSE)
        finally:
            self._sent(whole=not commands)
        return Hung(self, number)

    def _sent(self, *, whole: bool) -> None:
        self._sending = False
        later, self._later = self._later, []
        for command in (*([] if whole else [kitty.NO_MORE]), *later):
            self.write(command)

    def place(self, number: int, columns: int, rows: int) -> None:
        self._say(kitty.placement(number, columns, rows))

    def take_down(self, number: int) -> None:
        if number in self._hanging:
            self._hanging.discard(number)
            self._say(kitty.removal(number))

    def clear(self) -> None:
        """At the end: nothing of ours stays in the terminal."""
        for number in sorted(self._hanging):
            self.take_down(number)

    def _say(self, command: str) -> None:
        if self._sending:
            self._later.append(command)
        else:
            self.write(command)


@dataclass(slots=True, eq=False)
class Hung:
    """A picture in the terminal."""

    gallery: Gallery
    number: int
    _extent: tuple[int, int] = (0, 0)
    """Columns and rows that it covers."""

    def rows(self, pixels: tuple[int, int], room: tuple[int, int], lead: tuple[Piece, ...] = ()) -> list[Row]:
        """The rows that show it, in at most so many columns and rows, never larger than it is. Tells the terminal when
        that is another size than before."""
        extent = fitting(pixels, self.gallery.cell(), room)
        if extent != self._extent:
            self._extent = extent
            self.gallery.place(self.number, *extent)
        columns, count = extent
        colour = kitty.colour(self.number)
        shown = ((*lead, Piece(kitty.cells(columns, row), colour)) for row in range(count))
        return [Row(pieces, sum(len(piece.text) for piece in pieces), "") for pieces in shown]

    def take_down(self) -> None:
        self.gallery.take_down(self.number)


def fitting(pixels: tuple[int, int], cell: tuple[int, int], room: tuple[int, int]) -> tuple[int, int]:
    """Columns and rows of a picture of so many pixels: as large as it is, or as there is room for."""
    columns, rows = pixels[0] / cell[0], pixels[1] / cell[1]
    scale = min(1.0, room[0] / columns, room[1] / rows)
    return max(1, min(room[0], round(columns * scale))), max(1, min(room[1], round(rows * scale)))

"""Which rows of the timeline are shown: folds, filter and search over the whole tree. Knows no widget.

Rows are kept oldest first, so that a new checkpoint is an append; the screen asks from the newest end. Position
means a place in `rows`, height a place in what is shown, counted from the top.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from kimi_tui.protocol.views import SwitchView, TimelineRow

Filter = Literal["all", "turns", "jumps", "named"]
FILTERS: tuple[Filter, ...] = ("all", "turns", "jumps", "named")

Key = tuple[str, str | None, int, int | None]

CONTINUES = {"compact", "prepend"}
"""Jumps after which the story goes on: their rotation holds its beginning and stays open. Others end a branch."""


def key_of(row: TimelineRow) -> Key:
    """What stays the same when a row is drawn anew: ids can repeat, file and offset cannot."""
    file = row.switch.file if row.kind == "switch" and row.switch else row.file
    return (row.kind, file, row.offset, row.checkpoint)


class TimelineList:
    """See the module."""

    def __init__(self) -> None:
        self.rows: list[TimelineRow] = []
        self.shown: list[int] = []
        self.filter: Filter = "all"
        self.query = ""
        self._place: dict[Key, int] = {}
        self._newest: dict[tuple[str | None, int | None], int] = {}
        """By file and id; of several with one id the newest."""
        self._turn: list[int] = []
        self._branch: list[int] = []
        self._rotations: dict[str, int] = {}
        self._last_turn: dict[str | None, int] = {}
        self._members: dict[int, list[int]] = {}
        self._flipped: set[Key] = set()
        self._switches: dict[str, SwitchView] = {}
        """By the file that the jump left behind."""
        self._branches: dict[str, tuple[TimelineRow, ...]] = {}
        """Steps of rotations that were asked for, newest first."""
        self.checkpoints = 0
        """Of the live timeline."""

    # --- rows -----------------------------------------------------------------------------------------------------

    def load(self, rows: Sequence[TimelineRow]) -> None:
        """Take over the whole tree, newest first. Folds of rows that are still there stay, so do branches."""
        known = [row for each in rows for row in (each, *self._branch_of(each, rows))] if self._branches else rows
        self.rows = list(reversed(known))
        self._place, self._turn, self._branch, self._last_turn, self._members = {}, [], [], {}, {}
        self._newest = {}
        self.checkpoints = 0
        self._rotations = {
            row.file: position for position, row in enumerate(self.rows) if row.kind == "rotation" and row.file
        }
        self._switches = {row.switch.file: row.switch for row in rows if row.kind == "switch" and row.switch}
        self._index()
        self._flipped &= self._place.keys()
        self.sift()

    def _branch_of(self, row: TimelineRow, rows: Sequence[TimelineRow]) -> tuple[TimelineRow, ...]:
        """What is known of the branch that this row stands for, unless the tree tells it by itself."""
        known = self._branches.get(row.file or "", ()) if row.kind == "rotation" else ()
        return () if known and any(each.file == row.file and each.kind == "checkpoint" for each in rows) else known

    def add_branch(self, file: str, rows: Sequence[TimelineRow]) -> None:
        """The steps of a rotation, newest first; it is unfolded."""
        added = {key_of(row) for branch in self._branches.values() for row in branch}
        self._branches[file] = tuple(rows)
        given = [row for row in reversed(self.rows) if key_of(row) not in added]
        if self._ended(file):
            self._flipped |= {key_of(row) for row in given if row.kind == "rotation" and row.file == file}
        self.load(given)

    def _index(self, start: int = 0) -> None:
        """Find out where the rows from this position on belong. One loop, for thousands of them at once."""
        rotations, last_turn, members, place = self._rotations, self._last_turn, self._members, self._place
        for position in range(start, len(self.rows)):
            row = self.rows[position]
            place[key_of(row)] = position
            turn = branch = -1
            if row.kind == "checkpoint":
                file = row.file
                self._newest[file, row.checkpoint] = position
                if file is None:
                    self.checkpoints += 1
                else:
                    branch = rotations.get(file, -1)
                if row.turn:
                    last_turn[file] = position
                else:
                    turn = last_turn.get(file, -1)
                for owner in (turn, branch):
                    if owner >= 0:
                        members.setdefault(owner, []).append(position)
            self._turn.append(turn)
            self._branch.append(branch)

    def add(self, row: TimelineRow) -> bool:
        """A newer row than all. False when it is known already, and was only drawn anew."""
        if key_of(row) in self._place:
            self.replace(row)
            return False
        position = len(self.rows)
        self.rows.append(row)
        if row.kind == "rotation" and row.file:
            self._rotations[row.file] = position
        self._index(position)
        if self._visible(position):
            self.shown.append(position)
        return True

    def replace(self, row: TimelineRow) -> int | None:
        """The same row with news about it; its height when it is shown."""
        position = self._place.get(key_of(row))
        if position is None:
            return None
        turned = row.turn != self.rows[position].turn
        self.rows[position] = row
        if turned:
            self.load(list(reversed(self.rows)))
        return self.height_of(position)

    def get(self, key: Key) -> TimelineRow | None:
        position = self._place.get(key)
        return None if position is None else self.rows[position]

    def __contains__(self, key: Key) -> bool:
        return key in self._place

    @property
    def files(self) -> int:
        """The live file and the rotations."""
        return 1 + len(self._rotations)

    # --- what is shown --------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.shown)

    def at(self, height: int) -> TimelineRow:
        """The shown row at that height; 0 is the newest."""
        return self.rows[self.position(height)]

    def position(self, height: int) -> int:
        return self.shown[len(self.shown) - 1 - height]

    def height_of(self, position: int) -> int | None:
        """Where a position is shown, by bisection; None when it is folded away or filtered out."""
        low, high = 0, len(self.shown)
        while low < high:
            middle = (low + high) // 2
            if self.shown[middle] < position:
                low = middle + 1
            else:
                high = middle
        found = low < len(self.shown) and self.shown[low] == position
        return len(self.shown) - 1 - low if found else None

    def find(self, key: Key) -> int | None:
        """The height of the row with that key, or of the row it is folded under."""
        return self._near(self._place.get(key))

    def find_checkpoint(self, checkpoint: int, file: str | None = None) -> int | None:
        """The height of that checkpoint, or of the row it is folded under."""
        return self._near(self._newest.get((file, checkpoint)))

    def has(self, checkpoint: int) -> bool:
        """Whether a row of the live timeline stands for it, shown or not."""
        return (None, checkpoint) in self._newest

    def neighbours(self, checkpoint: int) -> tuple[int, ...]:
        """Of the live timeline, the checkpoints before and after one that has no row, as far as there are any."""
        known = [number for file, number in self._newest if file is None and number is not None]
        below = [number for number in known if number < checkpoint]
        above = [number for number in known if number > checkpoint]
        return (*([max(below)] if below else []), *([min(above)] if above else []))

    def _near(self, position: int | None) -> int | None:
        while position is not None and position >= 0:
            height = self.height_of(position)
            if height is not None:
                return height
            position = self._turn[position] if self._turn[position] >= 0 else self._branch[position]
        return None

    def sift(self) -> None:
        """Decide anew what is shown."""
        if self.query or self.filter != "all":
            self.shown = [position for position in range(len(self.rows)) if self._visible(position)]
            return
        folded = {position for position in self._members if self.folded(position)}
        belongs = zip(self._turn, self._branch, strict=True)
        self.shown = [at for at, (turn, branch) in enumerate(belongs) if not (turn in folded or branch in folded)]

    def _visible(self, position: int) -> bool:
        row = self.rows[position]
        if self.query or self.filter != "all":
            return self._passes(row) and self._matches(row)
        turn, branch = self._turn[position], self._branch[position]
        return not (turn >= 0 and self.folded(turn)) and not (branch >= 0 and self.folded(branch))

    def _passes(self, row: TimelineRow) -> bool:
        if self.filter == "turns":
            return row.turn
        if self.filter == "jumps":
            return row.kind != "checkpoint"
        return self.filter == "all" or bool(row.name)

    def _matches(self, row: TimelineRow) -> bool:
        if not self.query:
            return True
        said = (row.label, row.name, row.file or "", str(row.checkpoint), row.switch.note if row.switch else "")
        return self.query.casefold() in "\n".join(said).casefold()

    # --- folds ----------------------------------------------------------------------------------------------------

    def folded(self, position: int) -> bool:
        """Whether what belongs to this row is folded away. Branches that ended are folded until asked for."""
        row = self.rows[position]
        return (key_of(row) in self._flipped) != (row.kind == "rotation" and self._ended(row.file))

    def _ended(self, file: str | None) -> bool:
        switch = self.switch_of(file)
        return switch is not None and switch.why not in CONTINUES

    def switch_of(self, file: str | None) -> SwitchView | None:
        """The jump that left this file behind, where the tree tells of it."""
        return self._switches.get(file or "")

    def children(self, position: int) -> int:
        """How many rows a fold of this one would hide."""
        return len(self._members.get(position, ()))

    def hidden_tokens(self, position: int) -> int:
        """Tokens of the steps folded away under a turn."""
        return sum(self.rows[step].tokens or 0 for step in self._members.get(position, ()))

    def toggle(self, height: int) -> int:
        """Fold or unfold the row at that height, or the one that it belongs to; the new height of that row."""
        position = self.position(height)
        if not self.children(position):
            position = self._turn[position] if self._turn[position] >= 0 else self._branch[position]
        if position < 0:
            return height
        self._flipped ^= {key_of(self.rows[position])}
        self.sift()
        return self.height_of(position) or 0

    def ends_branch(self, height: int) -> bool:
        """Whether this is the oldest shown row of its branch, where it left the trunk; or a branch below all rows."""
        if height + 1 >= len(self.shown):
            return True
        branch = self._branch[self.position(height)]
        return branch >= 0 and self._branch[self.position(height + 1)] != branch

"""Heights of many blocks under each other, some measured and some guessed: which block is at row y, and where is it?

A Fenwick tree, so that changing one height, appending, and both questions cost O(log n) for any length of session.
"""

from __future__ import annotations

from collections.abc import Iterable


class Heights:
    """A list of heights with fast prefix sums."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights = list(heights)
        self._sums = [0, *self._heights]
        for node in range(1, len(self._sums)):
            parent = node + (node & -node)
            if parent < len(self._sums):
                self._sums[parent] += self._sums[node]
        self.total = sum(self._heights)

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    def append(self, height: int) -> None:
        node = len(self._sums)
        value, child, low = height, node - 1, node - (node & -node)
        while child > low:
            value += self._sums[child]
            child -= child & -child
        self._heights.append(height)
        self._sums.append(value)
        self.total += height

    def set(self, index: int, height: int) -> int:
        """Change one height; returns by how much."""
        change = height - self._heights[index]
        if change:
            self._heights[index] = height
            self.total += change
            node = index + 1
            while node < len(self._sums):
                self._sums[node] += change
                node += node & -node
        return change

    def truncate(self, length: int) -> None:
        """Forget everything from `length` on."""
        self.total -= sum(self._heights[length:])
        del self._heights[length:]
        del self._sums[length + 1 :]

    def top(self, index: int) -> int:
        """The row at which block `index` starts."""
        rows = 0
        while index > 0:
            rows += self._sums[index]
            index -= index & -index
        return rows

    def find(self, row: int) -> tuple[int, int]:
        """The block that covers a row, and the row inside it. Rows outside go to the first or last block."""
        if row < 0 or not self._heights:
            return 0, 0
        if row >= self.total:
            last = len(self._heights) - 1
            return last, max(0, self._heights[last] - 1)
        node, bit = 0, 1 << len(self._heights).bit_length()
        while bit:
            following = node + bit
            if following < len(self._sums) and self._sums[following] <= row:
                node, row = following, row - self._sums[following]
            bit >>= 1
        return node, row

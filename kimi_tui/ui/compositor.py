"""Paints only what has changed: of the rows in question the widgets that are seen there, each once.

Textual draws the box around all changes: a step that changes a row of the sidebar at the top and the gauge at the
bottom has every widget of the screen draw all its rows, with the grounds below them, thirty times a second.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import cast

from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

Extent = tuple[int, int]
"""The first column of a row that has changed, and the one after the last."""
Chops = list[dict[int, Strip | None]]
"""Of every row, what stands between two of the columns where a widget begins or ends. What is seen of a widget is one
piece, followed by `NOTHING`: where something ends that lies below it, a wide letter of it would be cut in two."""
NOTHING = Strip([], 0)


class CloseCompositor(Compositor):
    """See the module."""

    def render_partial_update(self) -> ChopsUpdate | None:
        regions = self._dirty_regions.copy()
        self._dirty_regions.clear()
        spans = [span for span in self._regions_to_spans(regions) if span[0] < self.size.height]
        if not spans:
            return None
        rows: dict[int, Extent] = {}
        for y, start, end in spans:
            first, last = rows.get(y, (start, end))
            rows[y] = min(first, start), max(last, end)
        painted = self._painted(rows)
        chops = [{x: line[x] for x in sorted(line) if line[x] is not NOTHING} for line in painted]
        spans = [(y, start, _letter_end(chops[y], end)) for y, start, end in spans]
        return ChopsUpdate(chops, spans, [[*islice(line, 1, None), self.size.width] for line in chops])

    def _render_chops(self, crop: Region, is_rendered_line: Callable[[int], bool]) -> Sequence[Mapping[int, Strip]]:
        rows = {y: crop.column_span for y in crop.line_range if is_rendered_line(y)}
        return cast("Sequence[Mapping[int, Strip]]", self._painted(rows))

    def _painted(self, rows: Mapping[int, Extent]) -> Chops:
        """These parts of these rows. What is in front is painted first; what it hides is not painted at all."""
        chops: Chops = [dict.fromkeys(cuts[:-1]) if y in rows else {} for y, cuts in enumerate(self.cuts)]
        for widget, (region, clip) in self.visible_widgets.items():
            seen = region.intersection(clip)
            open_rows = [y for y in seen.line_range if y in rows and self._is_open(chops[y], y, seen, rows[y])]
            for first, end in _runs(open_rows):
                self._paint(widget, Region(seen.x, first, seen.width, end - first), region, chops, rows)
        return chops

    def _is_open(self, line: Mapping[int, Strip | None], y: int, seen: Region, extent: Extent) -> bool:
        """Whether anything that is wanted of the row is not painted yet where the widget is."""
        first, end = max(seen.x, extent[0]), min(seen.right, extent[1])
        cuts = self.cuts[y]
        return first < end and any(
            line[cut] is None for cut in cuts[bisect_right(cuts, first) - 1 : bisect_left(cuts, end)]
        )

    def _paint(self, widget: Widget, part: Region, region: Region, chops: Chops, rows: Mapping[int, Extent]) -> None:
        strips = widget.render_lines(part.translate(-region.offset))
        for y, strip in zip(part.line_range, strips, strict=False):
            cuts, line = self.cuts[y], chops[y]
            start, stop = max(part.x, rows[y][0]), min(part.right, rows[y][1])
            within = cuts[bisect_right(cuts, start) - 1 : bisect_left(cuts, stop) + 1]
            for first, end in _runs([at for at, cut in enumerate(within[:-1]) if line.get(cut) is None]):
                line.update(dict.fromkeys(within[first:end], NOTHING))
                begins, ends = within[first], within[end]
                if _halves(strip, begins - part.x) and self._sees(widget, begins - 1, y):
                    begins -= 1
                if _halves(strip, ends - part.x) and self._sees(widget, ends, y):
                    ends += 1
                line[begins] = strip.crop(begins - part.x, ends - part.x)

    def _sees(self, widget: Widget, x: int, y: int) -> bool:
        """Whether it is this widget that is seen there: then a wide letter that reaches there is painted whole."""
        return self.get_widget_at(x, y)[0] is widget


def _halves(strip: Strip, at: int) -> bool:
    """Whether a wide letter would be cut in two here."""
    return 0 < at < strip.cell_length and not strip.text.startswith(strip.crop(0, at).text)


def _letter_end(line: Mapping[int, Strip | None], end: int) -> int:
    """The column itself, or the next one where a wide letter stands across it."""
    for x, strip in line.items():
        if strip is not None and _halves(strip, end - x):
            return end + 1
    return end


def _runs(rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Neighbouring rows as first and end."""
    start = 0
    for place in range(1, len(rows) + 1):
        if place == len(rows) or rows[place] != rows[place - 1] + 1:
            yield rows[start], rows[place - 1] + 1
            start = place

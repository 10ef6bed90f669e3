"""Paints only the widgets of which something is seen where something has changed.

Textual asks every widget whose container touches the changed part for all of its rows, also those that lie wholly
behind others; while text streams that is most of the screen, thirty times a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from textual._compositor import Compositor
from textual.geometry import Region
from textual.strip import Strip


class CloseCompositor(Compositor):
    """See the module."""

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        if crop is None:
            yield from super()._get_renders()
            return
        open_parts = [crop]
        for widget, (region, clip) in self.visible_widgets.items():  # those in front come first
            rows = Region(clip.x, crop.y, clip.width, crop.height).intersection(clip)
            seen = region.intersection(rows)
            if seen and any(seen.overlaps(part) for part in open_parts):
                yield region, rows, widget.render_lines(seen.translate(-region.offset))
                open_parts = [left for part in open_parts for left in without(part, seen)]
                if not open_parts:
                    return


def without(part: Region, cover: Region) -> Iterator[Region]:
    """What of a part is not behind the cover: up to four regions."""
    hidden = part.intersection(cover)
    if not hidden:
        yield part
        return
    above, below = hidden.y - part.y, part.bottom - hidden.bottom
    left, right = hidden.x - part.x, part.right - hidden.right
    for region in (
        Region(part.x, part.y, part.width, above),
        Region(part.x, hidden.bottom, part.width, below),
        Region(part.x, hidden.y, left, hidden.height),
        Region(hidden.right, hidden.y, right, hidden.height),
    ):
        if region:
            yield region

"""Paints only the widgets that are where something has changed.

Textual asks every widget whose container touches the changed part for all of its rows; while text streams that is the
whole screen, thirty times a second.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual._compositor import Compositor
from textual.geometry import Region
from textual.strip import Strip


class CloseCompositor(Compositor):
    """See the module."""

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        if crop is None:
            yield from super()._get_renders()
            return
        for widget, (region, clip) in self.visible_widgets.items():
            rows = Region(clip.x, crop.y, clip.width, crop.height).intersection(clip)
            seen = region.intersection(rows)
            if seen and seen.overlaps(crop):
                yield region, rows, widget.render_lines(seen.translate(-region.offset))

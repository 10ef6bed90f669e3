"""What lies wholly behind something else is not painted."""

from __future__ import annotations

from collections import Counter

import pytest
from textual.geometry import Region
from textual.widget import Widget

from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import Entry
from kimi_tui.ui.compositor import without
from tests.ui.test_app import stage


def cells(*regions: Region) -> Counter[tuple[int, int]]:
    return Counter((x, y) for region in regions for x in region.column_range for y in region.line_range)


@pytest.mark.parametrize(
    "cover", [Region(x, y, w, h) for x in (0, 2, 5) for y in (0, 2, 5) for w in (1, 9) for h in (1, 9)]
)
def test_what_is_left_of_a_region_is_all_that_is_not_covered_and_nothing_twice(cover: Region) -> None:
    part = Region(1, 1, 5, 4)
    assert cells(*without(part, cover)) == Counter(cells(part).keys() - cells(cover).keys())


async def test_flowing_text_paints_the_chat_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    painted: list[str] = []
    render_lines = Widget.render_lines

    def noted(self: Widget, crop: Region) -> list[object]:
        painted.append(str(self.id or type(self).__name__))
        return render_lines(self, crop)  # type: ignore[return-value]

    async with stage() as shown:
        await shown.tell(ev.TurnStarted(Entry("user", "go", turn=True), shown.app.chat.conversation.stored))
        await shown.tell(ev.TextDelta("one\n\n"))
        monkeypatch.setattr(Widget, "render_lines", noted)
        await shown.tell(ev.TextDelta("two\n\n"))
        assert not {"body", "main", "ChatScreen", "Timeline"} & set(painted)

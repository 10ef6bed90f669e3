"""What is painted when only a part of the screen has changed."""

from __future__ import annotations

import re

import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import Entry
from kimi_tui.ui.compositor import CloseCompositor
from tests.ui.test_app import stage
from tests.ui.waiting import settled


class Letters(Widget):
    """Fills its place with one letter, and remembers which of its rows it was asked for."""

    def __init__(self, name: str) -> None:
        super().__init__(id=name)
        self.letter = name[0]
        self.asked: list[int] = []

    def render_lines(self, crop: Region) -> list[Strip]:
        self.asked += crop.line_range
        return [Strip([Segment(self.letter * crop.width)], crop.width) for _ in crop.line_range]


class Desk(Screen[None]):
    def __init__(self) -> None:
        super().__init__()
        self._compositor = CloseCompositor()

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Letters("left")
            with Vertical():
                yield Letters("top")
                yield Letters("bottom")
        yield Letters("over")

    def ask_nothing(self) -> list[Letters]:
        letters = list(self.query(Letters))
        for each in letters:
            each.asked.clear()
        return letters


class Room(App[None]):
    CSS = """
    Desk { layers: below above; }
    Letters { width: 1fr; height: 1fr; }
    #over { layer: above; width: 10; height: 2; offset: 4 3; }
    """

    def get_default_screen(self) -> Desk:
        return Desk()


async def test_only_the_rows_that_changed_are_asked_for_and_only_of_who_is_seen_there() -> None:
    app = Room()
    async with app.run_test(size=(40, 10)) as pilot:
        await settled(pilot)
        desk = app.screen
        assert isinstance(desk, Desk)
        left, top, bottom, over = desk.ask_nothing()
        top.refresh(Region(0, 1, 20, 1))
        bottom.refresh(Region(0, 2, 20, 1))
        await settled(pilot)
        assert (left.asked, top.asked, bottom.asked, over.asked) == ([], [1], [2], [])


async def test_what_lies_below_something_else_is_not_painted_where_it_is_hidden() -> None:
    app = Room()
    async with app.run_test(size=(40, 10)) as pilot:
        await settled(pilot)
        desk = app.screen
        assert isinstance(desk, Desk)
        left, top, bottom, over = desk.ask_nothing()
        over.refresh()
        await settled(pilot)
        assert (left.asked, top.asked, bottom.asked, over.asked) == ([], [], [], [0, 1])


async def test_any_part_painted_by_itself_is_what_the_whole_shows_there() -> None:
    app = Room()
    async with app.run_test(size=(40, 10)) as pilot:
        await settled(pilot)
        compositor = app.screen._compositor
        assert isinstance(compositor, CloseCompositor)
        whole = compositor.render_strips()
        assert whole[3].text == "l" * 4 + "o" * 10 + "l" * 6 + "t" * 20
        for y in range(10):
            for start, end in ((0, 40), (0, 1), (3, 5), (13, 22), (39, 40)):
                chops = compositor._painted({y: (start, end)})
                pieces = [(cut, cut + strip.cell_length, strip) for cut, strip in chops[y].items() if strip]
                assert all(strip.text == whole[y].crop(cut, after).text for cut, after, strip in pieces)
                assert set(range(start, end)) <= {x for cut, after, _ in pieces for x in range(cut, after)}


async def test_flowing_text_paints_the_chat_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    painted: list[str] = []
    render_lines = Widget.render_lines

    def noted(self: Widget, crop: Region) -> list[Strip]:
        painted.append(str(self.id or type(self).__name__))
        return render_lines(self, crop)

    async with stage() as shown:
        await shown.tell(ev.TurnStarted(Entry("user", "go", turn=True), shown.app.chat.conversation.stored))
        await shown.tell(ev.TextDelta("one\n\n"))
        monkeypatch.setattr(Widget, "render_lines", noted)
        await shown.tell(ev.TextDelta("two\n\n"))
        assert not {"body", "main", "ChatScreen", "Timeline"} & set(painted)


class Wide(Letters):
    """Fills its place with letters that are two cells wide, from its second cell on."""

    def render_lines(self, crop: Region) -> list[Strip]:
        row = Strip([Segment("|" + "日" * (self.size.width // 2 - 1) + "|")], self.size.width)
        return [row.crop(crop.x, crop.right) for _ in crop.line_range]


class Covered(Desk):
    """The letters lie over the place where two widgets meet, and over the end of one of them."""

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Letters("left")
            yield Letters("right")
        yield Wide("over")


class CoveredRoom(App[None]):
    CSS = """
    Covered { layers: below above; }
    Letters { width: 1fr; height: 1fr; }
    #over { layer: above; width: 30; height: 2; offset: 4 3; }
    """

    def get_default_screen(self) -> Desk:
        return Covered()


async def test_no_wide_letter_is_cut_in_two_where_widgets_below_it_meet() -> None:
    app = CoveredRoom()
    async with app.run_test(size=(40, 10)) as pilot:
        await settled(pilot)
        assert app.screen._compositor.render_strips()[3].text == "llll|" + "日" * 14 + "|rrrrrr"


@pytest.mark.parametrize("below", ["left", "right"])
async def test_no_wide_letter_is_cut_in_two_where_the_change_below_it_ends(below: str) -> None:
    app = CoveredRoom()
    async with app.run_test(size=(40, 10)) as pilot:
        await settled(pilot)
        compositor = app.screen._compositor
        compositor._dirty_regions = {app.screen.query_one(f"#{below}").region}
        update = compositor.render_partial_update()
        assert update is not None
        rows = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", update.render_segments(app.console)).split("\n")
        assert rows[3] == ("llll|" + "日" * 8 if below == "left" else "日" * 7 + "|rrrrrr")

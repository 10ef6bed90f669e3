"""Images as half blocks: two pixels a cell."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from io import BytesIO

import pytest
from PIL import Image

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.commands import Command
from kimi_tui.protocol.views import Entry, ToolView
from kimi_tui.ui import pictures
from kimi_tui.ui.pictures import HIGHEST, LOW, WIDEST, picture_rows, read
from kimi_tui.ui.rows import Piece, copied
from tests.ui.session import opened, reset
from tests.ui.test_app import stage
from tests.ui.waiting import until


def url(image: Image.Image, kind: str = "PNG", **options: object) -> str:
    buffer = BytesIO()
    image.save(buffer, kind, **options)
    return f"data:image/{kind.lower()};base64,{base64.b64encode(buffer.getvalue()).decode()}"


def quarters() -> Image.Image:
    """Red, green; blue, white."""
    image = Image.new("RGB", (2, 2))
    for place, color in (((0, 0), "red"), ((1, 0), "lime"), ((0, 1), "blue"), ((1, 1), "white")):
        image.putpixel(place, Image.new("RGB", (1, 1), color).getpixel((0, 0)))  # type: ignore[arg-type]
    return image


def test_a_cell_shows_two_pixels() -> None:
    picture = read(url(quarters()))
    assert picture is not None
    [row] = picture_rows(picture, 40, unfolded=False)
    assert row.pieces == (Piece("▀", "#ff0000#0000ff"), Piece("▀", "#00ff00#ffffff"))


def test_an_odd_row_at_the_end_is_half_a_cell_high() -> None:
    picture = read(url(Image.new("RGB", (2, 3), "red")))
    assert picture is not None
    assert [row.pieces for row in picture_rows(picture, 40, unfolded=False)] == [
        (Piece("▀▀", "#ff0000#ff0000"),),
        (Piece("▀▀", "#ff0000"),),
    ]


@pytest.mark.parametrize("unfolded", [False, True])
@pytest.mark.parametrize("size", [(1280, 720), (3, 4000), (4000, 3), (1, 1)])
def test_a_picture_fits_whatever_its_size(size: tuple[int, int], unfolded: bool) -> None:
    picture = read(url(Image.new("RGB", size, "red")))
    assert picture is not None and picture.extent == f"{size[0]}×{size[1]}"
    for width in (1, 7, 40, 200):
        rows = picture_rows(picture, width, unfolded)
        assert 1 <= len(rows) <= (HIGHEST if unfolded else LOW)
        assert {1 <= row.width <= min(width, WIDEST) for row in rows} == {True}


def test_what_is_clear_gets_the_colour_of_the_ground() -> None:
    picture = read(url(Image.new("RGBA", (2, 2), (255, 255, 255, 0))), (1, 2, 3))
    assert picture is not None
    assert picture_rows(picture, 9, unfolded=False)[0].pieces == (Piece("▀▀", "#010203#010203"),)


def test_a_picture_that_lies_on_its_side_is_put_upright() -> None:
    exif = Image.Exif()
    exif[pictures.ORIENTATION] = 6
    picture = read(url(Image.new("RGB", (40, 20), "red"), "JPEG", exif=exif))
    assert picture is not None and picture.extent == "20×40"


@pytest.mark.parametrize(
    "bad",
    [
        "https://example.org/a.png",
        "data:image/png;base64,",
        "data:image/png;base64,AAAA",
        "data:image/png;base64,***",
        "data:text/html;base64,AAAA",
        "data:image/png,raw",
        "",
    ],
)
def test_what_is_no_picture_is_none(bad: str) -> None:
    assert read(bad) is None


def test_a_cut_picture_is_none() -> None:
    whole = url(Image.effect_noise((60, 60), 90))
    assert read(whole[: len(whole) // 2 // 4 * 4]) is None


def test_a_small_file_that_unpacks_to_a_huge_picture_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MOST_PIXELS", 99)
    assert read(url(Image.new("L", (10, 10)))) is None
    assert read(url(Image.new("L", (9, 11)))) is not None


def test_no_part_of_a_picture_is_copied() -> None:
    picture = read(url(quarters()))
    assert picture is not None
    rows = picture_rows(picture, 40, unfolded=True, lead=(Piece("  "),))
    assert copied(rows, 0, 0, None) == ""


@pytest.mark.parametrize("no_color", ["", "1"])
def test_without_colours_there_are_no_pictures(monkeypatch: pytest.MonkeyPatch, no_color: str) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    assert pictures.can_show() is not bool(no_color)


# --- in the chat -------------------------------------------------------------------------------------------------

ATTACHED = Entry("user", "What is wrong here?", images=("image 1",), turn=True)
VIEWED = Entry("tool", tool=ToolView("v", "ReadMediaFile", "View", "shot.png", "", "ok", "2×2", images=1))


def answer(command: Command) -> Iterable[ev.Event]:
    if isinstance(command, cmd.LoadImages):
        yield ev.ImagesLoaded(command.index, (url(quarters()),))


async def test_an_attached_image_is_shown_below_its_caption(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    async with stage(opened(), reset((ATTACHED,)), answer=answer) as shown:
        await until(shown.pilot, lambda: "▌ ▀▀" in shown.chat)
        assert shown.agent.looked_at == [cmd.LoadImages(0)]
        assert [row for row in shown.chat if row] == ["▌ What is wrong here?", "▌ [image 1 2×2]", "▌ ▀▀"]


async def test_the_image_of_a_tool_is_read_when_its_card_is_unfolded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    async with stage(opened(), reset((VIEWED,)), answer=answer) as shown:
        assert shown.agent.looked_at == []
        await shown.press("ctrl+o")
        await until(shown.pilot, lambda: "▀▀" in shown.chat)
        assert shown.agent.looked_at == [cmd.LoadImages(0)]
        assert [row for row in shown.chat if row][1:] == ["[image 1 2×2]", "▀▀"]


async def test_what_cannot_be_read_keeps_its_caption(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    broken = ev.ImagesLoaded(0, ("data:image/png;base64,AAAA",))
    async with stage(opened(), reset((ATTACHED,)), answer=lambda _: [broken]) as shown:
        pictures = shown.app.chat.transcript.drawn.pictures
        await until(shown.pilot, lambda: pictures.of(shown.app.chat.conversation.blocks[0]) == (None,))
        assert [row for row in shown.chat if row] == ["▌ What is wrong here?", "▌ [image 1]"]
        assert shown.agent.looked_at == [cmd.LoadImages(0)]


async def test_images_for_a_chat_that_is_gone_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    async with stage(opened(), reset(())) as shown:
        await shown.tell(ev.ImagesLoaded(3, (url(quarters()),)))
        assert [row for row in shown.chat if row] == []

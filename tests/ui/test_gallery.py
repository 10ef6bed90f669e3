"""Pictures that the terminal shows by itself: what is said to it, and what stands in the text."""

from __future__ import annotations

import asyncio
import base64
import re
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from unicodedata import combining

import pytest
from PIL import Image
from rich.cells import cell_len

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.commands import Command
from kimi_tui.protocol.views import Entry
from kimi_tui.ui import kitty
from kimi_tui.ui.gallery import Gallery, fitting
from kimi_tui.ui.pictures import HIGHEST, KEPT, LOW, WIDEST, Pictures, picture_rows, read
from kimi_tui.ui.rows import copied
from kimi_tui.ui.text import clean
from tests.cli.terminal import in_terminal
from tests.ui.session import opened, reset
from tests.ui.test_app import Stage, stage
from tests.ui.test_pictures import url
from tests.ui.waiting import until

SLOPE = Image.linear_gradient("L").resize((900, 700))


@dataclass
class Kitty:
    """A terminal that understands the protocol, as far as it is spoken here."""

    pictures: dict[int, bytes] = field(default_factory=dict)
    placed: dict[int, tuple[int, int]] = field(default_factory=dict)
    _parts: tuple[int, str] | None = None

    def write(self, text: str) -> None:
        for command in re.findall(r"\x1b_G(.*?)\x1b\\", text):
            head, _, content = command.partition(";")
            self._do(dict(pair.split("=") for pair in head.split(",")), content)

    def _do(self, keys: dict[str, str], content: str) -> None:
        if self._parts is not None or keys.get("a") == "t":
            assert len(content) <= 4096
            assert (keys.get("a") == "t") is (self._parts is None), "nothing comes between the parts of a picture"
            number, sofar = self._parts or (int(keys["i"]), "")
            self._parts = (number, sofar + content)
            if keys["m"] == "0":
                self.pictures[number], self._parts = base64.b64decode(self._parts[1]), None
        elif keys["a"] == "p":
            assert keys["U"] == "1" and int(keys["i"]) in self.pictures
            self.placed[int(keys["i"])] = int(keys["c"]), int(keys["r"])
        elif keys["a"] == "d":
            del self.pictures[int(keys["i"])]
            self.placed.pop(int(keys["i"]), None)


def test_a_question_is_answered_well_or_not_at_all() -> None:
    assert kitty.agrees("i=31;OK")
    assert not any(map(kitty.agrees, ("i=31;EINVAL:no", "i=3;OK", "OK", "")))


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "xterm-ghostty"}, True),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "ghostty"}, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, False),
        ({"TERM": "xterm-kitty", "TMUX": "/tmp/x"}, False),
        ({}, False),
    ],
)
def test_the_environment_names_the_terminals_that_have_placeholders(environ: dict[str, str], named: bool) -> None:
    assert kitty.is_named(environ) is named


def test_terminals_are_known_by_their_names() -> None:
    assert all(map(kitty.is_known, ("kitty(0.39.1)", "ghostty 1.1.0", "xterm-kitty")))
    assert not any(map(kitty.is_known, ("WezTerm 2024", "XTerm(390)", "iTerm2 3.5", "kittyish", "tmux 3.4")))


def test_tmux_has_to_let_commands_and_colours_through_to_such_a_terminal() -> None:
    assert kitty.tmux_agrees("1 xterm-kitty 256,RGB,title\n") and kitty.tmux_agrees("all xterm-ghostty RGB")
    refused = ("off xterm-kitty RGB", "0 xterm-kitty RGB", "1 xterm-kitty 256", "1 xterm-256color RGB", "1", "")
    assert not any(map(kitty.tmux_agrees, refused))


def test_what_goes_through_tmux_is_wrapped_with_its_escapes_doubled() -> None:
    assert kitty.through_tmux("\x1b_Gi=1;\x1b\\") == "\x1bPtmux;\x1b\x1b_Gi=1;\x1b\x1b\\\x1b\\"


def test_there_is_a_mark_for_every_row_and_column_and_each_cell_is_one_wide() -> None:
    assert len(set(kitty.MARKS)) == len(kitty.MARKS) >= max(WIDEST, HIGHEST)
    assert {combining(mark) for mark in kitty.MARKS} == {230}
    assert kitty.MARKS[:3] == ("\u0305", "\u030d", "\u030e")
    assert cell_len(kitty.cells(WIDEST, 3)) == WIDEST


def test_a_placeholder_in_foreign_text_shows_no_picture() -> None:
    assert clean(f"a{kitty.cells(1, 0)}b") == "a‹10EEEE›\u0305\u0305b"


@pytest.mark.parametrize(
    ("pixels", "extent"),
    [((100, 100), (10, 5)), ((2_000, 100), (50, 1)), ((100, 2_000), (1, 10)), ((1, 1), (1, 1)), ((10**6, 1), (50, 1))],
)
def test_a_picture_is_as_large_as_it_is_or_as_there_is_room(pixels: tuple[int, int], extent: tuple[int, int]) -> None:
    assert fitting(pixels, (10, 20), (50, 10)) == extent


async def test_what_is_sent_is_the_picture_and_its_placement_follows_its_size() -> None:
    terminal = Kitty()
    gallery = Gallery(terminal.write)
    picture = read(url(SLOPE), sharp=gallery.most)
    assert picture is not None
    hung = await gallery.hang(picture.png)
    assert Image.open(BytesIO(terminal.pictures[hung.number])).size == SLOPE.size
    assert terminal.placed == {}
    rows = hung.rows((900, 700), (40, LOW))
    assert terminal.placed == {hung.number: (26, LOW)} and len(rows) == LOW
    assert {(row.pieces[0].style, row.width) for row in rows} == {(kitty.colour(hung.number), 26)}
    hung.rows((900, 700), (90, HIGHEST))
    assert terminal.placed == {hung.number: (90, 35)}
    gallery.clear()
    assert terminal == Kitty()


async def test_nothing_is_copied_of_a_picture() -> None:
    hung = await Gallery(Kitty().write).hang(b"x")
    assert copied(hung.rows((90, 90), (40, 10)), 0, 0, None) == ""


async def test_large_pictures_wait_for_the_terminal_and_nothing_comes_between_their_parts() -> None:
    terminal, free = Kitty(), True
    gallery = Gallery(terminal.write, lambda: free)
    first = await gallery.hang(b"small")
    free = False
    sending = asyncio.ensure_future(gallery.hang(b"x" * 300_000))
    await asyncio.sleep(0)
    first.rows((90, 90), (40, 10))
    assert first.number not in terminal.placed, "it waits until the other one has been sent"
    assert not sending.done()
    free = True
    second = await sending
    assert terminal.placed == {first.number: (9, 4)}
    assert terminal.pictures[second.number] == b"x" * 300_000


async def test_what_breaks_off_while_it_is_sent_leaves_the_terminal_ready_for_the_next() -> None:
    terminal = Kitty()
    gallery = Gallery(terminal.write)
    sending = asyncio.ensure_future(gallery.hang(b"x" * 300_000))
    while terminal._parts is None:
        await asyncio.sleep(0)
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    gallery.clear()
    assert terminal == Kitty()
    number = (await gallery.hang(b"next")).number
    assert terminal.pictures == {number: b"next"}


async def test_the_terminal_keeps_no_more_than_we_do() -> None:
    terminal = Kitty()
    pictures = Pictures(enabled=True)
    pictures.show_in(Gallery(terminal.write))
    for number in range(KEPT + 3):
        await pictures.take(object(), number, [url(Image.new("RGB", (4, 4)))], (0, 0, 0))
    assert len(terminal.pictures) == KEPT
    pictures.show_in(None)
    assert terminal.pictures == {}


def test_a_picture_that_the_terminal_does_not_show_is_drawn() -> None:
    picture = read(url(SLOPE))
    assert picture is not None and picture.png == b""
    assert picture_rows(picture, 40, unfolded=False)[0].text.startswith("▀")


# --- on the screen -----------------------------------------------------------------------------------------------


def answer(command: Command) -> tuple[ev.Event, ...]:
    if isinstance(command, cmd.Close):
        return (ev.Closed(),)
    return (ev.ImagesLoaded(command.index, (url(SLOPE),)),) if isinstance(command, cmd.LoadImages) else ()


def extents(shown: Stage, terminal: Kitty) -> list[tuple[int, int]]:
    """Columns and rows of the placeholders in the chat, which are those that the terminal was told."""
    rows = [row.text.count(kitty.PLACEHOLDER) for row in shown.app.chat.transcript.rows_of(0)]
    found = [(columns, rows.count(columns)) for columns in dict.fromkeys(rows) if columns]
    assert found == [*terminal.placed.values()]
    return found


async def test_a_picture_in_the_chat_is_shown_by_the_terminal_whatever_happens_to_the_screen() -> None:
    terminal = Kitty()
    entry = Entry("user", "see", turn=True, images=("a.png",))
    async with stage(opened(), reset((entry,)), answer=answer) as shown:
        transcript = shown.app.chat.transcript
        transcript.drawn.pictures.enabled = True
        transcript.show_pictures_in(Gallery(terminal.write))
        await until(shown.pilot, lambda: terminal.placed)
        assert extents(shown, terminal) == [(26, LOW)]
        await shown.press("ctrl+o")
        assert extents(shown, terminal)[0][1] > LOW
        await shown.pilot.resize_terminal(60, 40)
        await shown.settle()
        assert extents(shown, terminal)[0][0] < 60
        number = [*terminal.placed]
        transcript.show_pictures_in(transcript.drawn.pictures.gallery)
        await until(shown.pilot, lambda: terminal.placed and [*terminal.placed] != number)
        assert len(terminal.pictures) == 1
        await shown.tell(reset(()))
        assert terminal == Kitty()


# --- in a terminal -----------------------------------------------------------------------------------------------

PLAY = """
from tests.ui.fakes import ScriptedAgent
from tests.cli.terminal import in_terminal
from tests.ui.session import opened, reset
from tests.ui.test_gallery import answer
from kimi_tui.protocol.views import Entry
from kimi_tui.ui.app import KimiApp
KimiApp(ScriptedAgent((opened(), reset((Entry("user", "see", turn=True, images=("a.png",)),))), answer).connect).run()
"""
SEEN, DRAWN = kitty.PLACEHOLDER.encode(), "▀".encode()


def test_a_terminal_that_says_it_can_is_given_the_pictures(tmp_path: Path) -> None:
    with in_terminal("-c", PLAY, cwd=tmp_path, TERM="xterm-kitty", COLORTERM="") as seen:
        seen.wait_for(kitty.ASK.encode())
        seen.type("typed" + "\x1b_Gi=31;OK\x1b\\" + "!")
        seen.wait_for(SEEN)
        seen.wait_for(b"typed!")
        [number] = set(re.findall(rb"a=p,U=1,i=(\d+)", seen.seen))
        named = int(number).to_bytes(3, "big")
        assert f"\x1b[38;2;{named[0]};{named[1]};{named[2]}".encode() in seen.seen
        seen.type("\x11")
        seen.finish()
        down, left = (seen.seen.rindex(what) for what in (b"a=d,d=I,i=" + number, b"\x1b[?1049l"))
        assert down < left, "the other screen has pictures of its own"


def test_a_terminal_with_another_name_is_asked_for_it_first(tmp_path: Path) -> None:
    with in_terminal("-c", PLAY, cwd=tmp_path, COLORTERM="") as seen:
        seen.wait_for(kitty.ASK_NAME.encode())
        assert kitty.ASK.encode() not in seen.seen
        seen.type("\x1bP>|ghostty 1.2.0\x1b\\")
        seen.wait_for(kitty.ASK.encode())
        seen.type("\x1b_Gi=31;OK\x1b\\")
        seen.wait_for(SEEN)


@pytest.mark.parametrize("says", ["", "\x1bP>|WezTerm 20240203\x1b\\", "\x1b_Gi=31;EINVAL:no\x1b\\"])
def test_where_the_terminal_cannot_pictures_are_drawn_with_half_blocks(tmp_path: Path, says: str) -> None:
    with in_terminal("-c", PLAY, cwd=tmp_path, COLORTERM="truecolor") as seen:
        seen.wait_for(kitty.ASK_NAME.encode())
        seen.type(f"{says}typed")
        seen.wait_for(b"typed")
        seen.wait_for(DRAWN)
        assert SEEN not in seen.seen and b"a=t" not in seen.seen


@pytest.mark.parametrize(("wanted", "shown"), [("kitty", SEEN), ("blocks", DRAWN)])
def test_the_configuration_has_the_last_word(tmp_path: Path, wanted: str, shown: bytes) -> None:
    play = PLAY.replace(".connect)", f".connect, UiOptions(images={wanted!r}))")
    play = "from kimi_tui.options import UiOptions\n" + play
    with in_terminal("-c", play, cwd=tmp_path, TERM="xterm-kitty", COLORTERM="") as seen:
        seen.wait_for(shown)
        assert b"a=q" not in seen.seen

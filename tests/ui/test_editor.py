"""Where the caret may stand: never inside of what a reader takes for one character."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from kimi_tui.ui import clusters
from kimi_tui.ui.widgets.editor import Editor

FAMILY, ACCENT = "👨‍👩‍👧", "e\u0301"


class Box(App[None]):
    """The editor alone, in a window of 20×6."""

    def compose(self) -> ComposeResult:
        yield Editor()


@asynccontextmanager
async def box(text: str) -> AsyncIterator[tuple[Editor, Pilot[None]]]:
    app = Box()
    async with app.run_test(size=(20, 6)) as pilot:
        editor = app.query_one(Editor)
        editor.focus()
        editor.load_text(text)
        await pilot.pause()
        yield editor, pilot


@pytest.mark.parametrize("column", range(13))
@pytest.mark.parametrize("key", ["up", "down"])
async def test_up_and_down_stop_between_clusters(column: int, key: str) -> None:
    plain, odd = "abcdefghijkl", f"a{FAMILY}{ACCENT}你{FAMILY}🇩🇪🇫🇷b"
    async with box(f"{odd}\n{plain}\n{odd}") as (editor, pilot):
        editor.move_cursor((1, column))
        await pilot.press(key)
        row, at = editor.cursor_location
        assert row == (0 if key == "up" else 2)
        assert clusters.around(odd, at) == (at, at)


async def test_up_goes_to_the_cell_above_as_it_is_shown() -> None:
    async with box(f"{FAMILY}{FAMILY}xyz\nabcdefgh") as (editor, pilot):
        editor.move_cursor((1, 5))
        await pilot.press("up")
        assert editor.cursor_location == (0, 2 * len(FAMILY) + 1)


@pytest.mark.parametrize("cell", range(11))
async def test_a_click_stops_between_clusters_where_it_was_made(cell: int) -> None:
    text = f"{FAMILY}{ACCENT}{ACCENT}🇩🇪你x"
    async with box(text) as (editor, pilot):
        await pilot.click(Editor, offset=(cell + editor.gutter.left, 0))
        _, at = editor.cursor_location
        assert at == clusters.at_cell(text, cell)
        assert clusters.around(text, at) == (at, at)


async def test_a_drag_selects_whole_clusters() -> None:
    async with box(f"a{FAMILY}b") as (editor, pilot):
        await pilot.mouse_down(Editor, offset=(editor.gutter.left, 0))
        await pilot.hover(Editor, offset=(editor.gutter.left + 2, 0))
        await pilot.mouse_up(Editor, offset=(editor.gutter.left + 2, 0))
        assert editor.selected_text == "a"


@pytest.mark.parametrize(("key", "end"), [("ctrl+left", 0), ("ctrl+right", 8), ("ctrl+w", 0)])
async def test_word_by_word_no_cluster_is_cut(key: str, end: int) -> None:
    async with box(f"x caf{ACCENT}s") as (editor, pilot):
        editor.move_cursor((0, 0) if end else editor.document.end)
        for _ in range(4):
            await pilot.press(key)
            _, at = editor.cursor_location
            assert clusters.around(editor.text, at) == (at, at)
        assert at == end


async def test_a_mark_that_joins_two_clusters_leaves_the_caret_behind_them() -> None:
    async with box("👨👩") as (editor, pilot):
        editor.move_cursor((0, 1))
        await pilot.press("zero_width_joiner")
        assert (editor.text, editor.cursor_location) == ("👨\u200d👩", (0, 3))

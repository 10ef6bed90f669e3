"""Long chats: what is near is known before one gets there, and the ends are where they should be."""

from __future__ import annotations

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol.views import Entry
from kimi_tui.ui.widgets.fetching import AHEAD
from tests.ui.session import opened, reset
from tests.ui.test_app import stage
from tests.ui.waiting import until

PART = "- one\n- two\n\n```\ncode\n```\n\n"
LONG = tuple(Entry("assistant", f"answer {number}\n\n{PART * (number % 7)}") for number in range(400))
"""Blocks whose heights cannot be guessed."""


async def test_what_is_near_is_measured_before_one_scrolls_there() -> None:
    async with stage(opened(), reset(LONG)) as shown:
        transcript = shown.app.chat.transcript
        before = transcript.content_height
        for _ in range(AHEAD - 1):
            transcript.scroll_relative(y=-transcript.size.height, animate=False)
        assert transcript.content_height == before


async def test_looking_ahead_moves_nothing_that_is_read() -> None:
    async with stage(opened(), reset(LONG)) as shown:
        transcript = shown.app.chat.transcript
        transcript.scroll_to(y=transcript.content_height // 2, animate=False)
        seen = shown.chat
        await shown.settle()
        assert shown.chat == seen
        assert not transcript.measure_ahead(AHEAD)
        assert shown.chat == seen


async def test_the_start_is_the_first_row_whatever_was_guessed() -> None:
    async with stage(opened(), reset(LONG)) as shown:
        await shown.press("ctrl+home")
        assert shown.chat[1] == "answer 0"
        await shown.press("tab", "end", "home")
        assert shown.chat[1] == "answer 0"


async def test_a_screen_that_is_not_loaded_is_asked_for_before_it_comes_into_sight() -> None:
    async with stage(opened(), reset(LONG[-2:], total=100)) as shown:
        await until(shown.pilot, lambda: cmd.LoadEntries(60, 100) in shown.agent.submitted)

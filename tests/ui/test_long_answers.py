"""Long answers: laid out beside the screen, which shows how they begin and end meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from kimi_tui.protocol.views import Entry
from kimi_tui.ui import drawn
from kimi_tui.ui.blocks import LONG, entry_rows, is_long, rough_place
from kimi_tui.ui.drawing import Drawing, literal_rows
from kimi_tui.ui.markdown import markdown_rows
from kimi_tui.ui.rows import Row
from kimi_tui.ui.streaming import laid_out
from tests.ui.session import reset
from tests.ui.test_app import Stage, stage
from tests.ui.waiting import until

ANSWER = "# First\n\n" + "Some **words** of it.\n\n- a\n- list\n\n" * (LONG // 30) + "The *last* line."


class Gate:
    """Holds the drawing up until it is opened."""

    def __init__(self) -> None:
        self.opened, self.drawn = threading.Event(), 0

    def __call__(self, source: str, width: int, indent: int, going: Callable[[], bool]) -> list[Row]:
        self.opened.wait()
        self.drawn += 1
        return laid_out(source, width, indent, going)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    gate = Gate()
    monkeypatch.setattr(drawn, "laid_out", gate)
    yield gate
    gate.opened.set()


async def show(shown: Stage, *entries: Entry) -> None:
    """Without waiting for what is drawn beside the screen."""
    shown.agent.tell(reset(entries))
    while len(shown.app.chat.conversation) != len(entries):
        await shown.pilot.pause(0.01)
    await shown.pilot.pause()


def answers(shown: Stage, text: str) -> list[str]:
    return [row for row in shown.chat if text in row]


def test_a_long_text_is_laid_out_as_a_short_one() -> None:
    assert laid_out(ANSWER, 60, 2) == markdown_rows(ANSWER, 60, 2)
    late = ANSWER + "\n\nsee [it]\n\n[it]: https://example.org\n"
    assert laid_out(late, 60, 2) == markdown_rows(late, 60, 2)


def test_nobody_waits_for_what_is_not_wanted_any_more() -> None:
    assert laid_out(ANSWER * 1_000, 60, 2, lambda: False) == []


async def test_an_answer_is_shown_as_it_was_written_until_it_is_laid_out(gate: Gate) -> None:
    async with stage() as shown:
        await show(shown, Entry("user", "go", turn=True), Entry("assistant", ANSWER))
        assert answers(shown, "The *last* line.")
        await shown.pilot.press("x")
        assert shown.prompt == "x", "nobody waits for it"
        gate.opened.set()
        await until(shown.pilot, lambda: answers(shown, "The last line."))
        await shown.press("ctrl+home")
        assert shown.chat[3] == "First"
        assert gate.drawn == 1


async def test_what_is_read_stays_in_its_place_when_something_above_it_is_laid_out(gate: Gate) -> None:
    async with stage() as shown:
        await show(shown, Entry("assistant", ANSWER), *(Entry("user", f"prompt {n}", turn=True) for n in range(40)))
        for _ in range(2):
            await shown.pilot.press("pageup")
        await shown.pilot.pause()
        before = shown.chat
        assert "The *last* line." in before
        gate.opened.set()
        await until(shown.pilot, lambda: answers(shown, "The last line."))
        after = shown.chat
        assert after.index("The last line.") == before.index("The *last* line.")
        assert after[after.index("The last line.") :][1:] == before[before.index("The *last* line.") :][1:]


async def test_who_jumps_into_a_long_answer_stays_in_it(gate: Gate) -> None:
    async with stage() as shown:
        await show(shown, Entry("assistant", ANSWER), *(Entry("user", f"prompt {n}", turn=True) for n in range(90)))
        transcript = shown.app.chat.transcript
        transcript.scroll_to(y=transcript.virtual_size.height // 2, animate=False)
        await shown.pilot.pause()
        assert not transcript.following
        assert answers(shown, "being laid out")
        gate.opened.set()
        await until(shown.pilot, lambda: answers(shown, "Some words of it."))
        assert not transcript.following and not answers(shown, "prompt") and shown.chat[3] != "First"


@pytest.mark.parametrize(("row", "place"), [(0, 0), (59, 59), (500, 1_000), (950, 1_950), (999, 1_999)])
def test_a_place_in_the_rough_rows_is_found_in_the_rows_themselves(row: int, place: int) -> None:
    assert rough_place(row, 1_000, 2_000) == place


async def test_another_width_draws_it_once_more(gate: Gate) -> None:
    async with stage() as shown:
        await show(shown, Entry("assistant", ANSWER))
        await shown.pilot.resize_terminal(70, 30)
        await shown.pilot.pause()
        gate.opened.set()
        await until(shown.pilot, lambda: answers(shown, "The last line."))
        [block] = shown.app.chat.conversation.blocks
        width = Drawing(shown.app.chat.transcript.drawn.width).column - 2
        assert shown.app.chat.transcript.drawn.rows(block) == markdown_rows(ANSWER, width, 2)


async def test_the_screen_closes_while_something_is_laid_out() -> None:
    async with stage() as shown:
        await show(shown, Entry("assistant", ANSWER * 100))
        shown.app.exit()


def test_few_rows_of_a_huge_text_cost_little_and_never_show_what_is_not_clean() -> None:
    drawing = Drawing(80)
    for text in ("\x1b[31mred\x1b[0m \x07 word\n" * 200_000, "\x1b[31mred\u202e " * 400_000, "e\u0301\u200b" * 900_000):
        rows = literal_rows(text, drawing, (), "", 12)
        assert len(rows) in (12, 13) and "more line" in rows[-1].text
        assert not any(sign in row.text for row in rows for sign in "\x1b\x07\u202e\u200b")
    assert rows[-1].text.endswith("1 more line")
    assert literal_rows("a\n" * 300_000, drawing, (), "", 12)[-1].text.endswith("300k more lines")


def test_only_long_answers_are() -> None:
    assert is_long(Entry("assistant", "x" * (LONG + 1)))
    assert not is_long(Entry("assistant", "x" * LONG)) and not is_long(Entry("user", "x" * (LONG + 1)))
    assert entry_rows(Entry("assistant", "x"), Drawing(80))

"""Approvals and questions: everything is shown, and nothing typed for the prompt is ever an answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest
from textual.pilot import Pilot

from kimi_tui.protocol.commands import AnswerApproval, AnswerQuestion
from kimi_tui.protocol.views import ApprovalView, DiffView, QuestionOption, QuestionView
from tests.ui.play_timeline import Questions
from tests.ui.samples import COMMAND, EDIT, OUTSIDE, QUESTIONS
from tests.ui.waiting import Clock, settled


def stage(approvals: Sequence[ApprovalView] = (EDIT, COMMAND, OUTSIDE)) -> tuple[Questions, Clock]:
    app, clock = Questions(approvals), Clock()
    app.panel.options.clock = app.question.options.clock = clock
    return app, clock


async def press(pilot: Pilot[None], clock: Clock, *keys: str) -> None:
    """Unhurried: the user looks before each key."""
    for key in keys:
        clock.wait()
        await pilot.press(key)
        await settled(pilot)


def text_of(app: Questions) -> str:
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips)


async def test_the_change_is_shown_with_line_numbers_before_anything_is_answered() -> None:
    app, _ = stage()
    async with app.run_test(size=(90, 40)) as pilot:
        await settled(pilot)
        shown = text_of(app)
        assert "Edit parser.py?" in shown
        assert "1 of 3" in shown
        assert "5 -     return data['items']" in shown
        assert "7 +     return data.get('items', [])" in shown
        assert "always for this session   edits inside src/parser" in shown
        assert app.said == []


async def test_digits_answer_when_the_user_came_on_purpose() -> None:
    app, clock = stage()
    async with app.run_test(size=(90, 40)) as pilot:
        await press(pilot, clock, "tab", "1", "2", "2")
        assert app.said == [
            AnswerApproval("a1", "once"),
            AnswerApproval("a2", "session"),
            AnswerApproval("a3", "reject"),
        ]
        assert app.prompt.has_focus


async def test_typing_into_the_prompt_answers_nothing() -> None:
    app, clock = stage()
    async with app.run_test(size=(90, 40)) as pilot:
        await press(pilot, clock, "1", "y", "enter", "2", "enter")
        assert app.said == []
        assert app.prompt.value == "1y2"


async def test_keys_that_were_on_their_way_count_for_the_prompt() -> None:
    app, _ = stage()
    async with app.run_test(size=(90, 40)) as pilot:
        await settled(pilot)
        app.panel.offer()
        await settled(pilot)
        await pilot.press("1", "enter", "2", "enter")
        await settled(pilot)
        assert app.said == []
        assert app.prompt.value == "12"


async def test_an_offered_panel_takes_a_digit_as_a_move_and_letters_as_text() -> None:
    app, clock = stage()
    async with app.run_test(size=(90, 40)) as pilot:
        await settled(pilot)
        app.panel.offer()
        await press(pilot, clock, "3")
        assert app.said == []
        assert app.panel.options.cursor == 2
        await press(pilot, clock, "n", "o", "enter")
        assert app.said == []
        assert app.prompt.value == "no"


async def test_the_next_one_starts_guarded_again() -> None:
    app, clock = stage()
    async with app.run_test(size=(90, 40)) as pilot:
        await press(pilot, clock, "tab", "1")
        await pilot.press("1", "1")
        await settled(pilot)
        assert app.said == [AnswerApproval("a1", "once")]


async def test_a_rejection_can_say_why() -> None:
    app, clock = stage([COMMAND])
    async with app.run_test(size=(90, 40)) as pilot:
        await press(pilot, clock, "tab", "4", *"why", "enter")
        assert app.said == [AnswerApproval("a2", "reject", "why")]


async def test_escape_in_the_reason_goes_back_to_the_answers() -> None:
    app, clock = stage([COMMAND])
    async with app.run_test(size=(90, 40)) as pilot:
        await press(pilot, clock, "tab", "4", "x", "escape", "1")
        assert app.said == [AnswerApproval("a2", "once")]


async def test_a_withdrawn_one_makes_room_for_the_next() -> None:
    app, _ = stage()
    async with app.run_test(size=(90, 40)) as pilot:
        await settled(pilot)
        app.panel.withdraw("a1")
        await settled(pilot)
        assert "rm -rf build/ && make all" in text_of(app)
        app.panel.withdraw("unknown")
        app.panel.withdraw_all()
        await settled(pilot)
        assert not app.panel.display or "-asking" not in app.panel.classes


async def test_a_target_outside_is_named_with_its_real_path() -> None:
    app, _ = stage([OUTSIDE])
    async with app.run_test(size=(90, 40)) as pilot:
        await settled(pilot)
        assert "outside the allowed folders" in text_of(app)
        assert "/etc/hosts" in text_of(app)
        assert "always for this session" not in text_of(app)


async def test_a_pending_approval_survives_a_resize() -> None:
    app, clock = stage()
    async with app.run_test(size=(120, 40)) as pilot:
        for size in ((60, 16), (12, 4), (1, 1), (200, 60)):
            await pilot.resize_terminal(*size)
            await settled(pilot)
        await press(pilot, clock, "tab", "1")
        assert app.said == [AnswerApproval("a1", "once")]


async def test_at_sixty_by_sixteen_the_command_and_all_answers_are_in_sight() -> None:
    app, _ = stage([COMMAND])
    async with app.run_test(size=(60, 16)) as pilot:
        await settled(pilot)
        shown = text_of(app)
        for words in ("rm -rf build/", "allow once", "reject and say why", "tab: answer"):
            assert words in shown


async def test_a_command_is_shown_as_what_it_is() -> None:
    sly = dataclasses.replace(
        COMMAND, action="[bold]run[/]", detail="ls\x1b[2K\rrm -rf ~ \u202e[/][@click=app.quit]x[/]"
    )
    app, _ = stage([sly])
    async with app.run_test(size=(90, 30)) as pilot:
        await settled(pilot)
        shown = text_of(app)
        assert "ls␛[2K␍rm -rf ~ ‹202E›[/][@click=app.quit]x[/]" in shown
        assert "[bold]run[/]?" in shown


async def test_a_long_command_can_be_scrolled_to_its_end() -> None:
    long = dataclasses.replace(COMMAND, detail="\n".join(f"echo {n}" for n in range(30)))
    app, clock = stage([long])
    async with app.run_test(size=(90, 30)) as pilot:
        await press(pilot, clock, "tab", *["pagedown"] * 7)
        assert "echo 29" in text_of(app)


async def test_a_huge_change_does_not_hold_up_the_screen() -> None:
    before = "".join(f"line {n}\n" for n in range(20_000))
    huge = dataclasses.replace(EDIT, diffs=(DiffView("big.txt", before, before.replace("line 9999\n", "changed\n")),))
    app, _ = stage([huge])
    async with app.run_test(size=(90, 30)) as pilot:
        await app.workers.wait_for_complete()
        await settled(pilot)
        assert "10000 + changed" in text_of(app)


async def test_questions_are_answered_one_after_the_other() -> None:
    app, clock = stage([])
    async with app.run_test(size=(90, 30)) as pilot:
        await press(pilot, clock, "tab", "2")
        assert "2 of 2" in text_of(app)
        await press(pilot, clock, "space", "down", "down", "space", "enter")
        assert app.said == [AnswerQuestion("q1", (("SQLite",), ("lint", "tests")))]


async def test_a_digit_does_not_finish_a_choice_of_several() -> None:
    app, clock = stage([])
    async with app.run_test(size=(90, 30)) as pilot:
        await press(pilot, clock, "tab", "2", "3")
        assert app.said == []
        await press(pilot, clock, "left", "1", "2", "enter")
        assert app.said == [AnswerQuestion("q1", (("PostgreSQL",), ("types",)))]


async def test_an_own_answer_and_none_are_answers_too() -> None:
    app, clock = stage([])
    async with app.run_test(size=(90, 30)) as pilot:
        await press(pilot, clock, "tab", "4", *"Duck", "enter", "space", "end", "up", "enter", *"spell", "enter")
        assert app.said == [AnswerQuestion("q1", (("Duck",), ("lint", "spell")))]
        app.question.ask("q2", QUESTIONS)
        await press(pilot, clock, "tab", "5")
        assert app.said[-1] == AnswerQuestion("q2", ())


@pytest.mark.parametrize("label", ["[/]", "[bold]x[/bold]", "a\nb", "\x1b[31m"])
async def test_labels_are_literal_and_come_back_unchanged(label: str) -> None:
    app, clock = stage([])
    async with app.run_test(size=(90, 30)) as pilot:
        await settled(pilot)
        app.question.withdraw_all()
        app.question.ask("q3", (QuestionView(label, label, (QuestionOption(label, label),)),))
        await press(pilot, clock, "tab", "1")
        assert app.said[-1] == AnswerQuestion("q3", ((label,),))

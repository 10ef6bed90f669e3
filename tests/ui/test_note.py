"""The note for the earlier point in the question how to go back: typed, or drafted and then made one's own."""

from __future__ import annotations

from textual.pilot import Pilot

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.ui.screens.revert_choice import RevertChoice
from tests.ui.samples import PREVIEW, point
from tests.ui.stage import Stage
from tests.ui.test_timeline_pages import text_of
from tests.ui.waiting import settled

ROW = point(4, "read the mail", 200)


def stage() -> Stage:
    return Stage(lambda: RevertChoice(ROW, PREVIEW))


def choice(app: Stage) -> RevertChoice:
    assert isinstance(app.screen, RevertChoice)
    return app.screen


async def told(pilot: Pilot[None], *events: ev.NoteDrafted) -> None:
    assert isinstance(pilot.app, Stage)
    for event in events:
        pilot.app.tell(event)
    await settled(pilot)


async def test_a_note_is_typed_in_several_lines_and_enter_goes_back_to_the_choice() -> None:
    app = stage()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("tab", *"one", "shift+enter", *"two", "enter", "enter")
        await settled(pilot)
        assert app.commands == [cmd.RevertTo(4, offset=3000, note="one\ntwo")]


async def test_d_has_the_note_drafted_and_the_draft_can_be_edited_before_it_goes() -> None:
    app = stage()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("tab", *"mind", "enter", "d")
        await settled(pilot)
        assert app.commands == [cmd.DraftNote(4, None, 3000, "mind", 1)]
        await told(
            pilot, ev.NoteDrafted(1, "writing", "The po"), ev.NoteDrafted(1, "writing", "The port is\x1b[2J taken")
        )
        assert "The port is taken" in text_of(app) and "esc stops it" in text_of(app)
        await pilot.press("x", "enter")
        await settled(pilot)
        assert choice(app).note.text == "The port is taken", "nobody can write into a draft that grows"
        await told(pilot, ev.NoteDrafted(1, "done", "The port is taken."))
        await pilot.press(*" Use 81.", "enter", "enter")
        await settled(pilot)
        assert app.commands[-1] == cmd.RevertTo(4, offset=3000, note="The port is taken. Use 81.")


async def test_esc_stops_a_draft_and_what_was_typed_stands_there_again() -> None:
    app = stage()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("tab", *"mind", "enter", "d")
        await told(pilot, ev.NoteDrafted(1, "writing", "The port"))
        await pilot.press("escape")
        await settled(pilot)
        assert app.commands[-1] == cmd.StopDraft()
        await told(pilot, ev.NoteDrafted(1, "writing", "The port is"), ev.NoteDrafted(1, "stopped"))
        assert choice(app).note.text == "mind"
        await pilot.press("d")
        await told(pilot, ev.NoteDrafted(1, "done", "late"), ev.NoteDrafted(2, "writing", "new"))
        assert choice(app).note.text == "new", "an answer for the draft before is dropped"
        await pilot.press("escape", "escape")
        await settled(pilot)
        assert len(app.screen_stack) == 1
        assert not any(isinstance(command, cmd.RevertTo) for command in app.commands)


async def test_a_draft_that_fails_says_why_and_leaves_what_was_typed() -> None:
    app = stage()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("tab", *"mind", "ctrl+r")
        await told(pilot, ev.NoteDrafted(1, "writing", message="busy: try 2 of 3 in 4 s"))
        assert "busy: try 2 of 3 in 4 s" in text_of(app)
        await told(pilot, ev.NoteDrafted(1, "failed", message="[b]no key"))
        assert "not drafted: [b]no key" in text_of(app)
        await pilot.press("!")
        await settled(pilot)
        assert choice(app).note.text == "mind!"


async def test_ctrl_z_has_the_own_words_again() -> None:
    app = stage()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("tab", *"mind", "ctrl+r")
        await told(pilot, ev.NoteDrafted(1, "writing", "The"), ev.NoteDrafted(1, "done", "The port."))
        await pilot.press("ctrl+z")
        await settled(pilot)
        assert choice(app).note.text == "mind"


async def test_nobody_goes_back_with_half_a_note_and_leaving_ends_the_draft() -> None:
    app = stage()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("d", "enter")
        await settled(pilot)
        assert "esc stops that" in text_of(app)
        await pilot.press("end", "enter")
        await settled(pilot)
        assert len(app.screen_stack) == 1 and app.commands[-1] == cmd.StopDraft()


async def test_a_click_under_the_note_drafts_it() -> None:
    app = stage()
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.click(choice(app).note.line)
        await settled(pilot)
        assert isinstance(app.commands[-1], cmd.DraftNote)
        await pilot.click(choice(app).note.line)
        await settled(pilot)
        assert app.commands[-1] == cmd.StopDraft()


async def test_a_long_draft_scrolls_and_the_choices_stay_in_sight() -> None:
    app = stage()
    async with app.run_test(size=(60, 24)) as pilot:
        await pilot.press("d")
        await told(pilot, ev.NoteDrafted(1, "done", "\n".join(f"line {n}" for n in range(40))))
        assert "conversation" in text_of(app) and "line 39" in text_of(app)

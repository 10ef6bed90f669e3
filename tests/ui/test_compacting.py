"""Compactions on the screen: the warning, the summary in its editor, pins, results that are dropped."""

from __future__ import annotations

from dataclasses import replace

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import Entry, SwitchView
from kimi_tui.ui.screens.context_view import ContextView
from kimi_tui.ui.screens.rotations import Rotations
from kimi_tui.ui.screens.summary_editor import SummaryEditor
from tests.ui.samples import GAUGE, SHARES
from tests.ui.session import ENTRIES, opened, reset
from tests.ui.stage import Stage as Ground
from tests.ui.test_app import Stage, stage
from tests.ui.test_timeline_pages import text_of

NEAR = ev.CompactionNear(65_300, 108_800)
PROPOSAL = ev.CompactionProposed(
    "Fix [the] parser.", ENTRIES[:4], ENTRIES[7:9], tokens_before=100_000, tokens_after=9_000, focus="the errors"
)


def asked(shown: Stage) -> list[cmd.Command]:
    kinds = (cmd.Compact, cmd.SnoozeCompaction, cmd.AnswerCompaction, cmd.PinEntry, cmd.Interrupt)
    return [command for command in shown.agent.submitted if isinstance(command, kinds)]


async def propose(shown: Stage, reason: str = "manual") -> None:
    started = ev.CompactionStarted("manual" if reason == "manual" else "auto", 100_000)
    await shown.tell(started, ev.CompactionProgressed("reviewing", 180), PROPOSAL)


# --- the warning ---


async def test_a_warning_is_one_row_that_comes_and_goes() -> None:
    async with stage() as shown:
        assert not shown.app.chat.soft_warning.display
        await shown.tell(NEAR)
        assert shown.line("SoftWarning") == "◆ compacts in 43.5k  alt+c now  alt+k focus…  alt+p pin  alt+z snooze"
        await shown.tell(ev.CompactionNear(10, 0))
        assert not shown.app.chat.soft_warning.display


async def test_its_keys_work_while_something_is_typed_and_take_no_letter() -> None:
    async with stage(opened(), reset(), NEAR) as shown:
        shown.write("half a tho")
        await shown.press("alt+c", "alt+z", "u", "g", "h", "t")
        assert shown.prompt == "half a thought"
        assert asked(shown) == [cmd.Compact(), cmd.SnoozeCompaction()]
        await shown.press("alt+k", *"SQL", "enter")
        assert asked(shown)[-1] == cmd.Compact("SQL") and shown.prompt == "half a thought"


async def test_its_keys_mean_nothing_while_no_compaction_is_near() -> None:
    async with stage() as shown:
        await shown.press("alt+c", "alt+z", "alt+k")
        assert not asked(shown) and len(shown.app.screen_stack) == 1


async def test_its_words_can_be_clicked() -> None:
    async with stage(opened(), reset(), NEAR) as shown:
        row = shown.app.chat.soft_warning.render_line(0).text
        await shown.pilot.click("SoftWarning", offset=(row.index("snooze"), 0))
        await shown.settle()
        assert asked(shown) == [cmd.SnoozeCompaction()]


async def test_on_a_narrow_screen_the_keys_stay() -> None:
    async with stage(opened(), reset(), NEAR, size=(60, 16)) as shown:
        assert shown.line("SoftWarning") == "◆ alt+c now  alt+k focus…  alt+p pin  alt+z snooze"


# --- pins ---


async def test_a_block_is_pinned_from_the_keyboard_and_marked() -> None:
    async with stage(opened(), reset(ENTRIES[:2]), NEAR) as shown:
        await shown.press("alt+p", "up", "p")
        assert asked(shown) == [cmd.PinEntry(0, on=True)]
        await shown.tell(ev.EntriesChanged(0, (replace(ENTRIES[0], pinned=True),)))
        await shown.press("p", "escape")
        assert asked(shown)[-1] == cmd.PinEntry(0, on=False)
        assert any(row.startswith("◈▌ Fix") for row in shown.chat)


# --- the summary ---


async def test_a_summary_that_was_asked_for_opens_and_goes_in_as_edited() -> None:
    async with stage() as shown:
        await propose(shown)
        screen = shown.app.screen
        assert isinstance(screen, SummaryEditor)
        screen.text.insert("Do not forget: ", (0, 0))
        await shown.press("ctrl+s")
        assert asked(shown) == [cmd.AnswerCompaction("accept", "Do not forget: Fix [the] parser.")]
        assert shown.app.screen is shown.app.chat


async def test_a_summary_never_opens_over_what_is_being_typed() -> None:
    async with stage() as shown:
        shown.write("typing")
        await propose(shown)
        assert shown.app.screen is shown.app.chat
        assert "the summary waits for your word" in shown.line("SoftWarning")
        await shown.press("alt+c")
        assert isinstance(shown.app.screen, SummaryEditor) and shown.prompt == "typing"


async def test_a_summary_of_an_automatic_compaction_waits_to_be_opened() -> None:
    async with stage() as shown:
        await propose(shown, "auto")
        assert shown.app.screen is shown.app.chat and shown.app.chat.soft_warning.display


async def test_what_was_typed_when_it_opened_is_not_written_into_the_summary() -> None:
    async with stage() as shown:
        await propose(shown)
        screen = shown.app.screen
        assert isinstance(screen, SummaryEditor)
        now = [0.0]
        screen.text.clock = lambda: now[0]
        screen.text.opened()
        await shown.press("x", "y")
        assert screen.text.text == "Fix [the] parser."
        now[0] += 1
        await shown.press("z")
        assert "z" in screen.text.text


async def test_esc_cancels_but_edits_are_not_thrown_away_by_one_key() -> None:
    async with stage() as shown:
        await propose(shown)
        screen = shown.app.screen
        assert isinstance(screen, SummaryEditor)
        screen.text.insert("more")
        await shown.settle()
        await shown.press("escape")
        assert shown.app.screen is screen and not asked(shown)
        await shown.press("escape")
        assert asked(shown) == [cmd.AnswerCompaction("cancel")]


async def test_it_is_asked_again_with_a_focus() -> None:
    async with stage() as shown:
        await propose(shown)
        await shown.press("ctrl+r", "end", *" and dates", "enter")
        assert asked(shown) == [cmd.AnswerCompaction("redo", focus="the errors and dates")]


async def test_it_closes_when_the_proposal_is_withdrawn() -> None:
    async with stage() as shown:
        await propose(shown)
        await shown.tell(ev.CompactionEnded("cancelled", 100_000, 100_000))
        assert shown.app.screen is shown.app.chat and not shown.app.chat.soft_warning.display


async def test_the_conversation_stands_beside_the_summary() -> None:
    async with stage(size=(130, 40)) as shown:
        await propose(shown)
        rows = [strip.text for strip in shown.app.screen._compositor.render_strips()]
        assert any("Fix [the] parser." in row for row in rows)
        assert any("stays word for word" in row for row in rows)
        assert "100k → ~9k tokens" in rows[0]


# --- afterwards ---


async def test_enter_on_a_summary_unfolds_it_and_then_opens_what_it_replaced() -> None:
    switch = SwitchView("compact", "context_2.jsonl", tokens_before=100_000, tokens_after=9_000, note="Fix it.")
    entries = (Entry("summary", "Fix it.\n\nAll of it.", switch=switch),)
    async with stage(opened(), reset(entries)) as shown:
        await shown.press("tab", "enter")
        assert any("All of it." in row for row in shown.chat)
        await shown.press("enter")
        assert isinstance(shown.app.screen, Rotations)


async def test_a_compaction_that_saves_nothing_says_so() -> None:
    async with stage() as shown:
        for after in (9, 205):
            switch = SwitchView("compact", "context_2.jsonl", tokens_before=190, tokens_after=after)
            await shown.tell(replace(reset(), switch=switch, undo="the compaction"))
        saved, wasted = shown.toasts
        assert "nothing was gained" not in saved
        assert wasted.splitlines()[0].endswith("190 → 205 tokens") and "nothing was gained" in wasted.splitlines()[1]


async def test_a_session_that_is_open_elsewhere_says_so_in_the_chat_for_good() -> None:
    why = "process 12 has this session open: it can be read here, not continued."
    async with stage(opened(read_only=why), reset(ENTRIES[:2])) as shown:
        assert any(why in row for row in shown.chat)
        await shown.tell(reset(ENTRIES[:1]))
        assert any(why in row for row in shown.chat)


async def test_an_untouched_prompt_leaves_when_the_jump_that_brought_it_is_undone() -> None:
    back = SwitchView("revert", "context_1.jsonl")
    async with stage() as shown:
        await shown.tell(replace(reset(ENTRIES[:2]), switch=back, prompt="say it again"))
        assert shown.prompt == "say it again"
        await shown.tell(replace(reset(), switch=SwitchView("undo", "context_2.jsonl")))
        assert shown.prompt == ""
        await shown.tell(replace(reset(ENTRIES[:2]), switch=back, prompt="say it again"))
        shown.write(", please")
        await shown.tell(replace(reset(), switch=SwitchView("undo", "context_2.jsonl")))
        assert "please" in shown.prompt


# --- dropping a result ---


async def test_a_result_is_dropped_from_the_context_view_after_a_question() -> None:
    shares = [replace(share, entries=(5, None, 9)) if share.category == "tool results" else share for share in SHARES]
    app = Ground(ContextView)
    async with app.run_test(size=(110, 30)) as pilot:
        await pilot.pause()
        app.tell(ev.ContextMeasured(tuple(shares), GAUGE))
        await pilot.press("down")
        await pilot.pause()
        assert "x drop this result" in text_of(app)
        await pilot.press("x")
        await pilot.pause()
        assert "Drop Read tests/test_everything.py?" in text_of(app)
        await pilot.press("enter")
        await pilot.pause()
        assert app.commands[-1] == cmd.DropResult(5)
        app.tell(ev.ContextSwitched(SwitchView("prune", "context_1.jsonl")))
        await pilot.pause()
        assert app.commands[-1] == cmd.MeasureContext()

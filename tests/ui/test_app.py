from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input, Static

from kimi_tui.options import UiOptions
from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.ports import AgentPort
from kimi_tui.protocol.views import (
    ApprovalView,
    Draft,
    Entry,
    Modes,
    QuestionOption,
    QuestionView,
    SlashCommand,
    SwitchView,
    TimelineRow,
    Tokens,
    ToolView,
)
from kimi_tui.ui.app import KimiApp
from kimi_tui.ui.screens.help import Help
from kimi_tui.ui.screens.help import Sheet as HelpSheet
from kimi_tui.ui.screens.palette import OfferList
from kimi_tui.ui.screens.revert_choice import RevertChoice
from kimi_tui.ui.screens.rotations import Rotations
from kimi_tui.ui.theme import resolve
from tests.ui.fakes import Answer, ScriptedAgent
from tests.ui.samples import PREVIEW
from tests.ui.session import ENTRIES, opened, reset
from tests.ui.waiting import Clock, all_shown, heard, until

WIDE = (120, 36)


class Stage:
    """An app on a scripted agent, and ways to look at it."""

    def __init__(self, app: KimiApp, agent: ScriptedAgent, pilot: Pilot[None]) -> None:
        self.app, self.agent, self.pilot = app, agent, pilot
        self.clock = Clock()
        for panel in (app.chat.asking.approval, app.chat.asking.question):
            panel.options.clock = self.clock

    async def tell(self, *events: ev.Event) -> None:
        self.agent.tell(*events)
        await self.settle()

    async def settle(self) -> None:
        await all_shown(self.app, self.agent, self.pilot)

    def write(self, text: str) -> None:
        self.app.chat.editor.insert(text)

    async def press(self, *keys: str) -> None:
        """As somebody who looks before each key."""
        for key in keys:
            self.clock.wait()
            await self.pilot.press(key)
        await self.settle()

    @property
    def chat(self) -> list[str]:
        transcript = self.app.chat.transcript
        return [transcript.render_line(y).text.strip() for y in range(transcript.size.height)]

    @property
    def prompt(self) -> str:
        return self.app.chat.editor.text

    def line(self, widget: str) -> str:
        return self.app.chat.query_one(widget).render_line(0).text.strip()

    @property
    def toasts(self) -> list[str]:
        return [note.message for note in self.app._notifications]


@asynccontextmanager
async def stage(
    *events: ev.Event,
    size: tuple[int, int] = WIDE,
    answer: Answer | None = None,
    options: UiOptions | None = None,
    prompt: str = "",
) -> AsyncIterator[Stage]:
    agent = ScriptedAgent(events or (opened(), reset()), answer)
    app = heard(KimiApp(agent.connect, options, prompt=prompt), agent)
    async with app.run_test(size=size) as pilot:
        shown = Stage(app, agent, pilot)
        await shown.settle()
        yield shown


# --- opening -----------------------------------------------------------------------------------------------------


async def test_a_session_that_takes_long_to_open_says_so_until_it_is_there() -> None:
    async with stage(ev.Noticed("a big one")) as shown:
        await until(shown.pilot, lambda: shown.line("Activity") == "opening the session")
        await shown.tell(opened(), reset())
        assert shown.line("Activity") == ""


def test_the_first_frame_needs_no_heavy_library() -> None:
    heavy = {"litellm", "openai", "pydantic", "httpx", "pygments", "markdown_it"}
    code = (
        "import asyncio, sys\n"
        "from kimi_tui.ui.app import KimiApp\n"
        "async def connect():\n"
        f"    print(*({heavy!r} & set(sys.modules)))\n"
        "    raise OSError('enough')\n"
        "async def main():\n"
        "    app = KimiApp(connect)\n"
        "    async with app.run_test():\n"
        "        while app.is_running:\n"
        "            await asyncio.sleep(0.01)\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


async def test_a_session_is_shown_with_its_end_in_sight() -> None:
    async with stage() as shown:
        assert any("Nothing else calls it" in row for row in shown.chat)
        assert shown.line("Status").startswith(
            "kimi-tui   /home/me/src/parser main* · moonshot/kimi-k2 · Fix the parser  "
        )
        assert shown.line("Status").endswith("  ask")
        assert shown.line("Gauge").endswith("61.2k + ~4.1k of 128k · 51% · $0.42")


async def test_a_fault_while_connecting_ends_the_app_with_one_line() -> None:
    async def connect() -> AgentPort:
        raise ValueError("The session is held by process 12.")

    app = KimiApp(connect)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.farewell)
    assert (app.return_code, app.farewell) == (1, "The session is held by process 12.")


async def test_what_is_typed_and_sent_before_the_agent_is_there_is_not_lost() -> None:
    agent = ScriptedAgent((opened(), reset()))
    ready = asyncio.Event()

    async def connect() -> AgentPort:
        await ready.wait()
        return agent

    app = KimiApp(connect, prompt="first")
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press(*"second", "enter", *"draft")
        ready.set()
        await until(pilot, lambda: len(agent.submitted) > 1)
        assert agent.submitted[:2] == [cmd.SendPrompt("first"), cmd.SendPrompt("second")]
        assert app.chat.editor.text == "draft"


async def test_a_broken_agent_leaves_the_screen_and_says_so() -> None:
    class Broken(ScriptedAgent):
        async def run(self) -> None:
            raise RuntimeError("the log is gone")

    agent = Broken((opened(), reset()))
    app = KimiApp(agent.connect)
    async with app.run_test(size=WIDE) as pilot:
        said = app.chat.conversation
        await until(pilot, lambda: any("the log is gone" in block.entry.text for block in said.blocks if block.entry))
        assert app.is_running


async def test_leaving_tells_how_to_come_back() -> None:
    async with stage() as shown:
        shown.write("half a thought")
        await shown.press("ctrl+q")
        assert shown.agent.submitted == [cmd.KeepDraft(Draft("half a thought")), cmd.Close()]
    assert (shown.app.farewell, shown.app.return_code) == ("kimi-tui -r 0123", 0)


# --- the prompt --------------------------------------------------------------------------------------------------


async def test_enter_sends_and_a_running_turn_is_steered() -> None:
    async with stage() as shown:
        shown.write("hi")
        await shown.press("enter")
        await shown.tell(ev.TurnStarted(Entry("user", "hi", turn=True), len(ENTRIES)))
        shown.write("more")
        await shown.press("enter")
        shown.write("later")
        await shown.press("alt+enter")
        assert shown.agent.submitted == [cmd.SendPrompt("hi"), cmd.Steer("more"), cmd.SendPrompt("later")]
        assert shown.prompt == ""


async def test_a_new_line_can_be_typed_in_three_ways() -> None:
    async with stage() as shown:
        await shown.press("a", "shift+enter", "b", "ctrl+j", "c", "\\", "enter", "d")
        assert shown.prompt == "a\nb\nc\nd"
        assert shown.app.chat.editor.size.height == 4


async def test_the_prompt_grows_to_a_third_of_the_screen() -> None:
    async with stage() as shown:
        shown.app.chat.editor.insert("line\n" * 40)
        await shown.settle()
        assert shown.app.chat.editor.size.height == 12


async def test_earlier_prompts_come_back_with_up() -> None:
    async with stage() as shown:
        await shown.press("x", "up")
        assert shown.prompt == "the prompt before"
        await shown.press("up", "up", "down", "down")
        assert shown.prompt == "x"


async def test_a_big_paste_is_folded_and_sent_whole() -> None:
    async with stage() as shown:
        text = "row\n" * 3_000
        shown.app.chat.editor.post_message(events.Paste(text))
        await shown.settle()
        assert shown.prompt == "[pasted #1: 3001 lines]"
        await shown.press("enter")
        assert shown.agent.submitted == [cmd.SendPrompt(text)]


async def test_a_dropped_image_is_attached_and_sent_with_the_prompt(tmp_path: Path) -> None:
    picture = tmp_path / "shot.png"
    picture.write_bytes(b"\x89PNG")
    async with stage() as shown:
        shown.app.chat.editor.post_message(events.Paste(str(picture)))
        await shown.settle()
        assert shown.prompt == "[image #1: shot.png] "
        await shown.press("enter")
        assert shown.agent.submitted == [cmd.SendPrompt("[image #1: shot.png] ", ("data:image/png;base64,iVBORw==",))]


async def test_a_wrong_command_stays_in_the_prompt() -> None:
    async with stage() as shown:
        shown.write("/nonsense")
        await shown.press("enter")
        assert (shown.prompt, shown.agent.submitted) == ("/nonsense", [])
        assert shown.toasts[0].startswith("There is no command /nonsense.")


async def test_a_shell_command_is_run_by_the_user() -> None:
    async with stage() as shown:
        shown.write("!ls -la")
        await shown.press("enter")
        assert shown.agent.submitted == [cmd.RunShell("ls -la")]


async def test_a_command_is_completed_and_sent_when_it_needs_no_more() -> None:
    async with stage() as shown:
        await shown.press("/", "c", "o", "m", "p")
        assert shown.app.chat.prompt.popup.display
        await shown.press("enter")
        assert (shown.agent.submitted, shown.prompt) == ([cmd.Compact()], "")


async def test_enter_right_behind_fast_typing_sends_what_was_typed_and_nothing_of_an_older_list() -> None:
    async with stage() as shown:
        await shown.press("/", "c")
        prompt = shown.app.chat.prompt
        assert prompt.popup.display
        prompt.editor.insert("ompact the schema")  # the list has not heard of it yet
        prompt.editor.post_message(events.Key("enter", None))
        await until(shown.pilot, lambda: bool(shown.agent.submitted))
        assert (shown.agent.submitted, shown.prompt) == ([cmd.Compact("the schema")], "")


async def test_a_list_that_is_behind_offers_only_what_still_matches(tmp_path: Path) -> None:
    for name in ("alpha.py", "almost.py"):
        (tmp_path / name).touch()
    async with stage(opened(work_dir=str(tmp_path)), reset()) as shown:
        shown.write("@al")
        prompt = shown.app.chat.prompt
        await until(shown.pilot, lambda: len(prompt.popup.suggestions) == 2)
        prompt.editor.insert("p")
        prompt.editor.post_message(events.Key("tab", None))
        await until(shown.pilot, lambda: shown.prompt == "@alpha.py ")


async def test_the_list_of_commands_asks_what_has_come_meanwhile_and_shows_it() -> None:
    async with stage() as shown:
        await shown.press("/")
        assert cmd.ListCommands() in shown.agent.looked_at
        await shown.press("b")
        await shown.tell(ev.CommandsChanged((SlashCommand("skill:brand-new", "[request]", "x", turns=True),)))
        assert "/skill:brand-new [request]" in [one.label for one in shown.app.chat.prompt.popup.suggestions]


async def test_a_skill_that_the_screen_has_not_heard_of_is_for_the_agent_to_find() -> None:
    async with stage() as shown:
        shown.write("/skill:brand-new do it")
        await shown.press("enter")
        assert shown.agent.submitted == [cmd.RunSlash("skill:brand-new", "do it")]


async def test_a_command_that_needs_an_argument_waits_for_it() -> None:
    async with stage() as shown:
        await shown.press("/", "t", "i", "t", "enter")
        assert (shown.agent.submitted, shown.prompt) == ([], "/title ")


async def test_files_are_offered_after_an_at_sign(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    for name in ("src/parser.py", "src/[odd] name.py", "readme.md", "ignored.log"):
        (tmp_path / name).write_text("x")
    (tmp_path / ".gitignore").write_text("*.log")
    async with stage(opened(work_dir=str(tmp_path)), reset()) as shown:
        shown.write("see @odd")
        await until(shown.pilot, lambda: shown.app.chat.prompt.popup.display)
        await shown.press("tab")
        assert shown.prompt == 'see @"src/[odd] name.py" '


async def test_earlier_prompts_are_searched_and_escape_brings_the_draft_back() -> None:
    async with stage() as shown:
        await shown.press("ctrl+r")
        shown.write("before")
        await shown.press("enter")
        assert shown.prompt == "the prompt before"
        await shown.press("ctrl+r", "x", "escape")
        assert shown.prompt == "the prompt before"


# --- stopping and leaving ----------------------------------------------------------------------------------------


async def test_escape_stops_a_turn_and_alt_keys_do_not() -> None:
    async with stage() as shown:
        await shown.tell(ev.TurnStarted(Entry("user", "hi", turn=True), len(ENTRIES)))
        await shown.press("alt+x")
        assert shown.agent.submitted == []
        await shown.press("escape")
        assert shown.agent.submitted == [cmd.Interrupt()]


async def test_escape_twice_clears_the_prompt_into_the_history() -> None:
    async with stage() as shown:
        shown.write("text")
        await shown.press("escape")
        assert "esc again clears the prompt" in shown.line("Activity")
        await shown.press("escape")
        assert shown.prompt == ""
        await shown.press("up")
        assert shown.prompt == "text"


async def test_two_keys_that_have_nothing_to_do_with_each_other_are_no_second_time() -> None:
    async with stage() as shown:
        shown.write("text")
        await shown.press("escape")
        shown.app.chat._disarm()  # what the timer does after a moment
        await shown.press("escape")
        assert shown.prompt == "text" and "esc again clears the prompt" in shown.line("Activity")


async def test_escape_twice_on_an_empty_prompt_goes_to_the_timeline() -> None:
    async with stage() as shown:
        await shown.press("escape", "escape")
        assert shown.app.focused is shown.app.chat.sidebar.timeline
        await shown.press("escape")
        assert shown.app.focused is shown.app.chat.editor


async def test_ctrl_c_stops_then_clears_then_leaves_on_the_second_time() -> None:
    async with stage() as shown:
        await shown.tell(ev.TurnStarted(Entry("user", "hi", turn=True), len(ENTRIES)))
        shown.write("text")
        await shown.press("ctrl+c")
        assert (shown.agent.submitted, shown.prompt) == ([cmd.Interrupt()], "text")
        await shown.tell(ev.TurnEnded("interrupted"))
        await shown.press("ctrl+c")
        assert shown.prompt == ""
        await shown.press("ctrl+c")
        assert "ctrl+c again leaves" in shown.line("Activity") and shown.app.is_running
        await shown.press("ctrl+c")
        assert shown.agent.submitted[-1] == cmd.Close()


async def test_ctrl_d_leaves_only_with_an_empty_prompt() -> None:
    async with stage() as shown:
        await shown.press("a", "home", "ctrl+d")
        assert (shown.prompt, shown.agent.submitted) == ("", [])
        await shown.press("ctrl+d")
        assert shown.agent.submitted[-1] == cmd.Close()


# --- turns -------------------------------------------------------------------------------------------------------


async def test_text_streams_in_and_is_replaced_by_the_stored_message() -> None:
    async with stage(opened(), reset(())) as shown:
        await shown.tell(
            ev.TurnStarted(Entry("user", "hi", turn=True), 0), ev.TextDelta("Hel"), ev.TextDelta("lo **you**")
        )
        assert "Hello you▍" in shown.chat
        await shown.tell(ev.MessageStored(1, (Entry("assistant", "Hello **you**"),)), ev.TurnEnded("done"))
        assert "Hello you" in shown.chat


async def test_a_tool_shows_what_it_prints_and_then_how_it_ended() -> None:
    tool = ToolView("c", "Shell", "Shell", "make")
    async with stage(opened(), reset(())) as shown:
        await shown.tell(ev.TurnStarted(Entry("user", "hi", turn=True), 0), ev.ToolCallStarted(tool))
        await shown.tell(ev.ToolOutputDelta("c", "cc -o a\n"))
        assert "▸ Shell make" in shown.chat and "cc -o a" in shown.chat
        done = ToolView("c", "Shell", "Shell", "make", outcome="error", brief="exit 2", output="cc -o a\nno rule")
        await shown.tell(ev.MessageStored(1, (Entry("tool", tool=tool),)), ev.ToolCallFinished(done))
        assert "✗ Shell make  exit 2" in shown.chat and "no rule" in shown.chat


async def test_a_failed_turn_says_what_to_do() -> None:
    async with stage() as shown:
        await shown.tell(ev.TurnEnded("failed", "The key was refused.", "Set MOONSHOT_API_KEY."))
        assert "✗ The key was refused." in shown.chat and "Set MOONSHOT_API_KEY." in shown.chat


async def test_reading_further_up_is_not_disturbed_by_new_text() -> None:
    async with stage() as shown:
        await shown.press("pageup")
        before = shown.chat[:-1]
        await shown.tell(ev.TextDelta("new\n\n" * 50))
        assert shown.chat[:-1] == before
        assert "more below" in shown.chat[-1]
        await shown.press("ctrl+end")
        assert shown.app.chat.transcript.following and any("new▍" in row for row in shown.chat)


async def test_a_new_size_keeps_the_end_or_the_place_that_is_read() -> None:
    async with stage() as shown:
        for width, height in ((60, 10), (120, 50), (40, 36)):
            await shown.pilot.resize_terminal(width, height)
            await shown.settle()
            assert shown.app.chat.transcript.following
        await shown.pilot.resize_terminal(100, 16)
        await shown.press("alt+up")
        await shown.pilot.resize_terminal(70, 18)
        await shown.settle()
        assert any(row.startswith("▌ 你好") for row in shown.chat[:3])


async def test_everything_unfolds_and_folds_with_one_key() -> None:
    async with stage(opened(), reset(ENTRIES[:7])) as shown:
        assert not any("│ The mail says" in row for row in shown.chat)
        await shown.press("ctrl+o")
        assert any("│ The mail says" in row for row in shown.chat)
        await shown.press("ctrl+o")
        assert not any("│ The mail says" in row for row in shown.chat)


async def test_a_click_unfolds_one_block() -> None:
    async with stage(opened(), reset(ENTRIES[:7])) as shown:
        y = next(y for y, row in enumerate(shown.chat) if row.startswith("▸ thought"))
        await shown.pilot.click("Transcript", offset=(6, y))
        await shown.settle()
        assert any("│ The mail says" in row for row in shown.chat)


async def test_dragging_over_text_and_ctrl_c_copies_it() -> None:
    async with stage(opened(), reset(ENTRIES[:2])) as shown:
        y = next(y for y, row in enumerate(shown.chat) if row.startswith("The test feeds"))
        await shown.pilot.mouse_down("Transcript", offset=(3, y))
        await shown.pilot.hover("Transcript", offset=(11, y))
        await shown.pilot.mouse_up("Transcript", offset=(11, y))
        await shown.press("ctrl+c")
        assert shown.app.clipboard.strip() == "The test"


async def test_earlier_entries_are_loaded_when_they_come_into_sight() -> None:
    def answer(command: cmd.Command) -> Iterable[ev.Event]:
        if isinstance(command, cmd.LoadEntries):
            yield ev.EntriesLoaded(
                command.start, tuple(Entry("note", f"note {n}") for n in range(command.start, command.stop))
            )

    async with stage(opened(), reset(ENTRIES, total=500), answer=answer) as shown:
        await shown.press("ctrl+home")
        assert "· note 0" in shown.chat
        assert shown.agent.submitted[-1] == cmd.LoadEntries(0, 60)


# --- time --------------------------------------------------------------------------------------------------------


async def test_a_point_of_the_timeline_is_chosen_and_gone_back_to() -> None:
    async with stage() as shown:
        await shown.press("ctrl+t", "down", "down", "down")
        await until(shown.pilot, lambda: cmd.PreviewRevert(4, None, 3000) in shown.agent.submitted)
        await shown.tell(ev.RevertPreviewed(PREVIEW))
        await shown.press("enter")
        assert isinstance(shown.app.screen, RevertChoice)
        await shown.press("enter")
        assert shown.agent.submitted[-1] == cmd.RevertTo(4, offset=3000)


async def test_on_a_small_screen_questions_and_pages_lose_their_air() -> None:
    """The app's own names for sizes of screens do not get in the way."""
    async with stage(size=(95, 16)) as shown:
        await shown.press("ctrl+t", "down", "down", "down", "enter")
        assert isinstance(shown.app.screen, RevertChoice) and shown.app.screen.has_class("-short")
        await shown.press("escape", "b")
        assert isinstance(shown.app.screen, Rotations) and shown.app.screen.has_class("-short")
        assert not shown.app.screen.has_class("-slim")
    async with stage(size=(60, 30)) as shown:
        await shown.press("ctrl+t", "b")
        assert isinstance(shown.app.screen, Rotations) and shown.app.screen.has_class("-slim")


async def test_a_note_that_did_not_go_is_there_when_its_point_is_chosen_again_until_time_has_moved() -> None:
    async with stage() as shown:
        await shown.press("ctrl+t", "down", "down", "down", "enter", "tab", *"mind", "escape")
        assert not isinstance(shown.app.screen, RevertChoice)
        await shown.press("enter")
        await shown.press("enter")
        assert shown.agent.submitted[-1] == cmd.RevertTo(4, offset=3000, note="mind")
        await shown.press("enter", "escape", "up", "enter")
        assert isinstance(shown.app.screen, RevertChoice) and shown.app.screen.note.text == ""
        await shown.press("escape", "down", "enter")
        assert isinstance(shown.app.screen, RevertChoice) and shown.app.screen.note.text == "mind"
        await shown.press("escape")
        switch = SwitchView("revert", "context_4.jsonl", from_checkpoint=6, to_checkpoint=3)
        await shown.tell(ev.ContextSwitched(switch), replace(reset(), switch=switch))
        await shown.press("ctrl+t", "home", "down", "down", "down", "enter")
        assert isinstance(shown.app.screen, RevertChoice) and shown.app.screen.note.text == ""


async def test_after_a_jump_the_prompt_is_back_and_undo_is_offered() -> None:
    switch = SwitchView(
        "revert", "context_4.jsonl", from_checkpoint=6, to_checkpoint=3, messages_before=9, messages_after=3
    )
    back = ev.TranscriptReset(
        1, ENTRIES[:1], (), Tokens(), switch, prompt="Fix the failing parser test", undo="the revert"
    )
    async with stage() as shown:
        await shown.tell(ev.ContextSwitched(switch), back)
        assert shown.prompt == "Fix the failing parser test"
        assert shown.toasts == ["You went back 6 → 3: 6 messages set aside\nalt+u takes it back"]
        await shown.press("alt+u")
        assert shown.agent.submitted == [cmd.Undo()]
        await shown.tell(reset())
        assert shown.prompt == ""


async def test_a_new_step_shows_up_on_the_timeline() -> None:
    async with stage() as shown:
        timeline = shown.app.chat.sidebar.timeline
        before = timeline.total()
        await shown.tell(ev.CheckpointCreated(TimelineRow("checkpoint", 7, label="new step", offset=99_000)))
        assert timeline.total() == before + 1


async def test_a_compaction_shows_its_bar_and_escape_cancels_it() -> None:
    async with stage() as shown:
        await shown.tell(ev.CompactionStarted("manual", 65_300), ev.CompactionProgressed("summarising", 1_900))
        assert shown.line("Gauge").startswith("◆ compacting ━")
        await shown.press("escape")
        assert shown.agent.submitted == [cmd.Interrupt()]
        await shown.tell(ev.CompactionEnded("cancelled"))
        assert shown.line("Gauge").endswith("$0.42")
        assert shown.toasts == ["Compaction cancelled, nothing has changed."]


# --- modes, screens, sizes ---------------------------------------------------------------------------------------


async def test_shift_tab_walks_from_ask_to_plan_to_auto_approve() -> None:
    async with stage() as shown:
        await shown.press("shift+tab")
        await shown.tell(ev.ModesChanged(Modes(plan=True)))
        await shown.press("shift+tab")
        await shown.tell(ev.ModesChanged(Modes(yolo=True)))
        await shown.press("shift+tab")
        assert shown.agent.submitted == [
            cmd.SetMode("plan", True),
            cmd.SetMode("plan", False),
            cmd.SetMode("yolo", True),
            cmd.SetMode("yolo", False),
        ]
        assert shown.line("Status").endswith("auto-approve")


async def test_help_lists_keys_and_commands_and_closes_again() -> None:
    async with stage() as shown:
        await shown.press("f1")
        assert isinstance(shown.app.screen, Help)
        await shown.press("escape")
        assert shown.app.screen is shown.app.chat


async def test_any_size_is_drawn_and_nothing_is_lost() -> None:
    async with stage() as shown:
        shown.app.chat.editor.insert("树🌳 text")
        for width in (1, 5, 12, 23, 60):
            for height in (1, 3, 8, 16):
                await shown.pilot.resize_terminal(width, height)
        await shown.pilot.resize_terminal(*WIDE)
        await shown.settle()
        assert shown.prompt == "树🌳 text"
        assert any("Nothing else calls it" in row for row in shown.chat)


async def test_in_a_narrow_window_the_timeline_comes_over_the_chat() -> None:
    async with stage(size=(60, 16)) as shown:
        assert not shown.app.chat.sidebar.display
        await shown.press("ctrl+t")
        assert shown.app.chat.sidebar.display and shown.app.focused is shown.app.chat.sidebar.timeline
        await shown.press("escape")
        assert not shown.app.chat.sidebar.display and shown.app.focused is shown.app.chat.editor


async def test_text_from_outside_is_never_markup() -> None:
    evil = "[/dim] [bold]x[/] [@click=app.quit]y[/] \x1b[31m"
    told = (opened(title=evil, branch=evil, notices=(evil,)), reset((Entry("user", evil), Entry("error", evil))))
    async with stage(*told) as shown:
        await shown.tell(ev.Noticed(evil), ev.QueueChanged((evil,), ()), ev.ModelUnavailable(evil, evil, evil))
        assert any("[/dim] [bold]x[/] [@click=app.quit]y[/]" in row for row in shown.chat)
        assert shown.app.is_running


async def test_every_theme_can_be_used_and_an_unknown_one_does_no_harm() -> None:
    async with stage(options=UiOptions(theme="nonsense")) as shown:
        assert shown.app.theme == "kimi-dark"
        for theme in ("kimi-light", "kimi-contrast", "kimi-terminal", "nord", "kimi-dark"):
            shown.app.theme = theme
            await shown.settle()
            assert any("Nothing else calls it" in row for row in shown.chat)


# --- questions of the agent --------------------------------------------------------------------------------------

WANTS = ApprovalView("r1", "Shell", "run a command", "rm -rf build", rule="Shell: rm *")


async def test_an_approval_is_answered_with_the_keyboard_and_the_prompt_gets_the_focus_back() -> None:
    async with stage() as shown:
        await shown.tell(ev.ApprovalRequested(WANTS))
        await shown.press("tab", "tab")
        await shown.press("3")
        assert shown.agent.submitted == [cmd.AnswerApproval("r1", "reject")]
        assert shown.app.focused is shown.app.chat.editor


async def test_typing_a_prompt_never_answers_an_approval() -> None:
    async with stage() as shown:
        shown.write("1 more thing")
        await shown.tell(ev.ApprovalRequested(WANTS))
        await shown.press("1", "enter")
        assert not [command for command in shown.agent.submitted if isinstance(command, cmd.AnswerApproval)]
        assert "waiting for your answer" in shown.line("Activity")


async def test_a_question_is_answered_by_its_options() -> None:
    asked = QuestionView("Which one?", options=(QuestionOption("left"), QuestionOption("right")))
    async with stage() as shown:
        await shown.tell(ev.QuestionAsked("q1", (asked,)))
        await shown.press("down", "enter")
        assert shown.agent.submitted == [cmd.AnswerQuestion("q1", (("right",),))]


# --- reading -----------------------------------------------------------------------------------------------------


async def test_find_goes_from_the_newest_match_to_the_older_ones_and_unfolds_what_is_hidden() -> None:
    async with stage(size=(120, 20)) as shown:
        await shown.press("ctrl+f", *"items")
        await shown.settle()
        assert "5 of 5" in str(shown.app.chat.finder.query_one(".count", Static).render())
        await shown.press("enter", "enter")
        assert "3 of 5" in str(shown.app.chat.finder.query_one(".count", Static).render())
        assert any("def items(data):" in row for row in shown.chat)
        await shown.press("escape")
        assert shown.app.focused is shown.app.chat.editor and not shown.app.chat.finder.is_open


async def test_find_looks_into_entries_that_were_not_loaded() -> None:
    def answer(command: cmd.Command) -> Iterable[ev.Event]:
        if isinstance(command, cmd.LoadEntries):
            notes = (Entry("note", f"needle {n}") for n in range(command.start, command.stop))
            yield ev.EntriesLoaded(command.start, tuple(notes))

    async with stage(opened(), reset(ENTRIES, total=len(ENTRIES) + 900), answer=answer) as shown:
        await shown.press("ctrl+f")
        await until(shown.pilot, lambda: all(block.entry for block in shown.app.chat.conversation.blocks))
        await shown.press(*"needle 3", "enter")
        assert "of 111" in str(shown.app.chat.finder.query_one(".count", Static).render())


async def test_blocks_can_be_walked_unfolded_copied_and_quoted() -> None:
    async with stage(opened(), reset(ENTRIES[:8])) as shown:
        await shown.press("tab", "up", "enter")
        assert any("│ The mail says" in row for row in shown.chat)
        await shown.press("c")
        assert shown.app.clipboard == ENTRIES[6].text
        await shown.press("q")
        assert shown.prompt == f"> {ENTRIES[6].text}\n\n"
        assert shown.app.focused is shown.app.chat.editor


async def test_one_goes_from_turn_to_turn() -> None:
    async with stage(size=(100, 16)) as shown:
        await shown.press("alt+up")
        assert shown.chat[1].startswith("▌ 你好")
        await shown.press("alt+up")
        assert shown.chat[1] == "▌ Fix the failing parser test"
        await shown.press("alt+down", "alt+down")
        assert shown.app.chat.transcript.following


async def test_text_typed_while_the_chat_has_the_focus_goes_to_the_prompt() -> None:
    async with stage() as shown:
        await shown.press("tab", "h", "i")
        assert shown.prompt == "hi"


# --- pages, keys, editor -----------------------------------------------------------------------------------------


async def test_a_command_opens_its_page_and_escape_closes_it() -> None:
    pages = {
        "/context": "ContextView",
        "/sessions": "Sessions",
        "/model": "ModelPicker",
        "/rotations": "Rotations",
        "/tasks": "Tasks",
        "/mcp": "Mcp",
    }
    async with stage() as shown:
        for typed, page in pages.items():
            shown.write(typed)
            await shown.press("enter")
            assert type(shown.app.screen).__name__ == page
            await shown.press("escape")
            assert shown.app.screen is shown.app.chat


def test_sixteen_colours_are_the_terminals_own() -> None:
    assert resolve("", "standard") == "kimi-terminal"
    assert resolve("", "256") == resolve("", "truecolor") == "kimi-dark"
    assert resolve("light", "standard") == "kimi-light"


async def test_the_caret_and_what_is_chosen_can_be_seen_in_the_terminals_own_colours() -> None:
    async with stage(options=UiOptions(theme="terminal")) as shown:
        editor = shown.app.chat.editor
        assert any(style and style.reverse for _, style, _ in editor.render_line(0))
        await shown.press("slash")
        (first, *_) = shown.app.chat.prompt.popup.render_line(0)
        assert first.style and first.style.reverse
        await shown.press("backspace", "ctrl+p")
        offers = shown.app.screen.query_one(OfferList)
        assert {style.reverse for _, style, _ in offers.render_line(0) if style} == {True}
        assert len({style.color for _, style, _ in offers.render_line(0) if style}) == 1


async def test_a_theme_is_chosen_by_name() -> None:
    async with stage() as shown:
        shown.write("/theme light")
        await shown.press("enter")
        assert shown.app.theme == "kimi-light"


async def test_a_key_from_the_config_takes_the_place_of_the_default() -> None:
    async with stage(options=UiOptions(keys={"timeline": "f7"})) as shown:
        await shown.press("ctrl+t")
        assert shown.app.focused is shown.app.chat.editor
        await shown.press("f7")
        assert shown.app.focused is shown.app.chat.sidebar.timeline


@pytest.mark.parametrize("size", [(20, 5), (40, 10), (60, 16), (120, 36)])
async def test_the_help_is_never_wider_than_its_window(size: tuple[int, int]) -> None:
    async with stage(size=size) as shown:
        await shown.press("f1")
        sheet = shown.app.screen.query_one(HelpSheet)
        rows = [sheet.render_line(y) for y in range(sheet.size.height)]
        assert {row.cell_length for row in rows} == {sheet.size.width}
        assert max(row.width for row in sheet._rows) <= sheet.scrollable_content_region.width


KEYS = {"\x7f": "backspace", "\x15": "ctrl+u", "\x17": "ctrl+w", "\x01": "ctrl+a", "←": "left"}


async def at_once(shown: Stage, typed: str) -> None:
    """All of these keys come in one piece, as over a slow line."""
    for sign in typed:
        named = KEYS.get(sign)
        shown.app.post_message(events.Key(named or sign, None if named else sign))
    await shown.settle()


@pytest.mark.parametrize(
    ("typed", "text"),
    [("ab\x7fc", "ac"), ("hello\x15x", "x"), ("one two\x17x", "one x"), ("bc\x01a", "abc"), ("ac←b", "abc")],
)
async def test_keys_that_come_at_once_mean_what_they_do_in_their_order(typed: str, text: str) -> None:
    async with stage() as shown:
        await at_once(shown, typed)
        assert shown.app.chat.editor.text == text
        shown.app.chat.action_find()
        await shown.settle()
        await at_once(shown, typed)
        assert shown.app.chat.finder.query_one(Input).value == text


@pytest.mark.parametrize("cluster", ["👨‍👩‍👧", "e\u0301", "🇩🇪", "👍🏽", "树"])
async def test_one_key_takes_one_cluster_in_fields_of_one_line_too(cluster: str) -> None:
    async with stage() as shown:
        await shown.press("ctrl+f")
        field = shown.app.chat.finder.query_one(Input)
        field.value = f"a{cluster}b"
        await shown.press("end", "left", "left")
        assert field.cursor_position == 1
        await shown.press("right", "backspace")
        assert field.value == "ab"
        field.value = f"{cluster}b"
        await shown.press("home", "delete")
        assert field.value == "b"


OBEYED = "a\x1b[31m\x1b]52;c;eA==\x07b\x9b2Jc\u202ed\ud83d"


async def test_what_a_terminal_would_obey_is_pasted_whole_and_never_written_to_it() -> None:
    async with stage() as shown:
        shown.app.post_message(events.Paste(OBEYED))
        await shown.settle()
        assert shown.app.chat.editor.text == "[pasted #1: 1 line]"
        assert shown.app.chat.editor.whole == OBEYED


@pytest.mark.parametrize("where", ["prompt", "find"])
async def test_what_a_terminal_would_obey_is_not_written_to_it_wherever_it_comes_from(where: str) -> None:
    async with stage() as shown:
        if where == "find":
            await shown.press("ctrl+f")
            field = shown.app.chat.finder.query_one(Input)
            field.value = OBEYED + "\t"
        else:
            field = shown.app.chat.editor
            field.put(OBEYED)
        await shown.settle()
        drawn = field.render_line(0)
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202e\ud800-\udfff]", drawn.text)


@pytest.mark.parametrize("cluster", ["👍🏽", "👨‍👩‍👧", "🇩🇪", "e\u0301"])
async def test_a_caret_on_a_cluster_leaves_the_row_as_wide_as_it_is(cluster: str) -> None:
    async with stage() as shown:
        shown.write(f"a{cluster}b")
        editor = shown.app.chat.editor
        wide = editor.render_line(0).cell_length
        for _ in range(4):
            await shown.press("left")
            assert editor.render_line(0).cell_length == wide
            assert any(cluster in text for text, _, _ in editor.render_line(0)), "it is not drawn in two halves"


async def test_what_is_typed_right_after_ctrl_f_is_looked_for() -> None:
    async with stage() as shown:
        shown.app.post_message(events.Key("ctrl+f", None))
        await at_once(shown, "abc")
        assert shown.app.chat.finder.query_one(Input).value == "abc"
        assert shown.app.chat.editor.text == ""


async def test_keys_pressed_right_after_ctrl_t_are_the_timelines() -> None:
    async with stage() as shown:
        for key in ("ctrl+t", "down", "escape", "x"):
            shown.app.post_message(events.Key(key, "x" if key == "x" else None))
        await shown.settle()
        assert shown.app.chat.sidebar.timeline.cursor == 1


async def test_wrong_keys_in_the_config_are_told() -> None:
    async with stage(options=UiOptions(keys={"timeline": "ctrl+b", "fly": "f9"})) as shown:
        assert any("ctrl+b is the key of both timeline and sidebar" in toast for toast in shown.toasts)
        assert any("fly: there is no such action" in toast for toast in shown.toasts)


async def test_the_palette_offers_commands_and_keys() -> None:
    async with stage(options=UiOptions(keys={"timeline": "f7"})) as shown:
        await shown.press("ctrl+p")
        offers = shown.app.screen.query_one(OfferList)
        names = {offer.name for offer in offers.shown}
        assert {"/compact [focus]", "/rotations", "/exit", "/title <text>", "find in the chat"} <= names
        assert [offer.key for offer in offers.shown if offer.name == "go to the timeline"] == ["F7"]


async def test_what_is_chosen_in_the_palette_is_done() -> None:
    async with stage() as shown:
        await shown.press("ctrl+p", *"go to the timeline", "enter")
        assert shown.app.screen is shown.app.chat
        assert shown.app.focused is shown.app.chat.sidebar.timeline
        await shown.press("ctrl+p", *"help", "enter")
        assert isinstance(shown.app.screen, Help)
        await shown.press("escape", "ctrl+p", *"title", "enter")
        assert shown.app.chat.editor.text == "/title "
        await shown.press("ctrl+p", "ctrl+p")
        assert shown.app.screen is shown.app.chat


async def test_what_skills_call_themselves_is_literal_in_the_palette() -> None:
    bent = SlashCommand("skill:x", "", "[/] [bold] [@click=app.quit]x[/]")
    async with stage(replace(opened(), commands=(bent,)), reset()) as shown:
        await shown.press("ctrl+p", *"skill")
        drawn = shown.app.screen.query_one(OfferList).render_line(0).text
        assert "[/] [bold] [@click=app.quit]x[/]" in drawn


async def test_a_theme_is_chosen_from_a_page() -> None:
    async with stage() as shown:
        shown.write("/theme")
        await shown.press("enter")
        await shown.press(*"light", "enter", "escape", "escape")
        assert shown.app.theme == "kimi-light"
        assert shown.app.screen is shown.app.chat


async def test_help_and_footer_tell_the_keys_of_the_config() -> None:
    async with stage(options=UiOptions(keys={"timeline": "f7", "find": "ctrl+y"})) as shown:
        footer = shown.app.chat.keys.render_line(0).text
        assert "F7 timeline" in footer and "^Y find" in footer
        await shown.press("f1")
        table = dict(shown.app.screen.query_one(HelpSheet).table)
        assert table["F7"] == "go to the timeline" and table["ctrl+y"] == "find in the chat"
        assert "ctrl+t" not in table


RUNNING = ev.TurnStarted(Entry("user", "hi", turn=True), len(ENTRIES))
OTHER_KEYS = UiOptions(
    keys={
        "stop": "f6",
        "interrupt": "f7",
        "undo": "ctrl+x",
        "follow": "f8",
        "answer": "f9",
        "snooze": "alt+w",
        "leave": "f10",
        "help": "f2",
    }
)


async def test_what_says_that_a_jump_can_be_undone_names_the_key_of_the_config() -> None:
    async with stage(options=OTHER_KEYS) as shown:
        await shown.tell(ev.Noticed("a jump was made", action="undo"))
        assert shown.toasts == ["A jump was made.\nctrl+x takes it back"]


async def test_what_a_second_press_does_is_said_with_the_key_of_the_config() -> None:
    async with stage(options=OTHER_KEYS) as shown:
        await shown.press("f6")
        assert "F6 again goes to the timeline" in shown.line("Activity")
        await shown.press("f7")
        assert "F7 again leaves" in shown.line("Activity")


async def test_a_running_turn_is_stopped_with_the_key_of_the_config_that_is_named_beside_it() -> None:
    async with stage(opened(), reset(), RUNNING, options=OTHER_KEYS) as shown:
        assert "F6 stops" in shown.line("Activity")
        await shown.press("f6")
        assert cmd.Interrupt() in shown.agent.submitted


async def test_the_mark_below_and_the_warning_of_a_compaction_name_the_keys_of_the_config() -> None:
    near = ev.CompactionNear(65_300, 108_800)
    async with stage(opened(), reset(), near, options=OTHER_KEYS) as shown:
        assert "alt+w snooze" in shown.line("SoftWarning") and "alt+c now" in shown.line("SoftWarning")
        await shown.press("ctrl+home")
        await shown.tell(ev.Failed("one more block", ""))
        assert "more below" in shown.chat[-1] and "F8" in shown.chat[-1]


async def test_what_is_asked_names_the_keys_of_the_config() -> None:
    async with stage(opened(), reset(), RUNNING, options=OTHER_KEYS) as shown:
        shown.write("being typed")
        await shown.tell(ev.ApprovalRequested(WANTS))
        hints = shown.app.chat.asking.approval.query_one(".hints").render_line(0).text
        assert "F9 answer" in hints and "F6 stop the turn" in hints


async def test_the_help_opens_and_closes_with_the_key_of_the_config() -> None:
    async with stage(options=OTHER_KEYS) as shown:
        await shown.press("f2")
        table = dict(shown.app.screen.query_one(HelpSheet).table)
        assert table["F7"].startswith("copy the selection") and table["F10"].startswith("leave, when")
        assert not {"ctrl+c", "ctrl+d"} & set(table)
        await shown.press("f2")
        assert shown.app.screen is shown.app.chat


async def test_an_editor_that_cannot_be_started_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "/nowhere/editor")
    async with stage() as shown:
        shown.write("text")
        await shown.press("ctrl+g")
        assert any("$EDITOR" in toast for toast in shown.toasts)
        assert shown.prompt == "text"


async def test_what_is_being_written_is_kept_after_a_moment_with_what_its_tags_stand_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kimi_tui.ui.widgets.editor.MOMENT", 0.001)
    async with stage() as shown:
        shown.app.chat.editor.post_message(events.Paste("\n" * 20))
        await shown.press("h", "i")
        wanted = cmd.KeepDraft(Draft("[pasted #1: 21 lines]hi", ("\n" * 20,)))
        await until(shown.pilot, lambda: shown.agent.submitted[-1:] == [wanted])
        await shown.press("enter")
        assert cmd.SendPrompt("\n" * 20 + "hi") in shown.agent.submitted
        await until(shown.pilot, lambda: shown.agent.submitted[-1] == cmd.KeepDraft(Draft()))


async def test_a_kept_draft_stands_in_the_prompt_again_and_is_sent_whole() -> None:
    image = "data:image/png;base64,AA=="
    draft = Draft("see [pasted #1: 21 lines] [image #1: a.png]", ("x\n" * 20,), (image,))
    async with stage(opened(draft=draft), reset()) as shown:
        assert shown.prompt == draft.text
        await shown.press("enter")
        assert shown.agent.submitted == [cmd.SendPrompt(f"see {draft.pastes[0]} [image #1: a.png]", (image,))]


async def test_what_was_typed_before_the_session_opened_stays_and_the_draft_is_an_earlier_prompt() -> None:
    async with stage() as shown:
        shown.write("early")
        await shown.tell(opened(draft=Draft("kept")), reset())
        assert shown.prompt == "early"
        await shown.press("up")
        assert shown.prompt == "kept"


async def test_an_answer_whose_last_words_come_with_its_end_is_not_drawn_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with stage() as shown:
        await shown.tell(ev.TurnStarted(Entry("user", "go", turn=True), shown.app.chat.conversation.stored))
        await shown.tell(ev.TextDelta("one\n\ntwo"))
        monkeypatch.setattr("kimi_tui.ui.blocks.markdown_rows", None)
        stored = ev.MessageStored(shown.app.chat.conversation.stored, (Entry("assistant", "one\n\ntwo three"),))
        await shown.tell(ev.TextDelta(" three"), stored)
        assert "two three" in shown.chat


async def test_rewinding_to_a_checkpoint_without_a_step_names_the_nearest() -> None:
    rows = tuple(TimelineRow("checkpoint", number, label=f"step {number}", offset=number) for number in (5, 2, 0))
    async with stage(opened(), reset(rows=rows)) as shown:
        for typed in ("/rewind 1", "/rewind 9"):
            shown.write(typed)
            await shown.press("enter")
        assert shown.toasts == [
            "No step begins at checkpoint 1; the nearest: 0 and 2.",
            "No step begins at checkpoint 9; the nearest: 5.",
        ]
        assert shown.app.chat.sidebar.timeline.row is None
        assert shown.app.chat.editor.has_focus


async def test_rewinding_finds_a_checkpoint_that_the_filter_hides() -> None:
    rows = tuple(TimelineRow("checkpoint", number, label=f"step {number}", offset=number) for number in (5, 2, 0))
    async with stage(opened(), reset(rows=rows)) as shown:
        await shown.press("ctrl+t", "slash", *"step", "space", "5", "enter", "ctrl+t")
        shown.app.chat.editor.focus()
        shown.write("/rewind 2")
        await shown.press("enter")
        row = shown.app.chat.sidebar.timeline.row
        assert row and row.checkpoint == 2

"""The main screen: composes the regions, folds events into them, and gives the keys their meaning."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Static

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import Entry
from kimi_tui.ui import slash, toasts
from kimi_tui.ui.asks import Do, Submit
from kimi_tui.ui.conversation import Conversation
from kimi_tui.ui.marks import ASCII, UNICODE
from kimi_tui.ui.palette import COMPONENTS
from kimi_tui.ui.state import ScreenState, apply
from kimi_tui.ui.widgets.activity import Activity
from kimi_tui.ui.widgets.asking import Asking
from kimi_tui.ui.widgets.editor import Editor
from kimi_tui.ui.widgets.gauge import Gauge
from kimi_tui.ui.widgets.keys import BUSY, IDLE, TIMELINE, Keys
from kimi_tui.ui.widgets.prompt import Prompt
from kimi_tui.ui.widgets.queue import Queue
from kimi_tui.ui.widgets.sidebar import Sidebar
from kimi_tui.ui.widgets.status import Status
from kimi_tui.ui.widgets.timeline import Timeline
from kimi_tui.ui.widgets.transcript import Transcript

AGAIN = 1.2
"""Seconds within which a second Esc or Ctrl+C counts as one with the first."""


class ChatScreen(Screen[None]):
    """See the module."""

    AUTO_FOCUS = None
    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "escape", "stop, or back", id="stop"),
        Binding("shift+tab", "cycle_mode", "ask, plan, auto-approve", id="mode", priority=True),
        Binding("ctrl+t", "timeline", "go to the timeline", id="timeline", priority=True),
        Binding("ctrl+b", "sidebar", "show or hide the timeline", id="sidebar", priority=True),
        Binding("ctrl+o", "unfold", "unfold or fold everything", id="unfold", priority=True),
        Binding("tab", "answer", "answer what is asked", id="answer"),
        Binding("ctrl+r", "search_history", "search earlier prompts", id="search_history", priority=True),
        Binding("alt+u", "undo", "take back the last jump", id="undo", priority=True),
        Binding("pageup", "scroll(-1)", "scroll the chat up", id="page_up", priority=True),
        Binding("pagedown", "scroll(1)", "scroll the chat down", id="page_down", priority=True),
        Binding("ctrl+end", "follow", "go to the end of the chat", id="follow", priority=True),
        Binding("ctrl+home", "start", "go to the start of the chat", id="start", priority=True),
    ]

    def __init__(self, *, ascii_only: bool = False) -> None:
        super().__init__()
        self.state = ScreenState()
        self.conversation = Conversation()
        marks = ASCII if ascii_only else UNICODE
        self.status = Status()
        self.transcript = Transcript(self.conversation, marks)
        self.asking = Asking()
        self.activity = Activity(marks)
        self.queue = Queue()
        self.prompt = Prompt(marks)
        self.sidebar = Sidebar(marks=marks)
        self.gauge = Gauge(marks)
        self.keys = Keys()
        self._armed = ""
        self._returned = ""

    def compose(self) -> ComposeResult:
        yield self.status
        with Horizontal(id="body"):
            with Vertical(id="main"):
                yield self.transcript
                yield self.asking
                yield self.activity
                yield self.queue
                yield self.prompt
            yield self.sidebar
        yield self.gauge
        yield self.keys
        yield Static("kimi-tui needs a larger window", id="too-small", markup=False)

    def on_mount(self) -> None:
        # Keys that came before now wait in this screen's own queue: they go to the prompt first, in their order.
        self.call_later(self.editor.focus)

    @property
    def editor(self) -> Editor:
        return self.prompt.editor

    def submit(self, command: cmd.Command) -> None:
        self.post_message(Submit(command))

    # --- events --------------------------------------------------------------------------------------------------

    def deliver(self, batch: Sequence[ev.Event]) -> None:
        """Fold a batch of events into the screen, then draw once."""
        before = self.state
        for event in batch:
            self.conversation.apply(event)
            self.state = apply(self.state, event)
            self._timeline(event)
            self._said(event)
            self.asking.take(event, offer=not self.editor.text)
            if note := toasts.toast(event):
                self.notify(note.text, severity=note.severity, markup=False)
        self.transcript.sync()
        if self.state is not before:
            self.show_state()

    def show_state(self) -> None:
        state = self.state
        self.status.show(state)
        self.gauge.show(state)
        self.activity.show(state)
        self.queue.show(state.steers, state.prompts)
        self.editor.something_queued = bool(state.steers or state.prompts)
        self._show_keys()

    def _timeline(self, event: ev.Event) -> None:
        timeline = self.sidebar.timeline
        match event:
            case ev.TranscriptReset():
                timeline.show(event.timeline)
                gc.freeze()
            case ev.CheckpointCreated(row):
                timeline.add_row(row)
            case ev.StepEnded(row=row):
                timeline.update_row(row)
            case ev.RevertPreviewed(preview):
                self.sidebar.take_preview(preview)

    def _said(self, event: ev.Event) -> None:
        """Events that put something into the chat or the prompt."""
        match event:
            case ev.SessionOpened():
                self._opened(event)
            case ev.TranscriptReset():
                self._prompt_after_jump(event)
            case ev.PromptReturned(text):
                self.editor.put("\n\n".join(part for part in (text, self.editor.text) if part.strip()))
            case ev.TurnEnded():
                if entry := toasts.ended(event):
                    self.conversation.say(entry)
            case ev.ModelUnavailable():
                self.conversation.say(toasts.unavailable(event))
            case ev.Failed(message, hint):
                self.conversation.say(Entry("error", f"{message}\n{hint}" if hint else message))

    def _prompt_after_jump(self, event: ev.TranscriptReset) -> None:
        """The prompt that a jump took out of the chat is back in the box; it leaves when the jump is undone."""
        if self.editor.text and self.editor.text == self._returned:
            self.editor.load_text("")
        self._returned = event.prompt or ""
        if event.prompt is not None:
            self.editor.put(event.prompt)
        if event.switch:
            self.sidebar.timeline.point_at(None)
            self._leave_timeline()

    def _opened(self, event: ev.SessionOpened) -> None:
        self.editor.earlier.prompts[:] = event.history
        self.editor.earlier.leave()
        self.prompt.know(slash.known(self.state), event.work_dir)
        if event.draft and not self.editor.text:
            self.editor.put(event.draft)
        for notice in event.notices:
            self.notify(notice, severity="warning", markup=False)

    @on(Transcript.Wanted)
    def _load(self, event: Transcript.Wanted) -> None:
        self.submit(cmd.LoadEntries(event.first, event.end))

    @on(Asking.Answered)
    def _back_to_the_prompt(self) -> None:
        self.editor.focus()

    @on(Asking.Typed)
    def _type(self, event: Asking.Typed) -> None:
        self.editor.focus()
        self.editor.insert(event.text)

    # --- the prompt ----------------------------------------------------------------------------------------------

    @on(Editor.Sent)
    def _send(self, event: Editor.Sent) -> None:
        if event.text.startswith("!"):
            self._leave_prompt(cmd.RunShell(event.text[1:].strip()))
            return
        meaning = slash.read(event.text, self.state)
        if meaning is None:
            self._leave_prompt(cmd.Steer(event.text) if self.state.activity else cmd.SendPrompt(event.text))
        elif self.mean(meaning):
            self.editor.take()

    def mean(self, meaning: slash.Meaning) -> bool:
        """Do what a slash command means; False when it was wrong."""
        match meaning:
            case slash.Wrong(reason):
                self.notify(reason, severity="warning", markup=False)
                return False
            case slash.ForScreen(name, argument):
                self.do(name, argument)
            case command:
                self.submit(command)
        return True

    @on(Editor.Queued)
    def _queue(self, event: Editor.Queued) -> None:
        self._leave_prompt(cmd.SendPrompt(event.text))

    @on(Editor.TookBack)
    def _take_back(self) -> None:
        self.submit(cmd.TakeBackQueued())

    def _leave_prompt(self, command: cmd.Command) -> None:
        self.editor.take()
        self.transcript.follow()
        self.submit(command)

    def do(self, name: str, argument: str = "") -> None:
        """A slash command that concerns the screen alone."""
        match name:
            case "timeline":
                self.action_timeline()
            case "rotations":
                self.sidebar.browse()
            case "sessions":
                self.submit(cmd.ListSessions())
            case "rewind":
                self.sidebar.timeline.point_at(int(argument))
                self.action_timeline()
            case "copy":
                self._copy_answer()
            case "cost":
                cost = self.state.tokens.cost
                self.notify(
                    f"This session has cost ${cost:.4f}." if cost is not None else "No price is known for this model."
                )
            case _:
                self.post_message(Do(name, argument))

    def _copy_answer(self) -> None:
        answers = (block.entry for block in reversed(self.conversation.blocks) if block.kind == "assistant")
        if entry := next(answers, None):
            self.app.copy_to_clipboard(entry.text)
            self.notify("The last answer is in the clipboard.")
        else:
            self.notify("There is no answer to copy yet.", severity="warning")

    # --- keys ----------------------------------------------------------------------------------------------------

    def action_escape(self) -> None:
        """Stop what runs; else clear the prompt or go to the timeline on the second time."""
        if self.state.busy or self.state.progress:
            self.submit(cmd.Interrupt())
        elif self._again(
            "esc", "esc again clears the prompt" if self.editor.text else "esc again goes to the timeline"
        ):
            if self.editor.text:
                self.editor.set_aside()
            else:
                self.action_timeline()

    def interrupt(self) -> bool:
        """Ctrl+C: copy what is selected, stop what runs, clear the prompt, in this order. False when none applied."""
        if self._copy_selection():
            return True
        if self.state.busy:
            self.submit(cmd.Interrupt())
        elif self.editor.text:
            self.editor.set_aside()
        else:
            return self._again("ctrl+c", "ctrl+c again leaves") is False
        return True

    def _copy_selection(self) -> bool:
        text = self.get_selected_text() or self.editor.selected_text
        if not text:
            return False
        self.app.copy_to_clipboard(text)
        self.clear_selection()
        self.notify(f"Copied {len(text)} characters.", timeout=2)
        return True

    def _again(self, key: str, hint: str) -> bool:
        """Whether the key was pressed a moment ago; if not, say what a second time would do."""
        if self._armed == key:
            self._disarm()
            return True
        self._armed = key
        self.activity.say(hint)
        self.set_timer(AGAIN, self._disarm)
        return False

    def _disarm(self) -> None:
        self._armed = ""
        self.activity.say("")

    def action_cycle_mode(self) -> None:
        modes = self.state.modes
        if modes.plan:
            self.submit(cmd.SetMode("plan", False))
            self.submit(cmd.SetMode("yolo", True))
        elif modes.yolo:
            self.submit(cmd.SetMode("yolo", False))
        else:
            self.submit(cmd.SetMode("plan", True))

    def action_timeline(self) -> None:
        if self.sidebar.timeline.has_focus:
            self._leave_timeline()
            return
        if not self.sidebar.display:
            self.action_sidebar()
        self.sidebar.timeline.focus()

    @on(Timeline.Left)
    def _leave_timeline(self) -> None:
        self.editor.focus()
        if not self._wide:
            self.remove_class("-over")

    @property
    def _wide(self) -> bool:
        return self.has_class("-wide") or self.has_class("-huge")

    def action_sidebar(self) -> None:
        """Beside the chat where there is room, over it where there is not."""
        if self._wide:
            self.toggle_class("-no-sidebar")
            self.remove_class("-over")
        else:
            self.remove_class("-no-sidebar")
            self.toggle_class("-over")
        if not self.sidebar.display and self.sidebar.timeline.has_focus:
            self.editor.focus()

    def action_answer(self) -> None:
        """Between the prompt and what is asked, or the chat."""
        if self.focused is not self.editor:
            self.editor.focus()
        elif panel := self.asking.open:
            panel.answer_now()
        else:
            self.transcript.focus()

    def action_search_history(self) -> None:
        self.editor.focus()
        self.prompt.search_history()

    def action_unfold(self) -> None:
        self.transcript.toggle_all()

    def action_undo(self) -> None:
        self.submit(cmd.Undo())

    def action_scroll(self, pages: int) -> None:
        self.transcript.scroll_relative(y=pages * max(1, self.transcript.size.height - 2), animate=False)

    def action_follow(self) -> None:
        self.transcript.follow()

    def action_start(self) -> None:
        self.transcript.scroll_to(y=0, animate=False)

    def on_descendant_focus(self) -> None:
        self._show_keys()

    def _show_keys(self) -> None:
        if self.sidebar.timeline.has_focus:
            self.keys.show(TIMELINE)
        else:
            self.keys.show(BUSY if self.state.activity else IDLE)

    def on_key(self, event: events.Key) -> None:
        """Keys typed before anything has the focus, and text typed while the chat has it, go to the prompt."""
        if self.focused is None or (event.is_printable and self.focused is self.transcript):
            event.stop()
            if self.focused is not None:
                self.editor.focus()
            self.editor.post_message(events.Key(event.key, event.character))

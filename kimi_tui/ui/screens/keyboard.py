"""What the keys of the main screen do."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType

from kimi_tui.protocol import commands as cmd
from kimi_tui.ui.screens.compacting import Compacting
from kimi_tui.ui.widgets.keys import BLOCK, BUSY, IDLE, QUEUE, TIMELINE

AGAIN = 1.2
"""Seconds within which a second Esc or Ctrl+C counts as one with the first."""


class Keyboard(Compacting):
    """See the module."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "escape", "stop, or back", id="stop"),
        Binding("shift+tab", "cycle_mode", "ask, plan, auto-approve", id="mode", priority=True),
        Binding("ctrl+t", "timeline", "go to the timeline", id="timeline", priority=True),
        Binding("ctrl+b", "sidebar", "show or hide the timeline", id="sidebar", priority=True),
        Binding("ctrl+o", "unfold", "unfold or fold everything", id="unfold", priority=True),
        Binding("ctrl+r", "search_history", "search earlier prompts", id="search_history", priority=True),
        Binding("tab", "answer", "answer what is asked, else to the chat", id="answer"),
        Binding("alt+t", "todo", "show or fold the to-do list", id="todo", priority=True),
        Binding("alt+u", "undo", "take back the last jump", id="undo", priority=True),
        Binding("pageup", "scroll(-1)", "scroll the chat up", id="page_up"),
        Binding("pagedown", "scroll(1)", "scroll the chat down", id="page_down"),
        Binding("ctrl+end", "follow", "go to the end of the chat", id="follow", priority=True),
        Binding("ctrl+home", "start", "go to the start of the chat", id="start", priority=True),
        Binding("alt+up", "turn(-1)", "to the turn before", id="turn_up", priority=True),
        Binding("alt+down", "turn(1)", "to the turn after", id="turn_down", priority=True),
    ]

    _armed = ""

    # --- Esc and Ctrl+C ------------------------------------------------------------------------------------------

    def action_escape(self) -> None:
        """Stop what runs; else clear the prompt or go to the timeline on the second time."""
        text = self.editor.text
        if self.state.busy or self.state.progress:
            self.submit(cmd.Interrupt())
        elif self._again("stop", "esc", "clears the prompt" if text else "goes to the timeline"):
            if text:
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
            return not self._again("interrupt", "ctrl+c", "leaves")
        return True

    def _copy_selection(self) -> bool:
        text = self.get_selected_text() or self.editor.selected_text
        if not text:
            return False
        self.app.copy_to_clipboard(text)
        self.clear_selection()
        self.notify(f"Copied {len(text)} characters.", timeout=2)
        return True

    @on(events.TextSelected)
    def _tell_of_nothing(self) -> None:
        """The mouse was dragged over a place without text: say so, Ctrl+C is not to mean something else now."""
        if self.selections and not (self.get_selected_text() or "").strip():
            self.clear_selection()
            self.notify("There is no text to copy there.", timeout=2)

    def _again(self, action: str, usual: str, does: str) -> bool:
        """Whether the action's key was pressed a moment ago; if not, say what it does the second time."""
        if self._armed == action:
            self._disarm()
            return True
        self._armed = action
        self.activity.say(f"{self.names(action, usual)} again {does}")
        self.set_timer(AGAIN, self._disarm)
        return False

    def _disarm(self) -> None:
        self._armed = ""
        self.activity.say("")

    # --- where one is --------------------------------------------------------------------------------------------

    def action_timeline(self) -> None:
        if self.sidebar.timeline.has_focus:
            self.leave_timeline()
            return
        if not self.sidebar.display:
            self.action_sidebar()
        self.set_focus(self.sidebar.timeline)

    def leave_timeline(self) -> None:
        """Back to the prompt; a sidebar that lies over the chat goes."""
        self.set_focus(self.editor)
        if not self._wide:
            self.sidebar.remove_class("-over")

    @property
    def _wide(self) -> bool:
        return self.has_class("-wide") or self.has_class("-huge")

    def action_sidebar(self) -> None:
        """Beside the chat where there is room, over it where there is not. The classes are the sidebar's own: one of
        the screen's would have every widget look up its styles anew."""
        if self._wide:
            self.sidebar.toggle_class("-away")
            self.sidebar.remove_class("-over")
        else:
            self.sidebar.remove_class("-away")
            self.sidebar.toggle_class("-over")
        if not self.sidebar.display and self.sidebar.timeline.has_focus:
            self.set_focus(self.editor)

    def action_answer(self) -> None:
        """Between the prompt and what is asked, or the chat."""
        if self.focused is not self.editor:
            self.editor.focus()
        elif panel := self.asking.open:
            panel.answer_now()
        else:
            self.set_focus(self.transcript)

    def action_search_history(self) -> None:
        self.editor.focus()
        self.prompt.search_history()

    def on_descendant_focus(self) -> None:
        self.show_keys()

    def show_keys(self) -> None:
        """The footer follows the focus."""
        if self.sidebar.timeline.has_focus:
            self.keys.show(TIMELINE)
        elif self.transcript.has_focus:
            self.keys.show(BLOCK)
        elif self.queue.has_focus:
            self.keys.show(QUEUE)
        else:
            self.keys.show(BUSY if self.state.activity else IDLE)

    def on_key(self, event: events.Key) -> None:
        """Keys that set out before the prompt had the focus still go there."""
        if self.focused in (None, self.editor) and event not in self.editor.heard:
            event.stop()
            # As if it came from the app: what comes from a widget goes no further up than to that widget.
            self.editor.post_message(events.Key(event.key, event.character).set_sender(self.app))

    def on_paste(self, event: events.Paste) -> None:
        """What is pasted where nothing takes it is meant for the prompt, also before that has the focus."""
        event.stop()
        self.editor.focus()
        self.editor.post_message(events.Paste(event.text))

    # --- the rest ------------------------------------------------------------------------------------------------

    def action_cycle_mode(self) -> None:
        modes = self.state.modes
        if modes.plan:
            self.submit(cmd.SetMode("plan", False))
            self.submit(cmd.SetMode("yolo", True))
        elif modes.yolo:
            self.submit(cmd.SetMode("yolo", False))
        else:
            self.submit(cmd.SetMode("plan", True))

    def action_unfold(self) -> None:
        self.transcript.toggle_all()

    def action_todo(self) -> None:
        if self.state.todos:
            self.todos.toggle()
        else:
            self.notify("There is no to-do list in this session.")

    def action_undo(self) -> None:
        self.submit(cmd.Undo())

    def action_scroll(self, pages: int) -> None:
        self.transcript.scroll_relative(y=pages * max(1, self.transcript.size.height - 2), animate=False)

    def action_follow(self) -> None:
        self.transcript.follow()

    def action_start(self) -> None:
        self.transcript.start()

    def action_turn(self, by: int) -> None:
        self.transcript.go_to_turn(by)

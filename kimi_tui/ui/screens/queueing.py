"""What is sent from the prompt, now or after the turn that runs, and what waits: looked at, edited, taken back."""

from __future__ import annotations

from textual import on

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.ui.screens.keyboard import Keyboard
from kimi_tui.ui.widgets.editor import Editor
from kimi_tui.ui.widgets.queue import Kind, Queue

_FORMS: dict[Kind, type[cmd.SendPrompt] | type[cmd.Steer]] = {"steers": cmd.Steer, "prompts": cmd.SendPrompt}


class Queueing(Keyboard):
    """See the module."""

    _taking: Queue.Taken | None = None
    """What is on its way out of the queue, to be edited."""

    def send_off(self, command: cmd.Command) -> None:
        """Off it goes; the chat shows what comes of it."""
        self.transcript.follow()
        self.submit(command)

    def hand_over(self, event: Editor.Sent) -> None:
        """A prompt; a steer while a turn runs. What has been in the queue goes back to its place."""
        queue: Kind = "steers" if self.state.activity or self.state.walking else "prompts"
        queue, place = event.place or (queue, None)
        self.send_off(_FORMS[queue](event.text, event.images, place))

    @on(Editor.Queued)
    def _queue(self, event: Editor.Queued) -> None:
        queue, place = event.place or ("prompts", None)
        self.send_off(cmd.SendPrompt(event.text, event.images, place if queue == "prompts" else None))

    @on(Editor.WentUp)
    def _go_to_the_queue(self) -> None:
        self.queue.enter_at_end()

    @on(Queue.Left)
    def _left_the_queue(self) -> None:
        self.editor.focus()

    @on(Queue.AllTaken)
    def _take_all_back(self) -> None:
        self.editor.focus()
        self.submit(cmd.TakeBackQueued())

    @on(Queue.Taken)
    def _take_back(self, event: Queue.Taken) -> None:
        """To be edited: what was being written meanwhile goes into the history."""
        if not event.drop:
            if self.editor.text:
                self.editor.set_aside()
            self._taking = event
            self.editor.focus()
        self.submit(cmd.TakeQueued(event.queue, event.place, event.text, event.drop))

    def returned_to_prompt(self, event: ev.PromptReturned) -> None:
        text = self.editor.pastes.again(event.text, event.images)
        self.editor.put("\n\n".join(part for part in (text, self.editor.text) if part.strip()))
        taken, self._taking = self._taking, None
        self.editor.place = (taken.queue, taken.place) if taken and taken.text == event.text else None
        self.submit(cmd.KeepDraft(self.editor.draft))

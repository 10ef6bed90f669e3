"""The main screen: folds the agent's events into its regions, and turns what is typed into commands."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Sequence

from textual import on
from textual.widgets import TextArea

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import Entry
from kimi_tui.ui import slash, toasts
from kimi_tui.ui.asks import Do, Edit, Submit
from kimi_tui.ui.markdown import warm_up
from kimi_tui.ui.screens.queueing import Queueing
from kimi_tui.ui.state import answered, apply
from kimi_tui.ui.widgets.activity import Activity
from kimi_tui.ui.widgets.asking import Asking
from kimi_tui.ui.widgets.editor import Editor
from kimi_tui.ui.widgets.prompt import Prompt
from kimi_tui.ui.widgets.queue import Queue
from kimi_tui.ui.widgets.reader import Reader
from kimi_tui.ui.widgets.timeline import Timeline
from kimi_tui.ui.widgets.todos import Todos
from kimi_tui.ui.widgets.transcript import Transcript


class ChatScreen(Queueing):
    """See the module."""

    _returned = ""
    """The prompt that the last jump put back into the box."""
    _warm = False
    """What draws answers is loaded."""

    # --- events --------------------------------------------------------------------------------------------------

    def deliver(self, batch: Sequence[ev.Event]) -> None:
        """Fold a batch of events into the screen, then draw once."""
        before = self.state
        for event in batch:
            self.conversation.apply(event)
            for note in toasts.of(event, self.state.tasks, self.names("undo", "alt+u")):
                self.notify(note.text, severity=note.severity, markup=False)
            self.state = apply(self.state, event)
            self._timeline(event)
            self._said(event)
            self.take_compaction(event)
            self.asking.take(event, offer=not self.editor.text)
        self.transcript.sync()
        if self.state is not before:
            self.show_state()

    def show_state(self) -> None:
        state = self.state
        self.status.show(state)
        self.gauge.show(state)
        self.activity.show(state)
        self.soft_warning.show(state)
        self.asking.approval.turns(state.busy)
        self.todos.show(state.todos)
        self.queue.show(state.steers, state.prompts)
        self.editor.something_queued = bool(state.steers or state.prompts)
        self.show_keys()

    def _timeline(self, event: ev.Event) -> None:
        timeline = self.sidebar.timeline
        match event:
            case ev.TranscriptReset():
                timeline.show(event.timeline)
                if event.switch is not None:
                    self.sidebar.time_moved()
                gc.freeze()
            case ev.CheckpointCreated(row, before):
                if before is not None:
                    timeline.update_row(before)
                timeline.add_row(row)
            case ev.StepEnded(row=row):
                timeline.update_row(row)
            case ev.TurnStarted() if not self._warm:
                self._warm = True
                self.run_worker(asyncio.to_thread(warm_up), group="warm up")
            case ev.EntriesLoaded():
                self.entries_loaded()
            case ev.ImagesLoaded(index, images):
                self.run_worker(self.transcript.take_images(index, images), group="images")
            case ev.RevertPreviewed(preview):
                self.sidebar.take_preview(preview)
            case ev.RotationRead(file, rows=rows):
                self.sidebar.take_rotation(file, rows)

    def _said(self, event: ev.Event) -> None:
        """Events that put something into the chat or the prompt."""
        match event:
            case ev.SessionOpened():
                self._opened(event)
            case ev.TranscriptReset():
                self._prompt_after_jump(event)
                if self.state.read_only:
                    self.conversation.say(Entry("note", self.state.read_only))
            case ev.SessionsListed() if self.is_current and not self.conversation.stored:
                self.do("sessions")  # started in order to pick one
            case ev.PromptReturned():
                self.returned_to_prompt(event)
            case ev.TurnEnded():
                if entry := toasts.ended(event, walking=self.state.walking):
                    self.conversation.say(entry)
            case ev.FlowEnded():
                self.conversation.say(toasts.walked(event))
            case ev.AsideEnded():
                self.conversation.say(toasts.aside(event))
            case ev.CommandsChanged() | ev.ResourcesChanged():
                self._prompt_knows()
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
            self.leave_timeline()

    def _prompt_knows(self) -> None:
        self.prompt.know(slash.known(self.state), self.state.resources, self.state.work_dir)

    def _opened(self, event: ev.SessionOpened) -> None:
        self.editor.earlier.prompts[:] = event.history
        self.editor.earlier.leave()
        self._prompt_knows()
        if event.draft.text:
            self.editor.restore(event.draft)
        self.editor.draft_soon()
        for notice in event.notices:
            self.notify(notice, severity="warning", markup=False)

    @on(Transcript.Wanted)
    def _load(self, event: Transcript.Wanted) -> None:
        self.submit(cmd.LoadEntries(event.first, event.end))

    @on(Transcript.ImagesWanted)
    def _load_images(self, event: Transcript.ImagesWanted) -> None:
        self.submit(cmd.LoadImages(event.index))

    @on(Transcript.StepsWanted)
    def _load_steps(self, event: Transcript.StepsWanted) -> None:
        self.submit(cmd.ReadSubagent(event.call_id))

    @on(Timeline.Left)
    def _left(self) -> None:
        self.leave_timeline()

    @on(Reader.Left)
    def _left_the_chat(self) -> None:
        self.editor.focus()

    @on(Reader.Taken)
    async def _use(self, event: Reader.Taken) -> None:
        """A block that was copied, quoted or opened in the editor."""
        match event.use:
            case "copy":
                self.app.copy_to_clipboard(event.text)
                self.notify(f"Copied {len(event.text)} characters.", timeout=2)
            case "quote":
                quoted = "\n".join(f"> {line}" for line in event.text.strip().split("\n"))
                self.editor.focus()
                self.editor.insert(f"{quoted}\n\n")
            case "edit":
                self.post_message(Edit(event.text, keep=False))

    @on(Activity.TodosAsked)
    @on(Todos.Folded)
    def _fold_todos(self) -> None:
        self.action_todo()

    @on(Submit)
    def _note_answer(self, event: Submit) -> None:
        """On its way to the app: an answer is not told by any event."""
        if isinstance(event.command, cmd.AnswerApproval | cmd.AnswerQuestion):
            self.state = answered(self.state, event.command.request_id)
            self.show_state()

    @on(Asking.Answered)
    def _back_to_the_prompt(self) -> None:
        self.editor.focus()

    @on(Reader.Typed)
    @on(Asking.Typed)
    @on(Queue.Typed)
    def _type(self, event: Reader.Typed | Asking.Typed | Queue.Typed) -> None:
        self.editor.focus()
        self.editor.insert(event.text)

    # --- the prompt ----------------------------------------------------------------------------------------------

    @on(Editor.Sent)
    def _send(self, event: Editor.Sent) -> None:
        if event.text.startswith("!"):
            self.send_off(cmd.RunShell(event.text[1:].strip()))
            return
        meaning = slash.read(event.text, self.state)
        if meaning is None:
            self.hand_over(event)
        elif not self.mean(meaning):
            self.editor.give_back(event.text)

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

    @on(Prompt.CommandsWanted)
    def _look_for_commands(self) -> None:
        if self.state.opened:
            self.submit(cmd.ListCommands())

    # --- the draft -----------------------------------------------------------------------------------------------

    @on(TextArea.Changed)
    def _written(self) -> None:
        if not self.editor.text:
            self.editor.place = None
        self.editor.draft_soon()

    @on(Editor.Drafted)
    def _keep(self, event: Editor.Drafted) -> None:
        if self.state.opened:
            self.submit(cmd.KeepDraft(event.draft))

    def do(self, name: str, argument: str = "") -> None:
        """A slash command that concerns the screen alone."""
        match name:
            case "timeline":
                self.action_timeline()
            case "todo":
                self.action_todo()
            case "rotations":
                self.sidebar.browse()
            case "rewind":
                self._rewind(int(argument))
            case "copy":
                self._copy_answer()
            case "cost":
                cost = self.state.tokens.cost
                self.notify(
                    f"This session has cost ${cost:.4f}." if cost is not None else "No price is known for this model."
                )
            case _:
                self.post_message(Do(name, argument))

    def _rewind(self, checkpoint: int) -> None:
        timeline = self.sidebar.timeline
        if timeline.seek(checkpoint):
            self.action_timeline()
            return
        near = " and ".join(map(str, timeline.list.neighbours(checkpoint)))
        nearest = f"; the nearest: {near}" if near else ""
        self.notify(f"No step begins at checkpoint {checkpoint}{nearest}.", severity="warning")

    def _copy_answer(self) -> None:
        answers = (block.entry for block in reversed(self.conversation.blocks) if block.kind == "assistant")
        if entry := next(answers, None):
            self.app.copy_to_clipboard(entry.text)
            self.notify("The last answer is in the clipboard.")
        else:
            self.notify("There is no answer to copy yet.", severity="warning")

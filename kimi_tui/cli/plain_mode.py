"""Plain mode: the same agent, told in lines and asked in lines, for screen readers and terminals that do no more."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import replace
from functools import partial

from kimi_tui.cli.connecting import connect
from kimi_tui.cli.plain import listings, queue, slash
from kimi_tui.cli.plain.agent_thread import AgentThread
from kimi_tui.cli.plain.asking import answer, approve, lines_of, review
from kimi_tui.cli.plain.carrying_out import CarryingOut, Left
from kimi_tui.cli.plain.console import Console
from kimi_tui.cli.plain.giving_way import GaveWay
from kimi_tui.cli.plain.signals import Stopped, leave_on_signals
from kimi_tui.cli.plain.telling import Telling
from kimi_tui.options import LaunchOptions
from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import Draft, SessionView, TaskView, TimelineRow
from kimi_tui.ui import external
from kimi_tui.ui.paste import Pastes
from kimi_tui.ui.state import ScreenState, apply

DUMB = "This terminal (TERM=dumb) cannot draw a screen: this is plain mode. /help lists the commands."
HELLO = "kimi-tui in plain mode. /help lists the commands."

PATIENCE = 0.1
"""Seconds between two looks at what is typed while something runs."""

Kinds = tuple[type[ev.Event], ...]
NEEDS_THE_USER = (ev.ApprovalRequested, ev.QuestionAsked, ev.CompactionProposed, ev.Closed)
FIRST_YOURS = "What you are typing is no answer to this: it goes where it was meant to go, then this is asked again."


def run(options: LaunchOptions, *, hello: str = HELLO) -> int:
    """Talk until the user leaves; then say how to come back. Returns the exit code. Raises `Fault`."""
    print(hello, flush=True)
    leave_on_signals()
    agent = AgentThread(partial(connect, replace(options, prompt=None)))
    return Conversation(agent, Console()).run(options.prompt or "", pick=options.resume == "")


class Conversation:
    """Takes turns with the agent: a line is read only when nothing runs."""

    def __init__(self, agent: AgentThread, console: Console) -> None:
        self.agent, self.console = agent, console
        self.state = ScreenState()
        self.rows: list[TimelineRow] = []
        """Newest first."""
        self.sessions: tuple[SessionView, ...] = ()
        self.tasks: tuple[TaskView, ...] = ()
        self.in_flow = False
        """More turns may follow the one that has ended."""
        self._waiting: deque[ev.Event] = deque()
        """What came while a line was typed, and needs the user."""
        self._begun: str | None = None
        """The line that was being typed when something had to be said."""
        self._telling = Telling()
        self._draft = ""
        self._kept = False
        """It is on the disk as well, from an earlier time."""
        self._to_list = 0
        """Changes of the queue that were asked for; when the last of them is made the queue is told."""
        self._owed = 0
        """Lines that were typed while something ran and have not arrived yet."""
        self._warned = False
        """The next Ctrl+C at the prompt leaves."""

    def run(self, first: str = "", *, pick: bool = False) -> int:
        """Until the end, whatever brings it. `first` is sent at once; with `pick`, the sessions are listed."""
        code = 0
        self.agent.on_event = self.console.give_way(self.agent.has_said, self._heed)
        self.agent.start()
        try:
            self._until((ev.TranscriptReset,))
            self._until((ev.SessionsListed,) if pick else (ev.ModelReady, ev.ModelUnavailable, ev.ModelProgressed))
            if first:
                self.submit(cmd.SendPrompt(first))
            while True:
                self._exchange()
        except (Left, EOFError, KeyboardInterrupt):
            pass
        except Stopped as signalled:
            code = 128 + signalled.number
        self._close()
        return code

    # --- the agent speaks ---

    def _until(self, kinds: Kinds) -> ev.Event:
        """Tell what happens until one of these does. Ctrl+C stops what runs, a second one leaves."""
        stopping = False
        while True:
            try:
                event = self._take(self._next())
            except KeyboardInterrupt:
                if stopping or not self.state.opened:
                    raise Left from None
                stopping = True
                self.console.say(["Stopping. Ctrl+C again leaves."])
                self.agent.submit(cmd.Interrupt())
                self.agent.submit(cmd.StopDraft())
                continue
            if isinstance(event, kinds):
                return event
            if isinstance(event, ev.Closed):
                raise Left

    def _next(self) -> ev.Event:
        """What the agent says next. What the user types while something runs is heard."""
        if self._waiting:
            return self._waiting.popleft()
        while self.state.busy and self.console.hears:
            self._listen()
            event = self.agent.next_within(PATIENCE)
            if event is not None:
                return event
        return self.agent.next()

    def _take(self, event: ev.Event) -> ev.Event:
        self.state = apply(self.state, event)
        self.console.say(self._telling.take(event))
        match event:
            case ev.SessionOpened(history=history, draft=draft):
                self.console.recall(history)
                self._draft = "" if draft.images else Pastes.of(draft).unfold(draft.text)
                self._kept = bool(self._draft)
            case ev.TranscriptReset(timeline=rows, prompt=prompt):
                self.rows = list(rows)
                self._draft = self._draft if prompt is None else prompt
            case ev.CheckpointCreated(row, before):
                for each in filter(None, (before, row)):
                    listings.note(self.rows, each)
            case ev.StepEnded(row=row):
                listings.note(self.rows, row)
            case ev.PromptReturned(text):
                self._draft, self._owed = text, 0
            case ev.QueueChanged() if self._to_list:
                self._to_list -= 1
                self.console.say([] if self._to_list else [*queue.lines(self.state)])
            case ev.SessionsListed(sessions):
                self.sessions = sessions
            case ev.TasksChanged(tasks):
                self.tasks = tasks
            case ev.SteerTaken() | ev.TurnStarted():
                self._owed = max(0, self._owed - 1)
            case ev.FlowStarted() | ev.FlowEnded():
                self.in_flow = isinstance(event, ev.FlowStarted)
            case ev.RotationRead(file, entries):
                self.console.say([f"{file}:", *map(listings.entry_line, entries)])
            case ev.ApprovalRequested(approval):
                self._listen()
                self.agent.submit(approve(approval, self.console.say, self.console.ask))
            case ev.QuestionAsked():
                self._listen()
                self.agent.submit(answer(event, self.console.say, self.console.ask))
            case ev.CompactionProposed():
                self._listen()
                self.agent.submit(review(event, self.console.say, self.console.ask, self._edit))
            case ev.Failed():
                self._owed = 0
        return event

    def submit(self, command: cmd.Command) -> ev.Event:
        """Hand a command over and tell all that comes of it, until nothing runs any more."""
        self.agent.submit(command)
        kinds = slash.SETTLED.get(type(command), ())
        if type(command) in slash.AT_ONCE:
            event = self._until((*kinds, ev.Noticed, ev.Failed))
        else:
            event = self._until_settled(type(command).__name__, kinds)
        self._stay()
        return event

    def _stay(self) -> None:
        """Tell all there is, until nothing runs any more."""
        self._catch_up()
        while self.state.busy or self.in_flow or self._owed:
            self._until((ev.TurnEnded, ev.FlowEnded, ev.AsideEnded, ev.CompactionEnded, ev.PromptReturned, ev.Failed))
            self._catch_up()

    def _until_settled(self, command: str, kinds: Kinds) -> ev.Event:
        """Returns what became of it: the last event of these kinds, if there was one."""
        found: ev.Event | None = None
        while True:
            event = self._until((*kinds, ev.Settled))
            if not isinstance(event, ev.Settled):
                found = event
            elif event.command == command:
                return found or event

    def _catch_up(self) -> None:
        """Tell all that the agent has said by now: an empty request for entries comes back behind it."""
        self.agent.submit(cmd.LoadEntries(0, 0))
        self._until((ev.EntriesLoaded, ev.Failed))

    # --- the user speaks ---

    def _listen(self) -> None:
        """Take in what was typed while nobody asked: it is for the turn that runs, and answers no question."""
        while text := (self.console.heard() or "").strip():
            self._hear(text)

    def _hear(self, text: str) -> None:
        match slash.read(text, self.state):
            case cmd.SendPrompt() if not self.state.busy:
                self._draft = f"{self._draft} {text}".strip()
                self.console.say(["(this was typed before the question: it stands in the next line again)"])
            case cmd.SendPrompt(said):
                self._owed += 1
                self.agent.submit(cmd.Steer(said))
                self.console.say(["(heard: it is told after this step)"])
            case cmd.Compact() | cmd.SetMode() as command:
                self.agent.submit(command)
            case slash.Said(lines):
                self.console.say(lines)
            case slash.Wanted("queue", argument):
                self._change_queue(argument)
            case _:
                self._draft = text
                self.console.say(["Not while something runs: it stands in the next line again. Ctrl+C stops it."])

    def _change_queue(self, argument: str) -> None:
        commands = queue.change(argument, self.state) if argument else ()
        if not commands:
            self.console.say([queue.USAGE] if argument else [*queue.lines(self.state)])
            return
        for command in commands:
            self.agent.submit(command)
        self._to_list += len(commands)
        if len(commands) == 1:  # taken out, and not put back in other words
            self._owed = max(0, self._owed - 1)

    def _exchange(self) -> None:
        """Take one line, or make way for what is to be said before it is done."""
        draft, self._begun = self._begun, None
        if draft is None:
            if self._waiting or self.state.busy:
                self._stay()
            draft, self._draft = self._draft, ""
        try:
            text = self.console.prompt(draft)
        except GaveWay as gave:
            self._give_way(gave.text)
        except KeyboardInterrupt:
            if self._warned:
                raise Left from None
            self._warned = True
            self.console.say(["", "Ctrl+C again leaves."])
        else:
            self._mean(text)

    def _mean(self, text: str) -> None:
        self._warned = False
        if self._kept:
            self._kept = False
            self.agent.submit(cmd.KeepDraft(Draft()))
        if self.state.busy and text.strip():
            self._hear(text.strip())
            return
        if text.lstrip().startswith("/") or not text.strip():
            self._catch_up()  # commands may have come meanwhile: prompts of servers, skills
        if text.strip():
            CarryingOut(self).do(slash.read(text, self.state))

    def _heed(self) -> bool:
        """Take in what the agent says while a line is typed. Returns whether the line has to give way to it."""
        asked = False
        while (event := self.agent.at_hand()) is not None:
            if isinstance(event, NEEDS_THE_USER):
                self._waiting.append(event)
                asked = True
            else:
                self._take(event)
        return asked or self.console.holds or (self.state.busy and not self.console.begun())

    def _give_way(self, typed: str) -> None:
        """A question waits for a line that is begun, and is put again after it."""
        self.console.release()
        if typed or self.console.unfinished:
            self._begun = typed
            for event in self._waiting:
                self.console.say([*lines_of(event), FIRST_YOURS])

    def drafted(self, command: cmd.Command) -> ev.Event:
        """Until the note is written, or will not be."""
        self.agent.submit(command)
        while True:
            event = self._until((ev.NoteDrafted, ev.Noticed, ev.Failed))
            if not (isinstance(event, ev.NoteDrafted) and event.state == "writing"):
                return event

    def _edit(self, text: str) -> str | None:
        try:
            return asyncio.run(external.edit(text))
        except (OSError, ValueError) as error:
            self.console.say([f"The editor could not be started: {error}. Set $EDITOR."])
            return None

    # --- the end ---

    def _close(self) -> None:
        """In good order, unless Ctrl+C says that even that takes too long."""
        self.agent.close()
        try:
            while not isinstance(event := self.agent.next(), ev.Closed):
                self.console.say(self._telling.take(event))
            self.agent.join()
        except KeyboardInterrupt:
            return
        if event.resume_hint:
            self.console.say(["", f"To come back: {event.resume_hint} --plain"])

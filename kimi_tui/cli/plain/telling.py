"""What happens, told in lines: a fold over the agent's events. No spinner, no bar, nothing that is drawn twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, islice

from kimi_tui.cli.answer import ENDS, sentence
from kimi_tui.cli.plain import listings, rotations
from kimi_tui.cli.plain.speaking import Speaker
from kimi_tui.cli.progress import size
from kimi_tui.literal import one_line
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import Entry, McpServerView, ModelView, SubagentView, TaskView, TodoItem

Lines = Sequence[str]

EARLIER = 4
"""Entries of an earlier conversation that are told when it is opened."""
_BOXES = {"pending": "[ ]", "in_progress": "[>]", "done": "[x]"}
_EVERY = 10
"""Per cent of a download between two lines."""


class Telling:
    """Takes every event, gives the lines to print; most events give none."""

    def __init__(self) -> None:
        self._speaker = Speaker()
        self._spoke = self._thought = False
        """Something of the running step's text, or of its thinking, has been told."""
        self._own: set[str] = set()
        """Calls that are the user's own commands: their output is told."""
        self._phase: tuple[str, int] | None = None
        self._states: dict[str, str] = {}
        """Of background tasks and tool servers, as they were last told."""
        self._introduced: set[str] = set()
        """Models whose limits have been told."""

    def take(self, event: ev.Event) -> Lines:
        parts = (self._session, self._model, self._answer, self._tools, self._time, self._beside)
        return [*chain.from_iterable(part(event) for part in (*parts, self._listed, self._words))]

    # --- the session and its model ---

    def _session(self, event: ev.Event) -> Iterable[str]:
        match event:
            case ev.SessionOpened():
                yield f"Session {event.session_id} in {event.work_dir}, model {event.model.name}."
                if event.title:
                    yield f"Title: {event.title}"
                yield from filter(None, (event.read_only, *event.notices))
                yield from self._about(event.model)
            case ev.TranscriptReset(switch=None) if any(entry.kind == "user" for entry in event.entries):
                yield f"{event.total} entries so far; the last ones:"
                yield from map(_entry, event.entries[-EARLIER:])
                yield listings.gauge(event.tokens)
            case ev.TitleChanged(title):
                yield f"Title: {title}"
            case ev.ModesChanged(modes, reason):
                on = [name for name in ("plan", "yolo", "afk") if getattr(modes, name)]
                yield reason or f"Modes: {', '.join(on) or 'none'}."

    def _model(self, event: ev.Event) -> Iterable[str]:
        match event:
            case ev.ModelProgressed(name, phase, done, total):
                step = 100 * done // total // _EVERY * _EVERY if total and phase == "fetching" else 0
                if self._phase != (phase, step):
                    self._phase = (phase, step)
                    yield f"{phase} {name}{f': {step} % of {size(total)}' if phase == 'fetching' else ''} …"
            case ev.ModelReady(model):
                if self._phase:
                    self._phase = None
                    yield f"{model.name} is ready."
                yield from self._about(model)
            case ev.ModelUnavailable(name, reason, hint):
                yield f"{name} cannot answer: {sentence(reason, hint)}"

    def _about(self, model: ModelView) -> Iterable[str]:
        if model.about and model.name not in self._introduced:
            self._introduced.add(model.name)
            yield model.about

    # --- a turn ---

    def _answer(self, event: ev.Event) -> Iterable[str]:
        match event:
            case ev.StepStarted():
                self._spoke = self._thought = False
            case ev.ThinkingDelta() if not self._thought:
                self._thought = True
                yield "(thinking)"
            case ev.TextDelta(text):
                self._spoke = True
                yield from self._speaker.feed(text)
            case ev.StreamReset():
                yield from self._speaker.flush()
                yield "(the answer broke off)"
                self._spoke = False
            case ev.MessageStored(entries=entries):
                yield from self._speaker.flush()
                if not self._spoke:
                    yield from (entry.text for entry in entries if entry.kind == "assistant" and entry.text)
            case ev.SteerTaken(entry=entry):
                yield f"(joins the turn: {one_line(entry.text)})"
            case ev.TurnEnded(reason):
                yield from self._speaker.flush()
                if reason != "done":
                    yield f"({sentence(event.message or ENDS[reason], event.hint)})"

    def _tools(self, event: ev.Event) -> Iterable[str]:
        match event:
            case ev.EntryAdded(entry=Entry(kind="tool", tool=tool)) if tool is not None:
                self._own.add(tool.call_id)
            case ev.EntryAdded(entry=entry) if entry.kind not in ("injection", "user"):
                yield entry.text
            case ev.ToolCallFinished(tool):
                if tool.call_id in self._own and tool.output.strip():
                    yield tool.output.rstrip("\n")
                yield listings.tool_line(tool)
            case ev.EntriesChanged(entries=entries):
                yield from (
                    f"{'Pinned' if each.pinned else 'No longer pinned'}: {listings.entry_line(each)}"
                    for each in entries
                )
            case ev.TodosChanged(todos):
                yield from map(todo_line, todos)

    def _beside(self, event: ev.Event) -> Iterable[str]:
        match event:
            case ev.FlowStarted(flow):
                yield f"Flow {flow.name} begins. Ctrl+C ends all of it."
            case ev.FlowMoved(label=label, iterations=number):
                yield f"Flow, turn {number}: {one_line(label)}"
            case ev.FlowEnded(flow, message=message):
                yield f"Flow {flow} has ended: {message}"
            case ev.AsideEnded(answer=answer, fault=fault):
                yield answer or f"No answer: {fault}"
            case ev.SubagentChanged(SubagentView(description=name, state="running", steps=0)):
                yield f"Subagent {one_line(name)} begins."
            case ev.TaskRead(task, output):
                yield from (*islice(listings.tasks([task]), 1), output.rstrip())
            case ev.TasksChanged(tasks):
                yield from self._tasks_that_changed(tasks)
            case ev.ServerAwaited(server) if server:
                yield one_line(f"Waiting for the server {server}. Ctrl+C stops it.")
            case ev.McpChanged(servers):
                yield from self._servers_that_changed(servers)

    def _tasks_that_changed(self, tasks: Sequence[TaskView]) -> Iterable[str]:
        for task in tasks:
            if self._states.get(task.id, "running") != task.status:
                yield one_line(f"Background task {task.id} is {task.status}: {task.command}")
            self._states[task.id] = task.status

    def _servers_that_changed(self, servers: Sequence[McpServerView]) -> Iterable[str]:
        for server in servers:
            if server.state == "failed" and self._states.get(f"mcp {server.name}") != "failed":
                yield one_line(f"The tool server {server.name} failed: {server.error}")
            if server.sign_in_at and self._states.get(f"sign in {server.name}") != server.sign_in_at:
                yield f"Sign in to {one_line(server.name)} at this address, with any browser: {server.sign_in_at}"
                yield f"A browser elsewhere ends on a page that cannot be reached: /mcp answer {server.name} ADDRESS"
            if server.state == "ready" and self._states.get(f"mcp {server.name}") == "locked":
                yield one_line(f"The tool server {server.name} is ready.")
            self._states[f"mcp {server.name}"] = server.state
            self._states[f"sign in {server.name}"] = server.sign_in_at

    # --- time ---

    def _time(self, event: ev.Event) -> Iterable[str]:
        match event:
            case ev.ContextSwitched(switch):
                yield listings.switch_line(switch)
            case ev.CompactionNear(tokens, trigger) if trigger:
                yield (
                    f"The context will soon be compacted: {tokens:,} tokens, at {trigger:,} it happens by itself. "
                    "/compact does it now, /pin N keeps a message, /snooze is for later."
                )
            case ev.CompactionStarted(tokens=tokens):
                yield f"Compacting {tokens:,} tokens. Ctrl+C stops it."
            case ev.CompactionProgressed(phase=phase) if self._phase != (phase, 0):
                self._phase = (phase, 0)
                yield f"{phase} …"
            case ev.CompactionEnded(outcome, before, after, message):
                self._phase = None
                gained = "" if after < before else " Nothing was gained: /undo takes it back."
                done = f"Compacted {before:,} to {after:,} tokens.{gained}"
                yield done if outcome == "done" else f"Not compacted: {message or outcome}."

    def _listed(self, event: ev.Event) -> Iterable[str]:
        match event:
            case ev.RotationsListed(found):
                yield from listings.rotations(found)
            case ev.ContextMeasured():
                yield from listings.context(event)
            case ev.ModelsListed():
                yield from listings.models(event)
            case ev.SessionsListed(sessions):
                yield from listings.sessions(sessions)
            case ev.TimelinesCompared():
                yield from listings.compared(event)
            case ev.RevertPreviewed(preview):
                yield from listings.preview(preview)
            case ev.PruningProposed(pruning):
                yield from rotations.proposed(pruning)

    def _words(self, event: ev.Event) -> Iterable[str]:
        match event:
            case ev.Noticed(text, severity):
                yield text if severity == "information" else f"{severity}: {text}"
            case ev.RetryScheduled():
                yield f"{event.reason}: try {event.attempt} of {event.attempts} follows in {event.wait:.0f} s"
            case ev.PromptReturned(reason=reason):
                why = f"Your prompt was not used{f': {reason}' if reason else ''}"
                yield sentence(why, "It stands in the next line again.")
            case ev.Failed(message, hint):
                yield f"error: {sentence(message, hint)}"


def _entry(entry: Entry) -> str:
    if entry.kind in ("user", "assistant"):
        return f"{'You' if entry.kind == 'user' else 'Agent'}: {entry.text}"
    return listings.entry_line(entry)


def todo_line(item: TodoItem) -> str:
    return f"{_BOXES[item.status]} {one_line(item.title)}"

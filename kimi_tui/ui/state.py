"""What the screen shows besides the chat: a pure fold over the agent's events."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import (
    ModelView,
    Modes,
    ResourceView,
    SlashCommand,
    SubagentView,
    TaskView,
    TodoItem,
    Tokens,
)
from kimi_tui.ui.flow_run import FlowRun, follow

Activity = Literal["", "waiting", "thinking", "answering", "tool", "retrying", "asking"]
"""What a running turn is busy with; empty when none runs."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """A compaction that runs now."""

    reason: str
    tokens: int
    phase: str = "hooks"
    done: int = 0
    fraction: float | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """A model that is being made ready."""

    name: str
    phase: str
    done: int = 0
    total: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Retry:
    reason: str
    attempt: int
    attempts: int
    wait: float


@dataclass(frozen=True, slots=True)
class ScreenState:
    """Everything around the chat. Replaced as a whole by `apply`, so that widgets can compare."""

    opened: bool = False
    session: str = ""
    path: str = ""
    work_dir: str = ""
    branch: str = ""
    title: str = ""
    read_only: str = ""
    model: ModelView | None = None
    modes: Modes = field(default_factory=Modes)
    tokens: Tokens = field(default_factory=Tokens)
    activity: Activity = ""
    in_turn: bool = False
    """False while a command of the user's own runs."""
    tools: tuple[str, ...] = ()
    """Ids of the calls that run."""
    retry: Retry | None = None
    compaction: Compaction | None = None
    proposal: ev.CompactionProposed | None = None
    """A summary that waits for the user's word."""
    near: tuple[int, int] | None = None
    """A compaction is near: tokens when that was noticed, and the count at which it comes."""
    progress: Progress | None = None
    unavailable: str = ""
    steers: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    todos: tuple[TodoItem, ...] = ()
    tasks: tuple[TaskView, ...] = ()
    commands: tuple[SlashCommand, ...] = ()
    undo: str = ""
    redo: str = ""
    resume_hint: str = ""
    failed: str = ""
    closed: bool = False
    questions: tuple[str, ...] = ()
    """Ids of approvals and questions that wait for an answer."""
    flow: FlowRun | None = None
    """The flow that runs, or the one that ran last."""
    resources: tuple[ResourceView, ...] = ()
    """What can be sent along from servers."""
    awaited: str = ""
    """The server that a command waits for."""
    aside: str = ""
    """A question that is asked beside the conversation."""

    @property
    def walking(self) -> bool:
        """A flow runs: other turns follow the one that ends."""
        return self.flow is not None and self.flow.ended is None

    @property
    def busy(self) -> bool:
        """Something runs, so Esc has something to stop."""
        return bool(self.activity) or self.compaction is not None or self.walking or bool(self.aside or self.awaited)

    @property
    def running(self) -> tuple[TaskView, ...]:
        """Background tasks that run, whoever started them."""
        return tuple(task for task in self.tasks if task.status == "running")

    @property
    def ending(self) -> tuple[TaskView, ...]:
        """Those that end with this session."""
        return tuple(task for task in self.running if not task.session)


def apply(state: ScreenState, event: ev.Event) -> ScreenState:
    """The state after the event; the same object when the event changes nothing here."""
    for fold in (_streaming, _turn, _beside, _time, _session):
        changed = fold(state, event)
        if changed is not None:
            return changed
    return state


def _streaming(state: ScreenState, event: ev.Event) -> ScreenState | None:
    match event:
        case ev.TextDelta():
            return _busy(state, "answering")
        case ev.ThinkingDelta():
            return _busy(state, "thinking")
        case ev.ToolOutputDelta():
            return state
    return None


def _busy(state: ScreenState, activity: Activity) -> ScreenState:
    if state.activity == activity and state.retry is None:
        return state
    return replace(state, activity=activity, retry=None)


def _turn(state: ScreenState, event: ev.Event) -> ScreenState | None:
    match event:
        case ev.TurnStarted():
            return replace(_busy(state, "waiting"), in_turn=True)
        case ev.StepStarted() | ev.StreamReset():
            return _busy(state, "waiting")
        case ev.TurnEnded():
            then: Activity = "waiting" if state.walking else ""
            return replace(state, activity=then, in_turn=False, retry=None, tools=())
        case ev.RetryScheduled(reason, attempt, attempts, wait):
            return replace(state, activity="retrying", retry=Retry(reason, attempt, attempts, wait))
        case ev.ToolCallStarted(tool):
            return replace(_busy(state, "tool"), tools=(*state.tools, tool.call_id))
        case ev.ToolCallFinished(tool):
            left = tuple(call for call in state.tools if call != tool.call_id)
            return replace(_busy(state, "tool" if left else "waiting" if state.in_turn else ""), tools=left)
        case ev.ApprovalRequested(approval):
            return replace(state, questions=(*state.questions, approval.request_id))
        case ev.QuestionAsked(request_id):
            return replace(state, questions=(*state.questions, request_id))
        case ev.ApprovalWithdrawn(request_id) | ev.QuestionWithdrawn(request_id):
            return replace(state, questions=tuple(asked for asked in state.questions if asked != request_id))
        case ev.QueueChanged(steers, prompts):
            return replace(state, steers=steers, prompts=prompts)
        case ev.TodosChanged(todos):
            return replace(state, todos=todos)
        case ev.TasksChanged(tasks):
            return replace(state, tasks=tasks)
        case ev.SubagentChanged(subagent) if any(is_of(task, subagent) for task in state.tasks):
            return replace(state, tasks=with_agent(state.tasks, subagent))
    return None


def is_of(task: TaskView, subagent: SubagentView) -> bool:
    """Whether that subagent works as that task."""
    known = task.agent
    return known is not None and (known.id, known.call_id) == (subagent.id, subagent.call_id)


def with_agent(tasks: tuple[TaskView, ...], subagent: SubagentView) -> tuple[TaskView, ...]:
    """The tasks, with the subagent as it stands now."""
    return tuple(replace(task, agent=subagent) if is_of(task, subagent) else task for task in tasks)


def answered(state: ScreenState, request_id: str) -> ScreenState:
    """The user has given an answer; nothing waits for it any more."""
    left = tuple(asked for asked in state.questions if asked != request_id)
    return state if left == state.questions else replace(state, questions=left)


def _beside(state: ScreenState, event: ev.Event) -> ScreenState | None:
    match event:
        case ev.FlowStarted() | ev.FlowMoved():
            return replace(state, flow=follow(state.flow, event))
        case ev.FlowEnded():
            return replace(state, flow=follow(state.flow, event), activity="")
        case ev.AsideStarted(question):
            return replace(state, aside=question)
        case ev.AsideEnded():
            return replace(state, aside="")
        case ev.ResourcesChanged(resources):
            return replace(state, resources=resources)
        case ev.ServerAwaited(server):
            return replace(state, awaited=server)
        case ev.CommandsChanged(commands):
            return replace(state, commands=commands)
    return None


def _time(state: ScreenState, event: ev.Event) -> ScreenState | None:
    match event:
        case ev.TokensChanged(tokens):
            return replace(state, tokens=tokens)
        case ev.TranscriptReset(tokens=tokens, undo=undo, redo=redo):
            return replace(state, tokens=tokens, undo=undo, redo=redo)
        case ev.CompactionStarted(reason, tokens):
            return replace(state, compaction=Compaction(reason, tokens))
        case ev.CompactionProgressed(phase, tokens, fraction):
            before = state.compaction or Compaction("auto", tokens)
            now = replace(before, phase=phase, done=tokens, fraction=fraction)
            return replace(state, compaction=now, proposal=None)
        case ev.CompactionProposed():
            return replace(state, proposal=event)
        case ev.CompactionEnded():
            return replace(state, compaction=None, proposal=None)
        case ev.CompactionNear(tokens, trigger):
            return replace(state, near=(tokens, trigger) if trigger else None)
    return None


def _session(state: ScreenState, event: ev.Event) -> ScreenState | None:
    match event:
        case ev.SessionOpened():
            return _opened(event)
        case ev.TitleChanged(title):
            return replace(state, title=title)
        case ev.ModesChanged(modes):
            return replace(state, modes=modes)
        case ev.BranchChanged(branch):
            return replace(state, branch=branch)
        case ev.ModelProgressed(name, phase, done, total, seconds):
            return replace(state, progress=Progress(name, phase, done, total, seconds), unavailable="")
        case ev.ModelReady(model):
            return replace(state, model=model, progress=None, unavailable="")
        case ev.ModelUnavailable(name, reason):
            return replace(state, progress=None, unavailable=f"{name}: {reason}")
        case ev.Failed(message):
            return replace(state, failed=message, activity="", compaction=None, progress=None, retry=None)
        case ev.Closed(resume_hint):
            return replace(state, resume_hint=resume_hint, closed=True, activity="")
    return None


def _opened(event: ev.SessionOpened) -> ScreenState:
    """A session starts with a clean state: nothing of the one before applies to it."""
    return ScreenState(
        opened=True,
        session=event.session_id,
        path=event.path,
        work_dir=event.work_dir,
        branch=event.branch,
        title=event.title,
        read_only=event.read_only,
        model=event.model,
        modes=event.modes,
        commands=event.commands,
        resume_hint=event.resume_hint,
    )

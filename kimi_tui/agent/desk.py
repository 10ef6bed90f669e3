"""What lies on the agent's desk: one open session, and all that its turns work with.

Everything in `agent/` that does something takes a desk. Opening another session puts a new desk in place of the old.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kimi_tui.agent.compaction.nearness import Nearness
from kimi_tui.agent.compaction.pins import Pins
from kimi_tui.agent.compaction.proposal import Review
from kimi_tui.agent.dmail import DenwaRenji
from kimi_tui.agent.gauge import Limits, Scale, counted_beside, tokens_view
from kimi_tui.agent.grants import written
from kimi_tui.agent.questions import Questions
from kimi_tui.agent.saving import StateFile, UnsentDraft
from kimi_tui.agent.session_servers import SessionServers
from kimi_tui.agent.session_skills import SessionSkills
from kimi_tui.agent.steering import Steering
from kimi_tui.agent.tasks.session_tasks import SessionTasks
from kimi_tui.agent.telemetry import Telemetry
from kimi_tui.agent.transcript import Transcript
from kimi_tui.agent.travel.files import Files, nothing_recorded
from kimi_tui.context import Budget, Context, Learned
from kimi_tui.hooks import Hooks
from kimi_tui.injections import Injections, StepView
from kimi_tui.llm.model import ChatModel, Request, Usage
from kimi_tui.llm.retry import RetryPolicy
from kimi_tui.protocol.events import Event, ModesChanged, Noticed, TodosChanged, TokensChanged
from kimi_tui.protocol.messages import Message
from kimi_tui.protocol.views import Modes, TodoItem, Tokens
from kimi_tui.session import Session, SessionState
from kimi_tui.tools.approval import Approvals
from kimi_tui.tools.toolset import Toolset

if TYPE_CHECKING:
    from kimi_tui.agent.subagents.running import Subagents

_FORK = "/fork makes a copy to go on in."


@dataclass(frozen=True, slots=True)
class Retention:
    """How many rotations a session keeps, and what happens when it has more."""

    policy: Literal["ask", "auto", "off"] = "ask"
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True, slots=True)
class Loop:
    """How far a turn may go."""

    max_steps: int = 1000
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    limits: Limits = field(default_factory=Limits)
    max_ralph_iterations: int = 0
    """Further rounds that every prompt gets; -1: no limit."""
    max_ralph_cost: float | None = None
    """US dollars that a Ralph loop may spend."""
    max_preserved_messages: int = 2
    preview: bool = False
    """A summary is shown to the user before it replaces anything."""
    dmail_restores_files: bool = False
    retention: Retention = field(default_factory=Retention)
    """What a session keeps of the files that it left behind."""


@dataclass(slots=True, kw_only=True)
class Desk:
    emit: Callable[[Event], None]
    session: Session
    state: SessionState
    state_file: StateFile
    unsent: UnsentDraft
    context: Context
    model: ChatModel
    summariser: ChatModel | None = None
    """Who writes summaries; None: the model of the chat."""
    first_prompt: str = ""
    """The system prompt that a session without one gets with its first turn."""
    toolset: Toolset
    approvals: Approvals
    hooks: Hooks
    injections: Injections
    telemetry: Telemetry
    steering: Steering
    denwa_renji: DenwaRenji
    questions: Questions
    transcript: Transcript
    loop: Loop = field(default_factory=Loop)
    learned: Learned = field(default_factory=Learned)
    """What exact counts have taught about each model's way of counting."""
    modes: Modes = field(default_factory=Modes)
    """As they hold now. What the command line switched on holds for this run and is not remembered."""
    files: Files = field(default_factory=nothing_recorded)
    dirs: Sequence[Path] = ()
    """Further folders that the tools may use."""
    notices: Sequence[str] = ()
    """What was noticed while opening, beside what the context itself reports."""
    title: str = ""
    """What the session is called now: by the user, or after its first prompt."""
    skills: SessionSkills = field(default_factory=SessionSkills)
    tasks: SessionTasks | None = None
    """Commands and subagents in the background; None where there can be none."""
    subagents: Subagents | None = None
    """Those that this agent has sent out; None where it cannot send any."""
    servers: SessionServers | None = None
    """Servers that lend tools; None where none may."""
    headless: bool = False
    """Nobody is there to be asked, whatever the modes say."""
    parent: Desk | None = None
    """Whoever sent this subagent; None for the session's own agent."""
    tool_state: dict[str, Any] = field(default_factory=dict)
    """Shared between the calls of the tools, for as long as the session is open."""
    clock: Callable[[], float] = time.time
    cost: float | None = None
    """US dollars spent since the session was opened, where known."""
    beside: int | None = None
    """What is sent beside the history, in tokens, by the model's own first count; None before that."""
    used: int = 0
    """Tokens sent and received since then, over all calls."""
    told_problems: int = 0
    told_budget: bool = False
    """The user has been told that there are too many rotations; once is enough."""
    looked_at: str = ""
    """The live timeline when the budget was last looked at."""
    told_tokens: Tokens | None = None
    folded_to: int | None = None
    """Tokens that the last automatic compaction left."""
    nearness: Nearness = field(default_factory=Nearness)
    review: Review = field(default_factory=Review)
    compact_next: str | None = None
    """The user wants the context compacted before the next step, with this focus."""
    plan_activated: bool = False
    """The user has just switched plan mode on: the next step reminds of it."""

    @property
    def window(self) -> int:
        """The model's context window in tokens; 0 when unknown."""
        return self.model.view.window

    @property
    def system_prompt(self) -> str:
        """The session's own, or the one that it is about to get."""
        return self.context.system_prompt if self.context.system_prompt is not None else self.first_prompt

    @property
    def shows_checkpoints(self) -> bool:
        """Whether the model can send D-Mails, and so has to see the checkpoints."""
        return self.model.view.tools and "SendDMail" in self.toolset

    @property
    def pins(self) -> Pins:
        """What compactions keep word for word."""
        return Pins(self.state.pins)

    @property
    def reviews(self) -> bool:
        """A summary is put to the user first; who is not there is not asked, and no one is about a subagent's."""
        return self.loop.preview and self.parent is None and not (self.headless or self.modes.afk)

    @property
    def plan_file(self) -> Path:
        """Where the plan of this session is written."""
        return Path(self.state.plan_file) if self.state.plan_file else self.session.folder / "plan.md"

    @property
    def in_plan_mode(self) -> bool:
        """Also while the one who sent this subagent is."""
        return self.modes.plan or (self.parent is not None and self.parent.in_plan_mode)

    @property
    def read_only(self) -> str:
        """Why nothing can be written to the session; empty when it can."""
        holder = self.context.holder
        if holder is not None:
            return (
                f"{holder} has this session open: it can be read here, not continued. /fork makes a copy to go on in."
            )
        disk = next((problem.what for problem in self.context.problems if problem.kind == "disk"), "")
        return f"{disk} It can be read. {_FORK}" if disk else ""

    def step_view(self) -> StepView:
        """What injection providers may know."""
        return StepView(
            plan=self.modes.plan,
            plan_file=self.plan_file,
            plan_activated=self.plan_activated,
            afk=(self.modes.afk or self.headless) and self.model.view.tools,
            root=self.parent is None,
        )

    def request(self, history: Sequence[Message] | None = None) -> Request:
        """The next call to the model."""
        tools = self.toolset.specs() if self.model.view.tools else ()
        return Request(self.system_prompt, self.context.history if history is None else history, tools)

    @property
    def total(self) -> int:
        """Tokens that the next call is expected to send."""
        return self.scale(self.context.token_count_with_pending, bool(self.context.token_count))

    @property
    def scale(self) -> Scale:
        """Makes the gauge's figures of the context's. To be kept for as long as nothing is sent."""
        return Scale(self.overhead)

    def overhead(self) -> int:
        """Tokens of what is sent beside the history (system prompt, tools): as a report told them, else estimated."""
        told = counted_beside(self.context)
        self.beside = self.beside if told is None else told
        if self.beside is not None:
            return self.beside
        tools = self.toolset.specs() if self.model.view.tools else ()
        texts = [self.system_prompt, *(tool.counted for tool in tools)]
        return self.context.estimate([Message(role="user", content="\n".join(texts))])

    def tokens(self) -> Tokens:
        """The gauge as it stands."""
        context = self.context
        return tokens_view(
            context.token_count,
            self.total,
            self.window,
            self.loop.limits,
            exact_at=None if self._estimated() else context.exact_at,
            cost=self.cost,
        )

    def tell_problems(self) -> bool:
        """Let the user know what the context noticed since the last time. True when another program wrote to it."""
        fresh = self.context.problems[self.told_problems :]
        self.told_problems = len(self.context.problems)
        for problem in fresh:
            self.emit(Noticed(problem.what, "warning"))
        return any(problem.kind == "foreign" for problem in fresh)

    def tell_tokens(self) -> None:
        """Let the screen know when the gauge has changed."""
        tokens = self.tokens()
        if tokens != self.told_tokens:
            self.told_tokens = tokens
            self.emit(TokensChanged(tokens))
        self.tell_nearness(tokens)

    def tell_nearness(self, tokens: Tokens) -> None:
        """Let the screen know when a compaction comes near, and when it no longer is."""
        if news := self.nearness.look(tokens, self.loop.limits.warns_in(self.window)):
            self.emit(news)

    def _estimated(self) -> bool:
        """The recorded count is the one that a compaction left, not yet a provider's."""
        birth = self.context.timeline.live.birth
        return (
            birth is not None and birth.why in ("compact", "prune") and self.context.pending_since == birth.messages[1]
        )

    def spent(self, usage: Usage) -> None:
        """Add a call's tokens, and its price where it is known."""
        self.used += usage.input + usage.output
        if usage.cost is not None:
            self.cost = (self.cost or 0.0) + usage.cost
        if self.parent is not None:
            self.parent.spent(usage)
            self.parent.tell_tokens()

    def apply_modes(self) -> None:
        """Let the approvals know whom they may ask."""
        self.approvals.yolo = self.modes.yolo
        self.approvals.attended = not (self.modes.afk or self.headless)

    def set_mode(self, mode: Literal["plan", "yolo", "afk"], on: bool) -> None:
        """Switch a mode, tell the screen, and remember it with the session."""
        self.modes = replace(self.modes, **{mode: on})
        setattr(self.state, mode, on)
        self.apply_modes()
        self.emit(ModesChanged(self.modes))
        self.keep_state()

    def set_todos(self, todos: Sequence[TodoItem]) -> None:
        """Put another list of to-dos in place, on the screen too."""
        if tuple(todos) == self.state.todos:
            return
        self.state.todos = tuple(todos)
        self.emit(TodosChanged(self.state.todos))
        self.keep_state()

    def keep_queue(self) -> None:
        """Remember what waits to be sent. What goes out at once never gets as far as the disk."""
        asyncio.get_running_loop().call_soon(self._keep_queue)

    def _keep_queue(self) -> None:
        if self.state.queued != self.steering.texts:
            self.state.queued = self.steering.texts
            self.keep_state()

    async def begin(self) -> bool:
        """Before the first record of a session: its folder, and the system prompt as line 1. True when records that
        another program wrote without one stand elsewhere in the file now."""
        if self.context.system_prompt is not None:
            return False
        await self.context.write_system_prompt(self.first_prompt)
        self.keep_state()  # says which folder the session belongs to
        return bool(self.context.checkpoints)

    def keep_grants(self) -> None:
        """Remember what the user allowed for the session, when that has changed."""
        if self.state.approvals != tuple(written(rule) for rule in self.approvals.session):
            self.keep_state()

    def keep_state(self) -> None:
        """Let modes and title get to the disk in the background; a session that is not ours stays as it is."""
        self.state.approvals = tuple(written(rule) for rule in self.approvals.session)
        if not self.read_only:
            self.state_file.save()

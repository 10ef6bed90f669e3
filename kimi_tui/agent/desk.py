"""What lies on the agent's desk: one open session, and all that its turns work with.

Everything in `agent/` that does something takes a desk. Opening another session puts a new desk in place of the old.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kimi_tui.agent.dmail import DenwaRenji
from kimi_tui.agent.gauge import Limits, tokens_view
from kimi_tui.agent.questions import Questions
from kimi_tui.agent.steering import Steering
from kimi_tui.agent.telemetry import Telemetry
from kimi_tui.agent.transcript import Transcript
from kimi_tui.context import Context
from kimi_tui.hooks import Hooks
from kimi_tui.injections import Injections, StepView
from kimi_tui.llm.model import ChatModel, Request
from kimi_tui.llm.retry import RetryPolicy
from kimi_tui.protocol.events import Event
from kimi_tui.protocol.messages import Message
from kimi_tui.protocol.views import ApprovalView, Tokens
from kimi_tui.session import Session, SessionState
from kimi_tui.tools.base import Decision
from kimi_tui.tools.toolset import Toolset


@dataclass(frozen=True, slots=True)
class Loop:
    """How far a turn may go."""

    max_steps: int = 1000
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    limits: Limits = field(default_factory=Limits)
    max_preserved_messages: int = 2


@dataclass(slots=True, kw_only=True)
class Desk:
    emit: Callable[[Event], None]
    session: Session
    state: SessionState
    context: Context
    model: ChatModel
    summariser: ChatModel | None = None
    """Who writes summaries; None: the model of the chat."""
    toolset: Toolset
    approve: Callable[[ApprovalView], Awaitable[Decision]]
    """Decides whether a call may go on, asking the user where no rule does."""
    hooks: Hooks
    injections: Injections
    telemetry: Telemetry
    steering: Steering
    denwa_renji: DenwaRenji
    questions: Questions
    transcript: Transcript
    loop: Loop = field(default_factory=Loop)
    dirs: Sequence[Path] = ()
    """Further folders that the tools may use."""
    headless: bool = False
    clock: Callable[[], float] = time.time
    cost: float | None = None
    """US dollars spent since the session was opened, where known."""
    plan_activated: bool = False
    """The user has just switched plan mode on: the next step reminds of it."""

    @property
    def window(self) -> int:
        """The model's context window in tokens; 0 when unknown."""
        return self.model.view.window

    @property
    def shows_checkpoints(self) -> bool:
        """Whether the model can send D-Mails, and so has to see the checkpoints."""
        return self.model.view.tools and "SendDMail" in self.toolset

    @property
    def plan_file(self) -> Path:
        """Where the plan of this session is written."""
        return Path(self.state.plan_file) if self.state.plan_file else self.session.folder / "plan.md"

    def step_view(self) -> StepView:
        """What injection providers may know."""
        return StepView(
            plan=self.state.plan,
            plan_file=self.plan_file,
            plan_activated=self.plan_activated,
            afk=self.state.afk,
        )

    def request(self, history: Sequence[Message] | None = None) -> Request:
        """The next call to the model."""
        tools = self.toolset.specs() if self.model.view.tools else ()
        return Request(self.context.system_prompt or "", self.context.history if history is None else history, tools)

    def tokens(self) -> Tokens:
        """The gauge as it stands."""
        context = self.context
        return tokens_view(
            context.token_count,
            context.token_count_with_pending,
            self.window,
            self.loop.limits,
            exact_at=context.exact_at,
            cost=self.cost,
        )

    def save_state(self) -> None:
        """Write `state.json`. Raises OSError or Fault."""
        self.session.save_state(self.state)

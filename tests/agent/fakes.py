"""A model that answers from a list, small tools, and an agent that is driven by commands and watched by its events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel

from kimi_tui.agent.agent import Agent
from kimi_tui.agent.desk import Desk, Loop
from kimi_tui.agent.dmail import DenwaRenji
from kimi_tui.agent.gauge import Limits
from kimi_tui.agent.outbox import Outbox
from kimi_tui.agent.questions import Questions
from kimi_tui.agent.saving import StateFile, UnsentDraft
from kimi_tui.agent.session_skills import SessionSkills
from kimi_tui.agent.steering import Steering
from kimi_tui.agent.telemetry import Telemetry
from kimi_tui.agent.transcript import Transcript
from kimi_tui.context import Context, Learned
from kimi_tui.hooks import HookDef, Hooks
from kimi_tui.injections import AfkInjectionProvider, DynamicInjectionProvider, Injections, PlanInjectionProvider
from kimi_tui.llm.model import CallPiece, ChatModel, Finish, ModelFault, Piece, Report, Request, TextPiece, Usage
from kimi_tui.llm.retry import RetryPolicy
from kimi_tui.protocol.commands import Close, Command, SendPrompt
from kimi_tui.protocol.events import Event, ModelReady, Noticed, TurnEnded
from kimi_tui.protocol.messages import Message
from kimi_tui.protocol.views import ApprovalView, ModelView
from kimi_tui.session import Session, SessionState
from kimi_tui.skills import skill_roots
from kimi_tui.tools.approval import Answer, Approvals
from kimi_tui.tools.base import Call, Tool, ToolResult
from kimi_tui.tools.toolset import Toolset

Step = Piece | Exception | asyncio.Event | Callable[[], None]
"""A piece, a fault, something to wait for, or something to do at that moment."""

E = TypeVar("E", bound=Event)


def says(text: str, tokens: int | None = 100) -> list[Step]:
    """A reply of plain text, in two pieces, with its usage."""
    half = len(text) // 2
    pieces: list[Step] = [TextPiece(text[:half]), TextPiece(text[half:])]
    return [*pieces, *([Usage(tokens - 10, 10)] if tokens else []), Finish("stop")]


def calls(*wanted: tuple[str, dict[str, Any]], text: str = "", tokens: int = 100) -> list[Step]:
    """A reply that calls tools; ids are `c<number>` and unique in a test when the arguments hold an `id`."""
    pieces: list[Step] = [TextPiece(text)] if text else []
    for index, (name, arguments) in enumerate(wanted):
        call_id = str(arguments.pop("id", f"c{index}"))
        pieces.append(CallPiece(index, call_id, name, json.dumps(arguments)))
    return [*pieces, Usage(tokens - 10, 10), Finish("tool_calls")]


class ScriptedModel:
    """Answers from its list. Requests without tools and with a compaction's system prompt take from `summaries`."""

    def __init__(self, *replies: Sequence[Step], window: int = 100_000, tools: bool = True) -> None:
        self.replies = list(replies)
        self.summaries: list[Sequence[Step]] = []
        self.requests: list[Request] = []
        self.prepared = asyncio.Event()
        self.prepared.set()
        self.preparation: list[Step] = []
        self.warmed: list[Request] = []
        self.closed = False
        self._view = ModelView("scripted", window=window, tools=tools)

    @property
    def view(self) -> ModelView:
        return self._view

    async def prepare(self, report: Report) -> None:
        for step in self.preparation:
            if isinstance(step, Exception):
                raise step
        report("fetching", 1, 2)
        await self.prepared.wait()

    async def warm(self, request: Request, report: Report) -> None:
        self.warmed.append(request)

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        self.requests.append(Request(request.system, list(request.history), request.tools, request.max_output_tokens))
        source = self.summaries if "condense" in request.system and self.summaries else self.replies
        if not source:
            raise ModelFault("other", "the script has ended")
        for step in source.pop(0):
            if isinstance(step, Exception):
                raise step
            if isinstance(step, asyncio.Event):
                await step.wait()
            elif callable(step):
                step()
            else:
                yield step

    async def close(self) -> None:
        self.closed = True

    def sent(self, number: int = -1) -> list[str]:
        """The texts of a request's history, one a message."""
        return [f"{message.role}: {message.text()}" for message in self.requests[number].history]


class NoParams(BaseModel):
    pass


class EchoParams(BaseModel):
    text: str = ""


class Echo:
    """Says its text back."""

    name: ClassVar[str] = "Echo"
    Params: ClassVar[type[BaseModel]] = EchoParams
    read_only: ClassVar[bool] = True
    plan_safe: ClassVar[bool] = True
    description = "Says it back."

    def describe(self, params: EchoParams) -> tuple[str, str]:
        return "Echo", params.text

    async def __call__(self, params: EchoParams, call: Call) -> ToolResult:
        call.emit(params.text)
        return ToolResult(params.text, brief="echoed")


class Wait:
    """Waits until it is let go; tells when it has begun."""

    name: ClassVar[str] = "Wait"
    Params: ClassVar[type[BaseModel]] = NoParams
    read_only: ClassVar[bool] = False
    plan_safe: ClassVar[bool] = False
    description = "Waits."

    def __init__(self) -> None:
        self.begun, self.go = asyncio.Event(), asyncio.Event()

    def describe(self, params: NoParams) -> tuple[str, str]:
        return "Wait", ""

    async def __call__(self, params: NoParams, call: Call) -> ToolResult:
        self.begun.set()
        await self.go.wait()
        return ToolResult("waited")


class Asks:
    """Needs an approval."""

    name: ClassVar[str] = "Asks"
    Params: ClassVar[type[BaseModel]] = NoParams
    read_only: ClassVar[bool] = False
    plan_safe: ClassVar[bool] = False
    description = "Asks."

    def describe(self, params: NoParams) -> tuple[str, str]:
        return "Ask", ""

    async def __call__(self, params: NoParams, call: Call) -> ToolResult:
        from kimi_tui.tools.approval import permit

        refused = await permit(call, ApprovalView("", "Asks", "do it"))
        return refused or ToolResult("done")


class SendDMailParams(BaseModel):
    message: str
    checkpoint_id: int


class FakeSendDMail:
    """Parks a letter, as the real tool does."""

    name: ClassVar[str] = "SendDMail"
    Params: ClassVar[type[BaseModel]] = SendDMailParams
    read_only: ClassVar[bool] = False
    plan_safe: ClassVar[bool] = True
    description = "Sends a D-Mail."

    def __init__(self, denwa_renji: DenwaRenji) -> None:
        self._denwa_renji = denwa_renji

    def describe(self, params: SendDMailParams) -> tuple[str, str]:
        return "D-Mail", str(params.checkpoint_id)

    async def __call__(self, params: SendDMailParams, call: Call) -> ToolResult:
        from kimi_tui.agent.dmail import DenwaRenjiError, DMail

        try:
            self._denwa_renji.send_dmail(DMail.model_construct(**params.model_dump()))
        except DenwaRenjiError as fault:
            return ToolResult(outcome="error", message=str(fault))
        return ToolResult("If you read this, the D-Mail was not sent.")


@dataclass
class Bench:
    """An agent under test: its commands, its events, its files."""

    agent: Agent
    model: ScriptedModel
    outbox: Outbox
    folder: Path
    events: list[Event] = field(default_factory=list)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def desk(self) -> Desk:
        return self.agent.desk

    def tell(self, *commands: Command) -> None:
        for command in commands:
            self.agent.submit(command)

    async def until(self, kind: type[E], count: int = 1) -> E:
        """The `count`-th event of that kind."""
        async with asyncio.timeout(60):
            while True:
                found = [event for event in self.events if isinstance(event, kind)]
                if len(found) >= count:
                    return found[count - 1]
                self._news.clear()
                await self._news.wait()

    async def turn(self, text: str) -> TurnEnded:
        """Say something and wait for the end of the turn."""
        ended = sum(isinstance(event, TurnEnded) for event in self.events)
        self.tell(SendPrompt(text))
        event = await self.until(TurnEnded, ended + 1)
        await self.idle()
        return event

    async def idle(self) -> None:
        async with asyncio.timeout(60):
            while self.agent.busy:
                await asyncio.sleep(0)

    async def do(self, command: Command) -> None:
        """Give a command and wait until it has been carried out."""
        self.tell(command)
        async with asyncio.timeout(60):
            while not self.agent._inbox.empty():
                await asyncio.sleep(0)
            await asyncio.sleep(0)
            while self.agent.busy or self.agent._side:
                await asyncio.sleep(0)
        await asyncio.sleep(0)

    def kinds(self) -> list[str]:
        """The names of all events, neighbouring equal ones once."""
        names = [type(event).__name__ for event in self.events]
        return [name for index, name in enumerate(names) if index == 0 or names[index - 1] != name]

    def all(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    def last(self, kind: type[E]) -> E:
        return self.all(kind)[-1]

    def records(self) -> list[dict[str, Any]]:
        """What is on disk, without the times."""
        lines = (self.folder / "context.jsonl").read_text().splitlines()
        return [{key: value for key, value in json.loads(line).items() if key != "kt"} for line in lines]

    def told(self) -> list[str]:
        """What is on disk, one word a record: `checkpoint 0`, `user: hi`, `usage 100` …"""
        return [short(record) for record in self.records()]

    def told_if_any(self) -> list[str]:
        return self.told() if (self.folder / "context.jsonl").exists() else []

    async def pump(self) -> None:
        async for event in self.outbox.events():
            self.events.append(event)
            self._news.set()


def short(record: dict[str, Any]) -> str:
    role = record["role"]
    if role == "_checkpoint":
        return f"checkpoint {record['id']}"
    if role == "_usage":
        return f"usage {record['token_count']}"
    content = record["content"]
    text = content if isinstance(content, str) else "|".join(part.get("text", "") for part in content)
    names = ",".join(call["function"]["name"] for call in record.get("tool_calls", ()))
    return f"{role.lstrip('_')}: {text}{f' [{names}]' if names else ''}"


class FakeOpener:
    """Opens desks on folders below one place."""

    def __init__(self, outbox: Outbox, build: Callable[[Session, ChatModel], Desk]) -> None:
        self._build = build
        self.models: dict[str, ChatModel] = {}

    def model(self, name: str) -> ChatModel:
        return self.models[name]

    def known_models(self) -> tuple[ModelView, ...]:
        return tuple(model.view for model in self.models.values())

    async def desk(self, session: Session, model: ChatModel) -> Desk:
        desk = self._build(session, model)
        await desk.context.restore()
        return desk


def build_desk(
    outbox: Outbox,
    session: Session,
    model: ChatModel,
    *,
    tools: Iterable[Tool] = (),
    dmail: bool = False,
    hooks: Iterable[HookDef] = (),
    providers: Iterable[DynamicInjectionProvider] | None = None,
    loop: Loop | None = None,
    headless: bool = False,
    skills: bool = False,
    learned: Learned | None = None,
    clock: Callable[[], float] = lambda: 1000.0,
) -> Desk:
    learned = learned or Learned()
    questions, denwa_renji, state = Questions(outbox.emit), DenwaRenji(), SessionState()
    given: list[Tool] = [*tools, *([FakeSendDMail(denwa_renji)] if dmail else [])]
    toolset = Toolset(given)
    kept = [PlanInjectionProvider(), AfkInjectionProvider()] if providers is None else list(providers)

    async def ask(view: ApprovalView) -> Answer:
        answer = await questions.approval(view)
        return answer.decision, answer.feedback

    desk = Desk(
        emit=outbox.emit,
        session=session,
        state=state,
        state_file=StateFile(session, state, lambda text: outbox.emit(Noticed(text))),
        unsent=UnsentDraft(session, lambda text: outbox.emit(Noticed(text))),
        context=Context(session.context_file, clock=clock, calibration=learned.of(model.view.name)),
        model=model,
        first_prompt="You are a test.",
        toolset=toolset,
        approvals=Approvals(ask, session.work_dir),
        hooks=Hooks(list(hooks), session_id=session.id, work_dir=session.work_dir),
        injections=Injections(kept),
        telemetry=Telemetry(session.folder.parent / "telemetry.jsonl"),
        steering=Steering(outbox.emit),
        denwa_renji=denwa_renji,
        questions=questions,
        transcript=Transcript(toolset.view),
        loop=loop or quick(),
        learned=learned,
        headless=headless,
        skills=SessionSkills(skill_roots(session.work_dir, session.work_dir / "data") if skills else (), outbox.emit),
        clock=clock,
    )
    desk.apply_modes()
    return desk


def quick(**fields: Any) -> Loop:
    """A loop that retries without waiting."""

    async def at_once(seconds: float) -> None:
        await asyncio.sleep(0)

    return Loop(retry=RetryPolicy(sleep=at_once), **fields)


def small(**fields: Any) -> Loop:
    """A loop with hardly any reserve."""
    return quick(limits=Limits(reserve=100), **fields)


@asynccontextmanager
async def bench(folder: Path, model: ScriptedModel, **fields: Any) -> AsyncIterator[Bench]:
    """A running agent on `folder/s`; closed in good order at the end."""
    outbox = Outbox()

    def build(session: Session, model: ChatModel) -> Desk:
        return build_desk(outbox, session, model, **fields)

    opener = FakeOpener(outbox, build)
    desk = await opener.desk(Session(folder / "s", folder), model)
    agent = Agent(desk, opener, outbox)
    made = Bench(agent, model, outbox, folder / "s")
    reading, running = asyncio.create_task(made.pump()), asyncio.create_task(agent.run())
    try:
        if model.prepared.is_set() and not model.preparation:
            await made.until(ModelReady)
        yield made
    finally:
        agent.submit(Close())
        async with asyncio.timeout(60):
            await running
            await reading


def message(role: Any, text: str, **fields: Any) -> Message:
    return Message(role=role, content=text, **fields)

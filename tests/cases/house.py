"""The whole house with a model that is as strict as a backend: every request is checked before it is answered.

async with house(tmp_path, [{"text": "hi"}], session=[…records…]) as it:
    await it.turn("hello")
    … it.sent(), it.records(), it.seen(TurnEnded) …
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from kimi_tui import bootstrap
from kimi_tui.llm.choice import ModelChoice
from kimi_tui.llm.model import ModelFault, Piece, Report, Request
from kimi_tui.llm.provider import Dialect, to_provider
from kimi_tui.llm.replay_model import ReplayModel
from kimi_tui.options import LaunchOptions
from kimi_tui.protocol.commands import AnswerApproval, Close, Command, SendPrompt
from kimi_tui.protocol.events import ApprovalRequested, Event, ModelReady, TurnEnded
from kimi_tui.protocol.ports import AgentPort
from kimi_tui.protocol.views import ModelView
from tests.scripted_server import violations

E = TypeVar("E", bound=Event)
Record = dict[str, Any]
Reply = dict[str, Any]


class StrictModel:
    """A replayed model that refuses what a strict backend would, in the words of `violations`."""

    def __init__(self, choice: ModelChoice, dialect: Dialect) -> None:
        self._replay = ReplayModel(Path(choice.model.partition(":")[2]), choice.name, choice.context_window)
        self._dialect = dialect
        self.requests: list[list[dict[str, Any]]] = []
        self.offered: list[bool] = []
        """Whether each request offered tools: a summary request does not."""

    @property
    def view(self) -> ModelView:
        return self._replay.view

    async def prepare(self, report: Report) -> None:
        await self._replay.prepare(report)

    async def warm(self, request: Request, report: Report) -> None:
        """Nothing to warm."""

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        messages = json.loads(json.dumps(to_provider(request, self._dialect), ensure_ascii=False).encode())
        self.requests.append(messages)
        self.offered.append(bool(request.tools))
        if bad := violations(messages):
            raise ModelFault("bad_request", "; ".join(bad))
        async for piece in self._replay.stream(request):
            yield piece

    async def close(self) -> None:
        await self._replay.close()


@dataclass
class House:
    """A running agent on `folder`; what it was told and what it did."""

    port: AgentPort
    model: StrictModel
    folder: Path
    work: Path
    events: list[Event] = field(default_factory=list)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    async def turn(self, text: str) -> TurnEnded:
        """Say something, wait for the end of the turn. Approvals that are asked for must be answered by the test."""
        before = len(self.events)
        self.tell(SendPrompt(text))
        ended = await self.until(TurnEnded, before)
        await self.idle()
        return ended

    def tell(self, *commands: Command) -> None:
        for command in commands:
            self.port.submit(command)

    async def do(self, command: Command) -> list[Event]:
        """Give a command, wait until it has been carried out; what was said meanwhile."""
        before = len(self.events)
        self.tell(command)
        await self.idle()
        return self.events[before:]

    async def until(self, kind: type[E], start: int = 0) -> E:
        """The first event of that kind from `start` on."""
        async with asyncio.timeout(20):
            while True:
                for event in self.events[start:]:
                    if isinstance(event, kind):
                        return event
                self._news.clear()
                await self._news.wait()

    async def answer(self, decision: Any, start: int = 0) -> ApprovalRequested:
        """Answer the first approval that is asked for from `start` on."""
        asked = await self.until(ApprovalRequested, start)
        self.tell(AnswerApproval(asked.approval.request_id, decision))
        return asked

    async def idle(self) -> None:
        """Until nothing is to be done and nothing runs."""
        agent: Any = self.port
        async with asyncio.timeout(20):
            while True:
                await asyncio.sleep(0.005)
                if agent._inbox.empty() and not agent.busy and not agent._side:
                    return

    def seen(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    def sent(self, number: int = -1) -> str:
        """A request's messages, one a line: `user: text`, `tool c1: text`, `assistant: text [c1 Shell]`."""
        return "\n".join(map(_said, self.model.requests[number]))

    def records(self) -> list[Record]:
        """What is on disk; fails when a line is not whole."""
        data = (self.folder / "context.jsonl").read_bytes()
        assert data.endswith(b"\n")
        return [json.loads(line) for line in data.decode("utf-8", "surrogatepass").split("\n")[:-1]]

    def spoken(self, role: str) -> list[str]:
        """The texts of one role on disk, marks left out."""
        texts = [_text(record) for record in self.records() if record["role"] == role]
        return [text for text in texts if not text.startswith(("<system>CHECKPOINT", "<system-reminder>"))]

    async def pump(self) -> None:
        async for event in self.port.events():
            self.events.append(event)
            self._news.set()


@asynccontextmanager
async def house(
    place: Path,
    replies: Sequence[Reply],
    *,
    session: Sequence[Record] | bytes = b"",
    dialect: Dialect | None = None,
    script: Record | None = None,
    **options: Any,
) -> AsyncIterator[House]:
    """A session folder below `place` that holds the records (or bytes), and an agent on it; closed at the end."""
    folder, work = place / "session", place / "work"
    for path in (folder, work):
        path.mkdir(exist_ok=True)
    if session or not (folder / "context.jsonl").exists():
        (folder / "context.jsonl").write_bytes(session if isinstance(session, bytes) else lines(session))
    (place / "script.json").write_text(json.dumps({"replies": list(replies), **(script or {})}))
    made: list[StrictModel] = []

    def strict(choice: ModelChoice) -> StrictModel:
        made.append(StrictModel(choice, dialect or Dialect()))
        return made[-1]

    given = {"yolo": True, **options}
    real, bootstrap.open_model = bootstrap.open_model, strict  # type: ignore[assignment]
    try:
        port = await bootstrap.connect(
            LaunchOptions(session=folder, work_dir=work, model=f"replay:{place}/script.json", **given)
        )
    finally:
        bootstrap.open_model = real
    it = House(port, made[0], folder, work)
    running, reading = asyncio.create_task(port.run()), asyncio.create_task(it.pump())
    try:
        await it.until(ModelReady)
        yield it
    finally:
        port.submit(Close())
        async with asyncio.timeout(20):
            await running
            await reading


def lines(records: Sequence[Record]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def checkpoint(number: int) -> Record:
    return {"role": "_checkpoint", "id": number}


def user(text: str) -> Record:
    return {"role": "user", "content": text}


def assistant(text: str = "", *calls: tuple[str, str, Any], think: str | None = None) -> Record:
    """`calls` are (id, tool, arguments)."""
    parts = [{"type": "think", "think": think}] if think is not None else []
    made = [
        {
            "type": "function",
            "id": call_id,
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for call_id, name, given in calls
    ]
    content = [*parts, *([{"type": "text", "text": text}] if text else [])]
    return {"role": "assistant", "content": content, **({"tool_calls": made} if made else {})}


def result(call_id: str, text: str) -> Record:
    return {"role": "tool", "content": text, "tool_call_id": call_id}


def usage(count: int) -> Record:
    return {"role": "_usage", "token_count": count}


def calls(*wanted: tuple[str, Any], ids: Sequence[str] = (), text: str = "") -> Reply:
    """A reply that calls tools."""
    tools = [
        {"name": name, "args": arguments, "id": ids[number] if ids else ""}
        for number, (name, arguments) in enumerate(wanted)
    ]
    return {"text": text, "tools": tools}


def _text(record: Record) -> str:
    content = record.get("content")
    if isinstance(content, str) or content is None:
        return content or ""
    return "\n".join(part.get("text", "") for part in content)


def _said(message: Record) -> str:
    names = " ".join(f"[{call['id']} {call['function']['name']}]" for call in message.get("tool_calls", ()))
    label = f"tool {message['tool_call_id']}" if message["role"] == "tool" else message["role"]
    return f"{label}: {_text(message)} {names}".rstrip()

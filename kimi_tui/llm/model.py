"""What every model is to the agent: one request in, a stream of deltas out."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from kimi_tui.protocol.views import ModelView

if TYPE_CHECKING:
    from kimi_tui.protocol.messages import Message


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it."""

    name: str
    description: str
    parameters: dict[str, Any]
    """JSON schema of the arguments."""

    @property
    def sent(self) -> dict[str, Any]:
        """As the OpenAI protocol has it."""
        named = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": named}

    @property
    def counted(self) -> str:
        """The text that a tool's tokens are those of: most models are shown what is sent, as it stands."""
        return json.dumps(self.sent, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Request:
    """One call. `history` is the stored form; the model normalises and repairs it for its own API."""

    system: str
    history: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    max_output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TextPiece:
    text: str


@dataclass(frozen=True, slots=True)
class ThinkPiece:
    text: str
    encrypted: str | None = None


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A piece of a tool call. Pieces of one call share `index` and `id`; the id is unique in the session. The whole
    name comes with the first piece and is empty in later ones; `arguments` adds up."""

    index: int
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What the call cost, in tokens. `exact` is False where the provider sent none and it had to be estimated."""

    input: int
    output: int
    cached: int = 0
    exact: bool = True
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Finish:
    """Why the model stopped: `stop`, `tool_calls`, `length`, `content_filter`, or the provider's own word."""

    reason: str


Piece = TextPiece | ThinkPiece | CallPiece | Usage | Finish

FaultKind = Literal[
    "connection",
    "timeout",
    "rate_limit",
    "server",
    "empty",
    "auth",
    "context_overflow",
    "bad_request",
    "not_ready",
    "other",
]


class ModelFault(Exception):
    """A call failed. `str(fault)` is one clear line without secrets; `hint` says what to do."""

    def __init__(
        self,
        kind: FaultKind,
        message: str,
        *,
        hint: str = "",
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind, self.hint, self.status, self.retry_after = kind, hint, status, retry_after

    @property
    def passing(self) -> bool:
        """Worth another try as it is."""
        return self.kind in ("connection", "timeout", "rate_limit", "server", "empty")


Report = Callable[[Literal["fetching", "checking", "starting", "warming"], int, int], None]
"""Progress while a model is made ready: phase, done, total."""


class ChatModel(Protocol):
    """A model the agent can talk to. One call at a time for the chat; a second may run for a compaction."""

    @property
    def view(self) -> ModelView: ...

    async def prepare(self, report: Report) -> None:
        """Make ready: fetch weights, start the child. May be cancelled and called again. Raises ModelFault."""

    async def warm(self, request: Request, report: Report) -> None:
        """Send the prefix ahead so that the first answer comes fast; does nothing where that is of no use."""

    def stream(self, request: Request) -> AsyncIterator[Piece]:
        """Answer. One try: retrying is `retry`'s business. Raises ModelFault. Closing the iterator ends the call."""

    async def close(self) -> None:
        """End the child, if any. Never raises."""

"""What the user says, to the model and to what runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kimi_tui.protocol.commands.base import Command


@dataclass(frozen=True, slots=True)
class SendPrompt(Command):
    """Starts a turn. While one runs (or the model is not ready yet) it waits in the queue for after it."""

    text: str
    images: tuple[str, ...] = ()
    """Data URLs."""
    place: int | None = None
    """Where in the queue, for one that was taken out of it (`TakeQueued`); None: at its end."""


@dataclass(frozen=True, slots=True)
class Steer(Command):
    """Joins the running turn between two steps; the same as `SendPrompt` when none runs."""

    text: str
    images: tuple[str, ...] = ()
    place: int | None = None
    """As in `SendPrompt`."""


@dataclass(frozen=True, slots=True)
class TakeBackQueued(Command):
    """Empties the queue of steers and prompts; they come back as `PromptReturned`."""


@dataclass(frozen=True, slots=True)
class TakeQueued(Command):
    """Takes one text out of the queue: to be written anew (it comes back as `PromptReturned`), or for good.

    `text` is what stood at that place of `QueueChanged`; when it no longer waits nothing is done but said.
    """

    queue: Literal["steers", "prompts"]
    place: int
    text: str
    drop: bool = False


@dataclass(frozen=True, slots=True)
class Interrupt(Command):
    """Stops whatever runs: the stream, the tools, a waiting retry, a compaction, a download."""


@dataclass(frozen=True, slots=True)
class AnswerApproval(Command):
    request_id: str
    decision: Literal["once", "session", "reject"]
    feedback: str = ""


@dataclass(frozen=True, slots=True)
class AnswerQuestion(Command):
    request_id: str
    answers: tuple[tuple[str, ...], ...]
    """One tuple of chosen (or typed) labels a question; an empty outer tuple declines."""


@dataclass(frozen=True, slots=True)
class RunShell(Command):
    """`!command`: run by the user, shown in the chat and told to the model with the next prompt."""

    command: str


@dataclass(frozen=True, slots=True)
class RunSlash(Command):
    """A slash command that the screen does not handle itself (`/init`, `/btw`, `/skill:x` …)."""

    name: str
    argument: str = ""

"""Messages as a reader sees them: who spoke, in prose or in a block that is to be shown as it is."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from kimi_tui.literal import literal
from kimi_tui.protocol.messages import Message, TextPart, ThinkPart, ToolCall
from kimi_tui.session.peek import is_reminder

Who = Literal["You", "Assistant", "Tool", "System"]


@dataclass(frozen=True, slots=True)
class Heading:
    title: str
    source: str
    work_dir: str
    messages: int
    tokens: int

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        return (
            ("Folder", self.work_dir),
            ("File", self.source),
            ("Messages", str(self.messages)),
            ("Tokens", f"{self.tokens:,}"),
        )


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a section. `prose` may be Markdown of the speaker's; anything else is shown letter by letter."""

    text: str
    label: str = ""
    """What stands above it: a tool's name, `thinking`."""
    prose: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    who: Who
    blocks: tuple[Block, ...]


def sections_of(messages: Sequence[Message]) -> Iterator[Section]:
    """One section a message; empty messages are left out. A tool's result names the tool that was called."""
    names: dict[str, str] = {}
    for message in messages:
        names.update({call.id: call.function.name for call in message.tool_calls or ()})
        blocks = tuple(_blocks(message, names))
        if blocks:
            yield Section(_who(message), blocks)


def _who(message: Message) -> Who:
    if message.role == "assistant":
        return "Assistant"
    if message.role == "tool":
        return "Tool"
    if message.role == "system" or is_reminder(message.text()):
        return "System"
    return "You"


def _blocks(message: Message, names: dict[str, str]) -> Iterator[Block]:
    spoken = _who(message) in ("You", "Assistant")
    label = names.get(message.tool_call_id or "", "") if message.role == "tool" else ""
    for part in message.content:
        if isinstance(part, ThinkPart):
            yield Block(literal(part.think), "thinking")
        elif isinstance(part, TextPart):
            if part.text.strip():
                yield Block(literal(part.text), label, prose=spoken)
        else:
            yield Block(f"({part.type.removesuffix('_url')})", prose=True)
    yield from map(_call, message.tool_calls or ())


def _call(call: ToolCall) -> Block:
    arguments = call.function.arguments or "{}"
    with contextlib.suppress(ValueError, RecursionError):  # else shown as the model wrote it
        arguments = json.dumps(json.loads(arguments), ensure_ascii=False, indent=2)
    return Block(literal(arguments), call.function.name)

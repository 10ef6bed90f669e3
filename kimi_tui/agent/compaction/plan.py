"""Compaction as a pure plan: what is summarised, what is kept, how it is put to the model (MECHANISMS M10–M12).

Nothing in here calls a model or touches a file; `compact.py` does both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from kimi_tui.agent.marks import system_note
from kimi_tui.context import Calibration, estimate_text_tokens
from kimi_tui.protocol.messages import ContentPart, Message, TextPart, ThinkPart
from kimi_tui.resources import prompt


class Cost(Protocol):
    """What a summary cost, in tokens."""

    @property
    def output(self) -> int: ...


class CompactionResult(NamedTuple):
    """The new history (the summary first), and what the model's call cost (None: no call was made)."""

    messages: Sequence[Message]
    usage: Cost | None
    calibration: Calibration | None = None
    """What is known of the model that reads it next."""

    @property
    def estimated_token_count(self) -> int:
        """The summary's exact size where it is known, an estimate of everything else."""
        if self.usage is None or not self.messages:
            return estimate_text_tokens(self.messages, self.calibration)
        return self.usage.output + estimate_text_tokens(self.messages[1:], self.calibration)


class Prepared(NamedTuple):
    """What to send to the model (None: nothing to compact), and what stays as it is."""

    compact_message: Message | None
    to_preserve: Sequence[Message]


class SimpleCompaction:
    """Keeps the last few user and assistant messages, folds everything before them."""

    PrepareResult = Prepared

    def __init__(self, max_preserved_messages: int = 2) -> None:
        self.max_preserved_messages = max_preserved_messages

    def prepare(self, messages: Sequence[Message], *, custom_instruction: str = "") -> Prepared:
        """Split the history and write the request for a summary of its older part."""
        cut = self.cut(messages)
        if not cut:
            return Prepared(None, messages)
        return Prepared(request(messages[:cut], custom_instruction), messages[cut:])

    def cut(self, messages: Sequence[Message]) -> int:
        """Where the kept part begins; 0 when there is nothing to compact."""
        if self.max_preserved_messages <= 0:
            return 0
        speaking = [i for i, message in enumerate(messages) if message.role in ("user", "assistant")]
        if len(speaking) < self.max_preserved_messages:
            return 0
        return _whole_pairs(messages, speaking[-self.max_preserved_messages])


def _whole_pairs(messages: Sequence[Message], cut: int) -> int:
    """Move the cut back until no kept result answers a call before it."""
    while cut > 0:
        results = {message.tool_call_id for message in messages[cut:] if message.role == "tool"}
        kept_calls = {call.id for message in messages[cut:] for call in message.tool_calls or ()}
        astray = results - kept_calls
        caller = next(
            (i for i in range(cut - 1, -1, -1) if any(call.id in astray for call in messages[i].tool_calls or ())), None
        )
        if caller is None:
            return cut
        cut = caller
    return cut


def request(
    messages: Sequence[Message], custom_instruction: str = "", earlier: str = "", *, small: bool = False
) -> Message:
    """One user message: the old messages, numbered and with their roles, then what to do with them.

    `earlier` is the summary of what came before them; `small` models get a simpler task."""
    parts: list[ContentPart] = []
    if earlier:
        parts.append(TextPart(text=f"{prompt('compact_part')}\n\n{earlier}\n\n"))
    for number, message in enumerate(messages, 1):
        parts.append(TextPart(text=f"## Message {number}\nRole: {message.role}\nContent:\n"))
        parts.extend(readable(message))
    parts.append(TextPart(text="\n" + instruction(custom_instruction, small=small)))
    return Message(role="user", content=parts)


def instruction(custom_instruction: str = "", *, small: bool = False) -> str:
    """What the model is asked to do, with the user's own focus last."""
    text = prompt("compact_small" if small else "compact")
    return f"{text}\n\n{prompt('compact_focus')}\n{custom_instruction}" if custom_instruction else text


def readable(message: Message) -> Iterator[TextPart]:
    """What of a message can be read by a model that did not live through it: the words and the calls."""
    yield from (part for part in message.content if isinstance(part, TextPart))
    for call in message.tool_calls or ():
        yield TextPart(text=f"Called {call.function.name}({call.function.arguments or ''})\n")


def summary_message(parts: Sequence[ContentPart]) -> Message:
    """The model's answer as the first message of the new history; its thinking is dropped."""
    spoken = [part for part in parts if not isinstance(part, ThinkPart)]
    return Message(role="user", content=[system_note(prompt("summary")), *spoken])

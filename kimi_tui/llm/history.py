"""From the stored history to one that may be sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from kimi_tui import resources
from kimi_tui.llm.pairing import CallIds, IdStyle, interrupted_result, pair_calls
from kimi_tui.protocol.messages import ContentPart, Message, OpaquePart, TextPart, ThinkPart

_NOTIFICATION = "<notification "


def normalize_history(history: Sequence[Message]) -> list[Message]:
    """Merges neighbouring user messages; their parts stay apart. Notifications of background tasks are left alone,
    as are assistant and tool messages, whose ids link them; a call whose result was lost gets one that says so."""
    return _merge(_answered(history), lambda message: message.role == "user" and not is_notification(message))


def prepare_history(history: Sequence[Message], style: IdStyle = "kept") -> list[Message]:
    """A history that a strict API takes, whatever was cut, killed, doubled or compacted.

    Calls are paired with their results, messages without content are left out, user messages merged; it starts and
    does not end with the assistant's word turned into a user message where needed.
    """
    return _framed(paired_and_merged(history, CallIds(style)))


def paired_and_merged(history: Sequence[Message], ids: CallIds) -> list[Message]:
    """The same for a part of a history, without a look at how it begins and ends."""
    spoken = [_as_user(message) if message.role == "system" else message for message in history]
    kept = [message for message in pair_calls(spoken, ids) if says_something(message)]
    return _merge(kept, lambda message: message.role == "user")


def _answered(history: Sequence[Message]) -> list[Message]:
    """Every call has a result among the tool messages right after it."""
    answered: list[Message] = []
    waiting: list[str] = []
    for message in history:
        if message.role == "tool":
            waiting = [call for call in waiting if call != message.tool_call_id]
        else:
            answered += map(interrupted_result, waiting)
            waiting = [call.id for call in message.tool_calls or ()]
        answered.append(message)
    return answered + list(map(interrupted_result, waiting))


def is_notification(message: Message) -> bool:
    """A background task's notice, stored as a user message of one text part."""
    if message.role != "user" or len(message.content) != 1:
        return False
    part = message.content[0]
    return isinstance(part, TextPart) and part.text.lstrip().startswith(_NOTIFICATION)


def _merge(history: Sequence[Message], mergeable: Callable[[Message], bool]) -> list[Message]:
    merged: list[Message] = []
    for can, group in groupby(history, mergeable):
        messages = list(group)
        if can and len(messages) > 1:
            messages = [Message(role="user", content=[part for message in messages for part in message.content])]
        merged += messages
    return merged


def _as_user(message: Message) -> Message:
    """The system prompt stands first and only once; a later one is told by the user, marked as what it is."""
    return Message(role="user", content=[TextPart(text=f"<system>{message.text(chr(10))}</system>")])


def says_something(message: Message) -> bool:
    if message.role == "tool" or (message.role == "assistant" and message.tool_calls):
        return True
    return any(_is_content(part) for part in message.content)


def _is_content(part: ContentPart) -> bool:
    """Thinking alone is no answer: providers refuse it without a text or a call."""
    if isinstance(part, TextPart):
        return bool(part.text.strip())
    return not isinstance(part, ThinkPart | OpaquePart)


def _framed(history: list[Message]) -> list[Message]:
    """The first word and the last are never the assistant's."""
    nudge = go_on()
    if not history or history[0].role == "assistant":
        history = [nudge, *history]
    return [*history, nudge] if history[-1].role == "assistant" else history


def go_on() -> Message:
    """What is said for the user where nothing was."""
    return Message(role="user", content=[TextPart(text=resources.prompt("llm/continue"))])

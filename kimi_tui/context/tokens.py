"""How many tokens a text probably is, before the model says how many it was."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kimi_tui.protocol.messages import Message, TextPart

UNIT = 1000
"""Costs are kept in thousandths of a token, so that sums do not depend on their order."""


def message_cost(message: Message) -> int:
    """Thousandths of a token."""
    return sum(text_cost(part.text) for part in message.content if isinstance(part, TextPart))


_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")


def text_cost(text: str) -> int:
    """Thousandths of a token."""
    wide = 0 if text.isascii() else len(_WIDE.findall(text))
    return (len(text) - wide) * UNIT // 4 + wide * UNIT * 2 // 3


def estimate_text_tokens(messages: Iterable[Message]) -> int:
    """Tokens of the messages, estimated. The gauge, the compaction trigger and the breakdown all use this."""
    return sum(map(message_cost, messages)) // UNIT


def should_auto_compact(
    token_count: int, max_context_size: int, *, trigger_ratio: float, reserved_context_size: int
) -> bool:
    """Whether the context is to be compacted before the next call: a share of the window is used, or the room
    reserved for the reply is touched."""
    return token_count >= max_context_size * trigger_ratio or token_count + reserved_context_size >= max_context_size

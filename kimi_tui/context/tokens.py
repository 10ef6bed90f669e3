"""How many tokens a text probably is, before the model says how many it was."""

from __future__ import annotations

from collections.abc import Iterable

from kimi_tui.context.calibration import UNIT, UNTAUGHT, Calibration, Cost
from kimi_tui.context.costs import COSTS, TOKENIZERS
from kimi_tui.context.pictures import patched, size_of, tiled
from kimi_tui.context.pieces import pieces
from kimi_tui.protocol.messages import AudioURLPart, ImageURLPart, Message, TextPart, VideoURLPart

_NOTHING: Cost = (0,) * len(TOKENIZERS)


def _everywhere(tokens: int) -> Cost:
    """What is counted without a tokenizer."""
    return (tokens * UNIT,) * len(TOKENIZERS)


_UNSEEN_IMAGE, _SOUND = _everywhere(1000), _everywhere(2000)
"""Usual figures: providers count sounds and films by time, which a message does not tell, as it does not tell the
size of an image that is somewhere else."""

_CALL = _everywhere(12)
"""What stands around a call's name and arguments, and around its result."""

_LONG, _WINDOW, _WINDOWS = 1_000_000, 50_000, 8
"""Characters. Of a longer text only some windows are looked at."""


def text_cost(text: str) -> Cost:
    if len(text) <= _LONG:
        return _cost_of(text)
    stride = (len(text) - _WINDOW) // (_WINDOWS - 1)
    sample = total(_cost_of(text[number * stride :][:_WINDOW]) for number in range(_WINDOWS))
    share = len(text) / (_WINDOW * _WINDOWS)
    return tuple(round(each * share) for each in sample)


def _cost_of(text: str) -> Cost:
    """A weighted sum of the rows of the table of costs."""
    rows = ([cost * number for cost in COSTS[kind]] for kind, number in pieces(text).items() if number)
    return tuple(map(sum, zip(*rows, strict=True))) or _NOTHING


def message_cost(message: Message) -> Cost:
    """Text, media and tool calls. Reasoning is not counted: most providers do not take it back."""
    costs = [text_cost(part.text) for part in message.content if isinstance(part, TextPart)]
    costs += [_image_cost(part.image_url.url) for part in message.content if isinstance(part, ImageURLPart)]
    costs += [_SOUND for part in message.content if isinstance(part, AudioURLPart | VideoURLPart)]
    for call in message.tool_calls or ():
        costs += [text_cost(call.function.name), text_cost(call.function.arguments), _CALL]
    return total(costs)


def _image_cost(url: str) -> Cost:
    size = size_of(url)
    if size is None:
        return _UNSEEN_IMAGE
    return tuple(UNIT * (tiled(size) if name.startswith("gpt") else patched(size)) for name in TOKENIZERS)


def total(costs: Iterable[Cost]) -> Cost:
    return tuple(map(sum, zip(_NOTHING, *costs, strict=True)))


def tokens_of(cost: Cost, calibration: Calibration | None = None) -> int:
    return round((calibration or UNTAUGHT).tokens(cost))


def estimate_text_tokens(messages: Iterable[Message], calibration: Calibration | None = None) -> int:
    """Tokens of the messages, estimated. The gauge, the compaction trigger and the breakdown all use this."""
    return tokens_of(total(map(message_cost, messages)), calibration)


def estimate_tokens(text: str, calibration: Calibration | None = None) -> int:
    """Tokens of a text that is not a message: a system prompt, a tool's schema."""
    return tokens_of(text_cost(text), calibration)


def should_auto_compact(
    token_count: int, max_context_size: int, *, trigger_ratio: float, reserved_context_size: int
) -> bool:
    """Whether the context is to be compacted before the next call: a share of the window is used, or the room
    reserved for the reply is touched."""
    return token_count >= max_context_size * trigger_ratio or token_count + reserved_context_size >= max_context_size

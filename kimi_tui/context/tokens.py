"""How many tokens a text probably is, before the model says how many it was.

The figures were fitted to six tokenizers (GPT-4's and GPT-4o's, Claude's, DeepSeek's, Qwen's, SmolLM's) over English
prose, source code and JSON, where they are right within a few percent. Scripts that take many tokens a character
differ much more from model to model, and are counted apart so that a `Calibration` can learn them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

from kimi_tui.context.census import census
from kimi_tui.protocol.messages import AudioURLPart, ImageURLPart, Message, TextPart, VideoURLPart

UNIT = 1000
"""Costs are whole thousandths of a token, so that sums do not depend on their order."""

_WORD_COSTS = (0, 1170, 1250, 920, 1060, 1050, 1050, 880, 880, *[1350] * 8)
_CAPITALS_COSTS = (0, 1170, 1270, 1290, *[1790] * 13)
"""By length. A longer run of letters is no word: it costs a token every four letters."""

_NUMBER_COST, _DIGITS = 1380, 3
"""For each group of so many digits."""
_BREAK_COST, _GAP_COST = 1240, 860
_MARK_COST, _MARK_RUN_COST, _MARK_IN_RUN_COST, _APART_COST = 680, 550, 141, 394
_IDEOGRAPH_COST, _WIDE_MARK_COST, _SYLLABLE_COST, _OTHER_COST = 850, 500, 800, 800

_IMAGE_COST, _SOUND_COST = 1000 * UNIT, 2000 * UNIT
"""Providers count media by size or time, which a message does not tell: a usual figure."""

_CALL_COST = 5 * UNIT

_LONG, _WINDOW, _WINDOWS = 1_000_000, 50_000, 8
"""Characters. Of a longer text only some windows are looked at."""


class Cost(NamedTuple):
    """Thousandths of a token, by how sure the estimate is across models."""

    plain: int = 0
    wide: int = 0
    """Chinese, Japanese and Korean script."""


_FAMILIES = (
    (("claude",), 1.04, 1.20),
    (("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-oss", "chatgpt-4o", "/o1", "/o3", "/o4"), 0.97, 0.97),
    (("gpt-4", "gpt-3.5"), 0.97, 1.32),
    (("deepseek",), 1.02, 0.78),
    (("qwen",), 1.0, 0.78),
)
"""Parts of models' names; factors for plain and for wide text, as counted with these families' own tokenizers."""


class Calibration:
    """What exact reports have taught about one model: how far off the estimates for each kind of script are.

    A recursive least-squares fit of two factors, sceptical at first about both, more so about wide scripts.
    """

    _NOISE = 0.05
    """How far off a single well-calibrated estimate usually is, as a share."""
    _DRIFT = 1e-4
    """Variance that each report adds, so that learning never ends."""
    _LEAST = 150
    """Tokens. Smaller reports say more about message wrappers than about text."""

    def __init__(self) -> None:
        self.plain, self.wide = 1.0, 1.0
        self._plain_variance, self._covariance, self._wide_variance = 0.12**2, 0.0, 0.35**2

    @property
    def state(self) -> tuple[float, float, float, float, float]:
        """The factors for plain and for wide text; their variances, with the covariance in between."""
        return self.plain, self.wide, self._plain_variance, self._covariance, self._wide_variance

    @classmethod
    def of(
        cls, plain: float, wide: float, plain_variance: float, covariance: float, wide_variance: float
    ) -> Self | None:
        """From a state; None when no reports can have led to it."""
        made = cls()
        factors, variances = (plain, wide), (plain_variance, wide_variance)
        sound = all(_within(factor) == factor for factor in factors) and all(0 < each < 10 for each in variances)
        if not sound or not covariance * covariance <= plain_variance * wide_variance:
            return None
        made.plain, made.wide = factors
        made._plain_variance, made._covariance, made._wide_variance = plain_variance, covariance, wide_variance
        return made

    @classmethod
    def for_model(cls, name: str) -> Self:
        """What is known of a model before it has reported anything: how its family counts."""
        made, name = cls(), f"/{name.lower()}"
        for parts, plain, wide in _FAMILIES:
            if any(part in name for part in parts):
                made.plain, made.wide = plain, wide
                made._plain_variance, made._wide_variance = 0.08**2, 0.2**2
                break
        return made

    def tokens(self, cost: Cost) -> float:
        return (self.plain * cost.plain + self.wide * cost.wide) / UNIT

    def learn(self, cost: Cost, exact: int) -> None:
        """Texts of this cost were `exact` tokens."""
        plain, wide = cost.plain / UNIT, cost.wide / UNIT
        expected = self.tokens(cost)
        if expected < self._LEAST or not 0.4 < exact / expected < 2.5:
            return  # something else was counted too: tools, a system prompt, a cut history
        to_plain = self._plain_variance * plain + self._covariance * wide
        to_wide = self._covariance * plain + self._wide_variance * wide
        certainty = to_plain * plain + to_wide * wide + (self._NOISE * expected) ** 2
        surprise = (exact - expected) / certainty
        self.plain = _within(self.plain + to_plain * surprise)
        self.wide = _within(self.wide + to_wide * surprise)
        self._plain_variance += self._DRIFT - to_plain * to_plain / certainty
        self._wide_variance += self._DRIFT - to_wide * to_wide / certainty
        self._covariance -= to_plain * to_wide / certainty


def _within(factor: float) -> float:
    return min(max(factor, 0.4), 2.5)


def text_cost(text: str) -> Cost:
    if len(text) <= _LONG:
        return _cost_of(text)
    stride = (len(text) - _WINDOW) // (_WINDOWS - 1)
    sample = [_cost_of(text[number * stride :][:_WINDOW]) for number in range(_WINDOWS)]
    share = len(text) / (_WINDOW * _WINDOWS)
    return Cost(*(round(sum(each[part] for each in sample) * share) for part in (0, 1)))


def _cost_of(text: str) -> Cost:
    found = census(text)
    plain = sum(_letters_cost(_WORD_COSTS, length) * count for length, count in found.words.items())
    plain += sum(_letters_cost(_CAPITALS_COSTS, length) * count for length, count in found.capitals.items())
    plain += sum(-(-length // _DIGITS) * _NUMBER_COST * count for length, count in found.numbers.items())
    plain += sum(_marks_cost(length) * count for length, count in found.marks.items())
    plain += (
        found.apart * _APART_COST + found.breaks * _BREAK_COST + found.gaps * _GAP_COST + found.others * _OTHER_COST
    )
    wide = found.ideographs * _IDEOGRAPH_COST + found.wide_marks * _WIDE_MARK_COST + found.syllables * _SYLLABLE_COST
    return Cost(plain, wide)


def _letters_cost(costs: Sequence[int], length: int) -> int:
    return costs[length] if length < len(costs) else length * UNIT // 4


def _marks_cost(length: int) -> int:
    return _MARK_COST if length == 1 else _MARK_RUN_COST + _MARK_IN_RUN_COST * length


def message_cost(message: Message) -> Cost:
    """Text, media and tool calls. Reasoning is not counted: most providers do not take it back."""
    costs = [text_cost(part.text) for part in message.content if isinstance(part, TextPart)]
    costs += [Cost(_IMAGE_COST) for part in message.content if isinstance(part, ImageURLPart)]
    costs += [Cost(_SOUND_COST) for part in message.content if isinstance(part, AudioURLPart | VideoURLPart)]
    for call in message.tool_calls or ():
        costs += [text_cost(call.function.name), text_cost(call.function.arguments), Cost(_CALL_COST)]
    return total(costs)


def total(costs: Iterable[Cost]) -> Cost:
    plain = wide = 0
    for cost in costs:
        plain += cost.plain
        wide += cost.wide
    return Cost(plain, wide)


def tokens_of(cost: Cost, calibration: Calibration | None = None) -> int:
    return (cost.plain + cost.wide) // UNIT if calibration is None else int(calibration.tokens(cost))


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

"""How a model counts: learned from its reports, and guessed from its name before there is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from kimi_tui.context.costs import TOKENIZERS

Cost = tuple[int, ...]
"""What a text costs in each of `costs.TOKENIZERS`, in thousandths of a token, so that sums do not depend on their
order."""

UNIT = 1000

State = tuple[float, ...]
"""A calibration's weights, then its covariances row by row."""

_USUAL = {"gpt-4o": 0.24, "gpt-4": 0.18, "gpt-3": 0.03, "claude": 0.17, "deepseek": 0.18, "qwen": 0.17, "smollm": 0.03}
"""How likely an unknown model counts like these: the old and the small ones hardly."""

_FAMILIES: tuple[tuple[tuple[str, ...], Mapping[str, float]], ...] = (
    (("claude",), {"claude": 1}),
    (("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-oss", "chatgpt-4o", "/o1", "/o3", "/o4"), {"gpt-4o": 1}),
    (("gpt-4", "gpt-3.5"), {"gpt-4": 1}),
    (("davinci", "gpt-3"), {"gpt-3": 1}),
    (("deepseek",), {"deepseek": 1}),
    (("smollm", "/local-tiny"), {"smollm": 1}),
    (("qwen", "/local"), {"qwen": 1}),
    (("kimi", "moonshot"), {"deepseek": 0.5, "qwen": 0.3, "gpt-4o": 0.2}),
)
"""Parts of models' names; the first that is found tells. Kimi's own tokenizer is not at hand: it is said to make two
tokens of three Chinese characters, as these do."""

_KNOWN = 0.25
"""How much of the doubt about a model's counting is left when its family is known, as variance."""


class Calibration:
    """What is known of one model's tokenizer. It is taken for a blend of known ones, and its weights are a Kalman
    filter's state: a report moves them along what the reported text tells apart, as far as they were in doubt.
    """

    _NOISE = 0.03
    """How far off a well-calibrated estimate usually is, as a share."""
    _OWN = 0.02
    """How far, usually, a model's weights are from any blend."""
    _DRIFT = 1e-6
    """Variance that each report adds, so that learning never ends."""
    _LEAST = 150
    """Tokens. Smaller reports say more about message wrappers than about text."""

    def __init__(self, weights: Mapping[str, float] = _USUAL, doubt: float = 1.0) -> None:
        self._weights = [float(weights.get(name, 0)) for name in TOKENIZERS]
        self._covariance = [[doubt * each for each in row] for row in _prior(self._OWN)]

    @property
    def state(self) -> State:
        return tuple(round(each, 7) for row in (self._weights, *self._covariance) for each in row)

    @classmethod
    def of(cls, state: Sequence[float]) -> Self | None:
        """From a state; None when no reports can have led to it."""
        made, size = cls(), len(TOKENIZERS)
        if len(state) != size * (size + 1) or not all(abs(each) <= _LARGEST for each in state):
            return None
        made._weights = list(state[:size])
        made._covariance = [list(state[start : start + size]) for start in range(size, len(state), size)]
        sound = 0.3 < sum(made._weights) < 3 and all(made._covariance[index][index] > 0 for index in range(size))
        return made if sound else None

    @classmethod
    def for_model(cls, name: str) -> Self:
        """What is known of a model before it has reported anything: how its family counts."""
        name = f"/{name.lower()}"
        for parts, weights in _FAMILIES:
            if any(part in name for part in parts):
                return cls(weights, _KNOWN)
        return cls()

    def tokens(self, cost: Cost) -> float:
        return _product(self._weights, cost) / UNIT

    def learn(self, cost: Cost, exact: int) -> bool:
        """Texts of this cost were `exact` tokens. False when that tells nothing."""
        expected = self.tokens(cost)
        if expected < self._LEAST or not credible(cost, exact):
            return False
        text = [each / UNIT for each in cost]
        gain = [_product(row, text) for row in self._covariance]
        certainty = _product(gain, text) + (self._NOISE * expected) ** 2
        surprise = (exact - expected) / certainty
        self._weights = [weight + each * surprise for weight, each in zip(self._weights, gain, strict=True)]
        for index, row in enumerate(self._covariance):
            row[:] = [each - gain[index] * other / certainty for each, other in zip(row, gain, strict=True)]
            row[index] += self._DRIFT
        return True


def credible(cost: Cost, exact: int) -> bool:
    """Whether a tokenizer can have counted the text so; else the report is of something else too: of tools, of a
    history that was cut."""
    return 0.75 * min(cost) <= exact * UNIT <= 1.3 * max(cost)


_LARGEST = 10.0


def _prior(own: float) -> list[list[float]]:
    """Covariances of the weights, when all that is known is how likely each tokenizer is."""
    likely = [_USUAL[name] for name in TOKENIZERS]
    return [
        [(first + own * own if row == column else 0) - first * second for column, second in enumerate(likely)]
        for row, first in enumerate(likely)
    ]


def _product(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(one * other for one, other in zip(left, right, strict=True))


UNTAUGHT = Calibration()
"""For estimates of which nobody says what model they are for. Never taught."""

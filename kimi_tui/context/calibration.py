"""How a model counts: learned from its reports, and guessed from its name before there is one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Self

from kimi_tui.context.costs import TOKENIZERS

Cost = tuple[int, ...]
"""What a text costs in each of `costs.TOKENIZERS`, in thousandths of a token, so that sums do not depend on their
order."""

UNIT = 1000

State = tuple[float, ...]
"""A calibration's evidence, weights of the blend, and their covariances row by row."""

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

_NEVER = 1e-6
"""The least that a guess is believed."""

_LARGEST = 20.0
"""No number of a state is further from zero."""

_KNOWN = 0.25
"""How much of the doubt about a model's counting is left when its family is known, as variance."""


class Calibration:
    """What is known of one model's tokenizer: it counts just like one of the known ones, or like a blend of them. Each
    of these guesses is believed by how well it has foretold the reports, and the estimate is what they say together.

    The blend is a Kalman filter's state: a report moves its weights along what the reported text tells apart, as far
    as they were in doubt.
    """

    _BLENDED = 0.3
    """How likely a model is to count like none of the known ones."""
    _OWN = 0.02
    """How far, usually, such a model's weights are from any blend."""
    _DRIFT = 1e-6
    """Variance that each report adds, so that learning never ends."""
    _LEAST = 30
    """Tokens. Smaller reports say more about message wrappers than about text."""

    def __init__(self, likely: Mapping[str, float] = _USUAL, doubt: float = 1.0) -> None:
        self._blend = [float(likely.get(name, 0)) for name in TOKENIZERS]
        self._covariance = [[doubt * each for each in row] for row in _prior(self._OWN)]
        chances = [*((1 - self._BLENDED) * each for each in self._blend), self._BLENDED]
        self._evidence = [math.log(max(each, _NEVER)) for each in chances]
        self._weights = self._weighed()

    def _weighed(self) -> list[float]:
        """Weights of the columns in the estimate: what all guesses say, each as far as it is believed."""
        most = max(self._evidence)
        *chances, blended = (math.exp(each - most) for each in self._evidence)
        whole = sum(chances) + blended
        return [(chance + blended * each) / whole for chance, each in zip(chances, self._blend, strict=True)]

    @property
    def state(self) -> State:
        return tuple(round(each, 7) for row in (self._evidence, self._blend, *self._covariance) for each in row)

    @classmethod
    def of(cls, state: Sequence[float]) -> Self | None:
        """From a state; None when no reports can have led to it."""
        made, size = cls(), len(TOKENIZERS)
        if len(state) != size + 1 + size + size * size or not all(abs(each) <= _LARGEST for each in state):
            return None
        rest = state[size + 1 :]
        made._evidence, made._blend = list(state[: size + 1]), list(rest[:size])
        made._covariance = [list(rest[start : start + size]) for start in range(size, len(rest), size)]
        made._weights = made._weighed()
        sound = 0.3 < sum(made._blend) < 3 and all(made._covariance[index][index] > 0 for index in range(size))
        return made if sound else None

    @classmethod
    def for_model(cls, name: str) -> Self:
        """What is known of a model before it has reported anything: how its family counts."""
        name = f"/{name.lower()}"
        for parts, likely in _FAMILIES:
            if any(part in name for part in parts):
                return cls(likely, _KNOWN)
        return cls()

    def tokens(self, cost: Cost) -> float:
        return _product(self._weights, cost) / UNIT

    def learn(self, cost: Cost, exact: int) -> bool:
        """Texts of this cost were `exact` tokens. False when that tells nothing."""
        expected = self.tokens(cost)
        if expected < self._LEAST or not credible(cost, exact):
            return False
        self._learn([each / UNIT for each in cost], exact, _usual_error(expected))
        self._weights = self._weighed()
        return True

    def _learn(self, guesses: Sequence[float], exact: int, share: float) -> None:
        """`share` is how far off a guess usually is, even of the right tokenizer."""
        gain = [_product(row, guesses) for row in self._covariance]
        blended = _product(self._blend, guesses)
        variance = _product(gain, guesses) + (share * blended) ** 2 + 1
        for index, guess in enumerate(guesses):
            self._evidence[index] += _likelihood(exact - guess, (share * guess) ** 2 + 1)
        self._evidence[-1] += _likelihood(exact - blended, variance)
        self._forget_scale()
        surprise = (exact - blended) / variance
        self._blend = [weight + each * surprise for weight, each in zip(self._blend, gain, strict=True)]
        for index, row in enumerate(self._covariance):
            row[:] = [each - gain[index] * other / variance for each, other in zip(row, gain, strict=True)]
            row[index] += self._DRIFT

    def _forget_scale(self) -> None:
        """Only differences of evidence count; a guess that was once believed wrong can be believed again."""
        most = max(self._evidence)
        self._evidence = [max(each - most, math.log(_NEVER)) for each in self._evidence]


def _usual_error(tokens: float) -> float:
    """Of the estimate of a text of so many tokens by its own column, as a share: as measured, and a message's wrapper
    more or less."""
    return math.hypot(0.012, 0.04 * math.sqrt(500 / tokens), 4 / tokens)


def _likelihood(error: float, variance: float) -> float:
    """Logarithm of a normal density, up to a constant."""
    return -0.5 * (error * error / variance + math.log(variance))


def credible(cost: Cost, exact: int) -> bool:
    """Whether a tokenizer can have counted the text so; else the report is of something else too: of tools, of a
    history that was cut."""
    return 0.75 * min(cost) <= exact * UNIT <= 1.3 * max(cost)


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

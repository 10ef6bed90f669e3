"""Repeats: the same call over and over, and cycles of two or three steps.

Pure bookkeeping. `Toolset.run` executes equal calls of one step once, then hands the step's calls and a digest of each
result to `Repeats.record`, which says what to add to each result and whether the turn must end. Calls whose results
differ each time are polling, not a loop: they get at most a reminder and never end the turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kimi_tui.resources import prompt
from kimi_tui.tools.arguments import canonical
from kimi_tui.tools.text import clip

REMIND_AT = (3, 5, 8)
"""Consecutive steps with the same call and the same result, from which on each stronger reminder is given."""
STOP_AT = 12
CYCLE_REMIND_AT = (3, 4, 6)
"""The same for whole rounds of a cycle."""
CYCLE_STOP_AT = 8
POLL_REMIND_AT = 8
PERIODS = (2, 3)


class CallKey(NamedTuple):
    """What makes two calls the same."""

    name: str
    arguments: str

    @classmethod
    def of(cls, name: str, arguments: str | None) -> CallKey:
        return cls(name, canonical(arguments))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a call's repetition means. `level` is 0 (nothing), 1…3 (reminders), 4 (the turn ends)."""

    level: int = 0
    count: int = 0
    period: int = 1
    reminder: str = ""

    @property
    def stop(self) -> bool:
        return self.level == 4


@dataclass(frozen=True, slots=True)
class _Streak:
    steps: int
    equal: int
    digest: str


class Repeats:
    """Remembers the last steps of one conversation. `reset` after a D-Mail or a revert: that future is gone."""

    def __init__(self) -> None:
        self._streaks: dict[CallKey, _Streak] = {}
        self._steps: deque[tuple[tuple[CallKey, str], ...]] = deque(maxlen=max(PERIODS) * CYCLE_STOP_AT)

    def reset(self) -> None:
        self._streaks.clear()
        self._steps.clear()

    def record(self, step: Sequence[tuple[CallKey, str]]) -> list[Verdict]:
        """One step's calls with a digest of their results; one verdict a call, in order."""
        self._steps.append(tuple(dict.fromkeys(step)))
        self._streaks = {key: self._continued(key, digest) for key, digest in step}
        cycle = self._cycle()
        return [max(self._judge(key), cycle, key=lambda verdict: verdict.level) for key, _ in step]

    def _continued(self, key: CallKey, digest: str) -> _Streak:
        before = self._streaks.get(key)
        if before is None:
            return _Streak(1, 1, digest)
        return _Streak(before.steps + 1, before.equal + 1 if before.digest == digest else 1, digest)

    def _judge(self, key: CallKey) -> Verdict:
        streak = self._streaks[key]
        level = _level(streak.equal, REMIND_AT, STOP_AT)
        if level:
            return Verdict(level, streak.equal, 1, _reminder(f"repeat_{level}", streak.equal, key))
        if streak.steps >= POLL_REMIND_AT:
            return Verdict(1, streak.steps, 1, _reminder("repeat_poll", streak.steps, key))
        return Verdict()

    def _cycle(self) -> Verdict:
        for period in PERIODS:
            rounds = self._rounds(period)
            level = _level(rounds, CYCLE_REMIND_AT, CYCLE_STOP_AT)
            if level:
                return Verdict(level, rounds, period, _cycle_reminder(level, rounds, period))
        return Verdict()

    def _rounds(self, period: int) -> int:
        """How many times the last `period` steps, calls and results alike, came in a row; 0 when they are all equal."""
        steps = list(self._steps)
        last = steps[-period:]
        if len(last) < period or len(set(last)) == 1:
            return 0
        rounds = 1
        while steps[-period * (rounds + 1) : -period * rounds] == last:
            rounds += 1
        return rounds


def _level(count: int, remind_at: tuple[int, ...], stop_at: int) -> int:
    return 4 if count >= stop_at else sum(count >= threshold for threshold in remind_at)


def _reminder(name: str, count: int, key: CallKey) -> str:
    arguments = clip(key.arguments, 400)
    return prompt(f"tools/{name}").format_map({"count": count, "tool": key.name, "arguments": arguments})


def _cycle_reminder(level: int, rounds: int, period: int) -> str:
    return prompt("tools/repeat_cycle_stop" if level == 4 else "tools/repeat_cycle").format(
        rounds=rounds, period=period
    )

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from kimi_tui.protocol.events import Event, StepStarted, TextDelta, ThinkingDelta, ToolOutputDelta
from kimi_tui.ui.pump import BREATH, LONGEST_WAIT, REST, Pump


async def told(*events: Event) -> AsyncIterator[Event]:
    for event in events:
        yield event


async def batches(*events: Event) -> list[Event]:
    got: list[Event] = []
    await Pump(got.extend, frame=0).run(told(*events))
    return got


async def test_events_arrive_in_order_with_neighbouring_deltas_joined() -> None:
    got = await batches(
        TextDelta("a"),
        TextDelta("b"),
        StepStarted(1),
        TextDelta("c"),
        ThinkingDelta("d"),
        ThinkingDelta("e"),
        ToolOutputDelta("1", "f"),
        ToolOutputDelta("1", "g"),
        ToolOutputDelta("2", "h"),
    )
    assert got == [
        TextDelta("ab"),
        StepStarted(1),
        TextDelta("c"),
        ThinkingDelta("de"),
        ToolOutputDelta("1", "fg"),
        ToolOutputDelta("2", "h"),
    ]


async def test_a_fault_of_the_reader_is_raised() -> None:
    async def broken() -> AsyncIterator[Event]:
        yield StepStarted(1)
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        await Pump(lambda batch: None, frame=0).run(broken())


async def test_a_fault_of_the_screen_is_raised() -> None:
    def deliver(batch: Sequence[Event]) -> None:
        raise RuntimeError("screen")

    with pytest.raises(RuntimeError, match="screen"):
        await Pump(deliver, frame=0).run(told(StepStarted(1)))


class Clock:
    """Time passes only when somebody sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.slept: list[float] = []
        self._sleep = asyncio.sleep
        monkeypatch.setattr(asyncio, "sleep", self._pass)

    def __call__(self) -> float:
        return self.now

    async def _pass(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now += seconds
        await self._sleep(0)


async def test_flowing_text_waits_for_the_echo_of_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, got = Clock(monkeypatch), []
    pump = Pump(lambda batch: got.append((round(clock.now, 6), *batch)), frame=0, clock=clock)
    pump.key()
    await pump.run(told(TextDelta("a"), TextDelta("b")))
    assert got == [(100 + BREATH, TextDelta("ab"))]


async def test_what_is_more_than_flowing_text_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, got = Clock(monkeypatch), []
    pump = Pump(lambda batch: got.append((clock.now, *batch)), frame=0, clock=clock)
    pump.key()
    await pump.run(told(TextDelta("a"), StepStarted(1)))
    assert got == [(100.0, TextDelta("a"), StepStarted(1))]


async def test_text_flows_on_however_fast_one_types(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, got = Clock(monkeypatch), []
    pump = Pump(lambda batch: got.append(round(clock.now, 6)), frame=0, clock=clock)
    slept = clock._pass

    async def typing(seconds: float) -> None:
        await slept(seconds)
        pump.key()

    monkeypatch.setattr(asyncio, "sleep", typing)
    pump.key()
    await pump.run(told(TextDelta("a")))
    assert got == [100 + LONGEST_WAIT]


async def test_there_are_fewer_frames_when_drawing_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    def slow(batch: Sequence[Event]) -> None:
        clock.now += 0.1

    await Pump(slow, frame=0.01, clock=clock).run(told(StepStarted(1)))
    assert clock.slept == [round(REST * 0.1, 6)]


async def test_thousands_of_deltas_become_few_batches() -> None:
    sizes: list[int] = []
    await Pump(lambda batch: sizes.append(len(batch)), frame=0).run(told(*[TextDelta("x")] * 5_000))
    assert sum(sizes) < 50

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from kimi_tui.protocol.events import Event, StepStarted, TextDelta, ThinkingDelta, ToolOutputDelta
from kimi_tui.ui.pump import Pump


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


async def test_thousands_of_deltas_become_few_batches() -> None:
    sizes: list[int] = []
    await Pump(lambda batch: sizes.append(len(batch)), frame=0).run(told(*[TextDelta("x")] * 5_000))
    assert sum(sizes) < 50

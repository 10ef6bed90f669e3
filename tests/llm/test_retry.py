from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from kimi_tui.llm.model import ModelFault, Piece, Report, Request, TextPiece
from kimi_tui.llm.retry import Restart, RetryPolicy, stream_with_retry
from kimi_tui.protocol.views import ModelView

Attempt = list[Piece | ModelFault]


class Scripted:
    """Plays one list of pieces an attempt; a fault in it is raised."""

    view = ModelView("scripted")

    def __init__(self, *attempts: Attempt) -> None:
        self.attempts = list(attempts)
        self.closed = 0

    async def prepare(self, report: Report) -> None: ...

    async def warm(self, request: Request, report: Report) -> None: ...

    async def close(self) -> None: ...

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        try:
            for piece in self.attempts.pop(0):
                if isinstance(piece, ModelFault):
                    raise piece
                yield piece
        finally:
            self.closed += 1


class Clock:
    """Sleeps at once and remembers for how long."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


REQUEST = Request("", ())


async def play(model: Scripted, clock: Clock) -> tuple[list[Piece | Restart], list[tuple[str, int, int]]]:
    told: list[tuple[str, int, int]] = []
    policy = RetryPolicy(sleep=clock.sleep)
    pieces = stream_with_retry(model, REQUEST, policy, lambda why, n, of, wait: told.append((why, n, of)))
    return [piece async for piece in pieces], told


async def test_a_dropped_stream_starts_again_and_says_so() -> None:
    model = Scripted([TextPiece("for"), ModelFault("connection", "cut")], [TextPiece("forty-two")])
    pieces, told = await play(model, Clock())
    assert pieces == [TextPiece("for"), Restart(), TextPiece("forty-two")]
    assert told == [("cut", 2, 3)]


async def test_no_restart_is_announced_when_nothing_had_been_said() -> None:
    pieces, _ = await play(Scripted([ModelFault("server", "502")], [TextPiece("hi")]), Clock())
    assert pieces == [TextPiece("hi")]


async def test_the_wait_grows_and_the_last_fault_is_raised() -> None:
    clock = Clock()
    with pytest.raises(ModelFault, match="down 3"):
        await play(Scripted(*([ModelFault("server", f"down {n}")] for n in (1, 2, 3))), clock)
    assert len(clock.slept) == 2
    assert clock.slept[0] < clock.slept[1]


async def test_a_fault_that_does_not_pass_is_not_tried_again() -> None:
    clock = Clock()
    with pytest.raises(ModelFault, match="wrong key"):
        await play(Scripted([ModelFault("auth", "wrong key")]), clock)
    assert clock.slept == []


async def test_retry_after_is_honoured() -> None:
    clock = Clock()
    await play(Scripted([ModelFault("rate_limit", "slow", retry_after=7)], [TextPiece("x")]), clock)
    assert clock.slept == [7]


async def test_a_wait_of_minutes_is_not_served() -> None:
    clock = Clock()
    with pytest.raises(ModelFault, match="token limit"):
        await play(Scripted([ModelFault("rate_limit", "token limit", retry_after=1152)]), clock)
    assert clock.slept == []


async def test_cancelling_ends_the_wait_at_once() -> None:
    waiting = asyncio.Event()
    model = Scripted([ModelFault("rate_limit", "slow", retry_after=50)])
    stream = stream_with_retry(model, REQUEST, RetryPolicy(), lambda *_: waiting.set())

    async def drain() -> None:
        async for _ in stream:
            pass

    task = asyncio.create_task(drain())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 60)


async def test_leaving_the_stream_closes_the_call() -> None:
    model = Scripted([TextPiece("a"), TextPiece("b")], [TextPiece("never")])
    async with aclosing(stream_with_retry(model, REQUEST, RetryPolicy(), lambda *_: None)) as stream:
        async for _ in stream:
            break
    assert model.closed == 1
    assert len(model.attempts) == 1

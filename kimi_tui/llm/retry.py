"""Trying again: which faults are worth it, how long to wait, and what the screen is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import cast

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    wait_exponential,
    wait_random,
)

from kimi_tui.llm.model import ChatModel, ModelFault, Piece, Request

ATTEMPTS = 3
LONGEST_WAIT = 60.0
"""Seconds. A provider that asks for more is not waited for: the user is told what it said."""

OnRetry = Callable[[str, int, int, float], None]
"""Told before the wait: reason, number of the coming attempt, attempts in all, seconds."""


@dataclass(frozen=True, slots=True)
class Restart:
    """What came so far is void: the answer starts again from its beginning."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    attempts: int = ATTEMPTS
    first_wait: float = 0.5
    """Seconds before the second attempt; doubles from there, with jitter."""
    longest_wait: float = LONGEST_WAIT
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def attempt(self, on_retry: OnRetry) -> AsyncRetrying:
        """Tenacity's loop with this policy: `async for attempt in policy.attempt(…): with attempt: …`."""
        return AsyncRetrying(
            stop=stop_after_attempt(max(1, self.attempts)),
            retry=retry_if_exception(self._worth_it),
            wait=self._wait,
            sleep=self.sleep,
            before_sleep=lambda state: self._announce(state, on_retry),
            reraise=True,
        )

    def _worth_it(self, error: BaseException) -> bool:
        if not isinstance(error, ModelFault) or not error.passing:
            return False
        return error.retry_after is None or error.retry_after <= self.longest_wait

    def _wait(self, state: RetryCallState) -> float:
        backoff = wait_exponential(self.first_wait, self.longest_wait) + wait_random(0, self.first_wait)
        return max(backoff(state), _fault(state).retry_after or 0.0)

    def _announce(self, state: RetryCallState, on_retry: OnRetry) -> None:
        wait = state.next_action.sleep if state.next_action else 0.0
        on_retry(str(_fault(state)).rstrip("."), state.attempt_number + 1, self.attempts, wait)


def _fault(state: RetryCallState) -> ModelFault:
    assert state.outcome is not None
    return cast("ModelFault", state.outcome.exception())


async def stream_with_retry(
    model: ChatModel, request: Request, policy: RetryPolicy, on_retry: OnRetry
) -> AsyncGenerator[Piece | Restart, None]:
    """The answer, asked for again after passing faults. `Restart` comes before the first piece of an attempt that
    follows a half answer. Raises the last ModelFault; cancelling ends a wait at once."""
    half = False
    async for attempt in policy.attempt(on_retry):
        with attempt:
            if half:
                half = False
                yield Restart()
            async with _closed_after(model.stream(request)) as pieces:
                async for piece in pieces:
                    half = True
                    yield piece


@asynccontextmanager
async def _closed_after(pieces: AsyncIterator[Piece]) -> AsyncIterator[AsyncIterator[Piece]]:
    try:
        yield pieces
    finally:
        if isinstance(pieces, AsyncGenerator):
            await pieces.aclose()

"""How commands are started and ended on this machine: handed in by whoever builds the tasks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Host:
    argv: Callable[[str], Sequence[str]]
    """A command line → the program that runs it, with its arguments."""
    environment: Callable[[], Mapping[str, str]]
    """What commands find in their environment, without secrets."""
    mark: str
    """Name of the variable that tells a command's children apart."""
    end: Callable[[int, str], Awaitable[None]]
    """Leader and mark → all of the family has been ended, within a bounded time."""

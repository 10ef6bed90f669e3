"""What the interpreter is told, so that a loop never waits long for a worker."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest

from kimi_tui.cli.pace import keep_pace


@pytest.fixture(autouse=True)
def interpreter() -> Iterator[None]:
    turn, thresholds = sys.getswitchinterval(), gc.get_threshold()
    yield
    sys.setswitchinterval(turn)
    gc.set_threshold(*thresholds)


def test_a_busy_worker_gives_way_within_a_millisecond() -> None:
    keep_pace()
    assert sys.getswitchinterval() == pytest.approx(0.001)


def test_cycles_are_looked_for_in_small_pieces_and_hardly_ever_in_a_whole_history() -> None:
    keep_pace()
    young, middle, old = gc.get_threshold()
    assert young * middle < 50_000
    assert young * middle * old > 100_000_000

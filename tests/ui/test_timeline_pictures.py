"""Pictures of time travel: whoever changes how it looks sees it here."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from textual.app import App
from textual.pilot import Pilot

from kimi_tui.ui.marks import ASCII
from kimi_tui.ui.screens.context_view import ContextView
from kimi_tui.ui.screens.rotations import Rotations
from kimi_tui.ui.theme import DARK, LIGHT
from tests.ui.play_timeline import Play, Questions
from tests.ui.samples import EDIT, NOW, ROWS
from tests.ui.stage import Stage
from tests.ui.waiting import settled, until

Compare = Callable[..., bool]


def keys(*pressed: str) -> Callable[[Pilot[None]], object]:
    async def press(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pilot.press(*pressed)
        await settled(pilot)
        screen = pilot.app.screen
        if isinstance(screen, Rotations):
            await until(pilot, lambda: screen._read == "context_3.jsonl")

    return press


def rotations() -> Rotations:
    screen = Rotations()
    screen.rotations.clock = lambda: NOW
    return screen


def context() -> ContextView:
    screen = ContextView()
    screen.clock = lambda: NOW
    return screen


PICTURES: dict[str, tuple[Callable[[], App[None]], tuple[str, ...], tuple[int, int]]] = {
    "timeline": (lambda: Play(), ("down", "down", "down"), (100, 30)),
    "branch-light": (lambda: Play(theme=LIGHT), (*["down"] * 5, "space", "down", "d"), (100, 30)),
    "ascii-low": (lambda: Play(ROWS, ASCII), ("slash", "p", "a", "r"), (60, 16)),
    "choice": (lambda: Play(), ("down", "down", "down", "enter"), (100, 30)),
    "choice-low": (lambda: Play(), ("down", "enter"), (60, 16)),
    "rotations": (lambda: Stage(rotations), ("down",), (110, 30)),
    "context-light": (lambda: Stage(context, LIGHT), (), (100, 24)),
    "approval-wide": (lambda: Questions([EDIT], DARK), ("tab",), (130, 34)),
}


@pytest.mark.parametrize("name", PICTURES)
def test_it_looks_as_it_did(name: str, snap_compare: Compare) -> None:
    app, pressed, size = PICTURES[name]
    assert snap_compare(app(), run_before=keys(*pressed), terminal_size=size)

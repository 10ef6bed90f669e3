"""When the screen is still: told by what there is left to do, not by the time that passes.

Textual's own pilot takes the app to be idle as soon as its process uses no CPU for a moment. On a machine that is busy
with something else this is true of an app that has not had its turn yet, and it costs each key two moments.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from textual._context import active_app
from textual.app import App, ScreenStackError

ROUNDS = 20_000
"""Turns of the loop after which something that never rests is taken for what it is, e.g. an agent at work."""
HOUR = 3600.0


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a user has a moment for, a test has as long as it needs: a second Esc counts with the first, a toast can be
    read; and the app is idle when it has nothing to do."""
    monkeypatch.setattr("kimi_tui.ui.screens.keyboard.AGAIN", HOUR)
    monkeypatch.setattr("kimi_tui.ui.leaving.PATIENCE", HOUR)
    monkeypatch.setattr("kimi_tui.ui.widgets.editor.MOMENT", HOUR)
    monkeypatch.setattr(App, "NOTIFICATION_TIMEOUT", HOUR)
    monkeypatch.setattr("textual.pilot.wait_for_idle", stillness)
    monkeypatch.setattr("textual.app.wait_for_idle", stillness)


async def stillness(min_sleep: float = 0, max_sleep: float = 0) -> None:
    """Until nobody has a message to look at and the screen shows what was changed. Takes the place of
    `textual._wait.wait_for_idle`; the times are not needed."""
    app, loop = active_app.get(), _loop()
    for _ in range(ROUNDS):
        await asyncio.sleep(0)
        if not loop._ready and not _draw(app):  # what is left waits for files, threads and timers
            return


def _loop() -> Any:
    return asyncio.get_running_loop()


def _draw(app: App[Any]) -> bool:
    """What the app does some moments after a new size, and the screen sixty times a second. Whether there was anything
    to do."""
    try:
        screen = app.screen
    except ScreenStackError:
        return False
    if app._resize_event is not None:
        app._check_resize()
        return True
    if not screen.is_current or app._batch_count:
        return False
    waiting = (
        screen._layout_required,
        screen._scroll_required,
        screen._repaint_required,
        screen._recompose_required,
        screen._dirty_widgets,
        screen._callbacks,
    )
    if not any(waiting):
        return False
    screen._on_timer_update()
    return True

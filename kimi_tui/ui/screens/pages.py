"""The pages that a slash command opens."""

from __future__ import annotations

from collections.abc import Callable

from kimi_tui.ui.marks import Marks
from kimi_tui.ui.screens.context_view import ContextView
from kimi_tui.ui.screens.model_picker import ModelPicker
from kimi_tui.ui.screens.page import Page
from kimi_tui.ui.screens.sessions import Sessions
from kimi_tui.ui.state import ScreenState


def page(name: str, state: ScreenState, marks: Marks) -> Page:
    """`sessions`, `context` or `model`. Raises KeyError for another name."""
    pages: dict[str, Callable[[], Page]] = {
        "sessions": lambda: Sessions(state.path, marks),
        "context": lambda: ContextView(marks),
        "model": lambda: ModelPicker(state.model, marks),
    }
    return pages[name]()

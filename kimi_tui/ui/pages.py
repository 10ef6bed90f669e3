"""The screens over the chat. Loaded when the first of them is opened: the first frame does not wait for them."""

from __future__ import annotations

from textual.screen import Screen

from kimi_tui.ui.marks import Marks
from kimi_tui.ui.screens.compare import Compare
from kimi_tui.ui.screens.context_view import ContextView
from kimi_tui.ui.screens.flow import FlowScreen
from kimi_tui.ui.screens.help import Help
from kimi_tui.ui.screens.jump import Jump
from kimi_tui.ui.screens.line_prompt import LinePrompt
from kimi_tui.ui.screens.mcp import Mcp
from kimi_tui.ui.screens.model_picker import ModelPicker
from kimi_tui.ui.screens.palette import CommandPalette
from kimi_tui.ui.screens.parting import Parting
from kimi_tui.ui.screens.revert_choice import RevertChoice
from kimi_tui.ui.screens.rotations import Rotations
from kimi_tui.ui.screens.sessions import Sessions
from kimi_tui.ui.screens.summary_editor import SummaryEditor
from kimi_tui.ui.screens.tasks import Tasks
from kimi_tui.ui.screens.themes import Themes
from kimi_tui.ui.state import ScreenState


def page(name: str, state: ScreenState, marks: Marks) -> Screen[None] | None:
    """The screen of a slash command; None for a command that has none."""
    match name:
        case "context":
            return ContextView(marks)
        case "sessions":
            return Sessions(state.path, marks)
        case "model":
            return ModelPicker(state.model, marks)
        case "flow":
            return FlowScreen(state.flow, marks)
        case "rotations":
            return Rotations(None, marks)
        case "tasks":
            return Tasks(state.tasks, marks)
        case "mcp":
            return Mcp(marks)
    return None


__all__ = [
    "CommandPalette",
    "Compare",
    "Help",
    "Jump",
    "LinePrompt",
    "Parting",
    "RevertChoice",
    "Rotations",
    "SummaryEditor",
    "Themes",
    "page",
]

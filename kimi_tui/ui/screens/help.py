"""F1: the keys and commands, made from the bindings and the command table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.scroll_view import ScrollView
from textual.strip import Strip

from kimi_tui.protocol.views import SlashCommand
from kimi_tui.ui.keymap import Names, bindings_of, in_force, spelled
from kimi_tui.ui.palette import Palette
from kimi_tui.ui.rows import Piece, Row, wrap

KEY_COLUMN = 16

PROMPT: tuple[tuple[str, str], ...] = (
    ("enter", "send; while a turn runs: steer it"),
    ("alt+enter", "while a turn runs: send after it"),
    ("shift+enter", "new line (also ctrl+j, or \\ at the end)"),
    ("up, down", "earlier prompts; while something waits, up: edit it"),
    ("/", "commands"),
    ("@", "files"),
    ("!", "run a shell command yourself"),
)
"""Keys of the prompt, which reads them itself."""

TOLD: tuple[tuple[str, str, str], ...] = (
    ("stop", "esc", "stop the turn; twice: clear the prompt, or go to the timeline"),
    ("interrupt", "ctrl+c", "copy the selection, stop, clear, leave"),
    ("leave", "ctrl+d", "leave, when the prompt is empty"),
)
"""Actions that take more words than their bindings have: name, usual key, what it does."""


class Help(ModalScreen[None]):
    """Esc, q and the key that opened it close it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "close", show=False)]

    def __init__(self, commands: Sequence[SlashCommand], keys: Mapping[str, str] | None = None) -> None:
        """`keys` are those of the config."""
        super().__init__()
        self.commands = commands
        self.keys = keys or {}

    def compose(self) -> ComposeResult:
        yield Sheet(self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        names = Names(self.keys)
        app, chat = self.app.BINDINGS, bindings_of(self.app.screen_stack[0])
        timeline = [found for widget in self.app.screen_stack[0].query("Timeline") for found in widget.BINDINGS]
        reader = [found for widget in self.app.screen_stack[0].query("Reader") for found in widget.BINDINGS]
        return [
            ("Keys", ""),
            *PROMPT,
            *((names(action, usual), does) for action, usual, does in TOLD),
            *_described((*chat, *app), {action for action, _, _ in TOLD}, self.keys),
            ("", ""),
            (f"In the chat ({names('answer', 'tab')})", ""),
            *_described(reader, set()),
            ("", ""),
            ("In the timeline", ""),
            ("enter", "go back to this point, or open the rotation"),
            *_described(timeline, set()),
            ("", ""),
            ("Commands", ""),
            *((f"/{command.name} {command.usage}".rstrip(), command.help) for command in self.commands),
        ]


def _described(
    bindings: Iterable[BindingType], told: set[str], keys: Mapping[str, str] | None = None
) -> list[tuple[str, str]]:
    """Key and description of the bindings whose actions have not been told of."""
    return [
        (binding.key_display or spelled(in_force(binding, keys or {})), binding.description)
        for binding in bindings
        if isinstance(binding, Binding) and binding.description and binding.id not in told
    ]


class Sheet(ScrollView, can_focus=True):
    """Two columns that scroll."""

    BORDER_TITLE = "help"
    BORDER_SUBTITLE = "esc closes"

    def __init__(self, table: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self.table = table
        self.palette = Palette(self)
        self._rows: list[Row] = []

    def on_mount(self) -> None:
        self.focus()

    def on_resize(self) -> None:
        width = self.scrollable_content_region.width
        self._rows = [row for key, text in self.table for row in _help_rows(key, text, width)]
        self.virtual_size = Size(width, len(self._rows))

    def render_line(self, y: int) -> Strip:
        y += round(self.scroll_y)
        pieces = self._rows[y].pieces if 0 <= y < len(self._rows) else ()
        segments = [Segment(piece.text, self.palette(piece.style)) for piece in pieces]
        return Strip(segments).adjust_cell_length(self.size.width, self.rich_style)


def _help_rows(key: str, text: str, width: int) -> list[Row]:
    """The key in its column and the text beside it; below it where there is no room or the key is long."""
    if not text:
        return wrap([Piece(key, "strong")], width, (Piece(" "),))
    if len(key) + 2 > KEY_COLUMN or width < 2 * KEY_COLUMN:
        lead = (Piece(" " * (KEY_COLUMN + 1 if width >= 2 * KEY_COLUMN else 3)),)
        return [*wrap([Piece(key, "moved")], width, (Piece(" "),)), *wrap([Piece(text, "quiet")], width, lead)]
    head, rest = (Piece(f" {key:<{KEY_COLUMN}}", "moved"),), (Piece(" " * (KEY_COLUMN + 1)),)
    return wrap([Piece(text)], width, head, rest)

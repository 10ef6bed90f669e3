"""A stage for one screen or widget: our styles and themes, and an agent that answers from samples."""

from __future__ import annotations

from collections.abc import Callable

from textual import on
from textual.app import App
from textual.screen import Screen

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.ui.app import KimiApp
from kimi_tui.ui.asks import Submit
from kimi_tui.ui.listening import Listens
from kimi_tui.ui.palette import COMPONENTS
from kimi_tui.ui.theme import DARK, DEFAULTS, THEMES
from tests.ui.samples import CONVERSATION, GAUGE, MODELS, ROTATIONS, SESSIONS, SHARES


class Ground(Screen[None]):
    """Knows the styles of rows, as the main screen does."""

    COMPONENT_CLASSES = set(COMPONENTS)


class Stage(App[None]):
    """Records what is said; `screen` is pushed at once when there is one."""

    CSS_PATH = KimiApp.CSS_PATH

    def __init__(self, opened: Callable[[], Screen] | None = None, theme: str = DARK) -> None:
        super().__init__()
        for known in THEMES:
            self.register_theme(known)
        self.theme = theme
        self.opened = opened
        self.said: list[object] = []

    def get_default_screen(self) -> Screen:
        return Ground()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return DEFAULTS

    def on_mount(self) -> None:
        if self.opened is not None:
            self.push_screen(self.opened(), self.said.append)

    @property
    def commands(self) -> list[cmd.Command]:
        return [said for said in self.said if isinstance(said, cmd.Command)]

    @on(Submit)
    def answer(self, event: Submit) -> None:
        self.said.append(event.command)
        match event.command:
            case cmd.ListRotations():
                self.tell(ev.RotationsListed(ROTATIONS))
            case cmd.ReadRotation(file):
                self.tell(ev.RotationRead(file, CONVERSATION))
            case cmd.CompareTimelines(left, right):
                self.tell(ev.TimelinesCompared(left, right, 7, CONVERSATION, CONVERSATION[:2], -18_300))
            case cmd.MeasureContext():
                self.tell(ev.ContextMeasured(SHARES, GAUGE))
            case cmd.ListSessions():
                self.tell(ev.SessionsListed(SESSIONS))
            case cmd.ListModels():
                self.tell(ev.ModelsListed(MODELS, "local"))

    def tell(self, event: ev.Event) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, Listens):
                screen.take(event)

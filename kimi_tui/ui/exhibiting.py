"""Finds out whether the terminal shows pictures by itself, without anybody waiting for its answer."""

from __future__ import annotations

import os
from typing import Any

from rich.color import ColorSystem
from textual import on

from kimi_tui.ui import kitty
from kimi_tui.ui.answers import Answered, Answers
from kimi_tui.ui.gallery import Gallery
from kimi_tui.ui.leaving import Leaving

UNASKED = ("linux", "dumb")
"""Values of `TERM`; and Terminal.app prints what it does not know."""


class Exhibiting(Leaving):
    """Speaks to the terminal itself; see the module."""

    _gallery: Gallery | None = None

    def say(self, sequence: str) -> None:
        """To the terminal itself, between two frames."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)

    def use_all_colours(self, wanted: str) -> None:
        """The terminals that have placeholders have all colours, also where the environment has lost the word of it."""
        if (wanted == "kitty" or kitty.is_named(os.environ)) and not os.environ.get("NO_COLOR"):
            self._set_all_colours()

    def _set_all_colours(self) -> None:
        vars(self.console)["_color_system"] = ColorSystem.TRUECOLOR

    def exhibit(self, wanted: str) -> None:
        """`wanted`: `auto`, `kitty`, `blocks` or `off`."""
        pictures = self.chat.transcript.drawn.pictures
        pictures.enabled = pictures.enabled and wanted != "off"
        if self.is_headless or not pictures.enabled:
            return
        self.app_resume_signal.subscribe(self, self._hang_anew)
        if wanted == "kitty":
            self._hang(bool(os.environ.get("TMUX")))
        elif wanted == "auto":
            self._ask()

    def _ask(self) -> None:
        if os.environ.get("TMUX"):
            self.run_worker(self._ask_tmux(), group="pictures")
        elif kitty.is_named(os.environ):
            self._question(kitty.ASK)
        elif os.environ.get("TERM") not in UNASKED and os.environ.get("TERM_PROGRAM") != "Apple_Terminal":
            self._question(kitty.ASK_NAME)

    def _question(self, sequence: str) -> None:
        Answers.expect()
        self.say(sequence)

    async def _ask_tmux(self) -> None:
        if await kitty.tmux_passes_on():
            self._hang(through_tmux=True)

    @on(Answered)
    def _heard(self, event: Answered) -> None:
        if event.what == "name" and self._gallery is None and kitty.is_known(event.text):
            self._question(kitty.ASK)
        elif event.what == "graphics" and self._gallery is None and kitty.agrees(event.text):
            self._hang(through_tmux=False)

    def _hang(self, through_tmux: bool) -> None:
        if self.console._color_system is not ColorSystem.TRUECOLOR:  # the colours name the pictures
            self._set_all_colours()
            self.refresh_css(animate=False)
        wrapped = kitty.through_tmux if through_tmux else str
        self._gallery = Gallery(lambda commands: self.say(wrapped(commands)), self._has_gone_out, self._cell)
        self.chat.transcript.show_pictures_in(self._gallery)

    def _hang_anew(self, _: object) -> None:
        """Somebody else has had the terminal: what it still has of ours is not known."""
        if self._gallery is not None:
            self.chat.transcript.show_pictures_in(self._gallery)

    def exit(self, result: None = None, return_code: int = 0, message: Any = None) -> None:
        """Pictures are taken down while the terminal still shows the screen that they belong to."""
        if self._gallery is not None:
            self._gallery.clear()
        super().exit(result, return_code, message)

    def _has_gone_out(self) -> bool:
        """Whether the terminal has taken what was written so far."""
        writer: Any = vars(self._driver).get("_writer_thread") if self._driver else None
        return writer is None or writer._queue.qsize() < 2

    def _cell(self) -> tuple[int, int]:
        return kitty.cell_size(vars(self._driver).get("fileno", -1) if self._driver else -1)

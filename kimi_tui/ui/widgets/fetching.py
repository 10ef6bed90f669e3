"""Asks for what comes into sight and is not here yet, and draws ahead what one will scroll to next.

Posts `Wanted` for entries that are not loaded, `ImagesWanted` for their images, and `StepsWanted` for cards of
subagents whose work nobody here has seen.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from textual.message import Message

from kimi_tui.ui.conversation import Block, Conversation
from kimi_tui.ui.drawn import Drawn
from kimi_tui.ui.widgets.painted import Painted

SENDER = "Agent"
"""The tool that starts subagents."""
PAGE = 60
"""Entries asked for at once."""
AHEAD = 3
"""Screens above and below the view that are drawn before one scrolls there."""
PAUSE = 0.004
"""Seconds between two blocks that are drawn ahead, for whatever else is to be done."""


class Fetching(Painted):
    """A list of the blocks of a conversation; nothing is asked for twice."""

    @dataclass
    class Wanted(Message):
        """Stored entries `first … end` have come into sight and are not loaded."""

        first: int
        end: int

    @dataclass
    class ImagesWanted(Message):
        """The images of the entry with that stored index have come into sight."""

        index: int

    @dataclass
    class StepsWanted(Message):
        """The card of this call has come into sight; what its subagent did is not known."""

        call_id: str

    def __init__(self, conversation: Conversation, drawn: Drawn) -> None:
        super().__init__()
        self.conversation = conversation
        self.drawn = drawn
        self._asked: set[int] = set()
        self._asked_steps: set[str] = set()
        self._looking = False

    def ask_anew(self) -> None:
        """The conversation is another one."""
        self._asked.clear()
        self._asked_steps.clear()

    def ask_for_missing(self) -> None:
        """What is in sight or a screen away is asked for when it is not loaded."""
        top, height = round(self.scroll_y), self.size.height
        first, _ = self._heights.find(max(0, top - height))
        last, _ = self._heights.find(top + 2 * height)
        for position in range(first, min(last + 1, len(self._heights))):
            index, block = self.conversation.index(position), self.conversation.blocks[position]
            if block.entry is not None:
                self._ask_for_steps(block)
                self._ask_for_images(block, index)
            elif index is not None:
                self._ask_for(index // PAGE)

    def _ask_for_images(self, block: Block, index: int | None) -> None:
        if index is not None and self.drawn.shows_images(block) and self.drawn.pictures.wants(block, index):
            self.post_message(self.ImagesWanted(index))

    def _ask_for(self, page: int) -> None:
        if page not in self._asked:
            self._asked.add(page)
            self.post_message(self.Wanted(page * PAGE, min((page + 1) * PAGE, self.conversation.stored)))

    def _ask_for_steps(self, block: Block) -> None:
        tool = block.entry.tool if block.entry else None
        if tool is None or tool.name != SENDER or tool.outcome == "running" or block.helper is not None:
            return
        if tool.call_id and tool.call_id not in self._asked_steps:
            self._asked_steps.add(tool.call_id)
            self.post_message(self.StepsWanted(tool.call_id))

    # --- ahead of the view ---------------------------------------------------------------------------------------

    def settle(self, *, paint: bool = True) -> None:
        super().settle(paint=paint)
        self.ask_for_missing()
        if not self._looking and self.is_mounted and self._unknown_near(AHEAD * self.size.height) is not None:
            self._looking = True
            self.run_worker(self._look_ahead(), group="ahead")

    async def _look_ahead(self) -> None:
        """While nothing else happens, draw what one will scroll to next, one block at a time."""
        try:
            while True:
                if not self._looks_on():
                    return
                await asyncio.sleep(PAUSE)
        finally:
            self._looking = False

    def _looks_on(self) -> bool:
        """Selected text keeps its place: nothing is measured above it."""
        return self.is_mounted and self.text_selection is None and self.measure_ahead(AHEAD)

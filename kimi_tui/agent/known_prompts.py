"""The prompts that servers had when they were ready last: commands that can be typed before they are ready again."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from kimi_tui.mcp import McpPrompt
from kimi_tui.places import make_private

log = logging.getLogger(__name__)


class KnownPrompts:
    """A file of the data folder. It only ever saves time: one that cannot be read or written is none."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._of: dict[str, tuple[McpPrompt, ...]] = {}

    def load(self) -> None:
        """Read the file."""
        with contextlib.suppress(OSError, msgspec.MsgspecError, ValueError):
            self._of = msgspec.json.decode(self._file.read_bytes(), type=dict[str, tuple[McpPrompt, ...]])

    def of(self, servers: Iterable[str]) -> tuple[McpPrompt, ...]:
        """Those of these servers."""
        return tuple(prompt for server in servers for prompt in self._of.get(server, ()))

    def learn(self, server: str, prompts: tuple[McpPrompt, ...]) -> None:
        """What a server has now. What other programs have learned meanwhile of other servers stays."""
        if self._of.get(server, ()) == prompts:
            return
        self.load()
        self._of[server] = prompts
        try:
            make_private(self._file.parent)
            new = self._file.with_suffix(f".{os.getpid()}.new")
            new.write_bytes(msgspec.json.encode(self._of))
            new.replace(self._file)
        except OSError as fault:
            log.warning("the prompts of servers could not be kept: %s", fault)

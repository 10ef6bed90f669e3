"""What was typed in this folder before: one JSON string a line, bounded, for Up and for Ctrl+R."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from kimi_tui.places import make_private
from kimi_tui.session.session import folder_of
from kimi_tui.session.state import write_atomically

_KEPT = 1000
_SLACK = 500
"""The file is cut back to `_KEPT` only once it has grown by this much."""
_LONGEST = 100_000
"""Letters; a longer prompt is a paste and not worth remembering."""


@dataclass(frozen=True, slots=True)
class PromptHistory:
    file: Path

    def load(self) -> tuple[str, ...]:
        """Earlier prompts, oldest first. A line that cannot be read is passed over."""
        try:
            lines = self.file.read_bytes().split(b"\n")
        except OSError:
            return ()
        prompts = [text for line in lines if (text := _prompt(line))]
        if len(prompts) > _KEPT + _SLACK:
            write_atomically(self.file, "".join(_line(text) for text in prompts[-_KEPT:]))
        return tuple(prompts[-_KEPT:])

    def add(self, prompt: str) -> None:
        """Remember one more; the same as the last one is the caller's to leave out. Raises `OSError` or `Fault`."""
        if not prompt.strip() or len(prompt) > _LONGEST:
            return
        make_private(self.file.parent)
        handle = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, _line(prompt).encode("utf-8", "replace"))
        finally:
            os.close(handle)


def prompts_of(work_dir: Path) -> PromptHistory:
    return PromptHistory(folder_of(work_dir) / "prompts.jsonl")


def _line(prompt: str) -> str:
    return json.dumps(prompt, ensure_ascii=False) + "\n"


def _prompt(line: bytes) -> str:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    return value if isinstance(value, str) else ""

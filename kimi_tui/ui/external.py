"""The user's own editor: a text goes out, and what was written comes back."""

from __future__ import annotations

import asyncio
import os
import shlex
import tempfile
from pathlib import Path


def editor_command() -> list[str]:
    """`$VISUAL`, else `$EDITOR`, else `vi`."""
    return shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")


async def edit(text: str) -> str | None:
    """Run the editor on the text, in the terminal that the caller has set free; None when it failed.

    Raises OSError when there is no such program.
    """
    with tempfile.TemporaryDirectory(prefix="kimi-tui-") as folder:
        file = Path(folder) / "prompt.md"
        file.write_text(text, encoding="utf-8", errors="replace")
        process = await asyncio.create_subprocess_exec(*editor_command(), str(file))
        if await process.wait():
            return None
        return file.read_text(encoding="utf-8", errors="replace").removesuffix("\n")

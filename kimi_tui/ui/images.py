"""Images for the prompt: a dropped file (terminals paste its path) or what is in the clipboard."""

from __future__ import annotations

import asyncio
import base64
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

LARGEST = 10_000_000
"""Bytes."""
KINDS = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".gif": "gif", ".webp": "webp"}
CLIPBOARDS = (
    ("wl-paste", "--no-newline", "--type", "image/png"),
    ("xclip", "-selection", "clipboard", "-target", "image/png", "-out"),
    ("pngpaste", "-"),
)


def dropped_image(text: str) -> Path | None:
    """The image file that a pasted text names: plain, quoted, with escaped blanks, or as a file URL."""
    line = text.strip()
    if not line or "\n" in line or len(line) > 4_096:
        return None
    if line[0] == line[-1] and line[0] in "'\"":
        line = line[1:-1]
    path = Path(unquote(urlsplit(line).path)) if line.startswith("file://") else Path(line.replace("\\ ", " "))
    if path.suffix.lower() not in KINDS or not path.is_absolute():
        return None
    try:
        return path if path.is_file() and path.stat().st_size <= LARGEST else None
    except OSError:
        return None


def data_url(content: bytes, suffix: str) -> str:
    return f"data:image/{KINDS[suffix.lower()]};base64,{base64.b64encode(content).decode()}"


async def clipboard_image() -> bytes | None:
    """The clipboard's image as PNG, where one of the usual programs is there to ask."""
    for command in CLIPBOARDS:
        if shutil.which(command[0]) is None:
            continue
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        content, _ = await process.communicate()
        if process.returncode == 0 and content.startswith(b"\x89PNG") and len(content) <= LARGEST:
            return content
    return None

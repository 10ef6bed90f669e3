"""Where kimi-cli keeps its sessions: `$KIMI_SHARE_DIR` or `~/.kimi`. Only ever read.

`sessions/<md5 of the work dir's path>/<id>/context.jsonl`; `kimi.json` knows which paths there are.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path


def share_folder() -> Path:
    value = os.environ.get("KIMI_SHARE_DIR", "")
    return Path(value).expanduser() if value else Path("~/.kimi").expanduser()


def sessions_folder() -> Path:
    return share_folder() / "sessions"


def hash_of(path: str) -> str:
    return hashlib.md5(path.encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()


def known_work_dirs() -> dict[str, str]:
    """Hash → path, as far as `kimi.json` tells; a damaged file tells what can be made out."""
    try:
        text = (share_folder() / "kimi.json").read_bytes().decode("utf-8-sig", "replace")
    except OSError:
        return {}
    return {hash_of(path): path for path in _paths_in(text)}


def _paths_in(text: str) -> list[str]:
    """The `path` of every entry. Looked for as text, so that a cut or doubled document still gives what it holds."""
    return [
        value for value in map(_unquoted, re.findall(r'"path"\s*:\s*("(?:[^"\\]|\\.)*")', text)) if value is not None
    ]


def _unquoted(literal: str) -> str | None:
    try:
        value = json.loads(literal)
    except ValueError:
        return None
    return value if isinstance(value, str) else None

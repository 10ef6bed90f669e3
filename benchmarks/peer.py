"""Finds kimi-cli in an environment of its own. It is never installed into this project's."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

VERSION = "1.49.0"
HOME = Path(__file__).parent.parent / ".venv-peer"


def find() -> Path | None:
    """The interpreter that can import kimi-cli: `$KIMI_CLI_PYTHON`, `.venv-peer`, or the one behind `kimi` on PATH."""
    candidates = [os.environ.get("KIMI_CLI_PYTHON"), str(HOME / "bin" / "python"), _behind_script()]
    return next((Path(each) for each in candidates if each and _has_peer(each)), None)


def _behind_script() -> str | None:
    script = shutil.which("kimi")
    if script is None:
        return None
    first = Path(script).read_bytes().split(b"\n", 1)[0]
    return first[2:].decode(errors="replace").strip() if first.startswith(b"#!") else None


def _has_peer(python: str) -> bool:
    try:
        found = subprocess.run([python, "-c", "import kimi_cli.soul.context"], capture_output=True, timeout=120)
    except OSError:
        return False
    return found.returncode == 0


def install() -> Path | None:
    """Makes `.venv-peer` with the newest Python ≥ 3.12 on PATH; None when there is none."""
    python = next((found for minor in (14, 13, 12) if (found := shutil.which(f"python3.{minor}"))), None)
    if python is None:
        return None
    subprocess.run([python, "-m", "venv", HOME], check=True)
    subprocess.run([HOME / "bin" / "python", "-m", "pip", "install", "--quiet", f"kimi-cli=={VERSION}"], check=True)
    return find()

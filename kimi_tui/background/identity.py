"""Whether a process is still the one that it was: a number alone may have been given to another one since."""

from __future__ import annotations

import subprocess
from pathlib import Path

_PROC = Path("/proc")


def birth(pid: int) -> str:
    """When a living process was started, in the system's own words; empty when there is no such process.

    Two processes of the same number have different births (within one boot of the machine).
    """
    return _by_proc(pid) if (_PROC / "self/stat").exists() else _by_ps(pid)


def is_alive(pid: int | None, born: str) -> bool:
    """Whether the process of that number and birth still runs."""
    return pid is not None and born != "" and birth(pid) == born


def _by_proc(pid: int) -> str:
    try:
        fields = (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except (OSError, ValueError):
        return ""
    return "" if fields[0] in "ZX" else f"{boot} {fields[19]}"


def _by_ps(pid: int) -> str:
    asked = ["ps", "-o", "stat=,lstart=", "-p", str(pid)]
    try:
        found = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.split(None, 1)
    except OSError:
        return ""
    return "" if len(found) < 2 or found[0].startswith("Z") else found[1].strip()

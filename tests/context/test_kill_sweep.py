"""A process killed at any system call leaves the state before or the state after, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_every_kill_leaves_the_old_or_the_new_timeline(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-m", "tests.context.kill_sweep", tmp_path],
        capture_output=True,
        text=True,
        cwd=PROJECT,
    )
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    broken = [
        result for result in results if result["before"] + result["after"] + result.get("part", 0) != result["points"]
    ]
    assert broken == []
    assert sum(result["points"] for result in results) > 100
    switches = [result for result in results if "link" in result["calls"] and not result["torn"]]
    assert len(switches) >= 8
    assert all(result["before"] and result["after"] for result in switches)

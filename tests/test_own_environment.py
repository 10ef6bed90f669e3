"""Secrets in the environment: what commands find when they look at the program that runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kimi_tui.own_environment import secret_values

ROOT = Path(__file__).parent.parent
LINUX = sys.platform.startswith("linux")

LOOK = """
import os, subprocess, sys
from kimi_tui.own_environment import conceal
conceal()
print(open("/proc/self/environ").read().replace("\\0", "\\n"))
print("own:", os.environ["MY_API_KEY"])
print(subprocess.run(["printenv", "MY_API_KEY"], capture_output=True, text=True).stdout)
"""


@pytest.mark.skipif(not LINUX, reason="only Linux shows the environment of a running program as a file")
def test_the_system_does_not_tell_the_secrets_that_the_program_still_has() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MY_API_KEY": "very-secret-1", "PLAIN": "kept"}
    run = [sys.executable, "-c", LOOK]
    told, own = subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout.split("own:")
    assert "MY_API_KEY=*************" in told and "PLAIN=kept" in told
    assert own.split() == ["very-secret-1", "very-secret-1"]


def test_short_values_are_no_secrets_to_look_for() -> None:
    assert list(secret_values({"API_KEY": "short", "DB_PASSWORD": "long enough", "NAME": "long enough too"})) == [
        "long enough"
    ]

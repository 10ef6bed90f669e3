"""Every test runs away from the user's own files, in English, and without the network."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "steady",
    derandomize=True,  # the same examples every time: what fails, fails for everybody
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],  # says something about the machine only
)
settings.load_profile("steady")

LONG = 60.0
BOUNDED = (
    "kimi_tui.hooks.hooks.PATIENCE",
    "kimi_tui.agent.travel.files.CLOSING_SECONDS",
    "kimi_tui.agent.session_servers.PATIENCE",
    "kimi_tui.agent.travel.files.PATIENCE_SECONDS",
    "kimi_tui.background.job.ENDING",
    "kimi_tui.background.kept.SETTLE",
    "kimi_tui.background.tasks.PATIENCE",
    "kimi_tui.mcp.hosted.GOODBYE",
    "kimi_tui.tools.run.SETTLE_SECONDS",
)
"""How long the program waits for something that should happen anyway, in seconds: a user is not to wait for long, a
test on a busy machine is."""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is given up because the machine is slow."""
    for name in BOUNDED:
        monkeypatch.setattr(name, LONG)


OURS_TO_SAY = re.compile(
    r"COLUMNS|LINES|COLORTERM|COLORFGBG|BASH_ENV|NO_COLOR|FORCE_COLOR|TEXTUAL(?!_SNAPSHOT).*|KIMI_.*|GIT_.*|VISUAL|EDITOR|.*_API_(KEY|BASE)"
    r"|(HTTPS?|ALL|NO)_PROXY|XDG_.*|SSH_(CONNECTION|CLIENT|TTY)|TMUX.*",
    re.IGNORECASE,
)
"""Variables by which the machine that runs the tests would have a say in how they end."""


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The same terminal and the same git for everybody, and files as most people make them."""
    for name in [name for name in os.environ if OURS_TO_SAY.fullmatch(name)]:
        monkeypatch.delenv(name)
    for name, value in {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}.items():
        monkeypatch.setenv(name, value)
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture(autouse=True)
def home(surroundings: None, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of the test's own, under `KIMI_TUI_HOME`."""
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("KIMI_TUI_HOME", str(folder))
    monkeypatch.setenv("HOME", str(folder))
    return folder

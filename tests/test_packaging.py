"""What a user installs holds the code, the styles and the prompts, however it was built."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
GONE = {".git", ".venv", "dist", "__pycache__"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and with the wheel that was built from that sdist."""
    folder = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(PROJECT)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked as an installer does it."""
    folder = tmp_path_factory.mktemp("installed")
    (wheel,) = built.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def test_the_wheel_holds_every_module_style_and_prompt(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    expected = {
        str(path.relative_to(PROJECT)) if folder == "kimi_tui" else f"kimi_tui/{path.relative_to(PROJECT)}"
        for folder in ("kimi_tui", "styles", "prompts")
        for path in (PROJECT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert expected <= inside
    assert {"kimi_tui/styles/app.tcss", "kimi_tui/prompts/system.md", "kimi_tui/py.typed"} <= inside
    tour = {f"kimi_tui/prompts/tour/{name}" for name in ("script.json", "start.md", "project/check.sh")}
    assert tour <= inside
    assert not any(name.startswith(("tests", "benchmarks", "screenshots")) for name in inside)


def test_the_sdist_can_be_tested_and_holds_nothing_local(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        parts = [Path(name).parts[1:] for name in archive.getnames()]
    assert ("tests", "conftest.py") in parts
    assert ("Makefile",) in parts
    assert not [part for part in parts if GONE & set(part)]


def test_what_is_installed_runs_away_from_the_checkout(installed: Path, tmp_path: Path) -> None:
    def python(*arguments: str) -> str:
        env = {**os.environ, "PYTHONPATH": str(installed)}
        done = subprocess.run([sys.executable, *arguments], cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "--continue" in python("-m", "kimi_tui", "--help")
    found = python("-c", "from kimi_tui.resources import folder; print(folder('styles'), folder('prompts'))")
    assert found.split() == [str(installed / "kimi_tui" / name) for name in ("styles", "prompts")]


def test_the_pins_name_versions_and_no_addresses() -> None:
    for line in (PROJECT / "constraints.txt").read_text().splitlines():
        assert line.startswith("#") or "==" in line
        assert "/" not in line
        assert "@" not in line


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    wanted = [
        *project["project"]["dependencies"],
        *extras["local"],
        *extras["zstd"],
        *project["dependency-groups"]["dev"],
    ]
    pinned = {_name(line) for line in (PROJECT / "constraints.txt").read_text().splitlines() if "==" in line}
    assert {_name(line) for line in wanted} <= pinned


def _name(requirement: str) -> str:
    for mark in "=<>;[ ":
        requirement = requirement.partition(mark)[0]
    return requirement.lower().replace("_", "-")

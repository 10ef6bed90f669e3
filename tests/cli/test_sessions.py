"""`kimi-tui sessions` and `kimi-tui config`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kimi_tui.cli.main import run
from kimi_tui.cli.progress import size
from kimi_tui.session import SessionState, new_session


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "proj[dim][b"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def make_session(work_dir: Path, title: str = "") -> Path:
    session = new_session(work_dir)
    session.save_state(SessionState(title=title))
    session.context_file.write_text('{"role":"user","content":"fix\\u001b[31m it"}\n')
    return session.folder


def test_sessions_are_listed_under_their_folder(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_session(here)
    assert run(["sessions"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == str(here)
    assert folder.name in out
    assert out.rstrip().endswith("1 messages            fix␛[31m it")


def test_no_sessions_are_said_to_be_none(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sessions"]) == 0
    assert capsys.readouterr().out == "No sessions yet.\n"


def test_json_lists_paths_and_marks(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_session(here, "标题")
    assert run(["sessions", "--json"]) == 0
    (view,) = json.loads(capsys.readouterr().out)
    assert (view["path"], view["title"], view["foreign"]) == (str(folder), "标题", False)


def test_sizes_are_said_as_a_person_would() -> None:
    assert [size(n) for n in (0, 999, 1000, 1_500_000, 123_456_789, 5 * 10**9)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "1.5 MB",
        "123 MB",
        "5.0 GB",
    ]


def test_config_shows_values_origins_and_no_keys(here: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / "config.toml"
    file.write_text(
        'default_model = "kimi"\n[models.kimi]\nmodel = "moonshot/kimi-k2"\napi_key = "sk-FAKE"\nlopp = 1\n'
    )
    assert run(["config"]) == 0
    out = capsys.readouterr().out
    assert f'default_model = "kimi"  # {file}, line 1' in out
    assert f'models.kimi.api_key = "********"  # {file}, line 4' in out
    assert "loop.max_steps_per_turn = 1000  # default" in out
    assert "unknown key models.kimi.lopp" in out
    assert "sk-FAKE" not in out


def test_config_that_is_broken_is_one_line(here: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "config.toml").write_text("[ui]\nplain = true\nplain = false\n")
    assert run(["config"]) == 1
    assert capsys.readouterr().err == (
        f"kimi-tui: {home}/config.toml, line 3: plain is given twice. "
        "Mend it, or start with another one: --config-file FILE.\n"
    )

"""kimi-cli's sessions are listed, marked, and opened where they lie."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from kimi_tui.session import SessionState, find_session, last_session, list_sessions, new_session

PROMPT = json.dumps({"role": "user", "content": "their prompt"}) + "\n"


@pytest.fixture
def share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "share"
    monkeypatch.setenv("KIMI_SHARE_DIR", str(folder))
    return folder


def their_session(share: Path, work_dir: Path, name: str = "0b6c", *, told: bool = True) -> Path:
    folder = share / "sessions" / hashlib.md5(str(work_dir).encode()).hexdigest() / name
    folder.mkdir(parents=True)
    (folder / "context.jsonl").write_text(PROMPT)
    if told:
        (share / "kimi.json").write_text(json.dumps({"work_dirs": [{"path": str(work_dir), "kaos": "local"}]}))
    return folder


def test_their_sessions_are_listed_and_marked(share: Path, tmp_path: Path) -> None:
    folder = their_session(share, tmp_path)
    (view,) = list_sessions(tmp_path)
    assert (view.path, view.title, view.work_dir, view.foreign) == (str(folder), "their prompt", str(tmp_path), True)


def test_one_that_was_opened_here_is_foreign_no_longer(share: Path, tmp_path: Path) -> None:
    their_session(share, tmp_path)
    session = find_session("0b6c", tmp_path)
    session.save_state(session.load_state()[0])
    assert not list_sessions(tmp_path)[0].foreign


def test_the_folders_own_sessions_come_before_theirs_when_continuing(share: Path, tmp_path: Path) -> None:
    folder = their_session(share, tmp_path)
    found = last_session(tmp_path)
    assert found is not None and found.folder == folder
    ours = new_session(tmp_path)
    ours.save_state(SessionState())
    ours.context_file.write_text(PROMPT)
    os.utime(ours.context_file, (100, 100))
    assert last_session(tmp_path) == ours


@pytest.mark.parametrize(
    "index", ["", "{", '{"work_dirs": [{"path": "%s"}]}{"work_dirs": []}', '{"work_dirs": [{"path": "%s"']
)
def test_a_damaged_index_of_theirs_hides_nothing_and_is_left_alone(share: Path, tmp_path: Path, index: str) -> None:
    folder = their_session(share, tmp_path)
    text = index.replace("%s", str(tmp_path))
    (share / "kimi.json").write_text(text)
    found = last_session(tmp_path)
    assert found is not None and found.folder == folder
    assert (share / "kimi.json").read_text() == text

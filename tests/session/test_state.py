"""`state.json`: whole or old, tolerant, and readable by kimi-cli."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kimi_tui.protocol.views import Modes, TodoItem
from kimi_tui.session import Session, SessionState
from kimi_tui.session.state import read_state


@pytest.fixture
def session(tmp_path: Path) -> Session:
    folder = tmp_path / "session"
    folder.mkdir()
    return Session(folder, tmp_path)


def test_a_state_comes_back_as_it_was_saved(session: Session) -> None:
    session.save_state(
        SessionState(
            plan=True,
            yolo=True,
            afk=True,
            approvals=("Shell: git *",),
            additional_dirs=("/tmp",),
            title="标题",
            todos=(TodoItem("write tests", "in_progress"),),
            model="kimi",
            plan_file="/p.md",
            pinned=("context_1.jsonl",),
            beside=("kimi", 4200),
        )
    )
    state, notice = session.load_state()
    assert notice == ""
    assert state.modes == Modes(plan=True, yolo=True, afk=True)
    assert (state.approvals, state.additional_dirs, state.title) == (("Shell: git *",), ("/tmp",), "标题")
    assert state.todos == (TodoItem("write tests", "in_progress"),)
    assert (state.model, state.plan_file) == ("kimi", "/p.md")
    assert state.beside == ("kimi", 4200)
    assert (state.work_dir, state.pinned) == (str(session.work_dir), ("context_1.jsonl",))
    assert (session.folder / "state.json").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in session.folder.iterdir()] == ["state.json"]


def test_kimi_clis_state_is_understood_and_its_keys_survive(session: Session) -> None:
    theirs = {
        "version": 1,
        "approval": {"yolo": True, "afk": False, "auto_approve_actions": ["run command"], "new": 1},
        "custom_title": "theirs",
        "plan_mode": True,
        "plan_slug": "blue-fox",
        "todos": [{"title": "a", "status": "done"}],
        "archived": False,
    }
    (session.folder / "state.json").write_text(json.dumps(theirs))
    state, _ = session.load_state()
    assert (state.yolo, state.title, state.plan, state.approvals) == (True, "theirs", True, ("run command",))
    state.model = "mine"
    session.save_state(state)
    written = json.loads((session.folder / "state.json").read_text())
    assert written.pop("kimi_tui")["model"] == "mine"
    assert written == {**theirs, "additional_dirs": []}


@pytest.mark.parametrize("content", ["", "{", '{"custom_title": "a"}{"x": 1}', "[1]", "null", "\x00\x00"])
def test_a_damaged_state_is_set_aside_once(session: Session, content: str) -> None:
    file = session.folder / "state.json"
    file.write_text(content)
    state, notice = session.load_state()
    assert "state.damaged.json" in notice
    assert (session.folder / "state.damaged.json").read_text() == content
    session.save_state(state)
    assert session.load_state()[1] == ""
    assert sorted(path.name for path in session.folder.iterdir()) == ["state.damaged.json", "state.json"]


def test_the_first_whole_document_of_a_doubled_one_is_used(session: Session) -> None:
    (session.folder / "state.json").write_text('{"custom_title": "a"}{"custom_title": "b"}')
    assert session.load_state()[0].title == "a"


def test_reading_for_the_list_changes_nothing(session: Session) -> None:
    (session.folder / "state.json").write_text("{")
    assert read_state(session.folder) == SessionState()
    assert [path.name for path in session.folder.iterdir()] == ["state.json"]


def test_values_of_the_wrong_shape_are_let_go(session: Session) -> None:
    odd = {"approval": 3, "custom_title": ["x"], "todos": [1, {"title": "t", "status": "no"}], "plan_mode": "yes"}
    (session.folder / "state.json").write_text(json.dumps(odd))
    state, notice = session.load_state()
    assert (notice, state.title, state.todos, state.plan) == ("", "", (), False)


def test_lone_surrogates_do_not_stop_a_save(session: Session) -> None:
    session.save_state(SessionState(title="\ud83d half"))
    assert session.load_state()[0].title == "? half"


def test_a_save_that_fails_leaves_the_old_state(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    session.save_state(SessionState(title="old"))

    def fail(source: Path, target: Path) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        session.save_state(SessionState(title="new"))
    monkeypatch.undo()
    assert session.load_state()[0].title == "old"
    assert [path.name for path in session.folder.iterdir()] == ["state.json"]


def test_what_a_killed_write_left_is_swept_and_nothing_else(session: Session) -> None:
    session.save_state(SessionState(title="kept"))
    (session.folder / ".state.json.k1lled").write_text("{")
    (session.folder / ".mine").write_text("stays")
    session.sweep()
    assert sorted(path.name for path in session.folder.iterdir()) == [".mine", "state.json"]
    assert read_state(session.folder).title == "kept"

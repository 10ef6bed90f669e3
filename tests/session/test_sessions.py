"""Session folders: found by place, by id, by path; made late; never left behind empty."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_tui.faults import Fault
from kimi_tui.options import LaunchOptions
from kimi_tui.places import sessions_folder
from kimi_tui.session import (
    Session,
    SessionFault,
    SessionState,
    choose_session,
    find_session,
    fork_session,
    last_session,
    list_sessions,
    new_session,
    remove_session,
    session_at,
)

PROMPT = {"role": "user", "content": "fix the parser"}


def line(record: object) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def talk(session: Session, *records: object, at: float | None = None) -> Session:
    """Put a conversation into the session's folder."""
    session.save_state(SessionState())
    session.context_file.write_text(
        line({"role": "_system_prompt", "content": "be good"}) + "".join(map(line, records or (PROMPT,)))
    )
    if at is not None:
        os.utime(session.context_file, (at, at))
    return session


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def test_a_new_session_touches_nothing_on_disk(work: Path) -> None:
    session = new_session(work)
    assert not sessions_folder().exists()
    session.make()
    assert session.folder.stat().st_mode & 0o777 == 0o700


def test_ids_are_unique_and_sort_by_time(work: Path) -> None:
    ids = [new_session(work).id for _ in range(200)]
    assert len(set(ids)) == 200
    assert [name[:15] for name in ids] == sorted(name[:15] for name in ids)


def test_the_last_session_is_the_newest_in_which_something_was_said(work: Path) -> None:
    talk(new_session(work), at=100)
    newest = talk(new_session(work), at=300)
    talk(new_session(work), {"role": "_checkpoint", "id": 0}, at=500)
    talk(new_session(work), at=200)
    assert last_session(work) == newest


def test_no_session_yet_is_a_clear_line(work: Path) -> None:
    with pytest.raises(SessionFault) as caught:
        choose_session(LaunchOptions(work_dir=work, continue_last=True))
    assert caught.value.line() == f"no session yet in {work}. Start without --continue for a new one."


def test_stray_files_among_the_sessions_are_passed_over(work: Path) -> None:
    session = talk(new_session(work))
    place = session.folder.parent
    (place / ".DS_Store").write_bytes(b"\0\1")
    (place / "empty").mkdir()
    (place / "20990101-000000-ffffff").write_text("a file named like a session")
    (place / "broken").symlink_to(place / "nowhere")
    (place.parent / "stray").write_text("x")
    loop = place / "loop"
    loop.symlink_to(loop)
    assert last_session(work) == session
    assert [view.id for view in list_sessions(work)] == [session.id]


def test_a_folder_is_found_through_a_link_and_after_it_became_one(work: Path, tmp_path: Path) -> None:
    session = talk(new_session(work))
    link = tmp_path / "link"
    link.symlink_to(work)
    found = last_session(link)
    assert found is not None and found.folder == session.folder
    moved = tmp_path / "moved"
    work.rename(moved)
    work.symlink_to(moved)
    for name in (work, moved, link):
        found = last_session(name)
        assert found is not None and found.folder == session.folder


def test_a_folder_that_was_only_left_with_rotations_still_counts(work: Path) -> None:
    session = talk(new_session(work))
    session.context_file.rename(session.folder / "context_1.jsonl")
    assert last_session(work) == session
    session.context_file.write_text("")
    assert last_session(work) == session


def test_a_session_is_found_by_its_id_or_the_start_of_it(work: Path, tmp_path: Path) -> None:
    session = talk(new_session(work))
    assert find_session(session.id, work) == session
    assert find_session(session.id[:-2], work) == session
    with pytest.raises(SessionFault, match="no session 'nope'"):
        find_session("nope", work)


def test_the_start_of_two_ids_names_neither(work: Path) -> None:
    talk(replace(new_session(work), folder=new_session(work).folder.with_name("20260101-000000-aaaaaa")))
    talk(replace(new_session(work), folder=new_session(work).folder.with_name("20260101-000000-bbbbbb")))
    with pytest.raises(SessionFault, match="names 2 sessions"):
        find_session("20260101", work)


def test_a_session_named_from_elsewhere_works_where_it_was_made(work: Path, tmp_path: Path) -> None:
    session = talk(new_session(work))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert find_session(session.id, elsewhere).work_dir == work
    work.rename(tmp_path / "gone")
    assert find_session(session.id, elsewhere).work_dir == elsewhere


def test_any_folder_with_a_log_is_a_session(tmp_path: Path, work: Path) -> None:
    folder = tmp_path / "anywhere"
    folder.mkdir()
    with pytest.raises(SessionFault, match=r"holds no context\.jsonl"):
        session_at(folder, work)
    (folder / "context.jsonl").write_text("")
    expected = Session(folder, work)
    assert session_at(folder, work) == expected
    assert session_at(folder / "context.jsonl", work) == expected
    assert choose_session(LaunchOptions(session=folder, work_dir=work)) == expected


def test_the_list_shows_this_folder_first_and_then_the_newest(work: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    old = talk(new_session(work), at=100)
    new = talk(new_session(work), at=200)
    far = talk(new_session(other), at=900)
    views = list_sessions(work)
    assert [view.id for view in views] == [new.id, old.id, far.id]
    assert [view.work_dir for view in views] == [str(work), str(work), str(other)]
    assert [view.title for view in views] == ["fix the parser"] * 3
    assert [view.messages for view in views] == [1, 1, 1]
    assert not any(view.foreign for view in views)


def test_a_title_is_the_users_own_or_the_first_thing_said(work: Path) -> None:
    session = talk(
        new_session(work),
        {"role": "user", "content": "<system>CHECKPOINT 0</system>"},
        {"role": "user", "content": "<system-reminder>\nplan mode\n</system-reminder>"},
        {"role": "user", "content": [{"type": "text", "text": "修复\nthe [b]parser"}]},
    )
    assert list_sessions(work)[0].title == "修复 the [b]parser"
    state, _ = session.load_state()
    state.title = "Parser"
    session.save_state(state)
    assert list_sessions(work)[0].title == "Parser"


def test_lines_that_cannot_be_read_do_not_hide_a_session(work: Path) -> None:
    session = talk(new_session(work))
    session.context_file.write_bytes(
        b"\xef\xbb\xbf{half\n\xff\xfe\n[1]\n" + b"[" * 100_000 + b"\n" + line(PROMPT).encode()
    )
    assert list_sessions(work)[0].title == "fix the parser"


def test_a_session_without_a_word_leaves_no_trace(work: Path) -> None:
    session = talk(new_session(work), {"role": "_checkpoint", "id": 0})
    session.drop_if_empty()
    assert not session.folder.exists()


@pytest.mark.parametrize("content", ["{half a record", line(PROMPT)])
def test_what_may_hold_something_is_never_dropped(work: Path, content: str) -> None:
    session = talk(new_session(work))
    session.context_file.write_text(content)
    session.drop_if_empty()
    assert session.context_file.read_text() == content


def test_a_folder_that_is_not_ours_is_never_dropped(tmp_path: Path) -> None:
    (tmp_path / "context.jsonl").write_text("")
    Session(tmp_path, tmp_path).drop_if_empty()
    assert tmp_path.exists()


def test_a_fork_is_a_copy_with_an_id_of_its_own(work: Path) -> None:
    session = talk(new_session(work))
    (session.folder / "context_1.jsonl").write_text(line(PROMPT))
    (session.folder / "context.lock").write_text("held")
    state, _ = session.load_state()
    state.title = "Parser"
    session.save_state(state)
    copy = fork_session(session)
    assert copy.id != session.id
    assert copy.context_file.read_bytes() == session.context_file.read_bytes()
    assert (copy.folder / "context_1.jsonl").exists()
    assert not (copy.folder / "context.lock").exists()
    assert copy.load_state()[0].title == "Parser (fork)"


def test_only_a_session_can_be_removed(work: Path) -> None:
    session = talk(new_session(work))
    with pytest.raises(SessionFault):
        remove_session(work)
    remove_session(session.folder)
    assert not session.folder.exists()


def test_a_data_folder_that_cannot_be_made_is_named(work: Path, home: Path) -> None:
    sessions_folder().write_text("a file in the folder's place")
    with pytest.raises(Fault) as caught:
        new_session(work).make()
    assert str(sessions_folder()) in str(caught.value)
    assert "KIMI_TUI_HOME" in caught.value.hint


def test_a_session_that_another_process_writes_is_marked(work: Path) -> None:
    session = talk(new_session(work))
    lock = session.folder / "context.lock"
    code = (
        "import sys; from pathlib import Path; from kimi_tui.context.lock import SessionLock; "
        f"lock = SessionLock(Path({str(lock)!r})); lock.acquire(); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stdout.readline() == b"held\n"
        assert list_sessions(work)[0].locked
        child.communicate()
    assert not list_sessions(work)[0].locked

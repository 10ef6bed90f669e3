"""What stands unsent in the prompt: on the disk while it is written, found again, taken over once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kimi_tui.protocol.views import Draft
from kimi_tui.session import DraftFile, Session, fork_session, last_session, list_sessions, new_session

IMAGE = "data:image/png;base64,AAAA"
DRAFT = Draft("look at [pasted #1: 20 lines] and [image #1: a.png]", ("long\n" * 20,), (IMAGE,))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def talk(session: Session) -> Session:
    """Something was said in it."""
    session.make()
    session.context_file.write_text('{"role":"user","content":"hi"}\n')
    return session


def unsent(work: Path, draft: Draft) -> Session:
    """A session in which nothing was said, as a killed process leaves it."""
    session = new_session(work)
    file = DraftFile(session)
    file.save(draft)
    if file._lock is not None:
        file._lock.release()
    return session


def test_a_draft_comes_back_with_all_that_its_tags_stand_for(work: Path) -> None:
    session = talk(new_session(work))
    DraftFile(session).save(DRAFT)
    assert DraftFile(session).load() == DRAFT
    assert (session.folder / "draft.json").stat().st_mode & 0o777 == 0o600


def test_an_empty_draft_leaves_no_file(work: Path) -> None:
    session = talk(new_session(work))
    file = DraftFile(session)
    file.save(DRAFT)
    file.save(Draft(" \n"))
    file.close()
    assert sorted(path.name for path in session.folder.iterdir()) == ["context.jsonl"]


def test_an_empty_draft_of_a_session_without_a_word_makes_no_folder(work: Path) -> None:
    session = new_session(work)
    DraftFile(session).save(Draft())
    assert not session.folder.exists()


def test_what_is_large_is_written_only_when_it_changes(work: Path) -> None:
    session = talk(new_session(work))
    file = DraftFile(session)
    file.save(DRAFT)
    before = (session.folder / "draft_parts.json").stat().st_ino
    file.save(Draft(DRAFT.text + "!", DRAFT.pastes, DRAFT.images))
    assert (session.folder / "draft_parts.json").stat().st_ino == before
    assert DraftFile(session).load().text == DRAFT.text + "!"


def test_a_new_session_takes_the_draft_that_was_never_sent_and_only_once(work: Path) -> None:
    left = unsent(work, DRAFT)
    session = new_session(work)
    taker = DraftFile(session)
    assert taker.take_abandoned() == DRAFT
    assert DraftFile(session).load() == DRAFT, "it is this session's now, also when that is killed"
    assert not left.folder.exists()
    assert DraftFile(new_session(work)).take_abandoned() == Draft(), "somebody has it"


def test_the_newest_of_several_comes_first_and_none_is_lost(work: Path) -> None:
    import os

    for number, text in enumerate(("older", "newer")):
        left = unsent(work, Draft(text))
        os.utime(left.folder / "draft.json", (1000 + number, 1000 + number))
    takers = [DraftFile(new_session(work)) for _ in range(3)]
    assert [taker.take_abandoned().text for taker in takers] == ["newer", "older", ""]


def test_what_another_process_is_writing_is_left_to_it(work: Path) -> None:
    session = new_session(work)
    code = (
        "import sys\nfrom pathlib import Path\nfrom kimi_tui.protocol.views import Draft\n"
        "from kimi_tui.session import DraftFile, Session\n"
        f"file = DraftFile(Session(Path({str(session.folder)!r}), Path({str(work)!r})))\n"
        "file.save(Draft('mine'))\n"
        "print('kept', flush=True)\nsys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "kept\n"
        assert DraftFile(new_session(work)).take_abandoned() == Draft()
        other.kill()
        other.wait()
        assert DraftFile(new_session(work)).take_abandoned() == Draft("mine")


def test_the_draft_of_a_conversation_stays_with_it(work: Path) -> None:
    DraftFile(talk(new_session(work))).save(DRAFT)
    assert DraftFile(new_session(work)).take_abandoned() == Draft()


def test_a_session_of_which_only_a_draft_is_left_is_no_session_to_go_on_with(work: Path) -> None:
    unsent(work, DRAFT)
    assert last_session(work) is None
    assert list_sessions(work) == []


def test_a_session_with_a_draft_is_not_dropped_and_a_fork_has_none(work: Path) -> None:
    left = unsent(work, DRAFT)
    left.drop_if_empty()
    assert DraftFile(left).load() == DRAFT
    session = talk(new_session(work))
    DraftFile(session).save(DRAFT)
    assert DraftFile(fork_session(session)).load() == Draft()


@pytest.mark.parametrize("damaged", [b"", b"{", b"[1]", b'{"text": 3}', b"\xff", b"[" * 100_000])
def test_a_draft_that_cannot_be_read_counts_as_none(work: Path, damaged: bytes) -> None:
    session = talk(new_session(work))
    (session.folder / "draft.json").write_bytes(damaged)
    assert DraftFile(session).load() == Draft()


def test_parts_that_cannot_be_read_cost_only_themselves(work: Path) -> None:
    session = talk(new_session(work))
    DraftFile(session).save(DRAFT)
    (session.folder / "draft_parts.json").write_text(json.dumps({"pastes": [1], "images": [IMAGE]}))
    assert DraftFile(session).load() == Draft(DRAFT.text, (), (IMAGE,))

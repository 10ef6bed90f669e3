"""Session files as crashes, full disks and other programs leave them, opened by the program itself."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.cases.house import assistant, checkpoint, lines, user
from tests.cases.program import events, names, run, script, small_files, start, user_texts

WHOLE = [
    {"role": "_system_prompt", "content": "Be brief."},
    checkpoint(0),
    user("first"),
    assistant("one"),
    checkpoint(1),
    user("second \u2028 with \u0085 odd \x1c ends"),
    assistant("two"),
]
RAW = lines(WHOLE)
DAMAGED = {
    "cut at its end": (RAW + b'{"role":"user","content":"half a', 1),
    "a bad line in the middle": (
        RAW.replace(b'{"role": "_checkpoint", "id": 1}\n', b'{"role": "_checkpoint", "id": 1}\n{"role":"user","con\n'),
        1,
    ),
    "a record over three lines": (
        RAW + b'{"role":"tool","content":"a\nb\nc","tool_call_id":"x"}\n' + lines([user("after")]),
        3,
    ),
    "a byte order mark and CRLF": (b"\xef\xbb\xbf" + RAW.replace(b"\n", b"\r\n"), 0),
    "bytes that are no text": (RAW + b'{"role":"user","content":"\xff\xfe"}\n' + lines([user("after")]), 1),
    "a tail of zeros": (RAW + b"\0" * 300, 1),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_nothing_whole_is_lost_and_what_is_damaged_is_named_once_and_kept(damage: str, tmp_path: Path) -> None:
    data, told = DAMAGED[damage]
    (tmp_path / "context.jsonl").write_bytes(data)
    model = script(tmp_path, {"text": "three"})
    first = run("-S", tmp_path, "-m", model, "-p", "third", "--output-format", "stream-json", cwd=tmp_path)
    opened = events(first.stdout)[0]
    assert (first.returncode, len(opened["notices"])) == (0, told)
    assert all("context.jsonl, line" in notice for notice in opened["notices"])
    again = run("-S", tmp_path, "-m", model, "-p", "fourth", cwd=tmp_path)
    assert again.returncode == 0
    said = user_texts(tmp_path / "context.jsonl")
    assert said[:2] == [record["content"] for record in WHOLE if record["role"] == "user"]
    assert said[-2:] == ["third", "fourth"]
    kept = b"".join(file.read_bytes() for file in tmp_path.glob("context*.jsonl*"))
    assert data.rstrip(b"\0\r\n").split(b"\n")[-1].rstrip() in kept


def test_a_full_disk_is_told_and_nothing_half_is_left(tmp_path: Path) -> None:
    log = tmp_path / "context.jsonl"
    log.write_bytes(RAW)
    model = script(tmp_path, {"text": "long " * 4000}, {"text": "short"})
    full = run("-S", tmp_path, "-m", model, "-p", "fill it", cwd=tmp_path, preexec_fn=small_files(len(RAW) + 6000))
    assert full.returncode == 1
    assert "could not be written" in full.stderr and "Traceback" not in full.stderr
    assert all(json.loads(line) for line in log.read_bytes().split(b"\n")[:-1]) and log.read_bytes().endswith(b"\n")
    after = run("-S", tmp_path, "-m", script(tmp_path, {"text": "fits"}), "-p", "now", cwd=tmp_path)
    assert (after.returncode, after.stdout) == (0, "fits\n")
    assert user_texts(log)[-1] == "now"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_session_that_was_killed_in_mid_answer_is_the_one_that_is_continued(
    number: signal.Signals, tmp_path: Path, home: Path
) -> None:
    slow = script(tmp_path, {"text": "word " * 200, "delay_ms": 50})
    child = start("-m", slow, "-p", "remember this", "--output-format", "stream-json", cwd=tmp_path)
    assert child.stdout is not None
    for line in child.stdout:
        if json.loads(line)["event"] == "TextDelta":
            child.send_signal(number)
            break
    child.communicate(timeout=20)
    again = run("-m", script(tmp_path, {"text": "here"}), "-C", "-p", "and?", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, "here\n")
    (log,) = home.glob("sessions/*/*/context.jsonl")
    assert user_texts(log) == ["remember this", "and?"]


def test_strays_among_the_sessions_are_passed_over(tmp_path: Path, home: Path) -> None:
    model = script(tmp_path)
    assert run("-m", model, "-p", "real", cwd=tmp_path).returncode == 0
    (folder,) = home.glob("sessions/*")
    (folder / ".DS_Store").write_bytes(b"\0")
    (home / "sessions" / ".DS_Store").write_bytes(b"\0")
    (folder / "empty").mkdir()
    (folder / "gone").symlink_to("/nowhere")
    (folder / "29990101-000000-abcdef").write_text("a file with a session's name")
    assert run("-m", model, "-C", "-p", "more", cwd=tmp_path).returncode == 0
    (log,) = folder.glob("*/context.jsonl")
    assert user_texts(log) == ["real", "more"]


@pytest.mark.parametrize("content", ['{"a": 1}{"b": 2}', "", '{"custom_title": "x'])
def test_damaged_side_files_are_set_aside_once_and_told(content: str, tmp_path: Path, home: Path) -> None:
    model = script(tmp_path)
    run("-m", model, "-p", "real", cwd=tmp_path)
    (session,) = home.glob("sessions/*/*/")
    for _ in range(2):
        (session / "state.json").write_text(content)
        (session / "timeline.jsonl").write_text(content)
        again = run("-m", model, "-C", "-p", "more", cwd=tmp_path)
        assert again.returncode == 0
        assert ("state.json was damaged" in again.stderr) is bool(content)
    assert len([name for name in names(session) if "damaged" in name]) == bool(content)
    assert json.loads((session / "state.json").read_text())


def test_a_folder_is_the_same_through_a_link_and_after_it_became_one(tmp_path: Path, home: Path) -> None:
    model, real, link = script(tmp_path), tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    run("-m", model, "-p", "one", cwd=real)
    assert run("-m", model, "-C", "-p", "two", "-w", link, cwd=tmp_path).returncode == 0
    real.rename(tmp_path / "moved")
    real.symlink_to(tmp_path / "moved")
    assert run("-m", model, "-C", "-p", "three", "-w", real, cwd=tmp_path).returncode == 0
    (log,) = home.glob("sessions/*/*/context.jsonl")
    assert user_texts(log) == ["one", "two", "three"]

"""Session files as crashes, full disks and other programs leave them, opened by the program itself."""

from __future__ import annotations

import asyncio
import errno
import json
import os
from pathlib import Path

import pytest

from kimi_tui.context.lock import LockHolder, SessionLock
from kimi_tui.protocol.commands import Fork, RevertTo, SendPrompt
from kimi_tui.protocol.events import PromptReturned, SessionOpened, TextDelta, to_json
from tests.cases.house import assistant, checkpoint, house, lines, user
from tests.cases.program import names, run, script, small_files, start, user_texts

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
FIRST = [record["content"] for record in WHOLE if record["role"] == "user"]
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
    "bytes that are no text": (RAW + b'{"role":"user","content":"\xff\xfe"}\n' + lines([user("after")]), 0),
    "a tail of zeros": (RAW + b"\0" * 300, 1),
}


@pytest.mark.parametrize("damage", DAMAGED)
async def test_nothing_whole_is_lost_and_what_is_damaged_is_named_once_and_kept(damage: str, tmp_path: Path) -> None:
    data, told = DAMAGED[damage]
    async with house(tmp_path, [{"text": "three"}], session=data) as it:
        notices = it.seen(SessionOpened)[0].notices
        assert len(notices) == told and all("context.jsonl, line" in notice for notice in notices)
        await it.turn("third")
        assert [f"user: {text}" in it.sent() or text in it.sent() for text in FIRST] == [True, True]
    async with house(tmp_path, [{"text": "four"}]) as it:
        await it.turn("fourth")
        assert "third" in it.sent() and "fourth" in it.sent()
    said = user_texts(it.folder / "context.jsonl")
    assert said[:2] == FIRST and said[-2:] == ["third", "fourth"]
    kept = (it.folder / "context.jsonl").read_bytes()
    assert data.rstrip(b"\0\r\n").split(b"\n")[-1].rstrip() in kept


async def test_going_back_keeps_the_bytes_of_what_stays_and_what_is_damaged_in_the_rotation(tmp_path: Path) -> None:
    data = DAMAGED["a byte order mark and CRLF"][0] + b'{"role":"user","con\r\n'
    async with house(tmp_path, [{"text": "three"}], session=data) as it:
        await it.turn("third")
        await it.do(RevertTo(2))
        kept = (it.folder / "context.jsonl").read_bytes()
        assert kept.startswith(DAMAGED["a byte order mark and CRLF"][0]) and b"third" not in kept
        assert (it.folder / "context_1.jsonl").read_bytes().startswith(data)


def test_each_event_is_one_line_whoever_splits_them() -> None:
    printed = to_json(TextDelta("a\u2028b\u2029c\x85d\x1ce\nf"))
    assert printed.splitlines() == [printed]
    assert json.loads(printed)["text"] == "a\u2028b\u2029c\x85d\x1ce\nf"


async def test_a_full_disk_is_told_and_nothing_half_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "session"
    folder.mkdir()
    log = folder / "context.jsonl"
    log.write_bytes(RAW)
    model, limit = script(tmp_path, {"text": "long " * 4000}), small_files(len(RAW) + 6000)
    full = await asyncio.to_thread(run, "-S", folder, "-m", model, "-p", "fill it", cwd=tmp_path, preexec_fn=limit)
    assert full.returncode == 1
    assert "could not be written" in full.stderr and "Traceback" not in full.stderr
    assert all(json.loads(line) for line in log.read_bytes().split(b"\n")[:-1]) and log.read_bytes().endswith(b"\n")
    async with house(tmp_path, [{"text": "fits"}]) as it:
        assert (await it.turn("now")).reason == "done"
    assert user_texts(log)[-1] == "now"


def test_a_session_that_was_killed_in_mid_answer_is_the_one_that_is_continued(tmp_path: Path, home: Path) -> None:
    slow = script(tmp_path, {"text": "word " * 20_000, "delay_ms": 50})
    child = start("-m", slow, "-p", "remember this", "--output-format", "stream-json", cwd=tmp_path)
    assert child.stdout is not None
    for line in child.stdout:
        if json.loads(line)["event"] == "TextDelta":
            child.kill()
            break
    child.communicate(timeout=60)
    again = run("-m", script(tmp_path, {"text": "here"}), "-C", "-p", "and?", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, "here\n")
    (log,) = home.glob("sessions/*/*/context.jsonl")
    assert user_texts(log) == ["remember this", "and?"]


async def test_damaged_side_files_are_set_aside_once_and_told(tmp_path: Path) -> None:
    async with house(tmp_path, [{"text": "one"}], session=RAW) as it:
        await it.turn("third")
    session = it.folder
    for content in ('{"custom_title": "x', '{"plan_mode": false}{"b": 2}', ""):
        (session / "state.json").write_text(content)
        (session / "timeline.jsonl").write_text(content)
        async with house(tmp_path, [{"text": "more"}]) as it:
            told = [notice for notice in it.seen(SessionOpened)[0].notices if "state.json was damaged" in notice]
            assert len(told) == 1
            assert (await it.turn("again")).reason == "done"
        assert json.loads((session / "state.json").read_text())
    assert [name for name in names(session) if "damaged" in name] == ["state.damaged.json"]


async def test_a_session_on_a_disk_that_takes_no_writes_is_read_and_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(lock: SessionLock) -> LockHolder | None:
        if lock._path.parent == tmp_path / "session":
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(lock._path))
        return acquire(lock)

    acquire = SessionLock.acquire
    monkeypatch.setattr(SessionLock, "acquire", refuse)
    before = [checkpoint(0), user("hello"), assistant("hi")]
    async with house(tmp_path, [{"text": "here I am"}], session=before) as it:
        opened = it.seen(SessionOpened)[0]
        assert "cannot be written here" in opened.read_only
        assert not any("cannot be written" in notice for notice in opened.notices), "once is enough"
        it.tell(SendPrompt("more"))
        assert "cannot be written here" in (await it.until(PromptReturned)).reason
        assert it.records() == before
        assert [path.name for path in it.folder.iterdir()] == ["context.jsonl"]
        count = len(it.events)
        it.tell(Fork())
        assert not (await it.until(SessionOpened, count)).read_only
        assert (await it.turn("more")).reason == "done"

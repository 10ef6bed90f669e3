"""Everything that is wrong is named by file, line and byte; what can be rescued is, and nothing is thrown away."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_tui.context import Context, SessionLocked
from kimi_tui.context.doctor import Finding, check, repair
from tests.context.scenarios import a_lost_session, a_reverted_session, a_session

GOOD = b'{"role":"user","content":"good"}\n'
USAGE = b'{"role": "_usage", "token_count": 5}\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "context.jsonl"


def shape(findings: tuple[Finding, ...]) -> list[tuple[str, str, int | None, int | None, int | None]]:
    return [(found.severity, found.file, found.line, found.byte, found.size) for found in findings]


async def texts(path: Path) -> list[str]:
    context = Context(path)
    await context.restore()
    await context.close()
    return [message.text() for message in context.history]


async def test_a_healthy_session_has_no_findings(path: Path) -> None:
    await a_reverted_session(path)
    report = check(path.parent)
    assert (report.healthy, report.findings) == (True, ())
    assert [(file.name, file.messages, file.checkpoints) for file in report.files] == [
        ("context.jsonl", 8, 2),
        ("context_1.jsonl", 15, 4),
    ]


async def test_looking_changes_nothing(path: Path) -> None:
    path.write_bytes(GOOD + b"junk\n" + GOOD[:-1])
    before = {file: file.read_bytes() for file in path.parent.iterdir()}
    check(path)
    assert {file: file.read_bytes() for file in path.parent.iterdir()} == before


async def test_every_damaged_record_is_named_by_file_line_and_byte(path: Path) -> None:
    path.write_bytes(GOOD + b"junk\n" + GOOD + b'{"role":"user","con')
    report = check(path)
    assert shape(report.findings) == [
        ("damage", "context.jsonl", 2, len(GOOD), 5),
        ("damage", "context.jsonl", 4, 2 * len(GOOD) + 5, 19),
        ("damage", "context.jsonl", 4, None, None),
    ]
    assert not report.healthy


async def test_records_glued_by_a_crash_are_rescued_in_their_place(path: Path) -> None:
    glued = b'{"role":"assistant","content":"half' + GOOD.replace(b"good", b"glued") + GOOD.replace(b"good", b"last")
    path.write_bytes(GOOD + glued + USAGE[:-1] + GOOD.replace(b"good", "结束".encode()))
    report = repair(path)
    assert report.healthy
    assert report.mended == ("2 damaged lines left out, 3 records rescued from them; the old file is context_1.jsonl.",)
    assert await texts(path) == ["good", "glued", "last", "结束"]
    assert glued in path.with_name("context_1.jsonl").read_bytes()


async def test_a_record_split_by_raw_line_ends_is_put_together(path: Path) -> None:
    path.write_bytes(GOOD + b'{"role":"tool","content":"one\ntwo\n\nthree","tool_call_id":"1"}\n' + GOOD)
    assert repair(path).healthy
    assert await texts(path) == ["good", "one\ntwo\n\nthree", "good"]


async def test_a_repair_can_be_undone(path: Path) -> None:
    damaged = GOOD + b"junk\n" + GOOD
    path.write_bytes(damaged)
    repair(path)
    assert path.read_bytes() == GOOD * 2
    context = Context(path)
    await context.restore()
    await context.undo()
    assert path.read_bytes() == damaged


async def test_a_torn_end_is_closed_and_a_lost_live_file_comes_back(path: Path) -> None:
    path.write_bytes(GOOD + GOOD[:-1])
    assert repair(path).healthy
    assert path.read_bytes() == GOOD * 2
    other = path.with_name("other") / "context.jsonl"
    await a_lost_session(other)
    assert not check(other).healthy
    assert repair(other).healthy
    assert len(await texts(other)) == 15


async def test_damage_in_a_rotation_is_told_but_is_no_reason_to_worry(path: Path) -> None:
    path.write_bytes(b"junk\n" + GOOD)
    repair(path)
    report = check(path)
    assert report.healthy
    assert shape(report.findings) == [("note", "context_1.jsonl", 1, 0, 5)]


async def test_a_session_that_is_open_elsewhere_is_not_repaired(path: Path) -> None:
    await a_session(path)
    context = Context(path)
    await context.restore()
    assert check(path).findings[0].what.startswith("The session is open: process ")
    with path.open("ab") as file:
        file.write(b"junk\n")
    with pytest.raises(SessionLocked):
        repair(path)


async def test_there_must_be_a_session(path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="There is no session at"):
        check(path)

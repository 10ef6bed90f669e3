"""`kimi-tui doctor`: names what is wrong, mends it on request, and says by its exit code which it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kimi_tui.cli.main import run
from kimi_tui.context.lock import SessionLock

WHOLE = '{"role":"user","content":"hi"}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "context.jsonl").write_text(WHOLE + '{"role":"user","con\n' + WHOLE)
    return tmp_path


def test_a_healthy_session_exits_with_zero(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "context.jsonl").write_text(WHOLE)
    assert run(["doctor", str(folder)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "✓ healthy"


def test_damage_is_named_by_file_line_and_byte(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / "context.jsonl").read_bytes()
    assert run(["doctor", str(folder)]) == 1
    out = capsys.readouterr().out
    assert "✗ context.jsonl, line 2, byte 31: " in out
    assert "--repair" in out
    assert (folder / "context.jsonl").read_bytes() == before
    assert [path.name for path in folder.iterdir()] == ["context.jsonl"]


def test_repair_mends_and_keeps_the_original_beside_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / "context.jsonl").read_bytes()
    assert run(["doctor", str(folder), "--repair"]) == 0
    assert (folder / "context.jsonl").read_text() == WHOLE + WHOLE
    assert (folder / "context_1.jsonl").read_bytes() == before
    assert "the old file is context_1.jsonl" in capsys.readouterr().out


def test_json_holds_the_findings(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", str(folder / "context.jsonl"), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert not report["healthy"]
    (finding,) = report["findings"]
    assert (finding["file"], finding["line"], finding["byte"]) == ("context.jsonl", 2, 31)


def test_a_session_that_is_open_is_looked_at_but_not_mended(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = SessionLock(folder / "context.lock")
    lock.acquire()
    try:
        assert run(["doctor", str(folder)]) == 1
        assert "The session is open" in capsys.readouterr().out
        assert run(["doctor", str(folder), "--repair"]) == 1
        assert "Close it there first." in capsys.readouterr().err
    finally:
        lock.release()


def test_no_session_is_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", str(tmp_path)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_the_files_beside_the_log_are_looked_at_and_mended(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "context.jsonl").write_text(WHOLE)
    (folder / "state.json").write_text('{"custom_title": "kept"} {"torn')
    (folder / "timeline.jsonl").write_text('{"pin":{"file":"context_1.jsonl","on":true}}\n{"begin":{"id":\n')
    assert run(["doctor", str(folder)]) == 1
    out = capsys.readouterr().out
    assert "! timeline.jsonl, line 2, byte 45: " in out
    assert "! state.json: " in out
    assert run(["doctor", str(folder), "--repair"]) == 0
    assert "state.damaged.json" in capsys.readouterr().out
    assert json.loads((folder / "state.json").read_text())["custom_title"] == "kept"
    assert (folder / "timeline.jsonl").read_text().count("\n") == 1
    assert '{"begin"' in (folder / "timeline.damaged.jsonl").read_text()


def test_side_files_that_are_missing_are_no_finding(folder: Path) -> None:
    (folder / "context.jsonl").write_text(WHOLE)
    assert run(["doctor", str(folder)]) == 0
    assert [path.name for path in folder.iterdir()] == ["context.jsonl"]

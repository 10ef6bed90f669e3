"""`kimi-tui timeline` and the files of the project: what would change, taken along, and taken back again."""

from __future__ import annotations

import json
from asyncio import to_thread
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.cli.main import run
from kimi_tui.options import LaunchOptions
from kimi_tui.protocol.events import SessionOpened
from tests.agent.test_bootstrap import of, play, script, tool
from tests.session.trees import picture, plant

Output = pytest.CaptureFixture[str]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    plant(folder, **{"a.txt": "  one\n", "mine.txt": "mine\n"})
    return folder


@pytest.fixture
async def folder(work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two turns of the real program that write files; then the user edits one of them. The scripts run elsewhere."""
    model = script(
        tmp_path,
        {
            "tools": [
                tool("WriteFile", path="a.txt", content="two\n"),
                tool("WriteFile", path="new/b.txt", content="b\n"),
            ]
        },
        {"text": "written"},
        {
            "tools": [
                tool("WriteFile", path="a.txt", content="three\n"),
                tool("WriteFile", path="mine.txt", content="x\n"),
            ]
        },
        {"text": "written again"},
    )
    events = await play(LaunchOptions(work_dir=work, model=model, yolo=True), "first", "second")
    (work / "mine.txt").write_text("edited\n")
    monkeypatch.chdir(tmp_path)
    return Path(of(events, SessionOpened)[0].path)


def writes(path: str, content: str) -> dict[str, Any]:
    return tool("WriteFile", path=path, content=content)


async def told(folder: Path, verb: str, *rest: str, capsys: Output, code: int = 0) -> dict[str, Any]:
    assert await to_thread(run, ["timeline", verb, str(folder), *rest, "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def first_of_turn(folder: Path, prompt: str) -> str:
    """The checkpoint right before a prompt."""
    last = 0
    for line in (folder / "context.jsonl").read_text().splitlines():
        record = json.loads(line)
        if record["role"] == "_checkpoint":
            last = record["id"]
        elif record["role"] == "user" and prompt in str(record["content"]):
            return str(last)
    raise AssertionError(prompt)


async def test_files_are_listed_with_what_going_back_would_do(folder: Path, work: Path, capsys: Output) -> None:
    before = picture(work)
    found = await told(folder, "files", "0", capsys=capsys)
    assert found["files"] == [
        {"path": "a.txt", "change": "rewritten", "edited": False, "kept": ""},
        {"path": "mine.txt", "change": "rewritten", "edited": True, "kept": "edited since"},
        {"path": "new/b.txt", "change": "deleted", "edited": False, "kept": ""},
    ]
    found = await told(folder, "files", f"now@{first_of_turn(folder, 'second')}", "a.txt", "--diff", capsys=capsys)
    assert found["files"] == [
        {"path": "a.txt", "change": "rewritten", "edited": False, "kept": "", "before": "three\n", "after": "two\n"}
    ]
    assert picture(work) == before


async def test_a_difference_is_shown_as_lines(folder: Path, capsys: Output) -> None:
    assert await to_thread(run, ["timeline", "files", str(folder), "0", "--diff"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:6] == ["put back    a.txt", "--- now/a.txt", "+++ then/a.txt", "@@ -1 +1 @@", "-three", "+  one"]
    assert "kept        mine.txt (edited since: --overwrite puts it back all the same)" in lines


@pytest.mark.parametrize("take", ["both", "files"])
async def test_files_go_back_and_undo_brings_every_byte_again(
    folder: Path, work: Path, take: str, capsys: Output
) -> None:
    before, chat = picture(work), (folder / "context.jsonl").read_bytes()
    planned = await told(folder, "revert", "0", "--take", take, "--dry-run", capsys=capsys)
    assert picture(work) == before and ("messages" in planned) == (take == "both")
    done = await told(folder, "revert", "0", "--take", take, capsys=capsys)
    assert done["files"] == {
        "written": ["a.txt"],
        "removed": ["new/b.txt"],
        "kept": [{"path": "mine.txt", "why": "edited since"}],
        "failed": [],
    }
    assert {file["path"] for file in planned["files"]} == {"a.txt", "mine.txt", "new/b.txt"}
    assert (work / "a.txt").read_text() == "  one\n" and (work / "mine.txt").read_text() == "edited\n"
    assert ((folder / "context.jsonl").read_bytes() == chat) is (take == "files")
    planned = await told(folder, "undo", "--dry-run", capsys=capsys)
    assert [file["path"] for file in planned["files"]] == ["a.txt", "new/b.txt"]
    assert (work / "a.txt").read_text() == "  one\n" and ("messages" in planned) == (take == "both")
    assert (await told(folder, "undo", capsys=capsys))["files"]["written"] == ["a.txt", "new/b.txt"]
    assert (picture(work), (folder / "context.jsonl").read_bytes()) == (before, chat)
    await told(folder, "redo", capsys=capsys)
    assert (work / "a.txt").read_text() == "  one\n"


async def test_a_file_edited_since_goes_back_when_it_is_named(folder: Path, work: Path, capsys: Output) -> None:
    done = await told(folder, "revert", "0", "--take", "files", "--overwrite", "mine.txt", capsys=capsys)
    assert done["why"] is None and not done["files"]["kept"]
    assert (work / "mine.txt").read_text() == "mine\n"
    await told(folder, "undo", capsys=capsys)
    assert (work / "mine.txt").read_text() == "edited\n"


async def test_a_rotation_is_restored_with_its_files(folder: Path, work: Path, capsys: Output) -> None:
    before = picture(work)
    await told(folder, "revert", "0", "--take", "both", capsys=capsys)
    found = await told(folder, "files", "context_1.jsonl", capsys=capsys)
    assert [file["change"] for file in found["files"]] == ["rewritten", "recreated"]
    await told(folder, "restore", "context_1.jsonl", "--take", "both", "--note", "mind the gap", capsys=capsys)
    assert picture(work) == before
    assert "mind the gap" in (folder / "context.jsonl").read_text().splitlines()[-1]


async def test_without_take_no_file_changes(folder: Path, work: Path, capsys: Output) -> None:
    before = picture(work)
    assert (await told(folder, "revert", "0", capsys=capsys))["files"] is None
    assert (await told(folder, "undo", capsys=capsys))["files"] is None
    assert picture(work) == before


async def test_a_folder_that_is_gone_is_one_line_and_nothing_happens(folder: Path, work: Path, capsys: Output) -> None:
    chat = (folder / "context.jsonl").read_bytes()
    work.rename(work.with_name("elsewhere"))
    for verb in (["files", str(folder), "0"], ["revert", str(folder), "0", "--take", "both"]):
        assert await to_thread(run, ["timeline", *verb]) == 1
        assert "is not there: files cannot be put back" in capsys.readouterr().err
    assert (folder / "context.jsonl").read_bytes() == chat
    await told(folder, "revert", "0", capsys=capsys)
    assert await to_thread(run, ["timeline", "undo", str(folder)]) == 0
    assert "is not there: files cannot be put back" in capsys.readouterr().err
    assert (folder / "context.jsonl").read_bytes() == chat


async def test_where_files_are_not_recorded_they_are_not_said_to_stay_the_same(
    folder: Path, work: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = picture(work)
    monkeypatch.setenv("KIMI_TUI_SNAPSHOTS__ENABLED", "false")
    for verb in (["files", str(folder), "0"], ["revert", str(folder), "0", "--take", "files"]):
        assert await to_thread(run, ["timeline", *verb]) == 1
        assert "snapshots switched off: files cannot be put back" in capsys.readouterr().err
    assert picture(work) == before


async def test_a_point_that_is_none_is_one_line(folder: Path, capsys: Output) -> None:
    for point, why in (("99", "Checkpoint 99"), ("now", "the present"), ("context_7.jsonl", "no timeline")):
        assert await to_thread(run, ["timeline", "files", str(folder), point]) == 1
        told_why = capsys.readouterr().err
        assert why in told_why and "internal" not in told_why

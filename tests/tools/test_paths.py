from __future__ import annotations

import os
import socket
import sys
import unicodedata
from pathlib import Path

import pytest

from kimi_tui.spelling import spell
from kimi_tui.tools.base import Decision
from kimi_tui.tools.paths import PathFault, locate
from kimi_tui.tools.read_file import ReadFile
from kimi_tui.tools.str_replace import StrReplaceFile
from kimi_tui.tools.write_file import WriteFile
from tests.tools.tool_desk import Desk


@pytest.fixture
def outside(desk: Desk) -> Path:
    """A folder beside the work folder, with links into it from there."""
    folder = desk.work_dir.parent / "elsewhere"
    folder.mkdir()
    (folder / "prize.txt").write_text("original\n")
    work = desk.work_dir
    (work / "sub").mkdir()
    (work / "door").symlink_to("../elsewhere")
    (work / "window.txt").symlink_to("../elsewhere/prize.txt")
    (work / "future.txt").symlink_to("../elsewhere/not-yet.txt")
    (work / "ring1").symlink_to("ring2")
    (work / "ring2").symlink_to("ring1")
    os.link(folder / "prize.txt", work / "twin.txt")
    return folder


WAYS_OUT = ["window.txt", "door/prize.txt", "../elsewhere/prize.txt", "sub/../../elsewhere/prize.txt", "future.txt"]


@pytest.mark.parametrize("path", [*WAYS_OUT, "door/new.txt", "~/x.txt"])
async def test_writing_through_a_way_out_needs_approval_with_the_real_path(
    desk: Desk, outside: Path, path: str, home: Path
) -> None:
    desk.decision = Decision(False)
    result = await desk.run(WriteFile(), path=path, content="taken\n")
    assert result.outcome == "rejected"
    (view,) = desk.approvals
    assert view.outside
    assert Path(view.detail).is_relative_to(outside) or Path(view.detail).is_relative_to(home)
    assert sorted(file.name for file in outside.iterdir()) == ["prize.txt"]
    assert (outside / "prize.txt").read_text() == "original\n"


@pytest.mark.parametrize("path", WAYS_OUT[:4])
async def test_reading_and_editing_outside_need_approval_too(desk: Desk, outside: Path, path: str) -> None:
    desk.decision = Decision(False)
    read = await desk.run(ReadFile(), path=path)
    edit = await desk.run(StrReplaceFile(), path=path, edit={"old": "original", "new": "taken"})
    assert [read.outcome, edit.outcome] == ["rejected", "rejected"]
    assert {view.detail for view in desk.approvals} == {str(outside / "prize.txt")}
    assert "original" not in read.output + read.message


async def test_an_approved_write_goes_through_the_link_and_keeps_it(desk: Desk, outside: Path) -> None:
    result = await desk.run(WriteFile(), path="window.txt", content="agreed\n")
    assert result.outcome == "ok"
    assert (desk.work_dir / "window.txt").is_symlink()
    assert (outside / "prize.txt").read_text() == "agreed\n"


async def test_a_hard_link_is_not_written_through(desk: Desk, outside: Path) -> None:
    result = await desk.run(StrReplaceFile(), path="twin.txt", edit={"old": "original", "new": "changed"})
    assert (desk.work_dir / "twin.txt").read_text() == "changed\n"
    assert (outside / "prize.txt").read_text() == "original\n"
    assert "hard links" in result.message
    await desk.run(WriteFile(), path="twin.txt", content="x", mode="append")
    assert (outside / "prize.txt").read_text() == "original\n"


@pytest.mark.parametrize("path", ["ring1", "ring1/x"])
async def test_links_in_a_circle_are_named_and_left(desk: Desk, outside: Path, path: str) -> None:
    for result in (
        await desk.run(ReadFile(), path=path),
        await desk.run(WriteFile(), path=path, content="x"),
    ):
        assert result.outcome == "error"
    assert (desk.work_dir / "ring1").is_symlink()


async def test_a_place_that_moved_during_the_question_is_not_written(desk: Desk, outside: Path) -> None:
    target = desk.work_dir / "safe.txt"
    target.write_text("original\n")

    def swap(view: object) -> None:
        target.unlink()
        target.symlink_to(outside / "prize.txt")

    desk.on_approval = swap
    result = await desk.run(WriteFile(), path="safe.txt", content="taken\n")
    assert result.outcome == "error"
    assert (outside / "prize.txt").read_text() == "original\n"


@pytest.mark.parametrize("path", ["file:///etc/passwd", "https://a/b", "", "  ", "a\0b"])
async def test_what_is_no_path_is_said(desk: Desk, path: str) -> None:
    result = await desk.run(ReadFile(), path=path)
    assert result.outcome == "error"
    assert desk.approvals == []


async def test_an_added_folder_needs_no_approval(desk: Desk, outside: Path) -> None:
    desk.allowed_dirs = (outside,)
    result = await desk.run(ReadFile(), path=str(outside / "prize.txt"))
    assert "original" in result.output
    assert desk.approvals == []


async def test_a_work_folder_that_is_itself_a_link_holds_its_files(desk: Desk) -> None:
    (desk.work_dir / "a.txt").write_text("here\n")
    link = desk.work_dir.parent / "link"
    link.symlink_to(desk.work_dir)
    desk.work_dir = link
    assert "here" in (await desk.run(ReadFile(), path="a.txt")).output
    assert desk.approvals == []


async def test_both_unicode_forms_of_a_name_are_found_as_written(desk: Desk) -> None:
    composed, apart = (unicodedata.normalize(form, "crème.txt") for form in ("NFC", "NFD"))
    (desk.work_dir / composed).write_text("composed\n")
    (desk.work_dir / apart).write_text("apart\n")
    assert "composed" in (await desk.run(ReadFile(), path=composed)).output
    assert "apart" in (await desk.run(ReadFile(), path=apart)).output


async def test_the_other_unicode_form_is_taken_when_only_that_one_exists(desk: Desk) -> None:
    folder = desk.work_dir / unicodedata.normalize("NFD", "é")
    folder.mkdir()
    (folder / unicodedata.normalize("NFD", "ü.txt")).write_text("found\n")
    wanted = unicodedata.normalize("NFC", "é/ü.txt")
    assert "found" in (await desk.run(ReadFile(), path=wanted)).output
    await desk.run(WriteFile(), path=wanted, content="again\n")
    assert len(list(folder.iterdir())) == 1


UNPLAIN = ["turned\u202e\u2028.txt".encode(), b"two\nlines.txt", b"tab\there.txt", b"esc\x1b[31m.txt"]
if sys.platform != "darwin":  # its file systems take only valid UTF-8
    UNPLAIN.append(b"odd\xffname.txt")


@pytest.mark.parametrize("name", UNPLAIN)
async def test_names_that_cannot_be_written_plainly_can_be_given_back_as_they_are_told(desk: Desk, name: bytes) -> None:
    (desk.work_dir / os.fsdecode(name)).write_text("inside\n")
    told = spell(os.fsdecode(name))
    assert told.isprintable()
    told.encode("utf-8")
    assert "inside" in (await desk.run(ReadFile(), path=told)).output


ODD = [
    "-rf",
    "$(touch pwned)",
    "a;b&c|d.txt",
    " lead trail ",
    "quote'and\"dq",
    "n" * 240 + ".md",
    "star*?[x].py",
    "🌳.txt",
]


@pytest.mark.parametrize("name", ODD)
async def test_odd_names_can_be_read_written_and_edited(desk: Desk, name: str) -> None:
    folder = desk.work_dir / "proj[/dim][b"
    folder.mkdir(parents=True)
    desk.work_dir = folder
    assert (await desk.run(WriteFile(), path=name, content="one\n")).outcome == "ok"
    assert (await desk.run(StrReplaceFile(), path=name, edit={"old": "one", "new": "two"})).outcome == "ok"
    assert "two" in (await desk.run(ReadFile(), path=name)).output
    assert [file.name for file in folder.iterdir()] == [name]


async def test_devices_pipes_sockets_and_folders_are_named_and_not_read(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(desk.work_dir / "pipe")
    (desk.work_dir / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(desk.work_dir)
        server.bind("sock")
        told = [(await desk.run(ReadFile(), path=path)).message for path in ("pipe", "folder", "sock", "/dev/zero")]
    assert [word in text for word, text in zip(("pipe", "folder", "socket", "device"), told, strict=True)] == [True] * 4


async def test_a_missing_file_is_answered_with_its_neighbours(desk: Desk) -> None:
    (desk.work_dir / "parser.py").write_text("")
    result = await desk.run(ReadFile(), path="praser.py")
    assert result.outcome == "error"
    assert "parser.py" in result.message


async def test_a_name_longer_than_the_system_takes_is_a_fault_not_a_crash(desk: Desk) -> None:
    result = await desk.run(WriteFile(), path="x" * 300, content="x")
    assert "File name too long" in result.message
    with pytest.raises(PathFault):
        locate("", desk.call())

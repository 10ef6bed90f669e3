from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_tui.protocol.views import DiffView
from kimi_tui.tools.base import Decision
from kimi_tui.tools.diffs import change, counts
from kimi_tui.tools.edits import EditFault, Replacement, apply
from kimi_tui.tools.str_replace import StrReplaceFile
from kimi_tui.tools.toolset import Toolset
from kimi_tui.tools.write_file import WriteFile
from tests.tools.tool_desk import Desk, tool_call

MIXED = b"first\r\nsecond\r\nthird\r\nplain one\nend without break"


def put(desk: Desk, data: bytes, name: str = "a.txt") -> Path:
    path = desk.work_dir / name
    path.write_bytes(data)
    return path


async def test_an_edit_over_several_crlf_lines_fits_and_leaves_the_rest(desk: Desk) -> None:
    path = put(desk, MIXED)
    await desk.run(StrReplaceFile(), path="a.txt", edit={"old": "second\nthird", "new": "SECOND\nTHIRD"})
    assert path.read_bytes() == b"first\r\nSECOND\r\nTHIRD\r\nplain one\nend without break"


async def test_an_edit_that_spells_out_crlf_fits_too(desk: Desk) -> None:
    path = put(desk, MIXED)
    await desk.run(StrReplaceFile(), path="a.txt", edit={"old": "first\r\n", "new": "FIRST\r\n"})
    assert path.read_bytes() == MIXED.replace(b"first", b"FIRST")


async def test_new_lines_get_the_ending_of_their_surroundings(desk: Desk) -> None:
    path = put(desk, MIXED)
    edits = [{"old": "plain one", "new": "a\nb"}, {"old": "second", "new": "c\nd"}]
    await desk.run(StrReplaceFile(), path="a.txt", edit=edits)
    assert path.read_bytes() == b"first\r\nc\r\nd\r\nthird\r\na\nb\nend without break"


async def test_the_diff_shows_only_the_change(desk: Desk) -> None:
    put(desk, MIXED)
    result = await desk.run(StrReplaceFile(), path="a.txt", edit={"old": "second\nthird", "new": "2\n3"})
    (diff,) = result.diffs
    assert diff == DiffView("a.txt", MIXED.decode().replace("\r", ""), diff.after, 1)
    assert counts(diff) == "+2 −2"
    assert result.brief == "+2 −2"


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfone\r\ntwo\r\n",
        "one\r\ntwo\r\n".encode("utf-16"),
        "one\ntwo 世界\n".encode("utf-16-be").join([b"\xfe\xff", b""]),
        b"one\ncaf\xe9 \xff\xfe\n",
        "one\u2028still\x0cthe same\n".encode(),
        b"one\rold mac\r",
    ],
)
async def test_encoding_bom_and_foreign_bytes_survive_an_edit(desk: Desk, data: bytes) -> None:
    wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    path = put(desk, data)
    result = await desk.run(StrReplaceFile(), path="a.txt", edit={"old": "one", "new": "ONE"})
    assert result.outcome == "ok"
    codec = "utf-16" if wide else "latin-1"
    assert path.read_bytes().decode(codec) == data.decode(codec).replace("one", "ONE")
    assert path.read_bytes()[:2] == data[:2].replace(b"on", b"ON")


async def test_a_file_in_an_unknown_encoding_gets_no_characters_of_another(desk: Desk) -> None:
    path = put(desk, b"caf\xe9\nx = 1\n")
    refused = await desk.run(StrReplaceFile(), path="a.txt", edit={"old": "x = 1", "new": "x = é"})
    assert "not UTF-8" in refused.message and path.read_bytes() == b"caf\xe9\nx = 1\n"
    await desk.run(StrReplaceFile(), path="a.txt", edit={"old": "x = 1", "new": "x = 2"})
    assert path.read_bytes() == b"caf\xe9\nx = 2\n"


async def test_one_bad_byte_does_not_keep_a_utf8_file_from_being_edited(desk: Desk) -> None:
    path = put(desk, "schön\n".encode() + b"\xff\nx\n")
    await desk.run(StrReplaceFile(), path="a.txt", edit={"old": "x", "new": "é"})
    assert path.read_bytes() == "schön\n".encode() + b"\xff\n" + "é\n".encode()


async def test_bytes_can_be_given_as_they_are_shown(desk: Desk) -> None:
    path = put(desk, b"caf\xe9 noir\n")
    await desk.run(StrReplaceFile(), path="a.txt", edit={"old": r"caf\xe9 noir", "new": r"na\xefve caf\xe9"})
    assert path.read_bytes() == b"na\xefve caf\xe9\n"
    put(desk, rb'x = b"\xe9"' + b"\n\xff\n")
    await desk.run(StrReplaceFile(), path="a.txt", edit={"old": r"\xe9", "new": r"\xea"})
    assert path.read_bytes() == rb'x = b"\xea"' + b"\n\xff\n", "where the file holds these letters, they are meant"


async def test_a_text_that_fits_twice_is_refused_with_the_lines(desk: Desk) -> None:
    data = b"def a():\n    x = 1\n\n\ndef b():\n    x = 1\n"
    path = put(desk, data)
    result = await desk.run(StrReplaceFile(), path="a.txt", edit={"old": "    x = 1", "new": "    x = 2"})
    assert result.outcome == "error"
    assert "fits 2 times, at lines 2 and 6" in result.message
    assert path.read_bytes() == data
    assert desk.approvals == []


async def test_replace_all_changes_every_place(desk: Desk) -> None:
    path = put(desk, b"a b a\na\n")
    await desk.run(StrReplaceFile(), path="a.txt", edit={"old": "a", "new": "c", "replace_all": True})
    assert path.read_bytes() == b"c b c\nc\n"


async def test_several_edits_are_made_all_or_none(desk: Desk) -> None:
    path = put(desk, b"one two three\n")
    good, bad = {"old": "one", "new": "1"}, {"old": "four", "new": "4"}
    result = await desk.run(StrReplaceFile(), path="a.txt", edit=[good, bad])
    assert result.message.startswith("Edit 2 of 2: ")
    assert path.read_bytes() == b"one two three\n"
    await desk.run(StrReplaceFile(), path="a.txt", edit=[good, {"old": "1 two", "new": "12"}])
    assert path.read_bytes() == b"12 three\n"


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        ({"old": "x =  1", "new": "y"}, "Its first line is like line 2"),
        ({"old": "gone", "new": "head"}, "`new` already is, at line 1"),
        ({"old": "nowhere", "new": "y"}, "copy the text exactly"),
        ({"old": "head", "new": "head"}, "are the same"),
    ],
)
async def test_an_edit_that_does_not_fit_says_what_is_there(desk: Desk, edit: dict[str, str], reason: str) -> None:
    put(desk, b"head\nx = 1\n")
    result = await desk.run(StrReplaceFile(), path="a.txt", edit=edit)
    assert result.outcome == "error"
    assert reason in result.message


async def test_an_edit_written_as_json_text_is_understood(desk: Desk) -> None:
    path = put(desk, b"one\n")
    call = tool_call("StrReplaceFile", {"path": "a.txt", "edit": '[{"old": "one", "new": "two"}]'})
    await Toolset([StrReplaceFile()]).run([call], desk.call)
    assert path.read_bytes() == b"two\n"


async def test_the_mode_of_the_file_is_kept(desk: Desk) -> None:
    path = put(desk, b"#!/bin/sh\n")
    path.chmod(0o751)
    await desk.run(StrReplaceFile(), path="a.txt", edit={"old": "sh", "new": "bash"})
    await desk.run(WriteFile(), path="a.txt", content="echo\n", mode="append")
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert path.read_bytes() == b"#!/bin/bash\necho\n"


async def test_nothing_is_left_beside_a_changed_file(desk: Desk) -> None:
    await desk.run(WriteFile(), path="deep/er/a.txt", content="x")
    assert [path.name for path in (desk.work_dir / "deep/er").iterdir()] == ["a.txt"]


async def test_a_program_that_is_mended_within_a_second_does_not_run_as_it_was_before(desk: Desk) -> None:
    path = put(desk, b"ANSWER = 1\n", "answer.py")
    before = path.stat()
    await desk.run(StrReplaceFile(), path="answer.py", edit={"old": "1", "new": "2"})
    after = path.stat()
    assert after.st_size == before.st_size and int(after.st_mtime) > int(before.st_mtime)


async def test_overwriting_keeps_crlf_and_encoding_of_the_old_file(desk: Desk) -> None:
    path = put(desk, "\ufeffa\r\nb\r\n".encode("utf-16-le"))
    result = await desk.run(WriteFile(), path="a.txt", content="c\nd\n")
    assert path.read_bytes() == "\ufeffc\r\nd\r\n".encode("utf-16-le")
    assert "UTF-16-LE with BOM" in result.message


async def test_a_new_file_is_written_as_given(desk: Desk) -> None:
    await desk.run(WriteFile(), path="a.txt", content="a\r\nb\n世界")
    assert (desk.work_dir / "a.txt").read_bytes() == "a\r\nb\n世界".encode()


async def test_a_binary_file_is_not_overwritten_or_edited(desk: Desk) -> None:
    path = put(desk, b"\x89PNG\r\n\x1a\n\0\0")
    for result in (
        await desk.run(WriteFile(), path="a.txt", content="x"),
        await desk.run(StrReplaceFile(), path="a.txt", edit={"old": "PNG", "new": "GIF"}),
    ):
        assert "PNG image" in result.message
    assert path.read_bytes() == b"\x89PNG\r\n\x1a\n\0\0"


async def test_the_approval_shows_the_diff_and_a_rejection_writes_nothing(desk: Desk) -> None:
    path = put(desk, b"one\n")
    desk.decision = Decision(False, "leave it")
    result = await desk.run(StrReplaceFile(), path="a.txt", edit={"old": "one", "new": "two"})
    (view,) = desk.approvals
    assert (view.action, view.detail, view.outside) == ("edit a.txt", str(path), False)
    assert view.diffs == (DiffView("a.txt", "one\n", "two\n"),)
    assert "leave it" in result.message
    assert path.read_bytes() == b"one\n"


async def test_a_file_that_changed_during_the_question_is_not_overwritten(desk: Desk) -> None:
    path = put(desk, b"one\n")
    desk.on_approval = lambda view: path.write_bytes(b"one, by hand\n") and None
    result = await desk.run(StrReplaceFile(), path="a.txt", edit={"old": "one", "new": "two"})
    assert "changed meanwhile" in result.message
    assert path.read_bytes() == b"one, by hand\n"


async def test_a_file_that_appeared_during_the_question_is_not_overwritten(desk: Desk) -> None:
    path = desk.work_dir / "a.txt"
    desk.on_approval = lambda view: path.write_bytes(b"by hand\n") and None
    assert (await desk.run(WriteFile(), path="a.txt", content="x")).outcome == "error"
    assert path.read_bytes() == b"by hand\n"


async def test_in_plan_mode_only_the_plan_is_written(desk: Desk, tmp_path: Path) -> None:
    path = put(desk, b"one\n")
    desk.plan_file = tmp_path / "session" / "plan.md"
    for result in (
        await desk.run(WriteFile(), path="b.txt", content="x"),
        await desk.run(StrReplaceFile(), path="a.txt", edit={"old": "one", "new": "two"}),
    ):
        assert (result.outcome, result.brief) == ("error", "plan mode")
    plan = await desk.run(WriteFile(), path=str(desk.plan_file), content="# Plan\n")
    assert plan.outcome == "ok"
    assert desk.plan_file.read_text() == "# Plan\n"
    assert [file.name for file in desk.work_dir.iterdir()] == [path.name]
    assert path.read_bytes() == b"one\n"
    assert desk.approvals == []


async def test_a_path_through_a_file_is_an_error(desk: Desk) -> None:
    put(desk, b"one\n")
    result = await desk.run(WriteFile(), path="a.txt/b.txt", content="x")
    assert result.outcome == "error"
    assert (desk.work_dir / "a.txt").read_bytes() == b"one\n"


LINES = st.lists(st.sampled_from(["a", "bb", "a b", "", "x\ty", "é"]), min_size=1, max_size=8)


@given(lines=LINES, endings=st.lists(st.sampled_from(["\n", "\r\n"]), min_size=8, max_size=8), at=st.integers(0, 7))
def test_a_unique_edit_touches_nothing_but_its_place(lines: list[str], endings: list[str], at: int) -> None:
    lines = [*lines[:at], "NEEDLE one", "NEEDLE two", *lines[at:]]
    text = "".join(line + endings[number % 8] for number, line in enumerate(lines))
    after, count = apply(text, [Replacement("NEEDLE one\nNEEDLE two", "new\nlines\nhere")])
    start = text.index("NEEDLE one")
    stop = text.index("NEEDLE two") + len("NEEDLE two")
    assert count == 1
    assert after.startswith(text[:start])
    assert after.endswith(text[stop:])
    assert after[start : len(after) - len(text[stop:])].replace("\r", "") == "new\nlines\nhere"


def test_places_that_overlap_are_ambiguous() -> None:
    with pytest.raises(EditFault, match="fits 2 times"):
        apply("aaa", [Replacement("aa", "b")])


def test_a_diff_keeps_three_lines_around_the_change_and_says_where_they_are() -> None:
    before = "".join(f"{n}\n" for n in range(1, 101))
    diff = change("a", before, before.replace("50\n", "fifty\n"))
    assert diff.before == "47\n48\n49\n50\n51\n52\n53\n"
    assert diff.first_line == 47


def test_a_diff_of_line_endings_alone_shows_them() -> None:
    assert change("a", "x\r\n", "x\n").before == "x␍\n"


def test_a_diff_holds_no_control_codes_and_no_bad_bytes() -> None:
    diff = change("a", "x\x1b[2J\udcff\n", "y\n")
    assert diff.before == "x␛[2J\\xff\n"

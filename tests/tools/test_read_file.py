from __future__ import annotations

import base64
import os

import pytest

from kimi_tui.protocol.messages import ImageURLPart
from kimi_tui.tools.paths import contents
from kimi_tui.tools.read_file import ReadFile
from kimi_tui.tools.read_media import ReadMediaFile
from tests.tools.tool_desk import Desk

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
GIF = (
    b"GIF89a\x03\x00\x02\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x03\x00\x02\x00\x00\x02\x02\x84Q\x00;"
)


@pytest.fixture
def hundred(desk: Desk) -> Desk:
    (desk.work_dir / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 101)))
    return desk


async def test_lines_come_numbered_with_their_range(hundred: Desk) -> None:
    result = await hundred.run(ReadFile(), path="a.txt", line_offset=99)
    assert result.output == "    99\tline 99\n   100\tline 100\n"
    assert (result.message, result.brief) == ("Lines 99–100 of 100.", "2 lines")


async def test_a_part_says_where_to_go_on(hundred: Desk) -> None:
    result = await hundred.run(ReadFile(), path="a.txt", line_offset=11, n_lines=5)
    assert result.output.startswith("    11\tline 11\n")
    assert result.message == "Lines 11–15 of 100. Go on with line_offset=16."


async def test_a_negative_offset_counts_from_the_end(hundred: Desk) -> None:
    result = await hundred.run(ReadFile(), path="a.txt", line_offset=-3, n_lines=2)
    assert result.output == "    98\tline 98\n    99\tline 99\n"
    far = await hundred.run(ReadFile(), path="a.txt", line_offset=-500)
    assert far.message == "Lines 1–100 of 100."


async def test_an_offset_past_the_end_is_said(hundred: Desk) -> None:
    result = await hundred.run(ReadFile(), path="a.txt", line_offset=101)
    assert (result.outcome, result.message) == ("error", "a.txt has only 100 lines.")


async def test_an_empty_file_is_empty_and_no_error(desk: Desk) -> None:
    (desk.work_dir / "a.txt").write_text("")
    result = await desk.run(ReadFile(), path="a.txt")
    assert (result.outcome, result.output, result.message) == ("ok", "", "a.txt is empty.")


async def test_long_lines_and_many_characters_are_cut(desk: Desk) -> None:
    (desk.work_dir / "a.txt").write_text("x" * 5_000_000 + "\n" + ("y" * 1500 + "\n") * 200)
    result = await desk.run(ReadFile(), path="a.txt")
    assert len(result.output) <= 82_000
    assert "5,000,000 bytes in this line" in result.output
    assert "of 201. Go on with line_offset=" in result.message


async def test_crlf_bom_and_an_open_end_are_noted(desk: Desk) -> None:
    (desk.work_dir / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo")
    result = await desk.run(ReadFile(), path="a.txt")
    assert result.output == "     1\tone\n     2\ttwo\n"
    assert result.message == "Lines 1–2 of 2. Encoding: UTF-8 with BOM. Line endings: CRLF. No line break at the end."


async def test_utf16_is_told_and_read_as_text(desk: Desk) -> None:
    (desk.work_dir / "a.txt").write_bytes("héllo\r\n世界\r\n".encode("utf-16"))
    result = await desk.run(ReadFile(), path="a.txt")
    assert result.output == "     1\théllo\n     2\t世界\n"
    assert "UTF-16-LE with BOM" in result.message


async def test_broken_utf16_is_told(desk: Desk) -> None:
    (desk.work_dir / "a.txt").write_bytes(b"\xff\xfeh\0i")
    assert "not valid" in (await desk.run(ReadFile(), path="a.txt")).message


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
async def test_utf16_without_a_mark_is_read_too(desk: Desk, codec: str) -> None:
    (desk.work_dir / "a.reg").write_bytes("Windows Registry Editor\r\n一 世界\r\n".encode(codec))
    result = await desk.run(ReadFile(), path="a.reg")
    assert result.output == "     1\tWindows Registry Editor\n     2\t一 世界\n"
    assert f"Encoding: {codec.upper()} without BOM." in result.message


@pytest.mark.parametrize(
    "data",
    [
        b"a\0b\0c\0d",
        b"\x01\0\x02\0" * 40,
        bytes(64),
        b"text line\n\0" * 40,
        b"a\0" * 10 + b"\0\xd8" * 10,
        "".join(map(chr, range(0xE000, 0xE020))).encode("utf-16-le") + b"a\0" * 40,
    ],
    ids=["odd length", "control codes", "zeros", "a NUL now and then", "lone halves", "private characters"],
)
async def test_other_data_with_nul_bytes_is_not_taken_for_utf16(desk: Desk, data: bytes) -> None:
    (desk.work_dir / "a.dat").write_bytes(data)
    assert "binary data" in (await desk.run(ReadFile(), path="a.dat")).message


async def test_bytes_that_are_not_utf8_become_marks_and_that_is_said(desk: Desk) -> None:
    (desk.work_dir / "a.txt").write_bytes(b"caf\xe9\n")
    result = await desk.run(ReadFile(), path="a.txt")
    assert result.output == "     1\tcaf\\xe9\n"
    assert result.message == r"Lines 1–1 of 1. Not all of it is UTF-8: other bytes are shown as `\xe9`."


async def test_line_endings_of_both_kinds_are_told_apart(desk: Desk) -> None:
    (desk.work_dir / "a.txt").write_bytes(b"one\r\ntwo\n")
    assert "Line endings: some CRLF, some LF." in (await desk.run(ReadFile(), path="a.txt")).message


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (PNG, "PNG image"),
        (b"text line\n" * 20 + b"\0" * 64 + b"more\n", "binary data"),
        (b"%PDF-1.7 x", "PDF document"),
        (b"\x7fELF\x02", "ELF"),
    ],
)
async def test_binary_files_are_named_whatever_they_are_called(desk: Desk, data: bytes, what: str) -> None:
    (desk.work_dir / "notes.txt").write_bytes(data)
    result = await desk.run(ReadFile(), path="notes.txt")
    assert result.outcome == "error"
    assert what in result.message
    assert result.output == ""


async def test_terminal_codes_in_a_file_come_as_marks(desk: Desk) -> None:
    (desk.work_dir / "a.txt").write_bytes(b"\x1b[?1049h\x1b[2Jfull\x07\n\x9b31m\n")
    result = await desk.run(ReadFile(), path="a.txt")
    assert result.output == "     1\t␛[?1049h␛[2Jfull␇\n     2\t\\x9b31m\n"


async def test_a_huge_file_is_named_and_not_read(desk: Desk) -> None:
    with open(desk.work_dir / "huge.log", "wb") as file:
        file.write(b"a\n")
        file.truncate(300 << 20)
        file.seek(0)
        file.write(b"b" * 70_000)
    result = await desk.run(ReadFile(), path="huge.log")
    assert "314,572,800 bytes" in result.message


@pytest.mark.parametrize(("data", "kind", "extent"), [(PNG, "image/png", "1×1"), (GIF, "image/gif", "3×2")])
async def test_an_image_comes_as_a_part_of_its_own(desk: Desk, data: bytes, kind: str, extent: str) -> None:
    (desk.work_dir / "shot.txt").write_bytes(data)
    result = await desk.run(ReadMediaFile(), path="shot.txt")
    (part,) = result.parts
    assert isinstance(part, ImageURLPart)
    assert part.image_url.url == f"data:{kind};base64,{base64.b64encode(data).decode()}"
    assert result.brief == extent


async def test_what_is_no_image_or_too_big_is_refused(desk: Desk) -> None:
    (desk.work_dir / "a.png").write_text("not really")
    (desk.work_dir / "b.png").write_bytes(PNG + b"\0" * (6 << 20))
    assert "is text, not a PNG" in (await desk.run(ReadMediaFile(), path="a.png")).message
    assert "bytes; at most" in (await desk.run(ReadMediaFile(), path="b.png")).message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_source_that_has_nothing_to_give_keeps_no_reader_waiting(desk: Desk) -> None:
    silent = desk.work_dir / "silent"
    os.mkfifo(silent)
    assert contents(silent) == b"", "nobody writes to it"
    held = os.open(silent, os.O_RDWR)
    try:
        assert contents(silent) == b"", "somebody may, but does not"
    finally:
        os.close(held)

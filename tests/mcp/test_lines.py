"""Whole lines out of pieces, whatever a program says."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence

import pytest

from kimi_tui.mcp import lines
from kimi_tui.mcp.lines import WholeLines, mended


async def read(pieces: Sequence[bytes]) -> str:
    async def inner() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    return "".join([text async for text in WholeLines(inner(), encoding="utf-8", errors="replace")])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
async def test_lines_are_whole_wherever_they_are_cut(size: int) -> None:
    said = "first 漢字\n\nsecond\n{}\nwithout an end".encode()
    pieces = [said[at : at + size] for at in range(0, len(said), size)]
    assert await read(pieces) == "first 漢字\n\nsecond\n{}\n"


async def test_a_long_line_is_put_together_once() -> None:
    """A reading that copies what it has with every piece would take minutes for this."""
    pieces = [b"x" * 65536] * 900
    assert len(await read([*pieces, b"\n"])) == 65536 * 900 + 1


@pytest.mark.parametrize("said", [b'{"jsonrpc":"2.0","id":7,"result":"%b"}', b'{"result":"%b","id":7}'])
async def test_a_message_that_is_too_long_becomes_a_refusal(monkeypatch: pytest.MonkeyPatch, said: bytes) -> None:
    monkeypatch.setattr(lines, "LONGEST", 2000)
    line = said % (b"x" * 9000)
    told = await read([b'{"id":6}\n', *(line[at : at + 500] for at in range(0, len(line), 500)), b"\n{}\n"])
    first, refused, last, _ = told.split("\n")
    assert (first, last) == ('{"id":6}', "{}")
    if refused:  # the number stood at the beginning
        answer = json.loads(refused)
        assert answer["id"] == 7 and "longer than" in answer["error"]["message"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (r'"\ud83d\ude00"', r'"\ud83d\ude00"'),
        (r'"\ud800 x"', r'"\ufffd x"'),
        (r'"\\ud800"', r'"\\ud800"'),
        (r'"\\\uDC00"', r'"\\\ufffd"'),
        ('"red \x1b[31m\tand\x00"', r'"red \u001b[31m and\u0000"'),
        (r'"\ud800\ud83d\ude00\n"', r'"\ufffd\ud83d\ude00\n"'),
    ],
)
def test_what_is_no_json_is_made_such(said: str, told: str) -> None:
    assert mended(said) == told
    json.loads(mended(said)).encode()

"""Plain mode, while a line is typed: what the agent says comes at once; nothing typed before a question answers it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import Terminal, in_terminal

GATE = "until [ -e go ]; do sleep 0.05; done; echo opened"
FIRST = f"    {GATE}\r\n".encode()
SECOND = b"    touch made\r\n"
ASKED = b"instead: "


def calls(name: str, **arguments: Any) -> list[dict[str, Any]]:
    return [{"name": name, "args": arguments}]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def terminal(work: Path, tmp_path: Path) -> Iterator[Terminal]:
    """A subagent works beside the prompt. It asks at once, and again when the file `go` is there."""
    sent_off = calls("Agent", description="look around", prompt="wait for the gate", run_in_background=True)
    replies = [
        {"when": "begin", "tools": sent_off},
        {"when": "wait for the gate", "tools": calls("Shell", command=GATE)},
        {"when": "opened", "tools": calls("Shell", command="touch made")},
    ]
    file = tmp_path / "script.json"
    file.write_text(json.dumps({"replies": replies, "default": {"text": "All is well."}}))
    with in_terminal("-m", "kimi_tui", "--plain", "-m", f"replay:{file}", cwd=work) as terminal:
        terminal.wait_for(b"\n> ")
        terminal.type("begin\n")
        yield terminal


def after(terminal: Terminal, text: bytes, *more: bytes) -> None:
    """Wait for these, one behind the other, and forget all before the last."""
    for each in (text, *more):
        terminal.wait_for(each)
        terminal.seen = terminal.seen.partition(each)[2]


def test_a_question_comes_at_once_to_an_empty_line_and_the_next_line_answers_it(terminal: Terminal, work: Path) -> None:
    after(terminal, FIRST, ASKED)
    terminal.type("1\n")
    after(terminal, b"\n> ")
    (work / "go").touch()
    after(terminal, SECOND, ASKED)
    assert not (work / "made").exists()
    terminal.type("1\n")
    after(terminal, b"is done")
    assert (work / "made").exists()


def test_a_line_begun_before_a_question_is_no_answer_to_it(terminal: Terminal, work: Path) -> None:
    after(terminal, FIRST, ASKED)
    terminal.type("1\n")
    after(terminal, b"\n> ")
    terminal.type("half a li")
    after(terminal, b"half a li")
    (work / "go").touch()
    after(terminal, SECOND, b"is no answer to this", b"\n> half a li")
    terminal.type("ne\n")
    after(terminal, SECOND, ASKED)
    assert not (work / "made").exists()
    terminal.type("1\n")
    after(terminal, b"is done")
    assert (work / "made").exists()

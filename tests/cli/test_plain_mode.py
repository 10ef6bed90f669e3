"""Plain mode: real conversations with the real agent and a recorded model."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.bootstrap import connect
from kimi_tui.cli.main import run
from kimi_tui.cli.plain.agent_thread import AgentThread
from kimi_tui.cli.plain.console import Console
from kimi_tui.cli.plain_mode import Conversation
from kimi_tui.options import LaunchOptions
from tests.cli.terminal import in_terminal

Typed = str | type[BaseException]


class Keyboard(Console):
    """Types these lines; after the last one comes the end of the input."""

    def __init__(self, *typed: Typed) -> None:
        super().__init__()
        self.typed, self.drafts, self.said = list(typed), list[str](), list[str]()

    def say(self, lines: Iterable[str]) -> None:
        self.said += [part for line in lines for part in line.split("\n")]

    def ask(self, prompt: str, draft: str = "") -> str:
        self.drafts.append(draft)
        if not self.typed:
            raise EOFError
        typed = self.typed.pop(0)
        if not isinstance(typed, str):
            raise typed
        self.said.append(f"{prompt}{typed}")
        return typed


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tools": [{"name": name, "args": arguments}]}


def script(folder: Path, *replies: dict[str, Any]) -> str:
    file = folder / "script.json"
    file.write_text(json.dumps({"replies": list(replies)}))
    return f"replay:{file}"


def talk(options: LaunchOptions, *typed: Typed, first: str = "") -> Keyboard:
    keyboard = Keyboard(*typed)
    assert Conversation(AgentThread(partial(connect, options)), keyboard).run(first) == 0
    return keyboard


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def test_a_turn_is_told_in_lines_and_asks_in_lines(work: Path, tmp_path: Path) -> None:
    model = script(
        tmp_path, {"text": "I look.", **call("Shell", command="touch made")}, {"text": "Done \x1b[31m[b]it[/b]\nfine"}
    )
    keyboard = talk(LaunchOptions(work_dir=work, model=model), "make it \\", "please", "1")
    assert (work / "made").exists()
    told = keyboard.said[keyboard.said.index(". please") :]
    at = told.index("1. yes, this once")
    assert told[1:at] == ["I look.", "May I run a command? (asked by Shell)", "    touch made"]
    assert told[at + 3].endswith("instead: 1")
    assert told[at + 4].startswith("[ok] Shell touch made: exit 0")
    assert "fine" in told
    assert keyboard.said[-1].startswith("To come back: kimi-tui -r ")


def test_time_is_moved_and_moved_back_by_commands(work: Path, tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "one"}, {"text": "two"}, {"when": "compaction", "text": "a summary"})
    keyboard = talk(
        LaunchOptions(work_dir=work, model=model),
        *("first", "second", "/timeline", "/rewind 2", "stay", "/rewind 2", "1", "/undo", "/redo", "/redo", "/undo"),
        *("/compact", "/rotations", "/diff now context_5.jsonl", "/name 0 start", "/timeline", "/context", "/doctor"),
    )
    said = "\n".join(keyboard.said)
    assert "0: first" in said and "2: second" in said
    assert said.index("Nothing has changed.") < said.index("Time moved: went back to checkpoint 2")
    assert "there is nothing to redo" in said
    assert "Compacted " in said
    assert "context_5.jsonl, left by compact" in said and "context_4.jsonl, left by undo" in said
    assert "rotation context_4.jsonl" in said and "rotation context_1.jsonl" not in said, "undo took it back"
    assert "only in context_5.jsonl: user: first" in said
    assert "0 «start»" in said
    assert "Context: " in said
    assert "✓ healthy" in said
    assert "second" in keyboard.drafts, "the prompt that was taken back is there to be edited"


def test_ctrl_c_at_the_prompt_leaves_when_it_comes_twice(work: Path, tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "hi"})
    typed = (KeyboardInterrupt, "hello", KeyboardInterrupt, KeyboardInterrupt, "never")
    keyboard = talk(LaunchOptions(work_dir=work, model=model), *typed)
    assert keyboard.typed == ["never"]
    assert "hi" in keyboard.said


def test_the_end_of_the_input_in_a_question_stops_the_turn_and_leaves(work: Path, tmp_path: Path) -> None:
    model = script(tmp_path, call("Shell", command="touch made"))
    talk(LaunchOptions(work_dir=work, model=model), first="go")
    assert not (work / "made").exists()
    again = talk(LaunchOptions(work_dir=work, continue_last=True))
    assert "You: go" in again.said
    assert any(line.startswith("[interrupted] Shell touch made") for line in again.said)


def test_a_model_that_cannot_answer_gives_the_prompt_back(work: Path) -> None:
    keyboard = talk(LaunchOptions(work_dir=work, model="replay:/no/such/file"), "hello", "/cost", "/todo")
    assert sum("cannot answer" in line for line in keyboard.said) == 2
    assert keyboard.drafts == ["", "hello", "", ""]
    assert "There is no to-do list." in keyboard.said


def test_a_dumb_terminal_gets_plain_mode_with_a_word_about_it(work: Path, tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "one\ntwo" * 40_000, "delay_ms": 20}, {"text": "fine"})
    with in_terminal("-m", "kimi_tui", "-m", model, cwd=work, TERM="dumb") as terminal:
        terminal.wait_for(b"\n> ")
        assert "TERM=dumb" in terminal.lines()[0]
        terminal.type("hello\n")
        terminal.wait_for(b"one\r\n")
        os.kill(terminal.child.pid, signal.SIGINT)
        terminal.wait_for(b"(the turn was interrupted)\r\n> ")
        terminal.type("again\n")
        terminal.wait_for(b"fine\r\nTitle: again\r\n> ")
        terminal.type("\x04")
        assert terminal.finish() == 0
        assert b"\x1b" not in terminal.seen
        assert "To come back: kimi-tui -r " in terminal.lines()[-2]


def test_what_is_typed_while_a_turn_runs_joins_it(work: Path, tmp_path: Path) -> None:
    wait = {"text": "I wait.", **call("Shell", command="until [ -e go ]; do sleep 0.05; done")}
    model = script(tmp_path, wait, {"text": "with B, too", "when": "also B"})
    with in_terminal("-m", "kimi_tui", "--plain", "--yolo", "-m", model, cwd=work) as terminal:
        terminal.wait_for(b"\n> ")
        terminal.type("do A\n")
        terminal.wait_for(b"I wait.\r\n")
        terminal.type("/undo\n")
        terminal.wait_for(b"Not while something runs")
        terminal.type("also B\n")
        terminal.wait_for(b"(heard")
        (work / "go").touch()
        terminal.wait_for(b"with B, too\r\n")
        terminal.wait_for(b"> /undo")
        assert "(joins the turn: also B)" in terminal.lines()
        terminal.child.kill()


def test_what_waits_is_listed_edited_and_taken_out_one_by_one(work: Path, tmp_path: Path) -> None:
    wait = {"text": "I wait.", **call("Shell", command="until [ -e go ]; do sleep 0.05; done", timeout=290)}
    model = script(tmp_path, wait, {"text": "all told", "when": "the best of B"})
    with in_terminal("-m", "kimi_tui", "--plain", "--yolo", "-m", model, cwd=work) as terminal:

        def tell(line: str, answer: str) -> None:
            """Type a line and wait for what is said to it from now on."""
            terminal.seen = b""
            terminal.type(f"{line}\n")
            terminal.wait_for(answer.encode())

        terminal.wait_for(b"\n> ")
        tell("do A", "I wait.\r\n")
        for text in ("not this", "also B", "come back"):
            tell(text, "(heard: it is told after this step)")
        terminal.seen = b""
        while b"3. joins this turn: come back" not in terminal.seen and terminal.child.poll() is None:
            terminal.type("/queue\n")
            terminal._read(0.5)
        tell("/queue drop 9", "It is /queue")
        tell("/queue drop 1", "2. joins this turn: come back\r\n")
        tell("/queue take 2", "1. joins this turn: also B\r\n")
        tell("/queue edit 1 the best of B", "1. joins this turn: the best of B\r\n")
        terminal.seen = b""
        (work / "go").touch()
        terminal.wait_for(b"all told\r\n")
        terminal.wait_for(b"> come back")
        assert terminal.seen.count(b"(joins the turn: ") == terminal.seen.count(b"(joins the turn: the best of B)") == 1
        terminal.child.kill()


def test_a_summary_is_read_and_sent_back_before_it_replaces_anything(work: Path, tmp_path: Path, home: Path) -> None:
    (home / "config.toml").write_text("[compaction]\npreview = true\n")
    summaries = [{"when": "compaction", "text": f"summary {number}"} for number in (1, 2, 3)]
    model = script(tmp_path, {"text": "one"}, {"text": "two"}, *summaries)
    typed = ("first", "second", "/compact", "keep the names", "3", "/compact", "", "1", "/entries 1")
    keyboard = talk(LaunchOptions(work_dir=work, model=model), *typed)
    said = "\n".join(keyboard.said)
    assert said.index("    summary 1") < said.index("    summary 2") < said.index("Not compacted: ")
    assert said.index("    summary 3") < said.index("Please answer with a number.") < said.index("Compacted ")


def test_entries_are_pinned_and_results_dropped_by_their_numbers(work: Path, tmp_path: Path) -> None:
    model = script(tmp_path, call("Shell", command="echo much"), {"text": "done"})
    typed = ("run it", "/entries", "/pin 0", "/entries 3", "/drop 1", "/unpin 0", "/pin x", "/snooze")
    keyboard = talk(LaunchOptions(work_dir=work, model=model, yolo=True), *typed)
    said = "\n".join(keyboard.said)
    assert "0: user: run it" in said and "1: [ok] Shell echo much" in said
    assert "Pinned: user: run it" in said and "0, pinned: user: run it" in said
    assert "Time moved" in said and "No longer pinned: user: run it" in said
    assert "It is /pin N." in said


def test_a_signal_ends_plain_mode_in_good_order(work: Path, tmp_path: Path, home: Path) -> None:
    (home / "config.toml").write_text("[ui]\nplain = true\n")
    with in_terminal("-m", "kimi_tui", "-m", script(tmp_path), cwd=work) as terminal:
        terminal.wait_for(b"\n> ")
        os.kill(terminal.child.pid, signal.SIGTERM)
        assert terminal.finish() == 143
        assert b"\x1b" not in terminal.seen


def test_without_a_keyboard_plain_mode_names_print_mode(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--plain"]) == 1
    assert capsys.readouterr().err == "kimi-tui: standard input is not a terminal. Without one: kimi-tui -p PROMPT.\n"

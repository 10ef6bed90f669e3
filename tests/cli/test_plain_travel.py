"""Time travel in plain mode: the same choices as on the screen, in lines, with a real agent and real files."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_tui.cli.plain.going_back import Point
from kimi_tui.options import LaunchOptions
from tests.cli.test_plain_mode import Keyboard, Typed, call, script, talk
from tests.session.trees import plant


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    plant(folder, **{"a.txt": "one\n", "mine.txt": "mine\n"})
    return folder


def written(path: str, content: str) -> dict[str, object]:
    return call("WriteFile", path=path, content=content)


@pytest.fixture
def model(tmp_path: Path) -> str:
    return script(
        tmp_path,
        written("a.txt", "two\n"),
        {"text": "first done"},
        written("mine.txt", "the agent's\n"),
        {"text": "second done"},
    )


def told(work: Path, model: str, *typed: Typed) -> Keyboard:
    return talk(LaunchOptions(work_dir=work, model=model, yolo=True), "first", "second", *typed)


def numbered(keyboard: Keyboard, text: str) -> str:
    """The number in front of a choice."""
    return next(line.split(".")[0] for line in keyboard.said if line[:1].isdecimal() and text in line)


def test_every_way_back_is_offered_the_safe_one_first(work: Path, model: str) -> None:
    keyboard = told(work, model, "/rewind 0", "")
    at = keyboard.said.index("1. go back, files on disk stay as they are")
    assert keyboard.said[at : at + 8] == [
        "1. go back, files on disk stay as they are",
        "2. go back, and put the files back too",
        "3. put the files back, the conversation stays",
        "4. go on in a copy from there",
        "5. show what would change in the files",
        "6. add a note for there",
        "7. have the model write that note",
        "8. stay",
    ]
    assert "Nothing has changed." in keyboard.said
    assert "    written meanwhile: a.txt, would be rewritten" in keyboard.said


def test_files_are_shown_then_go_back_and_come_again_with_undo(work: Path, model: str) -> None:
    keyboard = told(work, model, "/rewind 0", "5", "2")
    assert "    - two" in keyboard.said and "    + one" in keyboard.said
    assert (work / "a.txt").read_text() == "one\n" and (work / "mine.txt").read_text() == "mine\n"
    talk(LaunchOptions(work_dir=work, continue_last=True), "/undo")
    assert (work / "a.txt").read_text() == "two\n" and (work / "mine.txt").read_text() == "the agent's\n"


def test_a_rotation_takes_its_files_along_when_it_is_restored(work: Path, model: str) -> None:
    told(work, model, "/rewind 0", "2", "/restore context_1", "5", "2")
    assert (work / "a.txt").read_text() == "two\n" and (work / "mine.txt").read_text() == "the agent's\n"


def test_the_files_alone_go_back(work: Path, model: str) -> None:
    keyboard = told(work, model, "/rewind 0", "3", "/entries")
    assert (work / "a.txt").read_text() == "one\n"
    assert any(line.endswith("assistant: second done") for line in keyboard.said)


def test_what_the_user_edited_stays_unless_it_is_named(work: Path, model: str) -> None:
    told(work, model)
    (work / "mine.txt").write_text("my own\n")
    options = LaunchOptions(work_dir=work, continue_last=True)
    keyboard = talk(options, "/rewind 0", "2")
    assert "    written meanwhile: mine.txt, edited since by somebody else: stays as it is" in keyboard.said
    assert (work / "a.txt").read_text() == "one\n" and (work / "mine.txt").read_text() == "my own\n"
    talk(options, "/undo", "/rewind 0", numbered(keyboard, "edited since, too"), "1", "2")
    assert (work / "mine.txt").read_text() == "mine\n"


def test_a_note_goes_along_written_or_drafted(work: Path, model: str, tmp_path: Path) -> None:
    keyboard = told(work, model, "/rewind 2", "6", "mind the tests", "1", "/entries")
    assert any("mind the tests" in line and "user:" in line for line in keyboard.said)
    typed = ("/undo", "/rewind 2", numbered(keyboard, "have the model write"), "1", "/entries")
    drafting = script(tmp_path, {"text": "We wrote both files, and mine.txt was wrong."})
    keyboard = talk(LaunchOptions(work_dir=work, model=drafting, continue_last=True), *typed)
    assert "    We wrote both files, and mine.txt was wrong." in keyboard.said
    assert any("mine.txt was wrong" in line and "user:" in line for line in keyboard.said)


def test_rotations_are_looked_after(work: Path, model: str) -> None:
    keyboard = told(
        work,
        model,
        *("/rewind 2", "1", "/rewind 0", "1", "/rotations pin context_1", "/rotations compress context_2"),
        *("/rotations delete context_1", "no", "/rotations prune", "/read context_2.jsonl", "/rotations"),
    )
    listed = [line for line in keyboard.said if line.startswith("context_1.jsonl, left by revert")]
    assert listed[-1].endswith(", pinned")
    assert any(line.startswith("context_2.jsonl is compressed") for line in keyboard.said)
    assert "There is nothing to prune." in keyboard.said
    assert "context_2.jsonl:" in keyboard.said


def test_a_rotation_is_removed_only_after_a_yes(work: Path, model: str) -> None:
    typed = ("/rewind 2", "1", "/rewind 0", "1", "/rotations delete context_1.jsonl")
    kept = told(work, model, *typed, KeyboardInterrupt, "/rotations")
    assert any(line.startswith("context_1.jsonl, left") for line in kept.said)
    gone = told(work, model, *typed, "yes", "/rotations")
    assert any(line.startswith("context_1.jsonl is gone") for line in gone.said)


def test_a_point_that_is_not_there_is_said_and_nothing_is_asked(work: Path, model: str) -> None:
    keyboard = told(work, model, "/rewind 99", "/restore context_7.jsonl", "/restore @3")
    assert not any("stay as they are" in line for line in keyboard.said)
    assert "A point is N, FILE or FILE@N: /timeline and /rotations list them." in keyboard.said


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("3", Point(3)),
        ("context_2", Point(None, "context_2.jsonl")),
        ("context_2.jsonl@4", Point(4, "context_2.jsonl")),
        ("context_2.jsonl@x", None),
        ("@4", None),
        ("", None),
    ],
)
def test_points_are_named_as_on_the_command_line(text: str, point: Point | None) -> None:
    assert Point.named(text) == point

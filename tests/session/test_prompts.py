"""What was typed in a folder before."""

from __future__ import annotations

from pathlib import Path

from kimi_tui.session import prompts_of


def test_prompts_come_back_oldest_first_with_their_line_breaks(tmp_path: Path) -> None:
    history = prompts_of(tmp_path)
    for prompt in ("first", "two\nlines\u2028here", "  ", "第三"):
        history.add(prompt)
    assert prompts_of(tmp_path).load() == ("first", "two\nlines\u2028here", "第三")
    assert history.file.stat().st_mode & 0o777 == 0o600


def test_each_folder_has_a_history_of_its_own(tmp_path: Path) -> None:
    prompts_of(tmp_path).add("here")
    (tmp_path / "other").mkdir()
    assert prompts_of(tmp_path / "other").load() == ()


def test_a_damaged_line_is_passed_over(tmp_path: Path) -> None:
    history = prompts_of(tmp_path)
    history.add("kept")
    with history.file.open("ab") as file:
        file.write(b'"torn\n\xff\n{"a": 1}\n')
    history.add("after")
    assert history.load() == ("kept", "after")


def test_the_file_stays_bounded(tmp_path: Path) -> None:
    history = prompts_of(tmp_path)
    history.add("x")
    history.file.write_text("".join(f'"{number}"\n' for number in range(2000)))
    assert len(history.load()) == 1000
    assert history.load()[-1] == "1999"
    assert len(history.file.read_text().splitlines()) == 1000

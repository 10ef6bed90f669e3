"""`kimi-tui model`: what is on the disk, and the bar while it comes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_tui.cli.main import run
from kimi_tui.cli.progress import Progress
from kimi_tui.llm.weights import MODELS, PARTIAL, path_of


def put(home: Path, name: str, size: int, *, partial: bool = False) -> Path:
    """A file of that size that takes no room."""
    path = path_of(home, name)
    path = path.with_name(path.name + PARTIAL) if partial else path
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:
        file.truncate(size)
    return path


def test_the_list_tells_what_is_here_and_how_much_of_it(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(home, "local-tiny", MODELS["local-tiny"].size)
    put(home, "local", 1_500_000, partial=True)
    assert run(["model", "list"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "local          491 MB  1.5 MB of it here",
        "local-large    1.1 GB  not here",
        f"local-tiny    98.4 MB  here: {path}",
    ]


def test_weights_that_are_here_are_not_fetched_again(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(home, "local", MODELS["local"].size)
    assert run(["model", "pull"]) == 0
    assert capsys.readouterr() == (f"local is here: {path}\n", "")


def test_removing_frees_the_disk(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(home, "local-tiny", MODELS["local-tiny"].size)
    assert run(["model", "remove", "local-tiny"]) == 0
    assert not path.exists()
    assert run(["model", "remove", "local-tiny"]) == 0
    assert capsys.readouterr().out == "local-tiny: 98.4 MB freed\nlocal-tiny was not on the disk\n"


@pytest.mark.parametrize("word", ["pull", "remove"])
def test_an_unknown_name_is_one_clear_line(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["model", word, "gpt"]) == 1
    err = capsys.readouterr().err
    assert "no embedded model gpt" in err
    assert "local-large" in err
    assert err.count("\n") == 1


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_fetched(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "models").write_text("a file in the folder's place")
    assert run(["model", "pull", "local"]) == 1
    assert str(home / "models") in capsys.readouterr().err


def test_without_a_terminal_each_phase_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress()
    for done in range(0, 1000, 10):
        progress.show("local", "fetching", done, 1000)
    progress.show("local", "checking", 1000, 1000)
    progress.end()
    assert capsys.readouterr().err == "fetching local …\nchecking local …\n"


def test_the_bar_tells_how_much_and_how_long() -> None:
    progress = Progress()
    progress.show("local", "fetching", 100_000_000, 400_000_000)
    assert progress.line("local", "fetching", 200_000_000, 400_000_000, 10.0) == (
        "fetching local  ━━━━━━━━━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌  200 MB of 400 MB · 50% · 20 s left"
    )

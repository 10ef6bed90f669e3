"""Reading TOML: every fault names file, line and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_tui.config_file import ConfigFault, line_of, parse, read_text, read_ui_options
from kimi_tui.options import UiOptions

FILE = Path("config.toml")


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ('[models.a]\nmodel = "x"\n\n[models.a]\nmodel = "y"\n', 4, "[models.a] is given twice"),
        ("[loop]\nmax_steps_per_turn = 1\nmax_steps_per_turn = 2\n", 3, "max_steps_per_turn is given twice"),
        ("default_model =\n", 1, "default_model"),
        ('[ui]\ntheme = "dark\nplain = true\n', 2, "theme"),
        ("[ui\n", 1, "expected ']'"),
    ],
)
def test_a_fault_names_file_line_and_key(text: str, line: int, key: str) -> None:
    with pytest.raises(ConfigFault) as caught:
        parse(text, FILE)
    assert str(caught.value).startswith(f"config.toml, line {line}: ")
    assert key in str(caught.value)
    assert "\n" not in caught.value.line()


def test_bytes_that_are_not_utf8_are_told_with_their_line(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(b'[ui]\ntheme = "\xff"\n')
    with pytest.raises(ConfigFault, match=r"line 2: not UTF-8"):
        read_text(file)


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(b'\xef\xbb\xbf[ui]\ntheme = "paper"\n')
    assert read_ui_options(file) == UiOptions(theme="paper")


def test_a_folder_in_the_files_place_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigFault, match="cannot read"):
        read_text(tmp_path)


def test_lines_are_found_in_tables_arrays_and_quoted_keys() -> None:
    text = '[models."k.2"]\nmodel = "x"\n\n[[hooks]]\nevent = "Stop"\n[[hooks]]\ncommand = "y"\nextra.deep = 3\n'
    assert line_of(text, ("models", "k.2", "model")) == 2
    assert line_of(text, ("hooks", 0, "event")) == 5
    assert line_of(text, ("hooks", 1, "extra", "deep")) == 8
    assert line_of(text, ("hooks", 1, "event")) == 6, "a missing key is told at its table"
    assert line_of(text, ("loop",)) is None


def test_an_absent_file_says_nothing(tmp_path: Path) -> None:
    assert read_ui_options(tmp_path / "none.toml") == UiOptions()


def test_ui_values_of_the_wrong_type_wait_for_the_full_check(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[ui]\ntheme = 3\nplain = true\n[ui.keys]\nsend = "f2"\nstop = 4\n')
    assert read_ui_options(file) == UiOptions(plain=True, keys={"send": "f2"})


def test_the_environment_has_a_say_in_the_first_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[ui]\ntheme = "paper"\nplain = true\nnotifications = true\n')
    monkeypatch.setenv("KIMI_TUI_UI__THEME", "light")
    monkeypatch.setenv("KIMI_TUI_UI__PLAIN", "off")
    monkeypatch.setenv("kimi_tui_ui__ascii", "1")
    monkeypatch.setenv("KIMI_TUI_UI__NOTIFICATIONS", "perhaps")
    assert read_ui_options(file) == UiOptions(theme="light", plain=False, ascii=True)

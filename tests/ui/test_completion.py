from __future__ import annotations

from pathlib import Path

import pytest

from kimi_tui.protocol.views import ResourceView
from kimi_tui.ui.completion import command_word, commands, files, mentioned, resources, together
from kimi_tui.ui.files import Files, _walk, _with_folders
from kimi_tui.ui.fuzzy import best, matching
from kimi_tui.ui.slash import TABLE


@pytest.mark.parametrize(
    ("before", "found"),
    [
        ("@", (0, "")),
        ("look at @src/pa", (8, "src/pa")),
        ('look at @"my fi', (8, "my fi")),
        ("mail me@home", None),
        ("@done and more", None),
        ("line\n@x", (5, "x")),
    ],
)
def test_a_file_is_meant_after_an_at_sign_that_starts_a_word(before: str, found: tuple[int, str] | None) -> None:
    assert mentioned(before) == found


def test_a_command_is_meant_only_at_the_start() -> None:
    assert [command_word(text) for text in ("/", "/com", "/flow:sh", "a /com", "/com x")] == [
        "",
        "com",
        "flow:sh",
        None,
        None,
    ]


def test_commands_keep_the_order_of_the_table_within_a_rank() -> None:
    labels = [suggestion.label for suggestion in commands("c", TABLE)]
    assert labels[:5] == ["/clear", "/compact [focus]", "/context", "/cost", "/copy"]


def test_an_alias_finds_its_command_once() -> None:
    assert [suggestion.insert for suggestion in commands("quit", TABLE)] == ["/exit"]


def test_a_folder_stays_open_and_blanks_are_quoted() -> None:
    assert [suggestion.insert for suggestion in files(3, ["src/", "a b.py", "c.py"])] == [
        "@src/",
        '@"a b.py" ',
        "@c.py ",
    ]


RESOURCES = (
    ResourceView("my", "notes://today", "What was written"),
    ResourceView("my", "notes://{day}", "a template"),
    ResourceView("the docs", "file:///guide.md", "file:///guide.md"),
)


def test_a_resource_is_found_by_its_server_its_address_or_its_name() -> None:
    assert resources(0, "", RESOURCES) == []
    assert [one.label for one in resources(0, "my:", RESOURCES)] == ["my:notes://today"]
    [written] = resources(4, "written", RESOURCES)
    assert (written.insert, written.detail, written.start) == ("@my:notes://today ", "What was written", 4)
    [guide] = resources(0, "guide", RESOURCES)
    assert (guide.insert, guide.detail) == ('@"the docs:file:///guide.md" ', "")


def test_files_stand_before_resources_until_a_colon_is_typed() -> None:
    found, lent = files(0, [f"note{number}.md" for number in range(9)]), resources(0, "note", RESOURCES)
    assert [one.label for one in together("note", found, lent)][4:7] == ["note4.md", "my:notes://today", "note5.md"]
    assert together("my:note", [], lent) == lent


def test_the_last_part_of_a_path_counts_most() -> None:
    names = ["transcript/x.py", "a/b/transcript.py", "a/my_transcript.py", "t/r/a/n/s.py"]
    assert best("trans", names) == ["a/b/transcript.py", "a/my_transcript.py", "transcript/x.py", "t/r/a/n/s.py"]


async def test_a_hundred_thousand_names_are_matched_in_slices() -> None:
    names = [f"folder{n % 100}/file{n}.py" for n in range(100_000)]
    assert best("file77777", await matching("file77777", names)) == ["folder77/file77777.py"]


async def test_ignored_files_are_left_out_and_odd_names_come_as_tools_understand_them(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.log\n")
    for name in (
        "a.py",
        "b.log",
        "line\nbreak.py",
        "ünï.py",
        "-dash",
        "[x].py",
        'a"b',
        'a "b',
        "报\u3000告",
        "a\u202eb",
    ):
        (tmp_path / name).write_text("")
    with open(bytes(tmp_path) + b"/bad\xff.py", "wb"):
        pass
    assert sorted(await Files(tmp_path).find("")) == [
        "-dash",
        ".gitignore",
        "[x].py",
        'a"b',
        "a.py",
        r"a\xe2\x80\xaeb",
        r"bad\xff.py",
        r"line\nbreak.py",
        "ünï.py",
        "报\u3000告",
    ]


def test_without_ripgrep_the_folder_is_walked(tmp_path: Path) -> None:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    for name in ("src/deep/a.py", "b.py", ".git/config"):
        (tmp_path / name).write_text("")
    assert _with_folders(list(_walk(tmp_path))) == ["b.py", "src/", "src/deep/", "src/deep/a.py"]

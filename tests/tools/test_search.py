from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from kimi_tui.tools import grep, walk
from kimi_tui.tools.base import Decision
from kimi_tui.tools.glob_files import Glob
from kimi_tui.tools.glob_pattern import expand, matcher
from kimi_tui.tools.grep import Grep
from kimi_tui.tools.read_file import ReadFile
from kimi_tui.tools.ripgrep import rg_path
from tests.tools.tool_desk import Desk


@pytest.fixture(params=["rg", "walk"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to search must give the same answers."""
    if request.param == "walk":
        monkeypatch.setattr(grep, "rg_path", lambda: None)
        monkeypatch.setattr(walk, "rg_path", lambda: None)
    return str(request.param)


@pytest.fixture
def tree(desk: Desk) -> Desk:
    for name, text in {
        "src/app.py": "import os\n\ndef main():\n    return 1\n",
        "src/deep/util.py": "def helper():\n    return main()\n",
        "src/app.ts": "function main() {}\n",
        "docs/Guide.md": "# Main guide\n",
        "build/out.py": "def main(): pass\n",
        ".hidden/x.py": "main = 1\n",
        ".git/config": "main\n",
        ".gitignore": "build/\n*.log\n!keep.log\n",
        "a.log": "main\n",
        "keep.log": "main\n",
    }.items():
        path = desk.work_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return desk


def test_ripgrep_is_there() -> None:
    assert rg_path()


async def test_matching_files_are_listed_without_what_is_ignored(tree: Desk, engine: str) -> None:
    result = await tree.run(Grep(), pattern="main")
    names = [".hidden/x.py", "keep.log", "src/app.py", "src/app.ts", "src/deep/util.py"]
    assert result.output.split("\n") == names
    assert result.brief == "5 files"


async def test_lines_come_with_path_and_number_in_a_stable_order(tree: Desk, engine: str) -> None:
    result = await tree.run(Grep(), pattern=r"def \w+", output_mode="content", glob="*.py")
    assert result.output == "src/app.py:3:def main():\nsrc/deep/util.py:1:def helper():"


async def test_context_lines_case_and_counts(tree: Desk, engine: str) -> None:
    around = await tree.run(Grep(), **{"pattern": "return", "path": "src/app.py", "output_mode": "content", "-B": 1})
    assert around.output == "src/app.py-3-def main():\nsrc/app.py:4:    return 1"
    counted = await tree.run(Grep(), **{"pattern": "MAIN", "-i": True, "output_mode": "count_matches", "path": "docs"})
    assert counted.output == "docs/Guide.md:1"
    bare = await tree.run(Grep(), **{"pattern": "Main", "-n": False, "output_mode": "content"})
    assert bare.output == "docs/Guide.md:# Main guide"


async def test_a_match_may_reach_over_lines(tree: Desk, engine: str) -> None:
    result = await tree.run(Grep(), pattern=r"main\(\):.*return", multiline=True, output_mode="content")
    assert result.output == "src/app.py:3:def main():\nsrc/app.py:4:    return 1"


async def test_head_limit_cuts_and_says_so(tree: Desk, engine: str) -> None:
    result = await tree.run(Grep(), pattern="main", head_limit=2)
    assert len(result.output.split("\n")) == 2
    assert "The first 2 of 5" in result.message


async def test_no_match_and_a_bad_expression_are_told_apart(tree: Desk, engine: str) -> None:
    assert (await tree.run(Grep(), pattern="nowhere")).outcome == "ok"
    bad = await tree.run(Grep(), pattern="(unclosed")
    assert (bad.outcome, bad.output) == ("error", "")


async def test_binary_files_do_not_come_raw(desk: Desk, engine: str) -> None:
    (desk.work_dir / "shot.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0needle\xff\xfe\0")
    (desk.work_dir / "nul.log").write_bytes(b"needle\n" * 3 + b"\0" * 50)
    (desk.work_dir / "wide.txt").write_bytes("a needle here\r\n".encode("utf-16"))
    result = await desk.run(Grep(), pattern="needle", output_mode="content")
    assert "wide.txt:1:a needle here" in result.output.split("\n")
    assert not set(result.output) & {"\0", "\ufffd", "\xff"}


async def test_a_pattern_or_a_name_with_a_leading_dash_is_no_option(desk: Desk, engine: str) -> None:
    (desk.work_dir / "-rf").write_text("--files here\n")
    result = await desk.run(Grep(), pattern="--files", path="-rf", output_mode="content")
    assert result.output == "-rf:1:--files here"
    assert (await desk.run(Glob(), pattern="-*")).output == "-rf"


async def test_searching_outside_is_asked_for_and_links_are_not_followed(tree: Desk, engine: str) -> None:
    outside = tree.work_dir.parent / "elsewhere"
    outside.mkdir()
    (outside / "secret.txt").write_text("main secret\n")
    (tree.work_dir / "door").symlink_to(outside)
    assert "secret" not in (await tree.run(Grep(), pattern="main")).output
    assert "secret" not in (await tree.run(Glob(), pattern="**/*")).output
    assert "secret" not in (await tree.run(Glob(), pattern="*/*")).output
    tree.decision = Decision(False)
    for refused in (
        await tree.run(Grep(), pattern="main", path="door"),
        await tree.run(Glob(), pattern="door/*"),
        await tree.run(Glob(), pattern="*", directory="../elsewhere"),
        await tree.run(Glob(), pattern=f"{outside}/*"),
    ):
        assert refused.outcome == "rejected"
    assert {view.detail for view in tree.approvals} == {str(outside)}


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("**/*.py", [".hidden/x.py", "src/app.py", "src/deep/util.py"]),
        ("src/**/*.py", ["src/app.py", "src/deep/util.py"]),
        ("src/*.{py,ts}", ["src/app.py", "src/app.ts"]),
        ("src/*", ["src/app.py", "src/app.ts", "src/deep/"]),
        ("src/*/", ["src/deep/"]),
        ("src/app.py", ["src/app.py"]),
        ("build/*", ["build/out.py"]),
        ("**/deep", []),
        ("*.l[a-o]g", ["a.log", "keep.log"]),
        ("nowhere/*", []),
    ],
)
async def test_patterns_find_names(tree: Desk, engine: str, pattern: str, names: list[str]) -> None:
    result = await tree.run(Glob(), pattern=pattern, include_dirs=pattern != "**/deep")
    assert result.output.split("\n") == (names or [""])


async def test_folders_are_found_by_two_stars_when_wanted(tree: Desk, engine: str) -> None:
    assert (await tree.run(Glob(), pattern="**/deep")).output == "src/deep/"


async def test_names_that_cannot_be_written_plainly_keep_the_list_whole(desk: Desk, engine: str) -> None:
    names = [b"cafe\xcc\x81.txt", b"caf\xc3\xa9.txt", b"two\nlines.txt", b"a b.txt"]
    if sys.platform != "darwin":
        names.append(b"bad\xffname.txt")
    for name in names:
        (desk.work_dir / os.fsdecode(name)).write_text("needle\n")
    for result in (
        await desk.run(Glob(), pattern="*.txt"),
        await desk.run(Glob(), pattern="**/*.txt"),
        await desk.run(Grep(), pattern="needle"),
    ):
        told = result.output.split("\n")
        assert len(told) == len(names)
        assert all(name.isprintable() for name in told)
        for name in told:
            assert "needle" in (await desk.run(ReadFile(), path=name)).output


async def test_names_below_the_root_have_one_slash(desk: Desk) -> None:
    assert (await desk.run(Glob(), pattern="/[u]sr")).output == "/usr/"


async def test_many_names_are_cut_at_a_thousand(desk: Desk, engine: str) -> None:
    for number in range(1100):
        (desk.work_dir / f"{number:04}").touch()
    result = await desk.run(Glob(), pattern="**")
    assert len(result.output.split("\n")) == 1000
    assert "1,000 of 1,100" in result.message


async def test_a_search_that_is_cancelled_ends(tree: Desk, tmp_path: Path) -> None:
    task = asyncio.create_task(tree.run(Grep(), pattern="main"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_braces_give_every_choice() -> None:
    assert expand("a/{b,c}.{x,y}") == ["a/b.x", "a/b.y", "a/c.x", "a/c.y"]


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("**/a", "a", True),
        ("**/a", "x/y/a", True),
        ("a/**", "a/x/y", True),
        ("a/**/b", "a/b", True),
        ("*", "a/b", False),
        ("a?c", "a/c", False),
        ("[!a]x", "bx", True),
        ("[!a]x", "/x", False),
        ("star*?[[]x].py", "star*?[x].py", True),
        ("[z-a]", "[z-a]", True),
        ("a.b", "axb", False),
        ("caf\u00e9", "cafe\u0301", True),
    ],
)
def test_a_pattern_fits_whole_paths(pattern: str, path: str, fits: bool) -> None:
    assert matcher(pattern)(path) is fits

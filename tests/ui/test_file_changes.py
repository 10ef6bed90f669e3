"""Files in the question how to go back: what happens to each, which are overwritten, and the page that shows why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from textual.pilot import Pilot
from textual.screen import Screen

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import DiffView, FileTouched
from kimi_tui.ui.screens.file_changes import FileChanges
from kimi_tui.ui.screens.revert_choice import RevertChoice, outcome
from kimi_tui.ui.widgets.preview import files_rows
from tests.ui.samples import PREVIEW, point
from tests.ui.stage import Stage
from tests.ui.test_timeline_pages import text_of
from tests.ui.waiting import until

FILES = (
    FileTouched("src/[b]parser.py", False, "rewritten"),
    FileTouched("notes 你好.md", False, "deleted"),
    FileTouched("src/old.py", False, "recreated"),
    FileTouched("src/mine.py", True, "rewritten"),
    FileTouched("logo.png", True, "deleted"),
    FileTouched("/etc/hosts", None, stays="outside the work folder"),
)
KNOWN = replace(PREVIEW, files=FILES, restorable=True)
ROW = point(4, "read the mail", 200)
DIFFS = {
    "src/[b]parser.py": DiffView("src/[b]parser.py", "one\ntwo\n", "one\n[red]2[/]\n"),
    "src/mine.py": DiffView("src/mine.py", "".join(f"line {n}\n" for n in range(200)), ""),
}


async def ready(pilot: Pilot[None], *keys: str) -> None:
    await pilot.pause()
    await pilot.press(*keys)
    await pilot.pause()


def choice() -> Screen:
    return RevertChoice(ROW, KNOWN)


def opened(ticked: set[str] | None = None, files: Sequence[FileTouched] = FILES) -> Callable[[], Screen]:
    return lambda: FileChanges(ROW, files, set() if ticked is None else ticked)


def test_each_file_is_named_with_what_becomes_of_it() -> None:
    told = ["".join(text for text, _ in row) for row in files_rows(KNOWN, 60, 6, {"logo.png"})]
    assert told == [
        "put back   src/[b]parser.py",
        "removed    notes 你好.md",
        "made again src/old.py",
        "kept       src/mine.py  you edited it since",
        "removed    logo.png  over your edit",
        "stays      /etc/hosts  outside the work folder",
    ]


def test_the_outcome_counts_what_changes_and_what_is_kept() -> None:
    assert outcome(KNOWN) == "changes 3 files, keeps 2 you edited"
    assert outcome(KNOWN, {"logo.png", "src/mine.py"}) == "changes 5 files; can be undone"
    assert outcome(replace(KNOWN, files=FILES[5:])) == "no file has to change"
    assert outcome(None) == "puts files back too; can be undone"


async def test_nothing_is_overwritten_unless_it_was_ticked() -> None:
    app = Stage(choice)
    async with app.run_test(size=(100, 30)) as pilot:
        await ready(pilot)
        assert "and 2 more files: f shows them" in text_of(app)
        await ready(pilot, "down", "enter")
        assert app.commands == [cmd.RevertTo(4, offset=3000, files="restore")]


async def test_a_ticked_file_is_overwritten_and_only_with_the_files() -> None:
    for steps, files, overwrite in ((1, "restore", ("src/mine.py",)), (0, "keep", ())):
        app = Stage(choice)
        async with app.run_test(size=(100, 30)) as pilot:
            await ready(pilot, "f", "down", "down", "down", "space", "escape")
            assert "over your edit" in text_of(app)
            assert "changes 4 files, keeps 1 you edited" in text_of(app)
            await ready(pilot, *["down"] * steps, "enter")
            assert app.commands[-1] == cmd.RevertTo(4, offset=3000, files=files, overwrite=overwrite)


async def test_the_letter_f_can_be_written_into_the_note() -> None:
    app = Stage(choice)
    async with app.run_test(size=(100, 30)) as pilot:
        await ready(pilot, "tab", "f")
        assert isinstance(app.screen, RevertChoice)


async def test_without_a_record_the_question_says_why_files_stay() -> None:
    app = Stage(lambda: RevertChoice(ROW, PREVIEW))
    async with app.run_test(size=(100, 30)) as pilot:
        await ready(pilot, "f")
        assert isinstance(app.screen, RevertChoice)
        assert "how they were at this point is not recorded" in text_of(app)
        assert "conversation and files" not in text_of(app)


async def test_the_difference_of_the_chosen_file_stands_beside_the_list() -> None:
    app = Stage(opened())
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        assert app.commands == [cmd.PreviewFile("src/[b]parser.py", 4, None, 3000)]
        assert "reading …" in text_of(app)
        app.tell(ev.FilePreviewed("src/mine.py", DIFFS["src/mine.py"]))
        await ready(pilot)
        assert "reading …" in text_of(app), "an answer for another file is dropped"
        app.tell(ev.FilePreviewed("src/[b]parser.py", DIFFS["src/[b]parser.py"]))
        await ready(pilot)
        shown = text_of(app)
        assert "+ [red]2[/]" in shown and "- two" in shown
        assert "[ ] src/mine.py" in shown and "6 files · 2 edited since and kept" in shown


async def test_only_files_that_were_edited_can_be_ticked() -> None:
    ticked: set[str] = set()
    app = Stage(opened(ticked))
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot, "space", "end", "space")
        assert ticked == set()
        assert "outside the work folder" in text_of(app)
        await ready(pilot, "up", "space")
        assert ticked == {"logo.png"}
        assert "1 edited since and kept · 1 overwritten" in text_of(app)
        await ready(pilot, "space")
        assert ticked == set()


async def test_what_is_no_text_says_so() -> None:
    app = Stage(opened(files=FILES[4:]))
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        app.tell(ev.FilePreviewed("logo.png", None))
        await ready(pilot)
        assert "not text: there is nothing to compare" in text_of(app)


async def test_on_a_narrow_screen_enter_opens_the_difference_and_escape_goes_back_to_the_list() -> None:
    app = Stage(opened(files=FILES[3:]))
    async with app.run_test(size=(60, 16)) as pilot:
        await ready(pilot)
        app.tell(ev.FilePreviewed("src/mine.py", DIFFS["src/mine.py"]))
        await ready(pilot, "enter")
        assert "- line 0" in text_of(app) and "logo.png" not in text_of(app)
        await ready(pilot, "end")
        assert "- line 199" in text_of(app)
        await ready(pilot, "escape")
        assert "logo.png" in text_of(app)
        await ready(pilot, "escape")
        assert len(app.screen_stack) == 1


async def test_thousands_of_files_scroll() -> None:
    app = Stage(opened(files=[FileTouched(f"file {n}", False, "rewritten") for n in range(20_000)]))
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot, "end")
        assert "file 19999" in text_of(app)
        await until(pilot, lambda: len(app.commands) > 1)
        assert app.commands[1:] == [cmd.PreviewFile("file 19999", 4, None, 3000)]

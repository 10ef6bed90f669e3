"""The timeline on the screen: what it says, what it posts, at any size."""

from __future__ import annotations

import dataclasses

import pytest

from kimi_tui.ui.screens.revert_choice import RevertChoice
from kimi_tui.ui.widgets.timeline import Timeline
from tests.ui.play_timeline import Play
from tests.ui.samples import BACK, ROWS, jump, long_timeline, point
from tests.ui.waiting import settled


def text_of(timeline: Timeline) -> list[str]:
    return [timeline.render_line(y).text.rstrip() for y in range(timeline.size.height)]


async def test_rows_tell_who_moved_time_and_what_it_cost() -> None:
    app = Play()
    async with app.run_test(size=(120, 30)) as pilot:
        await settled(pilot)
        shown = text_of(app.pane.timeline)
        assert shown[0] == "›◉ now"
        assert shown[1].split() == ["●", "6", "ran", "pytest", "+900"]
        assert shown[4].split() == ["↶", "D-Mail", "9→4", "−18.3k"]
        assert shown[5].split() == ["├─▸", "context_3", "3", "steps", "·", "2", "min"]
        assert shown[7].split() == ["◆", "compacted", "180k→9.1k"]
        assert app.pane.headline.render_line(0).text.split() == ["TIMELINE", "6", "·", "4", "files"]


async def test_the_preview_says_what_would_go_and_changes_nothing() -> None:
    app = Play()
    async with app.run_test(size=(120, 34)) as pilot:
        await pilot.press("down", "down", "down")
        await settled(pilot)
        preview = app.pane.preview
        said = "\n".join(preview.render_line(y).text.rstrip() for y in range(preview.size.height))
        assert "go back to 4?" in said
        assert "drops 3 steps · 6 messages" in said
        assert "changed since" in said
        assert app.said == []


async def test_the_list_does_not_jump_while_the_cursor_goes_from_point_to_point() -> None:
    app = Play()
    async with app.run_test(size=(120, 34)) as pilot:
        for _ in range(5):
            await pilot.press("down")
            await settled(pilot)
        height = app.pane.timeline.size.height
        for _ in range(4):
            await pilot.press("up")
            await settled(pilot)
            assert app.pane.timeline.size.height == height
        await pilot.press("home")
        await settled(pilot)
        assert app.pane.timeline.size.height > height


async def test_a_row_that_is_painted_again_shows_what_is_new_about_it() -> None:
    app = Play()
    async with app.run_test(size=(120, 34)) as pilot:
        await settled(pilot)
        timeline = app.pane.timeline
        (known,) = (row for row in ROWS if row.checkpoint == 6 and row.file is None)
        timeline.update_row(dataclasses.replace(known, label="ran ruff", tokens=17))
        await settled(pilot)
        assert text_of(timeline)[1].split() == ["●", "6", "ran", "ruff", "+17"]
        await pilot.press("down")
        await settled(pilot)
        assert text_of(timeline)[1].startswith("›")


async def test_enter_asks_and_the_first_answer_touches_no_file() -> None:
    app = Play()
    async with app.run_test(size=(120, 34)) as pilot:
        await pilot.press("down", "down", "down", "enter")
        await settled(pilot)
        assert isinstance(app.screen, RevertChoice)
        assert app.said == []
        await pilot.press("enter")
        await settled(pilot)
        (command,) = app.said
        assert (command.checkpoint, command.files, command.note) == (4, "keep", "")


async def test_a_note_can_be_carried_to_the_earlier_point() -> None:
    app = Play()
    async with app.run_test(size=(120, 34)) as pilot:
        await pilot.press("down", "down", "down", "enter", "tab", *"lesson", "enter", "enter")
        await settled(pilot)
        assert app.said[-1].note == "lesson"


async def test_escape_changes_nothing() -> None:
    app = Play()
    async with app.run_test(size=(120, 34)) as pilot:
        await pilot.press("down", "enter", "escape")
        await settled(pilot)
        assert app.said == [None]


async def test_a_click_highlights_and_chooses() -> None:
    app = Play()
    async with app.run_test(size=(120, 34)) as pilot:
        await settled(pilot)
        await pilot.click(Timeline, offset=(6, 2))
        await settled(pilot)
        assert isinstance(app.screen, RevertChoice)
        assert app.screen.row.checkpoint == 5


async def test_keys_ask_and_the_app_decides() -> None:
    app = Play()
    async with app.run_test(size=(120, 34)) as pilot:
        await pilot.press("u", "r", "b", "down", "n", "escape")
        await settled(pilot)
        assert [type(message).__name__ for message in app.said] == [
            "UndoAsked",
            "RedoAsked",
            "RotationsAsked",
            "NameAsked",
            "Left",
        ]


async def test_two_points_are_compared_or_one_with_now() -> None:
    app = Play()
    async with app.run_test(size=(120, 34)) as pilot:
        await pilot.press("down", "d", "down", "d", "d", "d")
        await settled(pilot)
        assert [(message.left, message.right) for message in app.said] == [("now@6", "now@5"), ("now@5", "now")]


async def test_letters_typed_while_searching_are_no_commands() -> None:
    app = Play()
    async with app.run_test(size=(120, 34)) as pilot:
        await pilot.press("slash", *"undo")
        await settled(pilot)
        assert app.said == []
        assert app.pane.timeline.list.query == "undo"
        await pilot.press("escape", "escape")
        await settled(pilot)
        assert [type(message).__name__ for message in app.said] == ["Left"]


async def test_a_new_checkpoint_keeps_the_cursor_where_it_was() -> None:
    app = Play()
    async with app.run_test(size=(120, 34)) as pilot:
        await pilot.press("down", "down")
        timeline = app.pane.timeline
        timeline.add_row(point(7, "new", 10))
        assert timeline.row == ROWS[1]
        await pilot.press("home")
        timeline.add_row(point(8, "newer", 10))
        assert timeline.row is None


async def test_a_row_is_drawn_anew_when_its_step_has_ended() -> None:
    app = Play()
    async with app.run_test(size=(120, 34)) as pilot:
        await settled(pilot)
        app.pane.timeline.update_row(dataclasses.replace(ROWS[0], label="ran everything", tokens=2000))
        await settled(pilot)
        assert text_of(app.pane.timeline)[1].split() == ["●", "6", "ran", "everything", "+2k"]


async def test_the_chat_leads_without_a_message() -> None:
    app = Play()
    async with app.run_test(size=(120, 34)) as pilot:
        await settled(pilot)
        app.pane.timeline.point_at(5)
        assert app.pane.timeline.row == ROWS[1]


@pytest.mark.parametrize("size", [(60, 16), (200, 60), (20, 5), (12, 3), (3, 2), (1, 1)])
async def test_any_size_is_survived(size: tuple[int, int]) -> None:
    app = Play()
    async with app.run_test(size=size) as pilot:
        await pilot.press("down", "down", "down", "space", "enter")
        await settled(pilot)
        await pilot.resize_terminal(100, 30)
        await settled(pilot)
        assert isinstance(app.screen, RevertChoice)


@pytest.mark.parametrize(
    "label", ["[bold]no[/bold]", "[/]", "[@click=app.quit]x[/]", "a\x1b[2Jb\nc\td", "\ud800x", "\u202ex", "[["]
)
async def test_any_text_is_literal(label: str) -> None:
    rows = [dataclasses.replace(ROWS[0], label=label, name=label), *ROWS[1:]]
    app = Play(rows)
    async with app.run_test(size=(140, 30)) as pilot:
        await pilot.press("down", "enter")
        await settled(pilot)
        line = app.pane.timeline.render_line(1).text
        assert "\x1b" not in line
        assert "\u202e" not in line
        if label.startswith("["):
            assert label[:12] in line
        line.encode()


async def test_five_thousand_checkpoints_do_not_slow_the_cursor() -> None:
    app = Play(long_timeline(5000))
    async with app.run_test(size=(120, 34)) as pilot:
        await settled(pilot)
        drawn = 0
        original = app.pane.timeline.spans

        def spans(index: int, width: int) -> object:
            nonlocal drawn
            drawn += 1
            return original(index, width)

        app.pane.timeline.spans = spans  # type: ignore[method-assign, assignment]
        await pilot.press("end")
        await settled(pilot)
        assert app.pane.timeline.row is not None
        assert app.pane.timeline.row.checkpoint == 0
        assert drawn <= 3 * app.pane.timeline.size.height


async def test_a_jump_takes_the_preview_back_to_now() -> None:
    app = Play()
    async with app.run_test(size=(120, 34)) as pilot:
        await pilot.press("down", "down")
        app.pane.timeline.show(ROWS[5:])
        await settled(pilot)
        assert app.pane.preview.aimed is None


async def test_a_branch_below_all_rows_ends_in_a_corner() -> None:
    app = Play([*ROWS, *jump(dataclasses.replace(BACK, file="context_9.jsonl"))[1:]])
    async with app.run_test(size=(120, 34)) as pilot:
        await settled(pilot)
        assert any(line.startswith(" ╰─  context_9") for line in text_of(app.pane.timeline))


async def test_the_preview_follows_where_the_chat_points() -> None:
    app = Play()
    async with app.run_test(size=(120, 34)) as pilot:
        await pilot.press("down", "down")
        app.pane.timeline.point_at(None)
        await settled(pilot)
        assert app.pane.preview.aimed is None


async def test_any_sign_can_be_pressed() -> None:
    app = Play()
    async with app.run_test(size=(120, 34)) as pilot:
        for sign in "@#$%&()*+,-.:;<=>?[]^_`{|}~":
            await pilot.press(sign)
        await settled(pilot)
        assert app.is_running

"""The to-do list: a word about how far it is, and all of it when asked for."""

from __future__ import annotations

from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import TodoItem
from kimi_tui.ui.widgets.todos import Todos
from tests.ui.session import opened, reset
from tests.ui.test_app import Stage, stage

TODOS = (
    TodoItem("read the code", "done"),
    TodoItem("edit [parser]\x1b[31m", "in_progress"),
    TodoItem("run the tests", "pending"),
)
LONG = (*(TodoItem(f"old {number}", "done") for number in range(12)), TodoItem("now", "in_progress"))
LONG = (*LONG, *(TodoItem(f"next {number}", "pending") for number in range(8)))


def told(todos: tuple[TodoItem, ...]) -> tuple[ev.Event, ...]:
    return opened(), reset(), ev.TodosChanged(todos)


def rows(shown: Stage) -> list[str]:
    todos = shown.app.chat.todos
    return [todos.render_line(y).text.strip() for y in range(todos.region.height)] if todos.display else []


async def test_folded_it_says_how_far_it_is_and_what_is_being_done() -> None:
    async with stage(*told(TODOS)) as shown:
        assert shown.line("Activity") == "1 of 3 · edit [parser]"
        assert rows(shown) == []


async def test_a_key_unfolds_all_of_it_and_folds_it_again() -> None:
    async with stage(*told(TODOS)) as shown:
        await shown.press("alt+t")
        assert rows(shown) == ["✓ read the code", "▸ edit [parser]", "○ run the tests"]
        await shown.tell(ev.TodosChanged((TodoItem("one thing", "pending"),)))
        assert rows(shown) == ["○ one thing"]
        await shown.press("alt+t")
        assert rows(shown) == []


async def test_a_click_unfolds_and_a_click_folds() -> None:
    async with stage(*told(TODOS)) as shown:
        width = shown.app.chat.activity.size.width
        await shown.pilot.click("Activity", offset=(2, 0))
        await shown.settle()
        assert rows(shown) == []
        await shown.pilot.click("Activity", offset=(width - 4, 0))
        await shown.settle()
        assert len(rows(shown)) == 3
        await shown.pilot.click(Todos, offset=(4, 1))
        await shown.settle()
        assert rows(shown) == []


async def test_the_command_does_the_same_and_says_when_there_is_none() -> None:
    async with stage(*told(TODOS)) as shown:
        shown.write("/todo")
        await shown.press("enter")
        assert len(rows(shown)) == 3
    async with stage(*told(())) as shown:
        shown.write("/todo")
        await shown.press("enter")
        assert shown.toasts == ["There is no to-do list in this session."]


async def test_a_long_list_shows_the_part_around_what_is_being_done() -> None:
    async with stage(*told(LONG), size=(60, 16)) as shown:
        await shown.press("alt+t")
        assert rows(shown) == ["✓ old 11", "▸ now", "○ next 0", "… 7 more"]


async def test_a_list_that_is_done_is_not_spoken_of_any_more() -> None:
    async with stage(*told(tuple(TodoItem(f"{number}", "done") for number in range(3)))) as shown:
        assert shown.line("Activity") == ""


async def test_in_the_lowest_windows_the_prompt_keeps_its_room() -> None:
    async with stage(*told(TODOS), size=(40, 8)) as shown:
        await shown.press("alt+t")
        assert rows(shown) == []
        assert shown.app.chat.prompt.region.height

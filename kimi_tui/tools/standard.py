"""The tools that every agent has, wired to what they need from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kimi_tui.protocol.views import TodoItem
from kimi_tui.tools.ask_user import AskUserQuestion
from kimi_tui.tools.background import BackgroundTasks
from kimi_tui.tools.base import Tool
from kimi_tui.tools.fetch_url import FetchURL
from kimi_tui.tools.glob_files import Glob
from kimi_tui.tools.grep import Grep
from kimi_tui.tools.plan_mode import Enter, EnterPlanMode, ExitPlanMode, Leave
from kimi_tui.tools.read_file import ReadFile
from kimi_tui.tools.read_media import ReadMediaFile
from kimi_tui.tools.send_dmail import SendDMail
from kimi_tui.tools.shell import Shell
from kimi_tui.tools.str_replace import StrReplaceFile
from kimi_tui.tools.task_list import TaskList
from kimi_tui.tools.task_output import TaskOutput
from kimi_tui.tools.task_stop import TaskStop
from kimi_tui.tools.think import Think
from kimi_tui.tools.todo import SetTodoList
from kimi_tui.tools.write_file import WriteFile


def standard_tools(
    *,
    load_todos: Callable[[], Sequence[TodoItem]],
    save_todos: Callable[[Sequence[TodoItem]], None],
    enter_plan: Enter,
    leave_plan: Leave,
    send_dmail: Callable[[str, int], None] | None = None,
    dmail_refusals: tuple[type[Exception], ...] = (ValueError,),
    tasks: BackgroundTasks | None = None,
) -> list[Tool]:
    """In the order in which a model is offered them. SendDMail and the tasks' tools need a way to do it."""
    task_tools: list[Tool] = [] if tasks is None else [TaskList(tasks), TaskOutput(tasks), TaskStop(tasks)]
    tools: list[Tool] = [
        ReadFile(),
        Glob(),
        Grep(),
        StrReplaceFile(),
        WriteFile(),
        Shell(tasks),
        *task_tools,
        ReadMediaFile(),
        FetchURL(),
        SetTodoList(load_todos, save_todos),
        Think(),
        AskUserQuestion(),
        EnterPlanMode(enter_plan),
        ExitPlanMode(leave_plan),
    ]
    if send_dmail is not None:
        tools.append(SendDMail(send_dmail, dmail_refusals))
    return tools

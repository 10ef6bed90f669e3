"""Tells the model of background tasks that have ended: once, and again when the telling was taken back."""

from __future__ import annotations

from collections.abc import Sequence

from kimi_tui.background import Tasks
from kimi_tui.injections import DynamicInjection, DynamicInjectionProvider, StepView
from kimi_tui.protocol.messages import Message
from kimi_tui.protocol.views import TaskView
from kimi_tui.resources import prompt
from kimi_tui.spelling import spell
from kimi_tui.tools.background import line_of
from kimi_tui.tools.text import clean, clip

TAIL = 2000
"""Bytes of output that are told with the end of a task."""
REPORT = 12_000
"""Characters of a subagent's report that are told with its end; TaskOutput has the rest."""
MOST = 5
"""Tasks whose output is told at once; of more only how they ended."""


class TaskInjectionProvider(DynamicInjectionProvider):
    """Root agent only. What was told is remembered in the ledger, and where in the history it stands, here."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._told_at: dict[str, int] = {}

    async def get_injections(self, history: Sequence[Message], view: StepView) -> list[DynamicInjection]:
        if not view.root:
            return []
        self._take_back(history)
        ended = self._tasks.untold()
        if not ended:
            return []
        said = [await self._about(task, output=number < MOST) for number, task in enumerate(ended)]
        for task in ended:
            self._tasks.mark_told(task.id)
            self._told_at[task.id] = len(history)
        return [DynamicInjection("tasks", "\n".join([prompt("task_ended"), *said]))]

    async def on_context_compacted(self) -> None:
        """Whatever was told is in the summary, as far as it matters."""
        self._told_at.clear()

    def _take_back(self, history: Sequence[Message]) -> None:
        """What stands in the history where a task's end was told may be something else by now."""
        for task_id, index in list(self._told_at.items()):
            if index >= len(history) or task_id not in history[index].text():
                del self._told_at[task_id]
                self._tasks.mark_told(task_id, False)

    async def _about(self, task: TaskView, *, output: bool) -> str:
        if task.agent is not None:
            return await self._about_subagent(task, output=output)
        tail = await self._tasks.read(task.id, TAIL) if output else None
        if tail is None or not tail.text.strip():
            return f"- {line_of(task)}"
        which = "the end of its output" if tail.cut else "its output"
        return f"- {line_of(task)}; {which}:\n{clean(tail.text).rstrip()}"

    async def _about_subagent(self, task: TaskView, *, output: bool) -> str:
        assert task.agent is not None
        resumable = "" if task.status == "done" else f"; `resume` with id {task.agent.id} goes on with it"
        report = clean(await self._tasks.report(task.id)).strip() if output else ""
        if not report:
            return f"- {line_of(task)}{resumable}"
        return f"- {line_of(task)}{resumable}; its report:\n{clip(report, REPORT, where=spell(task.output_file))}"

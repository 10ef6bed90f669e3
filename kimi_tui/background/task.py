"""One background task, a command or a subagent: what is known of it, on disk and in memory."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from kimi_tui.protocol.views import SubagentView, TaskStatus, TaskView


@dataclass(slots=True, kw_only=True)
class Task:
    """All fields are plain values: a line of the ledger holds some of them."""

    id: str
    command: str
    description: str = ""
    mark: str = ""
    """In the environment of everything that the command starts."""
    output: str = ""
    """Path of the file that takes what it writes."""
    timeout: float | None = None
    """Seconds; None: it may run for ever."""
    started_at: float = 0.0
    owner: int = 0
    """The program that started it, as process number and birth (see `identity`)."""
    owner_born: str = ""
    keeper: int | None = None
    keeper_born: str = ""
    pid: int | None = None
    """Leader of the command's process group."""
    status: TaskStatus = "running"
    ended_at: float | None = None
    exit_code: int | None = None
    reason: str = ""
    told: bool = False
    """The model knows how it ended."""
    orphan: bool = False
    agent: str = ""
    """Id of the subagent that it is; empty for a command."""
    agent_type: str = ""
    call: str = ""
    """The tool call that the subagent works for."""
    report: int | None = None
    """Byte of the output at which its report begins; None without one."""

    @property
    def running(self) -> bool:
        return self.status == "running"

    def record(self) -> dict[str, Any]:
        """What is known of it beside its id, as a line of the ledger."""
        values = {field.name: (getattr(self, field.name), field.default) for field in dataclasses.fields(self)}
        return {name: value for name, (value, default) in values.items() if value != default and name != "id"}

    def view(self, agent: SubagentView | None = None) -> TaskView:
        """In plain values. `agent` is the subagent as it stands now; without it, as far as it was noted."""
        return TaskView(
            id=self.id,
            command=self.command,
            status=self.status,
            description=self.description,
            pid=self.pid,
            started_at=self.started_at,
            ended_at=self.ended_at,
            exit_code=self.exit_code,
            reason=self.reason,
            output_file=self.output,
            output_size=_size(self.output),
            orphan=self.orphan,
            agent=agent or self._agent(),
        )

    def _agent(self) -> SubagentView | None:
        if not self.agent:
            return None
        return SubagentView(self.call, self.agent, self.agent_type, self.description, _STATES[self.status])


_STATES: dict[TaskStatus, Literal["running", "done", "failed", "interrupted"]] = {
    "running": "running",
    "done": "done",
    "failed": "failed",
    "stopped": "interrupted",
    "lost": "interrupted",
}


def from_record(record: dict[str, Any]) -> Task | None:
    """The task that the lines of a ledger add up to; None when they make no sense."""
    known = {field.name for field in dataclasses.fields(Task)}
    try:
        task = Task(**{name: value for name, value in record.items() if name in known})
    except TypeError:
        return None
    sound = isinstance(task.id, str) and isinstance(task.command, str) and task.status in get_args(TaskStatus)
    sound = sound and all(isinstance(text, str) for text in (task.agent, task.agent_type, task.call))
    numbers = (task.started_at, task.keeper, task.pid, task.timeout, task.exit_code, task.report)
    return task if sound and all(isinstance(number, int | float | None) for number in numbers) else None


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0

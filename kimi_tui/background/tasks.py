"""The background tasks of one session.

    tasks = Tasks(session_folder, host)
    await tasks.recover()                # what an earlier run left: ended meanwhile, still running, or lost
    task = await tasks.start("npm run dev", work_dir)
    await tasks.wait(task.id, 30)
    await tasks.stop(task.id, "not needed any more")
    await tasks.close()                  # ends all that run

Each command has a keeper (see `keeper`), which outlives this program; other work (see `job`) ends with it. Every change
is in the ledger before anybody is told of it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from kimi_tui.background.host import Host
from kimi_tui.background.identity import birth
from kimi_tui.background.job import Job, Order
from kimi_tui.background.kept import Kept
from kimi_tui.background.ledger import Ledger, ledger_file
from kimi_tui.background.output import SHOWN, Tail, read_from, read_tail
from kimi_tui.background.task import Task
from kimi_tui.protocol.views import TaskView

log = logging.getLogger(__name__)

MOST = 20
"""Tasks that may run at the same time."""
PATIENCE = 3.0
"""Seconds until a task that cannot be ended is given up."""
LOST = "the program ended while it was at work"
"""Why a subagent is lost."""


class Tasks:
    """Starts, finds, follows and ends them."""

    def __init__(
        self,
        folder: Path,
        host: Host,
        *,
        changed: Callable[[], None] = lambda: None,
        ended: Callable[[TaskView], None] = lambda task: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder, self._host, self._clock = folder, host, clock
        self.changed, self.ended = changed, ended
        self._ledger = Ledger(ledger_file(folder))
        self._tasks: dict[str, Task] = {}
        self._kept: dict[str, Kept | Job] = {}
        self._watchers: dict[str, asyncio.Task[None]] = {}

    def all(self) -> tuple[TaskView, ...]:
        """Every task of the session, oldest first."""
        return tuple(map(self._view, self._tasks.values()))

    def running(self) -> tuple[TaskView, ...]:
        """Those that `close` would end."""
        return tuple(self._view(task) for task in self._tasks.values() if task.running)

    def get(self, task_id: str) -> TaskView | None:
        task = self._tasks.get(task_id)
        return self._view(task) if task else None

    def untold(self) -> tuple[TaskView, ...]:
        """Tasks that have ended without the model knowing it."""
        return tuple(task.view() for task in self._tasks.values() if not task.running and not task.told)

    def mark_told(self, task_id: str, told: bool = True) -> None:
        """The model knows how it ended, or it does not know it any more."""
        task = self._tasks.get(task_id)
        if task is not None and not task.running and task.told != told:
            self._note(task, told=told)

    async def read(self, task_id: str, limit: int = SHOWN) -> Tail:
        """The newest part of its output, at most `limit` bytes."""
        task = self._tasks.get(task_id)
        return await asyncio.to_thread(read_tail, task.output, limit) if task else Tail()

    async def report(self, task_id: str, limit: int = SHOWN) -> str:
        """What a subagent reported, at most `limit` bytes of it; empty without a report."""
        task = self._tasks.get(task_id)
        if task is None or task.report is None:
            return ""
        return await asyncio.to_thread(read_from, task.output, task.report, limit)

    async def start(
        self, command: str, work_dir: Path, *, description: str = "", timeout: float | None = None
    ) -> TaskView:
        """Run a command in the background. Raises OSError or ValueError when it cannot be started."""
        task = self._new(command, description)
        task.mark, task.timeout = uuid.uuid4().hex, timeout
        self._ledger.add(task.id, **task.record())
        kept = self._keep(task)
        try:
            await kept.launch(work_dir)
        except BaseException as fault:
            del self._kept[task.id]
            self._note(task, status="failed", reason=f"not started: {fault}", told=True, ended_at=self._clock())
            raise
        self._tasks[task.id] = task
        self._watch(kept)
        self.changed()
        return task.view()

    def carry_out(self, order: Order) -> TaskView:
        """Let a subagent work in the background. Raises OSError or ValueError when that cannot be."""
        task = self._new(order.command, order.description)
        task.agent, task.agent_type, task.call = order.agent, order.agent_type, order.call
        self._ledger.add(task.id, **task.record())
        job = Job(task, order, self._note)
        try:
            job.begin()
        except OSError as fault:
            self._note(task, status="failed", reason=f"not started: {fault}", told=True, ended_at=self._clock())
            raise
        self._tasks[task.id], self._kept[task.id] = task, job
        self._watch(job)
        self.changed()
        return self._view(task)

    async def wait(self, task_id: str, seconds: float) -> TaskView | None:
        """The task when it has ended, or as it is when the time is over."""
        watcher = self._watchers.get(task_id)
        if watcher is not None:
            await asyncio.wait({watcher}, timeout=seconds)
        return self.get(task_id)

    async def stop(self, task_id: str, reason: str = "") -> TaskView | None:
        """End a task and all that it started. One that has ended stays as it is."""
        kept, watcher = self._kept.get(task_id), self._watchers.get(task_id)
        if kept is not None and watcher is not None:
            await kept.strike("stopped", reason)
            await asyncio.wait({watcher}, timeout=PATIENCE)
            if kept.task.running:
                self._give_up(kept, reason)
        return self.get(task_id)

    async def recover(self) -> tuple[TaskView, ...]:
        """Read what an earlier run left. Returns those of its tasks that still run; they are followed from here on."""
        found = await asyncio.to_thread(self._ledger.read)
        for task in found.values():
            if self._tasks.setdefault(task.id, task) is task and task.running:
                await self._adopt(task)
        if found:
            self.changed()
        return self.running()

    async def close(self, reason: str = "the program was closed") -> None:
        """End everything that runs, each with its process group."""
        await asyncio.gather(*(self.stop(task_id, reason) for task_id in list(self._watchers)))

    async def let_go(self) -> None:
        """Stop following; what runs goes on running."""
        watchers = list(self._watchers.values())
        for watcher in watchers:
            watcher.cancel()
        await asyncio.gather(*watchers, return_exceptions=True)

    def _new(self, command: str, description: str) -> Task:
        if len(self._kept) >= MOST:
            raise ValueError(f"{MOST} background tasks run already; stop one first")
        task_id = f"task-{secrets.token_hex(3)}"
        return Task(
            id=task_id,
            command=command,
            description=description,
            output=str(self._folder / "outputs" / f"{task_id}.log"),
            started_at=self._clock(),
            owner=os.getpid(),
            owner_born=birth(os.getpid()),
        )

    def _view(self, task: Task) -> TaskView:
        kept = self._kept.get(task.id)
        return kept.view() if isinstance(kept, Job) else task.view()

    def _keep(self, task: Task) -> Kept:
        exit_file = self._ledger.file.with_name(f"{task.id}.exit")
        kept = self._kept[task.id] = Kept(task, self._host, exit_file, self._note)
        return kept

    async def _adopt(self, task: Task) -> None:
        """A task that ran when its program was killed. What was work of that program is lost with it."""
        if task.agent:
            self._note(task, status="lost", reason=LOST, ended_at=self._clock())
            return
        kept = self._keep(task)
        if await asyncio.to_thread(lambda: kept.has_ended):
            await kept.settle(self._clock())
            del self._kept[task.id]
        else:
            self._note(task, orphan=True)
            self._watch(kept)

    def _watch(self, kept: Kept | Job) -> None:
        task_id = kept.task.id
        self._watchers[task_id] = asyncio.create_task(self._follow(kept), name=f"follow {task_id}")

    async def _follow(self, kept: Kept | Job) -> None:
        """Until it has ended, or its time is over."""
        task = kept.task
        left = None if task.timeout is None else max(0.0, task.started_at + task.timeout - self._clock())
        try:
            async with asyncio.timeout(left):
                await kept.gone()
        except TimeoutError:
            await kept.strike("failed", f"timed out after {task.timeout:g} s")
        await kept.settle(self._clock())
        self._forget(task)

    def _give_up(self, kept: Kept | Job, reason: str) -> None:
        """Not even its keeper could be ended."""
        self._watchers[kept.task.id].cancel()
        why = f"{reason} (parts of it may still run)".strip()
        self._note(kept.task, status="stopped", reason=why, ended_at=self._clock())
        self._forget(kept.task)

    def _forget(self, task: Task) -> None:
        del self._kept[task.id], self._watchers[task.id]
        self.changed()
        self.ended(task.view())

    def _note(self, task: Task, **new: object) -> None:
        """Change a task, and write it down. A full disk costs the ledger, not the task."""
        for name, value in new.items():
            setattr(task, name, value)
        try:
            self._ledger.add(task.id, **new)
        except OSError as fault:
            log.warning("the ledger of the tasks cannot be written: %s", fault)

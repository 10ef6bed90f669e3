"""Shell: run a command."""

from __future__ import annotations

import re
import signal
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from kimi_tui.protocol.views import ApprovalView
from kimi_tui.resources import prompt
from kimi_tui.spelling import spell
from kimi_tui.tools.approval import command_rule, permit, refusal
from kimi_tui.tools.background import BackgroundTasks
from kimi_tui.tools.base import IN_BACKGROUND, Call, Params, ToolResult, failed
from kimi_tui.tools.command import Ended, run_command
from kimi_tui.tools.output import CommandOutput
from kimi_tui.tools.processes import Running
from kimi_tui.tools.readonly import is_read_only, stays_inside
from kimi_tui.tools.text import one_line

LONGEST = 3600
"""Seconds a command may be given at most."""

_NO_BACKGROUND = (
    "Background tasks are not available here. Run the command in the foreground, with a `timeout` that suits it; a "
    "server may be left running with `command >server.log 2>&1 &`."
)


class ShellParams(Params):
    command: str = Field(description="The command, as one would type it into bash.", min_length=1)
    timeout: int = Field(
        default=60, ge=1, le=LONGEST, description="Seconds after which the command and all it started are ended."
    )
    run_in_background: bool = Field(
        default=False,
        validation_alias=IN_BACKGROUND,
        description="Let it run as a background task and go on at once; for servers and long work.",
    )
    description: str = Field(default="", description="What the command is for, in a few words, for the user.")


class Shell:
    name: ClassVar[str] = "Shell"
    Params: ClassVar[type[Params]] = ShellParams
    read_only: ClassVar[bool] = False
    plan_safe: ClassVar[bool] = True

    def __init__(self, tasks: BackgroundTasks | None = None) -> None:
        self._tasks = tasks

    @cached_property
    def description(self) -> str:
        return prompt("tools/shell")

    def describe(self, params: ShellParams) -> tuple[str, str]:
        return "Shell", params.command

    async def __call__(self, params: ShellParams, call: Call) -> ToolResult:
        if params.run_in_background and self._tasks is None:
            return failed(_NO_BACKGROUND, brief="not available")
        refused = await _admit(params, call)
        if refused is not None:
            return refused
        if params.run_in_background and self._tasks is not None:
            return await _in_background(self._tasks, params, call)
        output = CommandOutput(call.emit, _output_file(call))
        extra = {"GIT_OPTIONAL_LOCKS": "0"} if call.plan_file is not None else None
        try:
            ended = await run_command(params.command, call.work_dir, params.timeout, output, extra)
        except (OSError, ValueError) as fault:
            return failed(f"The command could not be started: {fault}", brief="not started")
        return _result(ended, params.timeout)


async def _admit(params: ShellParams, call: Call) -> ToolResult | None:
    """None when the command may run. In plan mode what only reads may; anything else only if the user says so."""
    view = ApprovalView(
        request_id=call.id,
        tool="Shell",
        action="run a command in the background" if params.run_in_background else "run a command",
        detail=params.command,
        rule=command_rule(params.command),
    )
    if call.plan_file is None:
        return await permit(call, view)
    if is_read_only(params.command):
        return None if stays_inside(params.command) else await permit(call, view)
    decision = await call.approve(
        ApprovalView(
            call.id, "Shell", "run a command that may change things, in plan mode", params.command, explicit=True
        )
    )
    if decision.allowed:
        return None
    if decision.by == "nobody":
        return failed(
            "Plan mode is on: only commands that surely change nothing are run (plain `ls`, `cat`, `grep`, `git diff` "
            "and the like, without redirections, substitutions or scripts). This one was not run: put it in the plan.",
            brief="plan mode",
        )
    return refusal(decision)


async def _in_background(tasks: BackgroundTasks, params: ShellParams, call: Call) -> ToolResult:
    """Without a time limit, unless the model asked for one."""
    timeout = params.timeout if "timeout" in params.model_fields_set else None
    try:
        task = await tasks.start(params.command, call.work_dir, description=params.description, timeout=timeout)
    except (OSError, ValueError) as fault:
        return failed(f"The command could not be started: {fault}", brief="not started")
    limit = f" It is ended after {timeout} s." if timeout is not None else ""
    message = (
        f"Running in the background as {task.id} (process {task.pid}).{limit} TaskOutput shows how it stands, TaskStop "
        f"ends it. Its output goes to {spell(task.output_file)}. You will be told when it has ended; go on meanwhile."
    )
    return ToolResult(message=message, brief=task.id)


def _output_file(call: Call) -> Path | None:
    if call.output_dir is None:
        return None
    return call.output_dir / f"shell-{re.sub(r'[^A-Za-z0-9_.-]', '_', call.id)[:80]}.txt"


def _result(ended: Ended, timeout: int) -> ToolResult:
    left = _left(ended.left)
    if ended.timed_out:
        message = f"Timed out after {timeout} s; the command and what it had started were ended. The output until then:"
        return ToolResult(ended.text, "timeout", message + left, f"timed out after {timeout} s")
    if ended.code == 0:
        return ToolResult(ended.text, "ok", f"Exit code 0.{left}", "exit 0")
    how = (
        f"Exit code {ended.code}."
        if ended.code is None or ended.code > 0
        else f"Ended by signal {_signal(-ended.code)}."
    )
    brief = f"exit {ended.code}" if ended.code is None or ended.code > 0 else _signal(-ended.code)
    return ToolResult(ended.text, "error", how + left, brief)


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _left(running: tuple[Running, ...]) -> str:
    if not running:
        return ""
    names = ", ".join(f"{process.pid} ({one_line(process.command, 80)})" for process in running[:10])
    return f" Still running in the background: {names}. Its further output is not seen; end it with `kill`."

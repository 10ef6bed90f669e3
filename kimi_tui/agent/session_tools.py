"""The standard tools, wired to the session: its to-dos, its plan mode, its D-Mail, its background tasks."""

from __future__ import annotations

from pathlib import Path

from kimi_tui.agent.desk import Desk
from kimi_tui.agent.dmail import DenwaRenjiError, DMail
from kimi_tui.tools.base import Tool
from kimi_tui.tools.standard import standard_tools


def session_tools(desk: Desk) -> list[Tool]:
    """The tools of the session's own agent."""

    async def enter_plan() -> Path:
        desk.set_mode("plan", True)
        return desk.plan_file

    async def leave_plan() -> None:
        desk.set_mode("plan", False)

    def send_dmail(message: str, checkpoint_id: int) -> None:
        desk.denwa_renji.send_dmail(DMail(message=message, checkpoint_id=checkpoint_id))

    return standard_tools(
        load_todos=lambda: desk.state.todos,
        save_todos=desk.set_todos,
        enter_plan=enter_plan,
        leave_plan=leave_plan,
        send_dmail=send_dmail,
        dmail_refusals=(DenwaRenjiError,),
        tasks=desk.tasks.own if desk.tasks else None,
    )

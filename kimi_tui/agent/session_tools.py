"""The standard tools, wired to the session: its to-dos, its plan mode, its D-Mail, its background tasks."""

from __future__ import annotations

from pathlib import Path

from kimi_tui.agent.desk import Desk
from kimi_tui.agent.dmail import DenwaRenjiError, DMail
from kimi_tui.agent.subagents.running import Subagents
from kimi_tui.tools.agent import Agent
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
        there = {mark.id for mark in desk.context.checkpoints}
        if checkpoint_id < desk.context.n_checkpoints and checkpoint_id not in there:
            raise DenwaRenjiError(f"Checkpoint {checkpoint_id} was lost; these are left: {sorted(there)[-20:]}.")
        desk.denwa_renji.send_dmail(DMail(message=message, checkpoint_id=checkpoint_id))

    tools = standard_tools(
        load_todos=lambda: desk.state.todos,
        save_todos=desk.set_todos,
        enter_plan=enter_plan,
        leave_plan=leave_plan,
        send_dmail=send_dmail,
        dmail_refusals=(DenwaRenjiError,),
        tasks=desk.tasks.own if desk.tasks else None,
    )
    desk.subagents = Subagents(desk)
    return [*tools, Agent(desk.subagents)]

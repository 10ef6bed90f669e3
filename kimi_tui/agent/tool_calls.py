"""Between a step and its tools: what a call gets, who is told of it, and where hooks step in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kimi_tui.agent.desk import Desk
from kimi_tui.agent.questions import Answers
from kimi_tui.agent.travel.files import may_change_files
from kimi_tui.protocol.events import ToolCallFinished, ToolCallStarted, ToolOutputDelta
from kimi_tui.protocol.views import ApprovalView, QuestionView, ToolView
from kimi_tui.tools.base import Call, Decision, ToolResult, failed
from kimi_tui.tools.toolset import OpenCall, Watch


def open_call(desk: Desk) -> OpenCall:
    """Builds what a tool gets, anew for every call: a mode changed by one call is seen by the next."""

    outputs = desk.session.folder / "outputs"

    async def approve(view: ApprovalView) -> Decision:
        return await desk.approvals(view if desk.parent is None else replace(view, asker=desk.title))

    async def ask(questions: tuple[QuestionView, ...]) -> Answers | None:
        if desk.modes.afk or desk.headless:
            return None
        title = questions[0].question if questions else ""
        desk.hooks.fire("Notification", "question", notification_type="question", title=title, body="")
        return await desk.questions.ask(questions)

    def opened(call_id: str, emit: Callable[[str], None]) -> Call:
        return Call(
            id=call_id,
            work_dir=desk.session.work_dir,
            emit=emit,
            approve=approve,
            ask=ask,
            allowed_dirs=(*desk.dirs, outputs),
            plan_file=desk.plan_file if desk.in_plan_mode else None,
            output_dir=outputs,
            state=desk.tool_state,
        )

    return opened


def watch(desk: Desk) -> Watch:
    """Tells the screen, and asks the hooks before and after each call."""

    def finished(view: ToolView) -> None:
        view = replace(view, seconds=None if view.seconds is None else round(view.seconds, 3))
        desk.transcript.finish(view)
        desk.emit(ToolCallFinished(view))

    async def before(view: ToolView, arguments: dict[str, Any]) -> ToolResult | None:
        verdict = await desk.hooks.trigger(
            "PreToolUse", view.name, tool_name=view.name, tool_input=arguments, tool_call_id=view.call_id
        )
        if not verdict.blocked:
            if may_change_files(desk.toolset.get(view.name), arguments):
                await desk.files.before_change(desk.context.checkpoints[-1])
            return None
        return failed(f"A hook of the user's forbade this call: {verdict.reason or 'no reason given'}", brief="blocked")

    async def after(view: ToolView, arguments: dict[str, Any], result: ToolResult) -> None:
        about = {"tool_name": view.name, "tool_input": arguments, "tool_call_id": view.call_id}
        if result.outcome == "ok":
            desk.hooks.fire("PostToolUse", view.name, **about, tool_output=result.output)
        else:
            desk.hooks.fire("PostToolUseFailure", view.name, **about, error=result.message)

    return Watch(
        on_started=lambda view: desk.emit(ToolCallStarted(view)),
        on_output=lambda call_id, text: desk.emit(ToolOutputDelta(call_id, text)),
        on_finished=finished,
        before=before,
        after=after,
    )

"""The tools of one agent, and the run of one step's calls.

How the loop uses it:

    toolset = Toolset(standard_tools(…))
    request = Request(system, history, toolset.specs())
    …
    try:
        results = await toolset.run(message.tool_calls, open_call, watch)
    except StepInterrupted as stop:              # Esc: every call still has its one result
        await context.append_message(stop.results.messages)
        raise
    await context.append_message(results.messages)
    if results.stop: end the turn with that reason

`open_call(call_id, emit)` builds a fresh `Call` each time, so that a mode changed by one call is seen by the next.
`toolset.repeats.reset()` belongs to every jump back in time, and to the start of a turn.
`StepInterrupted` is a CancelledError: await `run` in the task that is cancelled.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Sequence

from pydantic import BaseModel

from kimi_tui.llm.model import ToolSpec
from kimi_tui.protocol.messages import Message, ToolCall
from kimi_tui.protocol.views import ToolView
from kimi_tui.tools.arguments import ArgumentFault, parse, validate
from kimi_tui.tools.base import Tool, failed
from kimi_tui.tools.dedupe import CallKey, Repeats
from kimi_tui.tools.results import finished, from_message, stored_seconds
from kimi_tui.tools.run import OpenCall, Slot, StepInterrupted, StepResults, StepRun, Watch
from kimi_tui.tools.schema import parameters
from kimi_tui.tools.text import one_line, visible

__all__ = ["OpenCall", "StepInterrupted", "StepResults", "Toolset", "Watch"]


_NO_KEY = CallKey("", "")


class Toolset:
    """Tools by name. Knows their schemas, checks arguments, runs calls, notices repeats."""

    def __init__(self, tools: Iterable[Tool], repeats: Repeats | None = None) -> None:
        self._tools: dict[str, Tool] = {}
        self.repeats = repeats if repeats is not None else Repeats()
        for tool in tools:
            self.add(tool)

    def add(self, tool: Tool) -> None:
        """Offer one more tool (or another one under the same name) from the next request on."""
        self._tools[tool.name] = tool

    def remove(self, name: str) -> None:
        self._tools.pop(name, None)

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def tools(self) -> list[Tool]:
        """In the order in which they were given."""
        return list(self._tools.values())

    def specs(self) -> list[ToolSpec]:
        """What the model is offered, in the order in which the tools were given."""
        return [ToolSpec(tool.name, tool.description, parameters(tool.Params)) for tool in self._tools.values()]

    def view(self, call: ToolCall, result: Message | None = None) -> ToolView:
        """The card of a call as it stands in the log, with its result where there is one."""
        view = self._checked(call).view
        if result is None:
            return view
        return finished(view, from_message(result), stored_seconds(result))

    async def run(self, calls: Sequence[ToolCall], open_call: OpenCall, watch: Watch | None = None) -> StepResults:
        """Run the calls of one step: neighbours that only read together, the others in order, equal ones once.

        Exactly one message a call, in call order. Raises StepInterrupted, with the results, when cancelled.
        """
        slots = [self._checked(call, CallKey.of(call.function.name, call.function.arguments)) for call in calls]
        first: dict[CallKey, Slot] = {}
        for slot in slots:
            slot.twin = first.get(slot.key)
            first.setdefault(slot.key, slot)
        return await StepRun(slots, open_call, watch or Watch(), self.repeats).run()

    def _checked(self, call: ToolCall, key: CallKey = _NO_KEY) -> Slot:
        name, text = call.function.name, call.function.arguments
        slot = Slot(call, key, ToolView(call.id, name, name, one_line(text or ""), visible(text or "")))
        tool = self._tools.get(name)
        if tool is None:
            slot.result = failed(self._unknown(name), brief="unknown tool")
            return slot
        try:
            slot.arguments = parse(text)
            slot.params = validate(tool.Params, slot.arguments)
        except ArgumentFault as fault:
            slot.result = failed(f"{name} was not run. {fault}{_wanted(tool)}", brief="bad arguments")
            return slot
        slot.tool = tool
        slot.view = _view(call, tool, slot.params)
        return slot

    def _unknown(self, name: str) -> str:
        if name.startswith("mcp__"):
            return (
                f"There is no tool {one_line(name, 60)!r} now: its server is not connected. It is started again by "
                "itself; do without it for the moment."
            )
        close = difflib.get_close_matches(name, self._tools, n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        return f"There is no tool {one_line(name, 60)!r}.{hint} The tools are: {', '.join(self._tools)}."


def _view(call: ToolCall, tool: Tool, params: BaseModel) -> ToolView:
    verb, subject = tool.describe(params)
    return ToolView(call.id, tool.name, verb, one_line(subject), visible(call.function.arguments or ""))


def _wanted(tool: Tool) -> str:
    schema = parameters(tool.Params)
    needed = set(schema.get("required", ()))
    names = [f"{name} (required)" if name in needed else name for name in schema["properties"]]
    return (
        f"\n{tool.name} takes: {', '.join(names)}." if names else f"\n{tool.name} takes no arguments: {json.dumps({})}."
    )

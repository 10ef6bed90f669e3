"""A tool's result as a message of the log, and back as the card on the screen.

The text is laid out as kimi-cli lays it out: a part `<system>…</system>` with what is said about the output (starting
with `ERROR:` for every outcome but `ok`), then the output. How it ended and the row's few words ride along in the extra
key `kt`, which no model gets to see.
"""

from __future__ import annotations

from typing import Any, get_args

from kimi_tui.protocol.messages import ContentPart, ImageURLPart, Message, TextPart
from kimi_tui.protocol.views import Outcome, ToolView
from kimi_tui.tools.base import ToolResult
from kimi_tui.tools.text import MODEL_LIMIT, clip, one_line, visible

HARD_LIMIT = 2 * MODEL_LIMIT
"""Characters of output that are kept of any tool, whatever its own limit (tools of MCP servers have none)."""

INTERRUPTED = "Interrupted by the user while it ran. What it had already done stays done."
NOT_STARTED = "Not run: the user interrupted the turn before it started."
AFTER_REJECTION = "Not run: the user rejected an earlier call of this step."


def to_message(call_id: str, result: ToolResult, *, reminder: str = "", seconds: float | None = None) -> Message:
    """The one tool message that answers `call_id`."""
    meta: dict[str, Any] = {"outcome": result.outcome, "brief": result.brief}
    if seconds is not None:
        meta["seconds"] = round(seconds, 3)
    return Message(role="tool", tool_call_id=call_id, content=_parts(result, reminder), kt=meta)


def _parts(result: ToolResult, reminder: str) -> list[ContentPart]:
    parts: list[ContentPart] = []
    said = _said(result)
    if said:
        parts.append(TextPart(text=f"<system>{said}</system>"))
    output = visible(clip(result.output, HARD_LIMIT))
    if output:
        parts.append(TextPart(text=output))
    parts.extend(result.parts)
    if reminder:
        parts.append(TextPart(text=f"<system-reminder>\n{visible(reminder)}\n</system-reminder>"))
    return parts


def _said(result: ToolResult) -> str:
    message = visible(result.message)
    if result.outcome != "ok":
        return f"ERROR: {message or 'The call failed.'}"
    if message or result.output:
        return message
    return "Done; the result is not text." if result.parts else "Done; there was no output."


def finished(view: ToolView, result: ToolResult, seconds: float | None) -> ToolView:
    """The card of a call that has its result."""
    return ToolView(
        call_id=view.call_id,
        name=view.name,
        verb=view.verb,
        subject=view.subject,
        arguments=view.arguments,
        outcome=result.outcome,
        brief=one_line(result.brief, 80),
        output=_shown(result),
        seconds=seconds,
        diffs=result.diffs,
        images=sum(isinstance(part, ImageURLPart) for part in result.parts),
    )


def _shown(result: ToolResult) -> str:
    output = visible(clip(result.output, HARD_LIMIT))
    if result.outcome == "ok":
        return output
    return "\n".join(part for part in (visible(result.message), output) if part)


def from_message(message: Message) -> ToolResult:
    """What the card needs to know of a stored result; also of one that kimi-cli wrote."""
    texts = [part.text for part in message.content if isinstance(part, TextPart)]
    said = ""
    output: list[str] = []
    for text in texts:
        if text.startswith("<system>") and text.endswith("</system>") and not output and not said:
            said = text[len("<system>") : -len("</system>")]
        elif not text.startswith("<system-reminder>"):
            output.append(text)
    meta = (message.model_extra or {}).get("kt")
    meta = meta if isinstance(meta, dict) else {}
    outcome = _outcome(meta, said)
    images = tuple(part for part in message.content if isinstance(part, ImageURLPart))
    return ToolResult("\n".join(output), outcome, said.removeprefix("ERROR: "), str(meta.get("brief") or ""), images)


def stored_seconds(message: Message) -> float | None:
    """How long the call took, where that was noted."""
    meta = (message.model_extra or {}).get("kt")
    seconds = meta.get("seconds") if isinstance(meta, dict) else None
    return float(seconds) if isinstance(seconds, int | float) and not isinstance(seconds, bool) else None


def _outcome(meta: dict[str, Any], said: str) -> Outcome:
    outcome: Outcome
    for outcome in get_args(Outcome):
        if meta.get("outcome") == outcome:
            return outcome
    return "error" if said.startswith("ERROR") else "ok"

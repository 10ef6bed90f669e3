"""What was asked for, as lines: timeline, rotations, context, models, sessions, comparisons, previews."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from kimi_tui.cli.progress import size
from kimi_tui.faults import Fault
from kimi_tui.literal import one_line, shortened
from kimi_tui.protocol.events import ContextMeasured, ModelsListed, TimelinesCompared
from kimi_tui.protocol.views import (
    Entry,
    McpServerView,
    RevertPreview,
    RotationView,
    SessionView,
    SwitchView,
    TaskView,
    TimelineRow,
    Tokens,
    ToolView,
)

_WIDTH = 100
_JUMPS = {
    "revert": "went back",
    "dmail": "a D-Mail went back",
    "compact": "compacted",
    "clear": "cleared",
    "restore": "restored",
    "undo": "undid a jump",
    "redo": "did a jump again",
}


def tool_line(tool: ToolView) -> str:
    """One line a call: outcome, what it did, how it went."""
    seconds = f"{tool.seconds:.1f} s" if tool.seconds is not None and tool.seconds >= 0.1 else ""
    facts = ", ".join(filter(None, (tool.brief, seconds)))
    return one_line(f"[{tool.outcome}] {tool.verb} {tool.subject}{f': {facts}' if facts else ''}")


def switch_line(switch: SwitchView) -> str:
    """A jump, from where to where, and what it left behind."""
    what = _JUMPS.get(switch.why, switch.why)
    to = "" if switch.to_checkpoint is None else f" to checkpoint {switch.to_checkpoint}"
    cost = f"{switch.messages_before} to {switch.messages_after} messages"
    cost += f", {switch.tokens_before:,} to {switch.tokens_after:,} tokens"
    left = f"; the old ones are in {switch.file}" if switch.file else ""
    back = "/redo does it again" if switch.why == "undo" else "/undo takes it back"
    return one_line(f"Time moved: {what}{to}, {cost}{left}. {back}.")


def timeline(rows: Sequence[TimelineRow]) -> Iterator[str]:
    """Oldest first, so that the present is what was read last."""
    if not rows:
        yield "The timeline is empty."
    for row in reversed(rows):
        yield one_line(_row(row))
    if rows:
        yield "/rewind N goes back to right before checkpoint N."


def _row(row: TimelineRow) -> str:
    if row.kind == "switch" and row.switch:
        left = f", left {row.switch.file}" if row.switch.file else ""
        note = f": {shortened(row.switch.note, _WIDTH)}" if row.switch.note else ""
        return f"jump: {_JUMPS.get(row.switch.why, row.switch.why)}{left}{note}"
    if row.kind == "rotation":
        return f"rotation {row.file}: {row.messages} messages, {size(row.size)}"
    name = f" «{row.name}»" if row.name else ""
    tokens = "" if row.tokens is None else f", {row.tokens:+,} tokens"
    where = f" of {row.file}" if row.file else ""
    return f"{row.checkpoint}{where}{name}: {row.label}{tokens}"


def preview(view: RevertPreview) -> Iterator[str]:
    """What would go."""
    yield _would_go(view)
    for file in view.files:
        fate = f", would be {file.change}" if file.change and not file.changed_since else ""
        changed = ", edited since by somebody else: stays as it is" if file.changed_since else ""
        yield f"    written meanwhile: {one_line(file.path)}{changed or fate}"
    for task in view.tasks:
        yield f"    still runs: {one_line(task)}"


def _would_go(view: RevertPreview) -> str:
    tokens = f"{abs(view.tokens):,} tokens"
    if view.checkpoint is None:
        change = f"{tokens} {'more' if view.tokens < 0 else 'fewer'} than now" if view.tokens else "as many tokens"
        return f"Restoring {view.file} makes all of it the live timeline: {change}. The present is kept in a rotation."
    where = f"Going over to checkpoint {view.checkpoint} of {view.file}" if view.file else "Going back to checkpoint"
    where += "" if view.file else f" {view.checkpoint}"
    return (
        f"{where} drops {view.steps} steps, {view.messages} messages, {view.tool_calls} tool calls, "
        f"{tokens}{' more than now' if view.tokens < 0 else ''}."
    )


def rotations(found: Sequence[RotationView]) -> Iterator[str]:
    if not found:
        yield "There are no rotations yet: nothing has been reverted, compacted or cleared."
    for each in found:
        marks = "".join(f", {word}" for word, on in (("pinned", each.pinned), ("compressed", each.compressed)) if on)
        why = f", left by {each.why}" if each.why else ""
        yield one_line(
            f"{each.file}{why}{f', {_when(each.at)}' if each.at else ''}: {each.messages} messages, "
            f"{each.tokens:,} tokens, {size(each.size)}{marks}"
        )
    if found:
        yield "/read FILE shows one, /restore FILE makes it live again, /diff now FILE compares."


def context(event: ContextMeasured) -> Iterator[str]:
    yield gauge(event.tokens)
    for share in sorted(event.shares, key=lambda each: -each.tokens):
        yield f"{'' if share.exact else 'about '}{share.tokens:,} {one_line(share.category)}"
        yield from (f"    {tokens:,} {shortened(what, _WIDTH)}" for what, tokens in share.items)


def gauge(tokens: Tokens) -> str:
    """How full the context is, and what it has cost."""
    pending = f" and about {tokens.pending:,} since" if tokens.pending else ""
    share = f", {tokens.total / tokens.window:.0%} of {tokens.window:,}" if tokens.window else ""
    cost = "" if tokens.cost is None else f", {tokens.cost:.2f} dollars"
    return f"Context: {tokens.exact:,} tokens{pending}{share}{cost}."


def models(event: ModelsListed) -> Iterator[str]:
    for model in event.models:
        mark = " (in use)" if model.name == event.current else ""
        yield f"{one_line(model.name)}{mark}{f', {model.window:,} tokens' if model.window else ''}"
    yield "/model NAME uses another one."


def sessions(found: Sequence[SessionView]) -> Iterator[str]:
    for number, each in enumerate(found, 1):
        marks = ", open elsewhere" if each.locked else ", made by kimi-cli" if each.foreign else ""
        yield one_line(f"{number}. {shortened(each.title, 60)}, {_when(each.at)}, {each.work_dir}{marks}")
    yield "/sessions NUMBER opens one." if found else "There are no sessions yet."


def tasks(found: Sequence[TaskView]) -> Iterator[str]:
    for each in found:
        code = "" if each.exit_code is None else f", exit {each.exit_code}"
        why = f", {each.reason}" if each.reason else ""
        yield one_line(f"{each.id}: {each.status}{code}{why}: {each.command}")
    yield "/tasks ID shows its output, /tasks stop ID ends it." if found else "There are no background tasks."


def servers(found: Sequence[McpServerView]) -> Iterator[str]:
    for each in found:
        error = f", {each.error}" if each.error else ""
        state = "sign in" if each.state == "locked" else each.state
        yield one_line(f"{each.name}: {state}, {len(each.tools)} tools, {each.transport} {each.target}{error}")
    yield (
        "/mcp restart NAME starts one anew, /mcp sign-in NAME has you sign in."
        if found
        else "No tool servers are configured."
    )


def compared(event: TimelinesCompared) -> Iterator[str]:
    yield one_line(f"{event.common} messages in common; {event.right} has {event.tokens:+,} tokens.")
    for side, entries in ((event.left, event.only_left), (event.right, event.only_right)):
        yield from (f"only in {one_line(side)}: {entry_line(entry)}" for entry in entries)


def entries(found: Sequence[Entry], start: int) -> Iterator[str]:
    """Entries with the numbers by which they are pinned and dropped; the first one's is `start`."""
    for number, entry in enumerate(found, start):
        yield f"{number}{', pinned' if entry.pinned else ''}: {entry_line(entry)}"
    yield "/pin N keeps one, /drop N takes a tool's result out." if found else "There are none yet."


def entry_line(entry: Entry) -> str:
    """One block of the chat on one line."""
    if entry.switch is not None and not entry.text:
        return switch_line(entry.switch)
    return tool_line(entry.tool) if entry.tool else f"{entry.kind}: {shortened(entry.text, _WIDTH)}"


def _when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def examined(path: str) -> Iterator[str]:
    """What the doctor says of a session."""
    from kimi_tui.session.checkup import look_over, told

    try:
        yield from told(look_over(Path(path) / "context.jsonl"))
    except (Fault, OSError) as fault:
        yield str(fault)


def note(rows: list[TimelineRow], row: TimelineRow) -> None:
    """Newest first; a step's row takes the place of what was known of it."""
    same = (each.kind == row.kind and each.file == row.file and each.offset == row.offset for each in rows)
    place = next((index for index, found in enumerate(same) if found), None)
    if place is None:
        rows.insert(0, row)
    else:
        rows[place] = row

"""The timelines of a session as a tree: checkpoints, rotations, why, when."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from kimi_tui.cli.reading import named, open_context, read_projection
from kimi_tui.context import CheckpointMark, Context, Message, Node, Projection, Timeline
from kimi_tui.literal import one_line, shortened
from kimi_tui.session import Session, SessionFault
from kimi_tui.session.peek import is_reminder

_LABEL = 60


@click.command("show")
@click.argument("path")
@click.option("--json", "as_json", is_flag=True, help="As one JSON object.")
def show(path: str, as_json: bool) -> None:
    """Show the tree: what is meant when no verb is named."""
    session = named(path).session
    context = open_context(session)
    tree = _tree(session, context)
    if as_json:
        print(json.dumps(tree, indent=2))
    else:
        for line in _drawn(tree):
            print(line)


def _tree(session: Session, context: Context) -> dict[str, Any]:
    return {
        "session": str(session.folder),
        "live": context.timeline.live_id,
        "undo": list(context.timeline.undo),
        "redo": list(context.timeline.redo),
        "problems": [f"{problem.file}: {problem.what}" for problem in context.problems],
        "timelines": [_timeline(session.folder, context.timeline, node) for node in context.timeline.nodes],
    }


def _timeline(folder: Path, timeline: Timeline, node: Node) -> dict[str, Any]:
    """One timeline; what its file no longer tells (pruned away, unreadable) is null."""
    birth = node.birth
    projection = _read(folder, node.file)
    return {
        "id": node.id,
        "parent": timeline.ancestor(node),
        "file": node.file,
        "live": node.live,
        "pinned": node.file in timeline.pinned,
        "why": birth.why if birth else None,
        "at": birth.at if birth else None,
        "checkpoint": birth.checkpoint if birth else None,
        "note": birth.note if birth else "",
        "messages": len(projection.history) if projection else None,
        "tokens": projection.tokens if projection else None,
        "size": projection.size if projection else None,
        "checkpoints": _checkpoints(projection, timeline.names(node.id)) if projection else [],
    }


def _checkpoints(projection: Projection, names: dict[int, str]) -> list[dict[str, Any]]:
    marks = projection.checkpoints
    stops = (*(mark.history_index for mark in marks[1:]), len(projection.history))
    return [
        {**_checkpoint(projection, mark, stop), "name": names.get(mark.id, "")}
        for mark, stop in zip(marks, stops, strict=False)
    ]


def _read(folder: Path, file: str) -> Projection | None:
    try:
        return read_projection(folder, file)
    except SessionFault:
        return None


def _checkpoint(projection: Projection, mark: CheckpointMark, stop: int) -> dict[str, Any]:
    step = projection.history[mark.history_index : stop]
    return {
        "id": mark.id,
        "offset": mark.offset,
        "at": mark.at,
        "messages": mark.history_index,
        "tokens": mark.tokens,
        "label": next(filter(None, map(_label, step)), ""),
    }


def _label(message: Message) -> str:
    """What the step began with: the prompt, the tools that were called, or what was said; nothing for a reminder."""
    calls = ", ".join(call.function.name for call in message.tool_calls or ())
    text = message.text(" ")
    return "" if is_reminder(text) else shortened(calls or text, _LABEL)


def _drawn(tree: dict[str, Any]) -> Iterator[str]:
    yield one_line(tree["session"])
    yield from (f"! {one_line(problem)}" for problem in tree["problems"])
    by_id = {timeline["id"]: timeline for timeline in tree["timelines"]}
    children: dict[str | None, list[dict[str, Any]]] = {}
    for timeline in tree["timelines"]:
        children.setdefault(timeline["parent"] if timeline["parent"] in by_id else None, []).append(timeline)
    for root in children.get(None, ()):
        yield from _line(children, root, "", _ancestry(by_id, tree["live"]))


def _ancestry(by_id: dict[str, dict[str, Any]], live: str | None) -> set[str]:
    found: set[str] = set()
    while live in by_id and live not in found:
        found.add(live)
        live = by_id[live]["parent"]
    return found


def _line(
    children: dict[str | None, list[dict[str, Any]]], start: dict[str, Any], indent: str, trunk: set[str]
) -> Iterator[str]:
    """A timeline and what grew out of it. The way to the present stays in one column, branches are set in."""
    timeline: dict[str, Any] | None = start
    while timeline:
        yield f"{indent}{'◉' if timeline['live'] else '○'} {_headline(timeline)}"
        yield from (f"{indent}│ ● {_point(mark)}" for mark in timeline["checkpoints"])
        grown = sorted(children.get(timeline["id"], ()), key=lambda child: child["id"] in trunk)
        for branch in grown[:-1]:
            yield from _line(children, branch, f"{indent}│ ", trunk)
        timeline = grown[-1] if grown else None


def _headline(timeline: dict[str, Any]) -> str:
    facts = [timeline["file"]]
    if timeline["live"]:
        facts.append("now")
    if timeline["pinned"]:
        facts.append("pinned")
    if timeline["why"]:
        target = "" if timeline["checkpoint"] is None else f" to {timeline['checkpoint']}"
        facts.append(f"{timeline['why']}{target} {_when(timeline['at'])}")
    if timeline["messages"] is None:
        facts.append("cannot be read")
    else:
        facts.append(f"{timeline['messages']} messages, {timeline['tokens']:,} tokens")
    if timeline["note"]:
        facts.append(shortened(timeline["note"], _LABEL))
    return " · ".join(facts)


def _point(mark: dict[str, Any]) -> str:
    when = f"{_when(mark['at'])}  " if mark["at"] else ""
    name = f"«{one_line(mark['name'])}» " if mark["name"] else ""
    return f"{mark['id']:>3}  {when}{mark['tokens']:>8,}  {name}{mark['label']}".rstrip()


def _when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))

"""What scripts can do with a timeline: go back, restore, undo, redo, compare, look at files, prune, pin, name."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import click

from kimi_tui.cli.changing import changed
from kimi_tui.cli.reading import named, open_context
from kimi_tui.cli.saying import json_option, path_argument, say
from kimi_tui.cli.sides import Side, rotation
from kimi_tui.cli.timeline_files import Take, dry_run_option, files, takes_files
from kimi_tui.cli.timeline_jumps import REDO, UNDO, Journey, step, travel_to
from kimi_tui.cli.timeline_prune import prune
from kimi_tui.context import CheckpointRef, Context, Message, compare
from kimi_tui.literal import one_line, shortened
from kimi_tui.session import SessionFault

_WIDTH = 100


@click.command("revert", short_help="Go back to right before a checkpoint.")
@path_argument
@click.argument("checkpoint", metavar="ID", type=click.IntRange(min=0))
@click.option("--note", metavar="TEXT", default="", help="Carried over to the earlier point, as a message from you.")
@takes_files
@json_option
def revert(
    path: str, checkpoint: int, note: str, take: Take, overwrite: tuple[str, ...], dry_run: bool, as_json: bool
) -> None:
    """Go back to right before checkpoint ID; all after it stays in a rotation."""
    travel_to(named(path).session, f"now@{checkpoint}", Journey(take, overwrite, note), dry_run, as_json)


@click.command("restore", short_help="Make a rotation the live timeline.")
@path_argument
@click.argument("file")
@click.option("--note", metavar="TEXT", default="", help="Added at its end, as a message from you.")
@takes_files
@json_option
def restore(
    path: str, file: str, note: str, take: Take, overwrite: tuple[str, ...], dry_run: bool, as_json: bool
) -> None:
    """Make FILE the live timeline: a rotation (context_2.jsonl), or what it holds before a checkpoint (…@N)."""
    travel_to(named(path).session, file, Journey(take, overwrite, note, restores=True), dry_run, as_json)


@click.command("undo", short_help="Take back the last jump, and what it did to files.")
@path_argument
@dry_run_option
@json_option
def undo(path: str, dry_run: bool, as_json: bool) -> None:
    """Take back the last jump, whatever made it, and the files that went with it."""
    step(named(path).session, UNDO, dry_run, as_json)


@click.command("redo", short_help="Do again what was undone last.")
@path_argument
@dry_run_option
@json_option
def redo(path: str, dry_run: bool, as_json: bool) -> None:
    """Do again what was undone last."""
    step(named(path).session, REDO, dry_run, as_json)


@click.command("diff", short_help="Compare two points of the session.")
@path_argument
@click.argument("left")
@click.argument("right")
@json_option
def diff(path: str, left: str, right: str, as_json: bool) -> None:
    """Compare two points: now, now@N, context_2.jsonl, context_2.jsonl@N (right before checkpoint N)."""
    session = named(path).session
    context = open_context(session)
    one, other = Side.of(context, left), Side.of(context, right)
    try:
        found = compare(one.read(context), other.read(context), left_until=one.until, right_until=other.until)
    except ValueError as fault:
        raise SessionFault(str(fault)) from fault
    body = {
        "session": str(session.folder),
        "left": left,
        "right": right,
        "common": found.common,
        "only_left": [_dumped(message) for message in found.only_left],
        "only_right": [_dumped(message) for message in found.only_right],
        "tokens": found.tokens,
    }
    common = f"{found.common} messages in common; {one_line(right)} has {found.tokens:+,} tokens"
    say(as_json, body, [common, *_messages("-", found.only_left), *_messages("+", found.only_right)])


def _dumped(message: Message) -> dict[str, Any]:
    return message.model_dump(mode="json", exclude_none=True)


def _messages(mark: str, messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        calls = ", ".join(call.function.name for call in message.tool_calls or ())
        said = f"{message.text(' ')} {f'[{calls}]' if calls else ''}".strip()
        yield f"{mark} {message.role}: {shortened(said, _WIDTH)}"


@click.command("pin")
@path_argument
@click.argument("file")
@json_option
def pin(path: str, file: str, as_json: bool) -> None:
    """No policy removes the rotation FILE from now on."""
    _pin(path, file, as_json, on=True)


@click.command("unpin")
@path_argument
@click.argument("file")
@json_option
def unpin(path: str, file: str, as_json: bool) -> None:
    """The rotation FILE counts like any other again."""
    _pin(path, file, as_json, on=False)


def _pin(path: str, file: str, as_json: bool, *, on: bool) -> None:
    session = named(path).session

    async def change(context: Context) -> str:
        found = rotation(context, file)
        await context.pin(found, on)
        return found

    found = changed(session, change)
    body = {"session": str(session.folder), "file": found, "pinned": on}
    say(as_json, body, [f"{found} is {'pinned' if on else 'no longer pinned'}"])


@click.command("name")
@path_argument
@click.argument("checkpoint", metavar="ID", type=click.IntRange(min=0))
@click.argument("text", metavar="NAME")
@click.option("--file", metavar="FILE", help="A checkpoint of a rotation. Default: of the live timeline.")
@json_option
def name(path: str, checkpoint: int, text: str, file: str | None, as_json: bool) -> None:
    """Give checkpoint ID a NAME; an empty one takes it away."""
    session = named(path).session

    async def change(context: Context) -> str:
        side = Side.of(context, file or "now")
        (await asyncio.to_thread(side.read, context)).find(CheckpointRef(checkpoint))
        await context.name_checkpoint(checkpoint, one_line(text), file=side.file)
        return side.file

    found = changed(session, change)
    body = {"session": str(session.folder), "file": found, "checkpoint": checkpoint, "name": one_line(text)}
    what = f"is called {one_line(text)}" if text.strip() else "has no name now"
    say(as_json, body, [f"checkpoint {checkpoint} of {found} {what}"])


ALL = (revert, restore, undo, redo, diff, files, prune, pin, unpin, name)

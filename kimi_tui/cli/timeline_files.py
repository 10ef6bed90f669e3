"""Files of the project on the command line: what going back would do to them, and what it did."""

from __future__ import annotations

import asyncio
import difflib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import click

from kimi_tui.agent.travel.files import Files, files_of, nothing_recorded
from kimi_tui.agent.travel.goals import since_rotation
from kimi_tui.cli.reading import named, open_context
from kimi_tui.cli.saying import json_option, path_argument, say
from kimi_tui.cli.sides import Side
from kimi_tui.context import Context
from kimi_tui.literal import one_line
from kimi_tui.options import LaunchOptions
from kimi_tui.protocol.views import DiffView, FileTouched
from kimi_tui.session import Session, SessionFault
from kimi_tui.session.snapshots import Kept, Passage, RestoreResult
from kimi_tui.session.snapshots.log import NAME
from kimi_tui.session.state import read_state
from kimi_tui.settings import load_settings

Take = Literal["conversation", "both", "files"]
F = TypeVar("F", bound=Callable[..., Any])

_FATES = {"rewritten": "put back", "deleted": "removed", "recreated": "made again", "": "touched"}
_INDENT = 12


dry_run_option = click.option("--dry-run", is_flag=True, help="Only say what would be done.")


def takes_files(verb: F) -> F:
    """The options of a verb that can take files along."""
    take = click.option(
        "--take",
        type=click.Choice(["conversation", "both", "files"]),
        default="conversation",
        help="What goes there. Default: conversation; files of the project stay as they are.",
    )
    overwrite = click.option(
        "--overwrite", metavar="FILE", multiple=True, help="Put back a file that was edited since, too. Repeatable."
    )
    return take(overwrite(dry_run_option(verb)))


@click.command("files", short_help="What going back would do to the project's files.")
@path_argument
@click.argument("point")
@click.argument("only", metavar="[FILE]...", nargs=-1)
@click.option("--diff", "as_diff", is_flag=True, help="Show the differences, from how files are now.")
@json_option
def files(path: str, point: str, only: tuple[str, ...], as_diff: bool, as_json: bool) -> None:
    """Say what putting the project's files back to POINT would do: to all, or to these FILEs.

    POINT is a checkpoint (3, now@3), a rotation (context_2.jsonl: when it was left), or a checkpoint of one
    (context_2.jsonl@3). Nothing is changed; `revert` and `restore` with --take do it."""
    session = named(path).session
    try:
        found = asyncio.run(_foreseen(session, open_context(session), point, frozenset(only), as_diff))
    except ValueError as fault:
        raise SessionFault(str(fault)) from fault
    body = {
        "session": str(session.folder),
        "point": point,
        "files": [listed(file) | (_diff_of(diff) if as_diff else {}) for file, diff in found],
    }
    lines = [line for file, diff in found for line in (told(file), *(_differences(file, diff) if as_diff else ()))]
    say(as_json, body, lines or ["no file would change"], spaced=True)


async def _foreseen(
    session: Session, context: Context, point: str, only: frozenset[str], as_diff: bool
) -> list[tuple[FileTouched, DiffView | None]]:
    """Every file with what would become of it; with its difference where that is wanted."""
    side = Side.of(context, f"now@{point}" if point.isdecimal() else point)
    book = recorded(session, looking=True)
    try:
        passages = await asyncio.to_thread(passages_since, context, book, side)
        touched = [file for file in await book.touched(passages) if not only or file.path in only]
        return [(file, await book.diff(passages, file.path) if as_diff else None) for file in touched]
    finally:
        await book.close()


def recorded(session: Session, *, looking: bool = False) -> Files:
    """The files of the folder that the session works in. Raises `SessionFault` when they cannot be had."""
    told = read_state(session.folder).work_dir
    if not told:
        raise _not_to_be_had(f"{session.folder} does not say which folder it works in")
    if not Path(told).is_dir():
        raise _not_to_be_had(f"{told} is not there")
    home = replace(session, work_dir=Path(told))
    wanted = load_settings(LaunchOptions(work_dir=home.work_dir)).snapshots
    if not wanted.enabled:
        raise _not_to_be_had("the configuration has snapshots switched off")
    return files_of(home, wanted, _warn, recording=not looking)


def _not_to_be_had(why: str) -> SessionFault:
    return SessionFault(f"{why}: files cannot be put back", hint="Without --take only the conversation moves.")


def recorded_if_any(session: Session, *, looking: bool = False) -> Files:
    """The same for a jump that goes on without them, and says so."""
    try:
        return recorded(session, looking=looking)
    except SessionFault as why:
        if (session.folder / NAME).exists():
            _warn(str(why))
        return nothing_recorded()


def _warn(text: str) -> None:
    print(f"kimi-tui: {one_line(text)}", file=sys.stderr)


def passages_since(context: Context, book: Files, side: Side) -> Sequence[Passage]:
    """All that has changed files since that point. Runs in a worker: reads the rotation. Raises `SessionFault`."""
    live = side.file == context.file_backend.name
    if side.until is not None:
        return book.since(side.read(context).find(side.until))
    if live:
        raise SessionFault("the present is where the files are", hint="A point is N, now@N, FILE or FILE@N.")
    return since_rotation(context, book, side.file)


# --- words -------------------------------------------------------------------------------------------------------


def listed(file: FileTouched) -> dict[str, Any]:
    """One file of a preview, for scripts."""
    return {
        "path": file.path,
        "change": file.change or None,
        "edited": bool(file.changed_since),
        "kept": file.stays or ("edited since" if file.changed_since else ""),
    }


def told(file: FileTouched) -> str:
    if file.stays:
        return _line("stays", file.path, file.stays)
    if file.changed_since:
        return _line("kept", file.path, "edited since: --overwrite puts it back all the same")
    return _line(_FATES[file.change], file.path)


def _line(word: str, path: str, why: str = "") -> str:
    return f"{word:<{_INDENT}}{one_line(path)}{f' ({why})' if why else ''}"


def _diff_of(diff: DiffView | None) -> dict[str, Any]:
    return {"before": diff.before if diff else None, "after": diff.after if diff else None}


def _differences(file: FileTouched, diff: DiffView | None) -> Iterator[str]:
    """A unified diff, from how the file is now."""
    if diff is None:
        yield "  not text, or very long: not compared"
        return
    before, after = diff.before.splitlines(), diff.after.splitlines()
    yield from difflib.unified_diff(before, after, *_sides(file), lineterm="")


def _sides(file: FileTouched) -> tuple[str, str]:
    return f"now/{one_line(file.path)}", f"then/{one_line(file.path)}"


def restored(result: RestoreResult | None) -> dict[str, Any] | None:
    """What became of the files, for scripts; null when they were not meant, or are not recorded."""
    if result is None:
        return None
    return {
        "written": list(result.written),
        "removed": list(result.removed),
        "kept": [_kept(each) for each in result.conflicts],
        "failed": [_kept(each) for each in result.failed],
    }


def _kept(kept: Kept) -> dict[str, str]:
    return {"path": kept.path, "why": kept.why}


def restored_lines(result: RestoreResult | None) -> Iterator[str]:
    if result is None:
        return
    yield from (_line("put back", path) for path in result.written)
    yield from (_line("removed", path) for path in result.removed)
    yield from (_line("kept", each.path, each.why) for each in (*result.conflicts, *result.failed))
    if not (result.written or result.removed or result.conflicts or result.failed):
        yield "no file had to be changed"

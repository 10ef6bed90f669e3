"""`kimi-tui timeline prune`: the retention policy on demand, with a dry run."""

from __future__ import annotations

import asyncio

import click

from kimi_tui.cli.changing import changed
from kimi_tui.cli.progress import size
from kimi_tui.cli.reading import named, open_context
from kimi_tui.cli.saying import json_option, path_argument, say
from kimi_tui.context import Budget, Context, Proposal
from kimi_tui.options import LaunchOptions
from kimi_tui.session import Session
from kimi_tui.settings import load_settings
from kimi_tui.sizes import bytes_in

Done = tuple[Proposal, int]
"""A change, and the bytes that it frees."""


@click.command("prune", short_help="Compress and remove old rotations.")
@path_argument
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--keep", metavar="N", type=click.IntRange(min=0), help="So many rotations. Default: as configured.")
@click.option("--max-size", metavar="S", help="All rotations together: 200M, 1G. Default: as configured.")
@json_option
def prune(path: str, dry_run: bool, keep: int | None, max_size: str | None, as_json: bool) -> None:
    """Compress and remove old rotations. The newest three and the pinned ones stay, whatever the numbers say."""
    session = named(path).session
    budget = _budget(session, keep, _bytes(max_size))

    done = _planned(session, budget) if dry_run else changed(session, lambda context: _carried_out(context, budget))
    steps = [{"file": each.file, "change": each.change, "size": each.size, "freed": freed} for each, freed in done]
    freed = sum(count for _, count in done)
    body = {"session": str(session.folder), "dry_run": dry_run, "steps": steps, "freed": freed}
    verb = "would " if dry_run else ""
    lines = [f"{verb}{each.change} {each.file} ({size(each.size)})" for each, _ in done]
    say(as_json, body, [*lines, f"{size(freed)} {'would be ' * dry_run}freed" if done else "nothing to prune"])


def _budget(session: Session, keep: int | None, most: int | None) -> Budget:
    wanted = load_settings(LaunchOptions(work_dir=session.work_dir)).retention
    return Budget(
        rotations=wanted.max_rotations if keep is None else keep,
        size=bytes_in(wanted.max_size) if most is None else most,
        compress_after=wanted.compress_after,
        untouched=wanted.keep_last,
    )


def _bytes(text: str | None) -> int | None:
    """Raises `UsageError`."""
    try:
        return None if text is None else bytes_in(text)
    except ValueError as error:
        raise click.UsageError(f"{error}.") from error


def _planned(session: Session, budget: Budget) -> list[Done]:
    """What it would be; of what compressing frees, about."""
    found = asyncio.run(open_context(session).pruning(budget))
    return [(each, each.frees) for each in found.proposals]


async def _carried_out(context: Context, budget: Budget) -> list[Done]:
    done: list[Done] = []
    for each in (await context.pruning(budget)).proposals:
        change = context.compress if each.change == "compress" else context.delete
        done.append((each, await change(each.file)))
    return done

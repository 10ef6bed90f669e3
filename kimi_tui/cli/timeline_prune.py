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
    storage = load_settings(LaunchOptions(work_dir=session.work_dir)).storage
    return Budget(
        storage.max_rotations if keep is None else keep,
        storage.max_megabytes * 1_000_000 if most is None else most,
    )


def _bytes(text: str | None) -> int | None:
    """`200M`, `1.5 GB`, `4096`. Raises `UsageError`."""
    if text is None:
        return None
    number = text.strip().upper().removesuffix("B").rstrip()
    power = "KMG".find(number[-1:]) + 1 if number[-1:] else 0
    try:
        amount = float(number[:-1] if power else number)
        count = int(amount * 1000**power)
    except (ValueError, OverflowError):
        count = -1
    if count < 0:
        raise click.UsageError(f"{text!r} is no size: 200M, 1G, 4096.")
    return count


def _planned(session: Session, budget: Budget) -> list[Done]:
    """What it would be; what packing would free is not known before."""
    proposals = asyncio.run(open_context(session).over_budget(budget))
    return [(each, each.size if each.change == "delete" else 0) for each in proposals]


async def _carried_out(context: Context, budget: Budget) -> list[Done]:
    done: list[Done] = []
    for each in await context.over_budget(budget):
        change = context.compress if each.change == "compress" else context.delete
        done.append((each, await change(each.file)))
    return done

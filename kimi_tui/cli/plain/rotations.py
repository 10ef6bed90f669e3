"""What `/rotations` can do beside listing: keep, pack, remove and export one, or prune all by the session's budget."""

from __future__ import annotations

from collections.abc import Iterator

from kimi_tui.literal import one_line
from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol.views import PruningView
from kimi_tui.sizes import size_of

USAGE = "[pin | unpin | compress | delete | export FILE] or [prune]"


def meant(words: list[str]) -> cmd.Command | None:
    """The command behind `/rotations WORDS`; None when they say nothing. `delete` is yet to be asked about."""
    match words:
        case []:
            return cmd.ListRotations()
        case ["prune"]:
            return cmd.ProposePruning()
        case [("pin" | "unpin" | "compress" | "delete") as change, file]:
            return cmd.ChangeRotation(_whole(file), change)
        case ["export", file]:
            return cmd.ExportTimeline(_whole(file))
        case ["export", file, ("md" | "json" | "html") as kind]:
            return cmd.ExportTimeline(_whole(file), kind)
    return None


def _whole(file: str) -> str:
    return file if ".jsonl" in file else f"{file}.jsonl"


def proposed(pruning: PruningView) -> Iterator[str]:
    """What pruning would do, and how the session stands."""
    yield (
        f"{pruning.rotations} of at most {pruning.max_rotations} rotations, {size_of(pruning.size)} of "
        f"{size_of(pruning.max_size)}."
    )
    for step in pruning.steps:
        lost = f", {step.step} could go there" if step.step and step.change == "delete" else ""
        freed = f"{'about ' if step.change == 'compress' else ''}{size_of(step.frees)} freed"
        yield one_line(f"would {step.change} {step.file}: {freed}{lost}")
    if not pruning.steps:
        yield "There is nothing to prune."

"""Names points of a session as the command line does: `now`, `now@N`, `context_2.jsonl`, `context_2.jsonl@N`."""

from __future__ import annotations

from dataclasses import dataclass

from kimi_tui.cli.reading import read_projection
from kimi_tui.context import CheckpointRef, Context, Projection
from kimi_tui.session import SessionFault

NOW = "now"


@dataclass(frozen=True, slots=True)
class Side:
    """A timeline's file, and the checkpoint up to which it counts (None: all of it)."""

    file: str
    until: CheckpointRef | None

    @classmethod
    def of(cls, context: Context, name: str) -> Side:
        """Raises `SessionFault` for a file that is none of this session's, or a checkpoint that is no number."""
        file, at, checkpoint = name.partition("@")
        if at and not checkpoint.isdecimal():
            raise SessionFault(f"{checkpoint!r} is no checkpoint", hint="A point is FILE@N, or now@N.")
        return cls(_timeline(context, file), CheckpointRef(int(checkpoint)) if at else None)

    def read(self, context: Context) -> Projection:
        """What the file says. Raises `SessionFault`."""
        if self.file == context.file_backend.name:
            return context.projection
        return read_projection(context.file_backend.parent, self.file)


def rotation(context: Context, file: str) -> str:
    """The rotation of that name. Raises `SessionFault`, which names those that there are."""
    found = _timeline(context, file)
    if found == context.file_backend.name:
        raise SessionFault(f"{found} is the live timeline, not a rotation{_those(context)}")
    return found


def _timeline(context: Context, file: str) -> str:
    if file == NOW:
        return context.file_backend.name
    for name in (file, f"{file}.jsonl"):
        if context.timeline.node_of(name) is not None:
            return name
    raise SessionFault(f"{file} is no timeline of this session{_those(context)}")


def _those(context: Context) -> str:
    files = [node.file for node in context.timeline.nodes if not node.live]
    return f", which has {', '.join(files)}" if files else ", which has no rotations"

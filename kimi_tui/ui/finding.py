"""Find in the conversation: which blocks hold the words."""

from __future__ import annotations

from collections.abc import Sequence

from kimi_tui.protocol.views import Entry
from kimi_tui.ui.conversation import Block


def matches(blocks: Sequence[Block], query: str) -> list[int]:
    """Positions of the blocks that hold the query in either case, oldest first."""
    wanted = query.casefold()
    if not wanted.strip():
        return []
    return [number for number, block in enumerate(blocks) if block.entry and wanted in _text(block.entry).casefold()]


def _text(entry: Entry) -> str:
    """All that can be seen of an entry when it is unfolded."""
    tool = entry.tool
    if tool is None:
        return entry.text
    changes = [part for diff in tool.diffs for part in (diff.path, diff.before, diff.after)]
    return "\n".join((f"{tool.verb} {tool.subject} {tool.brief}", tool.output, *changes))


def spans(text: str, query: str) -> list[tuple[int, int]]:
    """Where the query stands in one row, as character positions."""
    low, wanted, found, at = text.lower(), query.lower(), [], 0
    if len(low) != len(text) or not wanted:  # a letter that changes its length: better no mark than a wrong one
        return []
    while (at := low.find(wanted, at)) >= 0:
        found.append((at, at + len(wanted)))
        at += len(wanted)
    return found

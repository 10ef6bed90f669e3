"""The conversation as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kimi_tui.literal import one_line
from kimi_tui.session.export.sections import Block, Heading, Section


def markdown(heading: Heading, sections: Iterable[Section]) -> str:
    facts = "\n".join(f"- {name}: {_code(value)}" for name, value in heading.facts)
    parts = [f"# {_escaped(one_line(heading.title))}", facts]
    for section in sections:
        parts += [f"## {section.who}", *map(_block, section.blocks)]
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> str:
    if block.prose:
        return block.text.strip("\n")
    fence = _fence(block.text)
    label = f"**{_escaped(one_line(block.label))}**\n\n" if block.label else ""
    return f"{label}{fence}\n{block.text.rstrip()}\n{fence}"


def _fence(text: str) -> str:
    """Longer than any row of backticks inside, so that nothing in the text can end it."""
    longest = max((len(row) for row in re.findall(r"`+", text)), default=0)
    return "`" * max(3, longest + 1)


def _code(text: str) -> str:
    text = one_line(text)
    marks = "`" * (len(_fence(text)) if "`" in text else 1)
    return f"{marks} {text} {marks}" if "`" in text else f"`{text}`"


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|!])", r"\\\1", text)

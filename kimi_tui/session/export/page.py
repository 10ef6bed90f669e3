"""The conversation as one page that needs nothing else: no script, no font, no address."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from kimi_tui.literal import one_line
from kimi_tui.resources import folder
from kimi_tui.session.export.sections import Block, Heading, Section


def page(heading: Heading, sections: Iterable[Section]) -> str:
    title = escape(one_line(heading.title))
    style = (folder("styles") / "export.css").read_text(encoding="utf-8")
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(one_line(value))}</dd>" for name, value in heading.facts)
    body = "\n".join(map(_section, sections))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<header><h1>{title}</h1><dl>{facts}</dl></header>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _section(section: Section) -> str:
    blocks = "\n".join(map(_block, section.blocks))
    return f'<section class="{section.who.lower()}">\n<h2>{section.who}</h2>\n{blocks}\n</section>'


def _block(block: Block) -> str:
    text = escape(block.text.rstrip())
    if block.prose:
        return f'<div class="prose">{text}</div>'
    if not block.label:
        return f"<pre>{text}</pre>"
    return f"<details><summary>{escape(one_line(block.label))}</summary><pre>{text}</pre></details>"

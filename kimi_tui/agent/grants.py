"""What the user allowed for the whole session, as text in `state.json` and back."""

from __future__ import annotations

import re

from kimi_tui.tools.approval import AllowRule

_PATTERN = re.compile(r"([\w*-]+)\((.*)\)", re.DOTALL)
_LITERAL = re.compile(r"([\w*-]+)\[(.*)\]", re.DOTALL)


def written(rule: AllowRule) -> str:
    """`Shell(pytest *)` for a pattern, `Shell[rm x]` for one that is meant letter by letter."""
    return f"{rule.tool}[{rule.pattern}]" if rule.literal else f"{rule.tool}({rule.pattern})"


def read(text: str) -> AllowRule | None:
    """The rule that was written so; None for what another program wrote."""
    if found := _PATTERN.fullmatch(text):
        return AllowRule(found[1], found[2])
    if found := _LITERAL.fullmatch(text):
        return AllowRule(found[1], found[2], literal=True)
    return None

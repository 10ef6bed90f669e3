"""The signs that tell states apart without colour, and their ASCII forms."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Marks:
    """One sign a state; all are one cell wide."""

    ok: str = "✓"
    bad: str = "✗"
    refused: str = "⊘"
    stopped: str = "■"
    running: str = "▸"
    folded: str = "▸"
    unfolded: str = "▾"
    user: str = "▌"
    steer: str = "▏"
    rail: str = "│"
    prompt: str = "❯"
    caret: str = "▍"
    now: str = "◉"
    point: str = "●"
    dmail: str = "↶"
    revert: str = "↩"
    compact: str = "◆"
    clear: str = "◇"
    restore: str = "↺"
    note: str = "·"
    dot: str = "·"
    arrow: str = "→"
    exact: str = "━"
    pending: str = "╍"
    room: str = "─"
    reserve: str = "░"
    trigger: str = "▲"
    more: str = "…"
    below: str = "↓"
    spinner: str = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
    redo: str = "↪"
    gone: str = "○"
    branch: str = "├─╮"
    stub: str = "├─"
    corner: str = "╰─"
    named: str = "★"
    cursor: str = "›"
    full: str = "█"
    pin: str = "◈"


UNICODE = Marks()
ASCII = Marks(
    ok="+",
    bad="x",
    refused="/",
    stopped="#",
    running=">",
    folded=">",
    unfolded="v",
    user="|",
    steer="|",
    rail="|",
    prompt=">",
    caret="_",
    now="@",
    point="*",
    dmail="<",
    revert="<",
    compact="#",
    clear="0",
    restore="^",
    note="-",
    dot="-",
    arrow=">",
    exact="=",
    pending="~",
    room="-",
    reserve=".",
    trigger="^",
    more="~",
    below="v",
    spinner="|/-\\",
    redo=">",
    gone="o",
    branch="|-.",
    stub="|-",
    corner="`-",
    named="!",
    cursor=">",
    full="#",
    pin="&",
)

"""What waits while a turn runs, as numbered lines: each can be written anew, taken back or removed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from kimi_tui.literal import one_line
from kimi_tui.protocol import commands as cmd
from kimi_tui.ui.state import ScreenState

Kind = Literal["steers", "prompts"]

_WHEN: dict[Kind, str] = {"steers": "joins this turn", "prompts": "after this turn"}
USAGE = "It is /queue, /queue edit N TEXT, /queue take N or /queue drop N."


def lines(state: ScreenState) -> Iterator[str]:
    waiting = _waiting(state)
    if not waiting:
        yield "Nothing waits."
    for number, (kind, _, text) in enumerate(waiting, 1):
        yield f"{number}. {_WHEN[kind]}: {one_line(text)}"


def change(argument: str, state: ScreenState) -> tuple[cmd.Command, ...]:
    """What `edit N TEXT`, `take N` and `drop N` mean; nothing when there is no such text."""
    verb, _, rest = argument.partition(" ")
    number, _, text = rest.strip().partition(" ")
    waiting = _waiting(state)
    if not number.isdecimal() or not 0 < int(number) <= len(waiting):
        return ()
    kind, place, old = waiting[int(number) - 1]
    match verb:
        case "take" if not text:
            return (cmd.TakeQueued(kind, place, old),)
        case "drop" if not text:
            return (cmd.TakeQueued(kind, place, old, drop=True),)
        case "edit" if text.strip():
            written = text.strip()
            again = cmd.Steer(written, (), place) if kind == "steers" else cmd.SendPrompt(written, (), place)
            return cmd.TakeQueued(kind, place, old, drop=True), again
    return ()


def _waiting(state: ScreenState) -> list[tuple[Kind, int, str]]:
    """Queue, place in it, text; in the order in which they go out."""
    steers: list[tuple[Kind, int, str]] = [("steers", place, text) for place, text in enumerate(state.steers)]
    return [*steers, *(("prompts", place, text) for place, text in enumerate(state.prompts))]

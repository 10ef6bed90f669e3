"""What a line of the user's means is carried out: by the agent, by questions and the agent, or by lists alone."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kimi_tui.cli.plain import listings, queue, slash
from kimi_tui.cli.plain.going_back import GoingBack, Point
from kimi_tui.cli.plain.telling import todo_line
from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev

if TYPE_CHECKING:
    from kimi_tui.cli.plain_mode import Conversation

ENTRIES = 20
"""Listed unless another number is asked for."""


class Left(Exception):
    """The user has left."""


class CarryingOut:
    """Of one conversation."""

    def __init__(self, talk: Conversation) -> None:
        self._talk = talk

    def do(self, meaning: cmd.Command | slash.Said | slash.Wanted) -> None:
        """All of it, until nothing runs any more. Raises `Left` for the wish to leave."""
        match meaning:
            case slash.Said(lines):
                self._talk.console.say(lines)
            case slash.Wanted("exit"):
                raise Left
            case slash.Wanted("timeline"):
                self._talk.console.say([*listings.timeline(self._talk.rows)])
            case slash.Wanted("rewind" | "restore", point):
                self._go_back(Point.named(point))
            case slash.Wanted("sessions", number):
                self._pick(number)
            case slash.Wanted("entries", count):
                self._list_entries(int(count or ENTRIES))
            case slash.Wanted("queue"):
                self._talk.console.say([*queue.lines(self._talk.state)])
            case slash.Wanted("tasks"):
                self._talk.console.say([*listings.tasks(self._talk.tasks)])
            case slash.Wanted("mcp"):
                listed = self._talk.submit(cmd.ListMcp())
                self._talk.console.say([*listings.servers(listed.servers)] if isinstance(listed, ev.McpChanged) else [])
            case slash.Wanted("doctor"):
                self._talk.console.say([*listings.examined(self._talk.state.path)])
            case slash.Wanted("todo"):
                self._talk.console.say([*map(todo_line, self._talk.state.todos)] or ["There is no to-do list."])
            case slash.Wanted("cost"):
                self._talk.console.say([listings.gauge(self._talk.state.tokens)])
            case cmd.ProposePruning():
                self._prune()
            case cmd.ChangeRotation(file, "delete"):
                if self._agreed(f"{file} cannot be brought back. Delete it?"):
                    self._talk.submit(meaning)
            case slash.Wanted(name):
                self._talk.console.say([f"/{name} needs a screen."])
            case command:
                self._talk.submit(command)

    def _list_entries(self, count: int) -> None:
        found = self._talk.submit(cmd.LoadEntries(0, sys.maxsize))
        if isinstance(found, ev.EntriesLoaded):
            start = max(0, len(found.entries) - count)
            self._talk.console.say([*listings.entries(found.entries[start:], start)])

    def _go_back(self, point: Point | None) -> None:
        if point is None:
            self._talk.console.say(["A point is N, FILE or FILE@N: /timeline and /rotations list them."])
        else:
            GoingBack(point, self._talk.submit, self._talk.drafted, self._talk.console.say, self._talk.console.ask).go()

    def _prune(self) -> None:
        """Say what would go, and carry it out only then."""
        found = self._talk.submit(cmd.ProposePruning())
        if isinstance(found, ev.PruningProposed) and found.pruning.steps and self._agreed("Do it?"):
            self._talk.submit(cmd.PruneRotations(found.pruning.steps))

    def _agreed(self, question: str) -> bool:
        try:
            return self._talk.console.ask(f"{question} (yes or no): ").strip().lower() in ("y", "yes")
        except KeyboardInterrupt:
            return False

    def _pick(self, number: str) -> None:
        if not number:
            self._talk.submit(cmd.ListSessions())
        elif number.isdecimal() and 0 < int(number) <= len(self._talk.sessions):
            self._talk.submit(cmd.OpenSession(self._talk.sessions[int(number) - 1].path))
        else:
            self._talk.console.say(["/sessions lists them with their numbers."])

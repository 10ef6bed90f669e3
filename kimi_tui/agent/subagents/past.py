"""What a subagent did, from its own context: for cards and tasks that were not there to see it happen.

One that is at work is read from its desk, any other from its file.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kimi_tui.agent.gauge import tokens_view
from kimi_tui.agent.subagents.desk import FOLDER, known_kind, runs_in, subagent_session
from kimi_tui.agent.subagents.nested import line_of_call
from kimi_tui.agent.transcript import entries_of
from kimi_tui.agent.travel.rows import first_line
from kimi_tui.context import Projection, read_timeline_file
from kimi_tui.protocol.commands import ReadSubagent
from kimi_tui.protocol.events import SubagentRead
from kimi_tui.protocol.messages import Message
from kimi_tui.protocol.views import Entry, SubagentView
from kimi_tui.session import read_state
from kimi_tui.session.state import STATE

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent
    from kimi_tui.agent.desk import Desk

LINES = 200
"""Steps that a card is told of, at most: the newest."""
MESSAGES = 400
"""Messages of a conversation that are shown, at most: the newest."""

State = Literal["running", "done", "failed", "interrupted"]


@dataclass(frozen=True, slots=True)
class Past:
    """One subagent, as far as it worked for one call."""

    view: SubagentView
    entries: tuple[Entry, ...]
    """The newest part of what was said."""

    @property
    def steps(self) -> str:
        """A line for each, in the form in which a running subagent tells them."""
        return "".join(f"{line}\n" for line in list(_lines(self.entries))[-LINES:])


async def read_subagent(agent: Agent, command: ReadSubagent) -> None:
    """What was done for a call; the subagent is found by what it noted of its calls."""
    desk = agent.desk
    subagent_id = await _of_call(desk, command.call_id)
    past = await past_of(desk, subagent_id, command.call_id) if subagent_id else None
    if past is None:
        agent.emit(SubagentRead(command.call_id, None))
    else:
        agent.emit(SubagentRead(command.call_id, past.view, past.steps))


async def past_of(desk: Desk, subagent_id: str, call_id: str) -> Past | None:
    """None when it left nothing that can be read."""
    at_work = desk.subagents.running.get(subagent_id) if desk.subagents else None
    session = subagent_session(desk, subagent_id)
    if at_work is not None and at_work.nested.view.call_id == call_id:
        history = at_work.desk.context.history
        start, stop = _part(len(history), runs_in(at_work.desk.state), call_id)
        newest = history[max(start, stop - MESSAGES) : stop]
        return Past(at_work.nested.view, await asyncio.to_thread(entries_of, desk.toolset.view, newest))
    try:
        projection = await read_timeline_file(session.context_file)
    except OSError:
        return None
    return await asyncio.to_thread(_read, desk, session.folder, projection, call_id)


def _read(desk: Desk, folder: Path, projection: Projection, call_id: str) -> Past:
    """Runs in a worker: reads the messages, and draws up the entries."""
    state = read_state(folder)
    start, stop = _part(len(projection.history), runs_in(state), call_id)
    part = projection.history[start:stop]
    answers = [message for message in part if message.role == "assistant"]
    exact, total, exact_at = projection.token_count, projection.tokens, projection.exact_at
    view = SubagentView(
        call_id=call_id,
        id=folder.name,
        type=known_kind(folder, state) or "",
        description=state.title,
        state=_state(part),
        steps=len(answers),
        tool_calls=sum(len(message.tool_calls or ()) for message in answers),
        tokens=tokens_view(exact, total, desk.window, desk.loop.limits, exact_at=exact_at, cost=None),
    )
    return Past(view, entries_of(desk.toolset.view, part[-MESSAGES:]))


def _part(length: int, runs: Sequence[tuple[str, int]], call_id: str) -> tuple[int, int]:
    """Where in a history one run begins and ends; all of it when a compaction has moved the beginning."""
    here = next((number for number in reversed(range(len(runs))) if runs[number][0] == call_id), None)
    if here is None:
        return 0, length
    start, stop = runs[here][1], length if here == len(runs) - 1 else runs[here + 1][1]
    return (start, stop) if start < min(stop, length) else (0, length)


def _state(part: Sequence[Message]) -> State:
    ended = bool(part) and part[-1].role == "assistant" and not part[-1].tool_calls
    return "done" if ended else "interrupted"


def _lines(entries: Sequence[Entry]) -> Iterator[str]:
    """Its calls, and what it said before them; the last word is the report."""
    for entry, following in zip(entries, [*entries[1:], None], strict=True):
        if entry.tool is not None:
            yield line_of_call(entry.tool)
        elif entry.kind == "assistant" and following is not None:
            yield first_line(entry.text)


async def _of_call(desk: Desk, call_id: str) -> str | None:
    """The id of the subagent that worked for that call; the newest, where providers use an id twice."""
    known = desk.subagents.calls if desk.subagents else {}
    if call_id not in known:
        found = await asyncio.to_thread(_noted_calls, desk.session.folder / FOLDER)
        for other, subagent_id in found.items():
            known.setdefault(other, subagent_id)
    return known.get(call_id)


def _noted_calls(folder: Path) -> dict[str, str]:
    """What all subagents of a session have noted."""
    places = [place for place in folder.iterdir() if (place / STATE).is_file()] if folder.is_dir() else []
    in_time = sorted(places, key=lambda place: (place / STATE).stat().st_mtime)
    return {call: place.name for place in in_time for call, _ in runs_in(read_state(place))}

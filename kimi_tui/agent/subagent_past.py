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
from kimi_tui.agent.nested import line_of_call
from kimi_tui.agent.rows import first_line
from kimi_tui.agent.subagent_desk import FOLDER, known_kind, runs_in, subagent_session
from kimi_tui.agent.transcript import entries_of
from kimi_tui.context import read_timeline_file
from kimi_tui.protocol.commands import ReadSubagent
from kimi_tui.protocol.events import SubagentRead
from kimi_tui.protocol.messages import Message
from kimi_tui.protocol.views import Entry, SubagentView, Tokens
from kimi_tui.session import SessionState, read_state

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent
    from kimi_tui.agent.desk import Desk

LINES = 200
"""Steps that a card is told of, at most: the newest."""
ENTRIES = 300
"""Blocks of a conversation that are shown, at most: the newest."""

State = Literal["running", "done", "failed", "interrupted"]


@dataclass(frozen=True, slots=True)
class Past:
    """One subagent, as far as it worked for one call."""

    view: SubagentView
    entries: tuple[Entry, ...]

    @property
    def steps(self) -> str:
        """A line for each, in the form in which a running subagent tells them."""
        return "".join(f"{line}\n" for line in list(_lines(self.entries))[-LINES:])

    @property
    def newest(self) -> tuple[Entry, ...]:
        return self.entries[-ENTRIES:]


async def read_subagent(agent: Agent, command: ReadSubagent) -> None:
    """What was done for a call; the subagent is found by what it noted of its calls."""
    desk = agent.desk
    subagent_id = await asyncio.to_thread(_of_call, desk.session.folder / FOLDER, command.call_id)
    past = await past_of(desk, subagent_id, command.call_id) if subagent_id else None
    if past is None:
        agent.emit(SubagentRead(command.call_id, None))
    else:
        agent.emit(SubagentRead(command.call_id, past.view, past.steps))


async def past_of(desk: Desk, subagent_id: str, call_id: str) -> Past | None:
    """None when it left nothing that can be read."""
    live = desk.subagents.running.get(subagent_id) if desk.subagents else None
    session = subagent_session(desk, subagent_id)
    if live is not None:
        history, state, tokens = list(live.context.history), live.state, live.tokens()
    else:
        try:
            projection = await read_timeline_file(session.context_file)
        except OSError:
            return None
        history, state = list(projection.history), await asyncio.to_thread(read_state, session.folder)
        limits = desk.loop.limits
        tokens = tokens_view(
            projection.token_count, projection.tokens, desk.window, limits, exact_at=projection.exact_at, cost=None
        )
    about = _About(subagent_id, call_id, state, tokens, live is not None)
    return await asyncio.to_thread(_past, desk, history, about, session.folder)


@dataclass(frozen=True, slots=True)
class _About:
    id: str
    call_id: str
    state: SessionState
    tokens: Tokens
    live: bool


def _past(desk: Desk, history: Sequence[Message], about: _About, folder: Path) -> Past:
    """Runs in a worker: draws up every entry."""
    part, newest = _part(history, about)
    answers = [message for message in part if message.role == "assistant"]
    view = SubagentView(
        call_id=about.call_id,
        id=about.id,
        type=known_kind(folder, about.state) or "",
        description=about.state.title,
        state=_state(part, running=about.live and newest),
        steps=len(answers),
        tool_calls=sum(len(message.tool_calls or ()) for message in answers),
        tokens=about.tokens,
    )
    return Past(view, entries_of(desk.toolset.view, part))


def _part(history: Sequence[Message], about: _About) -> tuple[Sequence[Message], bool]:
    """The messages of one run, and whether it is the newest. All of them when a compaction has moved the beginning."""
    runs = runs_in(about.state)
    here = next((number for number in reversed(range(len(runs))) if runs[number][0] == about.call_id), None)
    if here is None:
        return history, True
    last = here == len(runs) - 1
    start, stop = runs[here][1], len(history) if last else runs[here + 1][1]
    return (history[start:stop] or history), last


def _state(part: Sequence[Message], *, running: bool) -> State:
    if running:
        return "running"
    ended = bool(part) and part[-1].role == "assistant" and not part[-1].tool_calls
    return "done" if ended else "interrupted"


def _lines(entries: Sequence[Entry]) -> Iterator[str]:
    """Its calls, and what it said before them; the last word is the report."""
    for entry, following in zip(entries, [*entries[1:], None], strict=True):
        if entry.tool is not None:
            yield line_of_call(entry.tool)
        elif entry.kind == "assistant" and following is not None:
            yield first_line(entry.text)


def _of_call(folder: Path, call_id: str) -> str | None:
    """The id of the subagent that worked for that call; the newest, where providers use an id twice."""
    found = [
        ((place / "state.json").stat().st_mtime, place.name)
        for place in (folder.iterdir() if folder.is_dir() else ())
        if any(call == call_id for call, _ in runs_in(read_state(place)))
    ]
    return max(found)[1] if found else None

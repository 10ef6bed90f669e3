"""Jumps of the command line: back, over to a rotation, undo and redo, with or without the files of the project."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kimi_tui.agent.marks import carried_over
from kimi_tui.agent.travel.file_travel import Move, Travelled, redo_move, travel, undo_move
from kimi_tui.agent.travel.files import Files, nothing_recorded
from kimi_tui.cli.changing import changed, jumped
from kimi_tui.cli.reading import open_context
from kimi_tui.cli.saying import say
from kimi_tui.cli.sides import Side, rotation
from kimi_tui.cli.timeline_files import (
    Take,
    listed,
    passages_since,
    recorded,
    recorded_if_any,
    restored,
    restored_lines,
    told,
)
from kimi_tui.context import Context, Node, Switch
from kimi_tui.protocol.views import FileTouched
from kimi_tui.session import Session, SessionFault

Jump = Callable[[Context], Awaitable[Switch | None]]
Done = tuple[Switch | None, Travelled]


@dataclass(frozen=True, slots=True)
class Journey:
    """How to go to a point."""

    take: Take = "conversation"
    overwrite: tuple[str, ...] = ()
    note: str = ""
    restores: bool = False
    """Over to a rotation; else back in the live timeline."""

    def files(self, session: Session, *, looking: bool = False) -> Files:
        return nothing_recorded() if self.take == "conversation" else recorded(session, looking=looking)

    def move(self, context: Context, book: Files, side: Side) -> Move:
        """What becomes of the files."""
        if self.take == "conversation":
            return Move("revert")
        return Move("only" if self.take == "files" else "revert", passages_since(context, book, side))

    async def jump(self, context: Context, side: Side) -> Switch:
        """Move the conversation."""
        note = carried_over(self.note, time.time())
        if self.restores:
            return await context.go_to(side.file, until=side.until, why="restore", messages=note, note=self.note)
        return await context.rewrite("revert", keep_until=side.until, messages=note, note=self.note)


def travel_to(session: Session, point: str, journey: Journey, dry_run: bool, as_json: bool) -> None:
    """Go there, or only say what that would do."""
    if dry_run:
        _foresee(session, point, journey, as_json)
        return

    async def go(context: Context) -> Done:
        side = await asyncio.to_thread(_side, context, point, journey)
        book = journey.files(session)
        try:
            move = await asyncio.to_thread(journey.move, context, book, side)
            return await _moved(session, context, book, move, lambda context: journey.jump(context, side), journey)
        finally:
            await book.close()

    _report(session, changed(session, go), as_json)


@dataclass(frozen=True, slots=True)
class Walk:
    """A step along the jumps: undo or redo."""

    word: str
    move: Callable[[Context, Files], Move | None]
    jump: Jump
    target: Callable[[Context], Node | None]


UNDO = Walk("undo", undo_move, Context.undo, Context.undo_target)
REDO = Walk("redo", redo_move, Context.redo, Context.redo_target)


def step(session: Session, walk: Walk, dry_run: bool, as_json: bool) -> None:
    """Undo or redo, as on the screen: files that went with a jump go with its undoing."""
    if dry_run:
        _foresee_step(session, walk, as_json)
        return

    async def go(context: Context) -> Done | None:
        book = recorded_if_any(session)
        try:
            move = walk.move(context, book)
            return None if move is None else await _moved(session, context, book, move, walk.jump, Journey())
        finally:
            await book.close()

    done = changed(session, go)
    if done is None:
        raise _nowhere(session, walk)
    _report(session, done, as_json)


def _nowhere(session: Session, walk: Walk) -> SessionFault:
    return SessionFault(f"there is nothing to {walk.word} in {session.folder}")


async def _moved(session: Session, context: Context, book: Files, move: Move, jump: Jump, journey: Journey) -> Done:
    switch: Switch | None = None

    async def go() -> bool:
        nonlocal switch
        if journey.take != "files":
            switch = await jumped(session, context, lambda: jump(context))
        return switch is not None

    done = await travel(context, book, move, go, journey.overwrite)
    return switch, done


def _side(context: Context, point: str, journey: Journey) -> Side:
    """The point, looked up before anything is touched. Raises `SessionFault`, ValueError."""
    side = Side.of(context, point)
    if journey.restores:
        rotation(context, side.file)
    if side.until is not None:
        side.read(context).find(side.until)
    return side


# --- words -------------------------------------------------------------------------------------------------------


def _report(session: Session, done: Done, as_json: bool) -> None:
    switch, travelled = done
    body = {"session": str(session.folder), **_switch(switch), "files": restored(travelled.files)}
    lines = [] if switch is None else [_told(switch)]
    if travelled.why_not:
        lines.append(f"the files stay as they are: {travelled.why_not}")
    say(as_json, body, [*lines, *restored_lines(travelled.files)], spaced=True)


def _switch(switch: Switch | None) -> dict[str, Any]:
    if switch is None:
        return {"why": None}
    return {
        "why": switch.why,
        "file": switch.file,
        "live": switch.id,
        "checkpoint": switch.checkpoint,
        "messages": list(switch.messages),
        "tokens": list(switch.tokens),
        "counted": list(switch.counted),
        "at": switch.at,
    }


def _told(switch: Switch) -> str:
    change = _in_words(switch.messages, switch.tokens, switch.counted)
    return f"{switch.why}: {change}; the old ones are in {switch.file}"


def _in_words(messages: tuple[int, int], tokens: tuple[int, int], counted: tuple[bool, bool]) -> str:
    """What no model has counted is an estimate of the messages alone: what is sent beside them is not known here."""
    cost, left = (f"{count:,}" if sure else f"about {count:,}" for count, sure in zip(tokens, counted, strict=True))
    alone = "" if all(counted) else " (about: of the messages alone)"
    return f"{messages[0]} → {messages[1]} messages, {cost} → {left} tokens{alone}"


def _foresee(session: Session, point: str, journey: Journey, as_json: bool) -> None:
    context = open_context(session)
    try:
        side = _side(context, point, journey)
    except ValueError as fault:
        raise SessionFault(str(fault)) from fault
    touched = None if journey.take == "conversation" else asyncio.run(_touched(session, context, side, journey))
    _say_foreseen(session, context, None if journey.take == "files" else side, touched, as_json)


def _foresee_step(session: Session, walk: Walk, as_json: bool) -> None:
    context = open_context(session)

    async def looked_up() -> tuple[Move, tuple[FileTouched, ...]]:
        book = recorded_if_any(session, looking=True)
        try:
            move = walk.move(context, book)
            if move is None:
                raise _nowhere(session, walk)
            return move, await book.touched(move.passages or ())
        finally:
            await book.close()

    move, touched = asyncio.run(looked_up())
    node = walk.target(context) if move.of is None else None
    side = Side(node.file, None) if node is not None else None
    _say_foreseen(session, context, side, None if move.passages is None else touched, as_json)


def _say_foreseen(
    session: Session, context: Context, side: Side | None, touched: Sequence[FileTouched] | None, as_json: bool
) -> None:
    """`side`: where the conversation would go, if it would; `touched`: what becomes of files, if they are meant."""
    body: dict[str, Any] = {"session": str(session.folder), "dry_run": True}
    lines = []
    if side is not None:
        messages, tokens, counted = _change(context, side)
        body |= {"messages": list(messages), "tokens": list(tokens), "counted": list(counted)}
        lines = [f"would go: {_in_words(messages, tokens, counted)}"]
    if touched is not None:
        body["files"] = [listed(file) for file in touched]
        lines += [told(file) for file in touched] or ["no file would change"]
    say(as_json, body, lines, spaced=True)


async def _touched(session: Session, context: Context, side: Side, journey: Journey) -> tuple[FileTouched, ...]:
    book = journey.files(session, looking=True)
    try:
        move = await asyncio.to_thread(journey.move, context, book, side)
        return await book.touched(move.passages or ())
    finally:
        await book.close()


def _change(context: Context, side: Side) -> tuple[tuple[int, int], tuple[int, int], tuple[bool, bool]]:
    """Messages before and after, tokens, and whether a model has counted them."""
    there, here = side.read(context), context.projection
    mark = None if side.until is None else there.find(side.until)
    messages = len(there.history) if mark is None else mark.history_index
    tokens = there.tokens if mark is None else mark.tokens_now()
    counted = there.counted if mark is None else mark.counted
    return (len(here.history), messages), (here.tokens, tokens), (here.counted, counted)

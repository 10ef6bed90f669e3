"""The one atomic change of timelines, behind revert, D-Mail, clear, compaction, prepend and going back."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from kimi_tui.context import lines
from kimi_tui.context.calibration import Calibration
from kimi_tui.context.lines import Line
from kimi_tui.context.log import Piece, Span
from kimi_tui.context.packed import packed_path, unpack
from kimi_tui.context.projection import CheckpointMark, CheckpointRef, Projection, Range
from kimi_tui.context.reading import read_file
from kimi_tui.context.records import without_surrogates
from kimi_tui.context.store import Publish, Store
from kimi_tui.context.timeline import Switch, new_id
from kimi_tui.context.tokens import estimate_text_tokens
from kimi_tui.protocol.messages import Message
from kimi_tui.protocol.views import SwitchWhy


@dataclass(frozen=True, slots=True)
class Plan:
    """What the new timeline is made of, in this order."""

    why: SwitchWhy
    keep_until: CheckpointRef | None = None
    """Everything before this checkpoint is taken over; None: nothing is."""
    system_prompt: str | None = None
    checkpoint: bool = False
    add_user_message: bool = False
    """The new checkpoint is told to the model too."""
    messages: Sequence[Message] = ()
    usage: int | None = None
    note: str = ""


def rewrite(store: Store, plan: Plan) -> tuple[Switch, Publish]:
    """Raises `ValueError` for an unknown checkpoint before anything is touched, `OSError` with nothing changed."""
    with store.writing():
        if not store.loaded:
            store.reload()
        old = store.projection
        mark = None if plan.keep_until is None else old.find(plan.keep_until)
        prompt = None if plan.system_prompt is None else lines.of_system_prompt(plan.system_prompt)
        added = _added(store, plan, mark)
        kept = [] if mark is None else old.kept(mark, prompts=prompt is None)
        pieces: list[Piece] = [] if prompt is None else [prompt.data]
        pieces += [Span(None, start, stop) for start, stop in kept]
        pieces.append(lines.joined(added))
        store.log.open()
        switch = described(
            store,
            why=plan.why,
            parent=store.timeline.live_id if mark else None,
            mark=mark,
            messages=(mark.history_index if mark else 0) + _count(added),
            tokens=_tokens(plan, mark, added, store.calibration),
            counted=bool(plan.usage) if plan.usage is not None else mark is not None and mark.counted,
            note=plan.note,
        )
        switch = carry_out(store, switch, pieces)

    def publish() -> None:
        if mark is None:
            store.projection = store.calibrated(Projection(old.name))
        else:
            old.cut(mark, prompts=prompt is None)
        if prompt is not None and plan.system_prompt is not None:
            store.projection.prepend(without_surrogates(plan.system_prompt), len(prompt.data))
        store.fold_in(added)
        if switch.file:
            store.timeline = store.timeline.after(switch)

    return switch, publish


def _added(store: Store, plan: Plan, mark: CheckpointMark | None) -> list[Line]:
    added: list[Line] = []
    if plan.checkpoint:
        number = _next_id(store.projection, mark)
        added.append(lines.of_checkpoint(number, store.now(), lambda: mark.tokens if mark else 0))
        if plan.add_user_message:
            added += lines.of_messages(lines.visible_checkpoint(number))
    added += lines.of_messages(plan.messages)
    if plan.usage is not None:
        added.append(lines.of_usage(plan.usage, store.now()))
    return added


def _next_id(projection: Projection, mark: CheckpointMark | None) -> int:
    before = [] if mark is None else projection.checkpoints[: projection.checkpoints.index(mark)]
    return before[-1].id + 1 if before else 0


def _count(added: Sequence[Line]) -> int:
    return sum(line.message is not None for line in added)


def _tokens(plan: Plan, mark: CheckpointMark | None, added: Sequence[Line], calibration: Calibration | None) -> int:
    if plan.usage is not None:
        return plan.usage
    fresh = [line.message for line in added if line.message is not None]
    return mark.tokens_now(fresh) if mark else estimate_text_tokens(fresh, calibration)


def go_to(
    store: Store, file: str, until: CheckpointRef | None, why: SwitchWhy, note: str, messages: Sequence[Message] = ()
) -> tuple[Switch, Publish]:
    """A rotation, or what stands before one of its checkpoints, and then these messages become live. Raises as
    `rewrite` does, and `FileNotFoundError` when there is no such rotation."""
    path = store.paths.folder / file
    if store.paths.number(file) is None:
        raise ValueError(f"{file} is not a rotation of this session")
    target, torn = read_file(path)
    store.calibrated(target)
    mark = None if until is None else target.find(until)
    kept = [(0, target.size)] if mark is None else target.kept(mark)
    added = lines.of_messages(messages)
    moves = why in ("undo", "redo") and mark is None and not torn and not added and _may_move(store, file)
    took = file if moves else ""
    pieces = [] if took else [*_copied(path, kept), b"\n" * (torn and mark is None), lines.joined(added)]
    node = store.timeline.node_of(file)
    with store.writing():
        if not store.loaded:
            store.reload()
        store.log.open()
        switch = described(
            store,
            why=why,
            parent=node.id if node else file,
            mark=mark,
            messages=(mark.history_index if mark else len(target.history)) + _count(added),
            tokens=mark.tokens_now(messages) if mark else target.tokens_with(messages),
            counted=mark.counted if mark else target.counted,
            note=note,
        )
        switch = carry_out(store, msgspec.structs.replace(switch, took=took), pieces)

    def publish() -> None:
        if mark is not None:
            target.cut(mark)
        elif torn:
            target.seal()
        target.name = store.projection.name
        store.projection = target
        store.fold_in(added)
        if switch.file:
            store.timeline = store.timeline.after(switch)

    return switch, publish


def _may_move(store: Store, file: str) -> bool:
    """Whether a rotation may become the live file itself: else undo, redo, undo would leave ever more copies."""
    plain = packed_path(store.paths.folder / file) is None
    return os.name == "posix" and plain and file not in store.timeline.pinned


def _copied(path: Path, ranges: Sequence[Range]) -> list[Piece]:
    packed = packed_path(path)
    if packed is None:
        return [Span(path, start, stop) for start, stop in ranges]
    data = unpack(packed)
    return [data[start:stop] for start, stop in ranges]


def replace_with(store: Store, switch: Switch, pieces: Sequence[Piece]) -> tuple[Switch, Publish]:
    """The live file becomes these pieces. Needs the session (`writing`).

    What they say is read before they take its place, as nothing may fail after that. Raises `OSError`."""
    store.log.open()
    fresh = Projection()

    def read() -> None:
        nonlocal fresh
        fresh, _ = read_file(store.paths.new(os.getpid()))
        fresh.name = store.paths.live.name

    switch = carry_out(store, switch, pieces, check=read)

    def publish() -> None:
        store.projection = store.calibrated(fresh)
        store.timeline = store.timeline.after(switch)

    return switch, publish


def repaired(store: Store, pieces: Sequence[Piece], note: str) -> tuple[Switch, Publish]:
    """The live file becomes what is whole of it. Raises `OSError`."""
    with store.writing():
        old = store.projection
        same = (len(old.history), old.tokens, old.counted)
        return replace_with(store, described(store, "repair", store.timeline.live_id, None, *same, note), pieces)


def prepend(store: Store, text: str) -> Publish:
    """The system prompt becomes line 1. Nothing is dropped but an older prompt, and that only into a rotation."""
    text = without_surrogates(text)
    prompt = lines.of_system_prompt(text)
    with store.writing():
        if store.log.size == 0:
            return store.append([prompt])
        if not store.loaded:
            store.reload()
        projection = store.projection
        replaces = bool(projection.prompts)
        kept = projection.kept(None, prompts=False) if replaces else [(0, projection.size)]
        pieces: list[Piece] = [prompt.data, *(Span(None, start, stop) for start, stop in kept)]
        store.log.open()
        switch: Switch | None = None
        if replaces:
            same = (len(projection.history), projection.tokens, projection.counted)
            switch = described(store, "prepend", store.timeline.live_id, None, *same, note="")
            switch = carry_out(store, switch, pieces)
        else:
            store.log.switch(pieces, keep_old=False, announce=lambda rotation: None)

    def publish() -> None:
        if switch is not None:
            projection.cut(None, prompts=False)
            store.timeline = store.timeline.after(switch)
        projection.prepend(text, len(prompt.data))

    return publish


def described(
    store: Store,
    why: SwitchWhy,
    parent: str | None,
    mark: CheckpointMark | None,
    messages: int,
    tokens: int,
    counted: bool,
    note: str,
) -> Switch:
    old = store.projection
    return Switch(
        id=new_id(),
        parent=parent,
        left=store.timeline.live_id,
        file="",
        why=why,
        at=round(time.time(), 3),
        checkpoint=mark.id if mark else None,
        offset=mark.offset if mark else None,
        last_checkpoint=old.checkpoints[-1].id if old.checkpoints else None,
        messages=(len(old.history), messages),
        tokens=(old.tokens, tokens),
        counted=(old.counted, counted),
        size=old.size,
        note=note,
    )


def carry_out(
    store: Store, switch: Switch, pieces: Sequence[Piece], check: Callable[[], None] = lambda: None
) -> Switch:
    """The switch with its rotation's name; without one when there was nothing to leave behind.

    `check` is called when the new file is complete and nothing has happened yet, and may refuse."""
    named = switch

    def announce(rotation: str) -> None:
        nonlocal named
        check()
        named = msgspec.structs.replace(switch, file=rotation)
        store.journal.begin(named)

    worth_keeping = store.log.size > 0 or bool(store.timeline.switches)
    above = max((store.paths.number(each.file) or 0 for each in store.timeline.switches), default=0)
    if switch.took:
        store.log.take(store.paths.folder / switch.took, announce=announce, above=above)
    else:
        store.log.switch(pieces, keep_old=worth_keeping, announce=announce, above=above)
    if named.file:
        store.journal.done([named.id])
    return named

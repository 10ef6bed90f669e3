"""A D-Mail's delivery: prefix, checkpoint, letter, in one switch (MECHANISMS M15)."""

from __future__ import annotations

from collections.abc import Sequence

from kimi_tui.agent.desk import Desk
from kimi_tui.agent.dmail import BackToTheFuture
from kimi_tui.agent.landing import land
from kimi_tui.agent.travel.file_travel import Move, travel_and_tell
from kimi_tui.agent.travel.moves import moved
from kimi_tui.agent.travel.rows import mark_named


async def deliver(desk: Desk, jump: BackToTheFuture, requests: Sequence[int]) -> list[int]:
    """Go back and say what the jump carries. Returns where the user's messages of this turn stand now."""
    mark = mark_named(desk.context, jump.checkpoint_id)
    kept = [index for index in requests if index < mark.history_index]
    lost = len(requests) - len(kept)
    before = desk.total

    passages = desk.files.since(mark) if desk.loop.dmail_restores_files else None

    async def switch() -> bool:
        made = await desk.context.rewrite(
            "dmail",
            keep_until=mark.ref,
            checkpoint=True,
            add_user_message=desk.shows_checkpoints,
            messages=jump.messages,
            note=jump.note,
        )
        desk.denwa_renji.delivered()
        await moved(desk, made)
        return True

    await land(travel_and_tell(desk, Move("dmail", passages), switch))
    desk.telemetry.note("dmail", before=before, after=desk.total)
    first = len(desk.context.history) - len(jump.messages)
    return [*kept, *range(first, first + lost)]

"""Branches from rotated files: read when they are unfolded, and points to go to like all others."""

from __future__ import annotations

import dataclasses

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import RevertPreview
from kimi_tui.ui.app import KimiApp
from kimi_tui.ui.branch_rows import branch_rows, own_from
from kimi_tui.ui.screens.revert_choice import RevertChoice
from kimi_tui.ui.timeline_list import TimelineList
from tests.ui.fakes import ScriptedAgent
from tests.ui.samples import BACK, FOLD, MAIL, jump, point
from tests.ui.session import MODEL, opened, reset
from tests.ui.waiting import settled, until

STEPS = tuple(
    dataclasses.replace(point(number, label, at, turn=turn), file="context_3.jsonl", depth=1, offset=100 * number)
    for number, label, at, turn in (
        (10, "thanks", 40, True),
        (9, "answered", 30, False),
        (4, "read parser.py", 20, False),
        (3, "Fix the parser", 10, True),
    )
)
TREE = (point(4, "read the mail", 200), *jump(MAIL), point(3, "Fix the parser", 700, turn=True))


def test_only_what_the_branch_does_not_share_is_shown() -> None:
    assert [own_from(switch) for switch in (MAIL, BACK, FOLD, None)] == [4, 1, 0, 0]
    assert [row.checkpoint for row in branch_rows(STEPS, 4)] == [10, 9, 4]


def test_a_branch_is_unfolded_and_stays_when_the_tree_is_told_anew() -> None:
    timeline = TimelineList()
    timeline.load(TREE)
    timeline.add_branch("context_3.jsonl", branch_rows(STEPS, 4))
    for _ in range(2):
        shown = [timeline.at(height).checkpoint for height in range(len(timeline))]
        assert shown == [4, None, None, 10, 9, 4, 3]
        timeline.load(TREE)
        timeline.add_branch("context_3.jsonl", branch_rows(STEPS, 4))
    assert timeline.checkpoints == 2
    assert [timeline.at(height).tokens for height in range(3, 6)] == [row.tokens for row in STEPS[:3]]


async def test_space_unfolds_a_branch_and_enter_goes_over_to_it() -> None:
    def answer(command: cmd.Command) -> list[ev.Event]:
        match command:
            case cmd.ReadRotation(file):
                return [ev.RotationRead(file, (), STEPS)]
            case cmd.PreviewRevert(checkpoint, file):
                return [ev.RevertPreviewed(RevertPreview(checkpoint, file, steps=1, messages=2))]
        return []

    told = dataclasses.replace(reset(), timeline=TREE)
    agent = ScriptedAgent([opened(), told, ev.ModelReady(MODEL)], answer)
    app = KimiApp(agent.connect)
    async with app.run_test(size=(120, 36)) as pilot:
        timeline = app.chat.sidebar.timeline
        await until(pilot, lambda: len(timeline.list) == len(TREE))
        await pilot.press("ctrl+t", "down", "down", "down", "space")
        await until(pilot, lambda: len(timeline.list) != len(TREE))
        await pilot.press("down", "down", "enter")
        await settled(pilot)
        assert isinstance(app.screen, RevertChoice)
        await pilot.press("enter")
        await settled(pilot)
        assert cmd.RevertTo(9, "context_3.jsonl", 900) in agent.submitted

"""The one order in which jumps and restores of files alone are taken back and done again."""

from __future__ import annotations

from kimi_tui.agent.travel.undoing import Undoing
from kimi_tui.context import Switch, Timeline
from kimi_tui.protocol.views import SwitchWhy
from kimi_tui.session.snapshots import Passage

Told = tuple[list[str | int], list[str | int]]


class Story:
    """What happens, in order; `undone` and `redone` are what the fold says of it."""

    def __init__(self) -> None:
        self.timeline = Timeline("context.jsonl")
        self.alone: list[Passage] = []
        self.now = 0.0

    def jump(self, why: SwitchWhy = "revert") -> str:
        live, timeline = self.timeline.live_id, self.timeline
        target = {"undo": timeline.undo[-1:], "redo": timeline.redo[-1:]}.get(why, (live,))[0]
        self.now += 1
        number = len(timeline.switches) + 1
        self.timeline = timeline.after(
            Switch(id=f"t{number}", parent=target, left=live, file=f"context_{number}.jsonl", why=why, at=self.now)
        )
        return live

    def put_back(self, of: int | None = None, *, undoes: bool = False, knows: bool = True) -> int:
        self.now += 1
        live = self.timeline.live_id if knows else ""
        why = "only_undone" if undoes else "only"
        number = len(self.alone) + 1
        self.alone.append(Passage(n=number, why=why, at=self.now, before="a", after="b", of=of, live=live))
        return number

    @property
    def told(self) -> Told:
        stacks = Undoing.of(self.timeline, self.alone)
        names = [
            [move.n if isinstance(move, Passage) else move for move in each] for each in (stacks.undo, stacks.redo)
        ]
        return names[0], names[1]


def test_nothing_has_happened() -> None:
    assert Story().told == ([], [])


def test_files_put_back_between_two_jumps_are_taken_back_between_them() -> None:
    story = Story()
    first, alone, second = story.jump(), story.put_back(), story.jump()
    assert story.told == ([first, alone, second], [])
    left = story.jump("undo")
    assert story.told == ([first, alone], [left])
    undone = story.put_back(alone, undoes=True)
    assert story.told == ([first], [left, undone])
    again = story.put_back(undone)
    assert story.told == ([first, again], [left])
    left = story.jump("redo")
    assert story.told == ([first, again, left], [])


def test_two_restores_are_redone_in_the_order_in_which_they_were_done() -> None:
    story = Story()
    one, two = story.put_back(), story.put_back()
    two_undone, one_undone = story.put_back(two, undoes=True), story.put_back(one, undoes=True)
    assert story.told == ([], [two_undone, one_undone])
    one = story.put_back(one_undone)
    assert story.told == ([one], [two_undone])
    two = story.put_back(two_undone)
    assert story.told == ([one, two], [])


def test_what_was_undone_cannot_be_redone_once_something_else_was_done() -> None:
    story = Story()
    story.jump()
    story.jump("undo")
    alone = story.put_back()
    assert story.told == ([alone], [])
    story.put_back(alone, undoes=True)
    jump = story.jump()
    assert story.told == ([jump], [])


def test_a_clock_that_was_set_back_changes_no_order() -> None:
    story = Story()
    first = story.jump()
    story.now = -100
    alone = story.put_back()
    second = story.jump()
    assert story.told == ([first, alone, second], [])


def test_restores_that_do_not_say_when_are_placed_by_the_clock() -> None:
    story = Story()
    first, alone, second = story.jump(), story.put_back(knows=False), story.jump()
    assert story.told == ([first, alone, second], [])

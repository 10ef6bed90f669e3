"""A long walk through time: every way of moving it, in any order, with everything compared byte for byte."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from kimi_tui.protocol.commands import ClearContext, Command, Compact, Redo, RestoreRotation, RevertTo, Undo
from tests.agent.fakes import Bench, ScriptedModel, calls, says
from tests.agent.test_dmail import mail
from tests.agent.test_files import pen, recorded
from tests.session.trees import Picture, picture

STEPS = 100
MINE = "the user's own"


def replies(chance: random.Random) -> ScriptedModel:
    """Turns that write, overwrite and delete files; summaries for compactions."""
    model = ScriptedModel(window=1_000_000)
    for number in range(STEPS):
        wanted = [pen(**{chance.choice(["a", "b", "d__e", "d__f__g"]): f"{number}.{n}"}) for n in range(2)]
        model.replies += [calls(*wanted), says(f"did {number}")]
        model.summaries.append(says(f"summary {number}", 50))
    return model


@dataclass
class Left:
    """A timeline that was left, as it was then."""

    chat: bytes
    files: Picture
    took_files: bool
    """They moved with it, and so move with the way back."""
    alone: bool = False
    """Only the files were put back: no timeline was left."""
    turns: int = 0
    """How many there had been. A later one may have written the same files, which are kept as it left them."""


@dataclass
class Walk:
    """Does one step after the other, and knows what must be true after each."""

    it: Bench
    work: Path
    chance: random.Random
    undo: list[Left] = field(default_factory=list)
    redo: list[Left] = field(default_factory=list)
    rotations: dict[str, bytes] = field(default_factory=dict)
    mine: str = ""
    turns: int = 0

    @property
    def chat(self) -> bytes:
        file = self.it.folder / "context.jsonl"
        return file.read_bytes() if file.exists() else b""

    @property
    def files(self) -> Picture:
        """All but what is the user's alone."""
        return {name: seen for name, seen in picture(self.work).items() if name != MINE.encode()}

    async def step(self, number: int) -> str:
        way = self.chance.choice(
            ["turn", "turn", "back", "back", "undo", "undo", "redo", "restore", "alone", "dmail", "compact", "clear"]
        )
        if way == "turn" or not await getattr(self, f"_{way}")():
            way = "turn"
            self.turns += 1
            await self.it.turn(f"turn {number}")
        if self.chance.random() < 0.3:
            self.mine = f"edited at {number}"
            (self.work / MINE).write_text(self.mine)
        self._nothing_is_lost()
        return way

    def _nothing_is_lost(self) -> None:
        assert (self.work / MINE).read_text() == self.mine
        timeline = self.it.desk.context.timeline
        for node in timeline.nodes:
            if not node.live and node.file in self.rotations:
                assert (self.it.folder / node.file).read_bytes() == self.rotations[node.file]

    async def _moved(self, command: Command, *, takes_files: bool = False) -> None:
        """A jump, and what every jump must leave behind."""
        before = Left(self.chat, self.files, takes_files)
        await self.it.do(command)
        last = self.it.desk.context.timeline.last
        assert last is not None and (self.it.folder / last.file).read_bytes() == before.chat
        self.rotations[last.file] = before.chat
        self.undo, self.redo = [*self.undo, before], []
        if not takes_files:
            assert self.files == before.files

    async def _back(self) -> bool:
        marks = self.it.desk.context.checkpoints
        if not marks:
            return False
        mark, before = self.chance.choice(marks), self.chat
        takes = self.chance.choice([True, False])
        await self._moved(
            RevertTo(mark.id, offset=mark.offset, files="restore" if takes else "keep"), takes_files=takes
        )
        assert before.startswith(self.chat) and len(self.chat) <= mark.offset
        return True

    async def _restore(self) -> bool:
        there = [node.file for node in self.it.desk.context.timeline.nodes if not node.live]
        if not there:
            return False
        file = self.chance.choice(there)
        held = (self.it.folder / file).read_bytes()
        takes = self.chance.choice([True, False])
        command = RevertTo(None, file, files="restore") if takes else RestoreRotation(file)
        await self._moved(command, takes_files=takes)
        assert self.chat == held
        return True

    async def _alone(self) -> bool:
        marks = self.it.desk.context.checkpoints
        if not marks:
            return False
        mark, before = self.chance.choice(marks), Left(self.chat, self.files, True, alone=True, turns=self.turns)
        await self.it.do(RevertTo(mark.id, offset=mark.offset, files="only"))
        assert self.chat == before.chat
        self.undo, self.redo = [*self.undo, before], []
        return True

    async def _dmail(self) -> bool:
        """A turn that writes, then sends a letter to before that: the conversation goes back, the files stay."""
        context = self.it.desk.context
        if not context.history:
            return False
        write, letter = pen(a=f"sent {self.turns}"), mail(context.n_checkpoints + 1)
        self.it.model.replies = [calls(write), calls(letter), says("read it"), *self.it.model.replies]
        self.turns += 1
        before = len(context.timeline.switches)
        await self.it.turn("work")
        last = context.timeline.last
        assert last is not None and last.why == "dmail" and len(context.timeline.switches) == before + 1
        assert (self.work / "a").read_text() == write[1]["text"]
        left = (self.it.folder / last.file).read_bytes()
        self.rotations[last.file] = left
        self.undo, self.redo = [*self.undo, Left(left, self.files, False)], []
        return True

    async def _compact(self) -> bool:
        if sum(message.role == "assistant" for message in self.it.desk.context.history) < 5:
            return False
        await self._moved(Compact())
        return True

    async def _clear(self) -> bool:
        if self.chance.random() < 0.7 or not self.it.desk.context.history:
            return False
        await self._moved(ClearContext())
        return True

    async def _undo(self) -> bool:
        return await self._again(Undo(), self.undo, self.redo)

    async def _redo(self) -> bool:
        return await self._again(Redo(), self.redo, self.undo)

    async def _again(self, command: Command, source: list[Left], other: list[Left]) -> bool:
        if not source:
            return False
        goal, here = source.pop(), Left(self.chat, self.files, False, turns=self.turns)
        await self.it.do(command)
        if goal.alone:
            assert self.chat == here.chat
            assert self.files == goal.files or self.turns > goal.turns
            other.append(replace(here, took_files=True, alone=True))
            return True
        assert self.chat == goal.chat
        assert self.files == (goal.files if goal.took_files else here.files)
        other.append(Left(here.chat, here.files, goal.took_files))
        last = self.it.desk.context.timeline.last
        assert last is not None
        self.rotations.pop(last.took, None)
        self.rotations[last.file] = here.chat
        return True


@pytest.mark.parametrize("seed", [1])
async def test_a_hundred_steps_through_time_bring_back_every_record_and_every_byte(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    async with recorded(tmp_path, replies(chance), dmail=True) as (it, work):
        (work / MINE).write_text("")
        walk = Walk(it, work, chance)
        ways = [await walk.step(number) for number in range(STEPS)]
        while await walk._undo():
            pass
    assert {"turn", "back", "undo", "redo", "restore", "alone", "dmail", "compact", "clear"} <= set(ways)

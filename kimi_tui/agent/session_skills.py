"""The skills of the open session: read again when their files change, told to the model and to the screen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kimi_tui.agent.steering import FlowCall, Prompt
from kimi_tui.flows import parse_flow
from kimi_tui.injections import DynamicInjection, DynamicInjectionProvider, Newest, StepView
from kimi_tui.protocol.commands import ListCommands
from kimi_tui.protocol.events import CommandsChanged, Event, Noticed
from kimi_tui.protocol.messages import Message
from kimi_tui.protocol.views import SlashCommand
from kimi_tui.resources import prompt
from kimi_tui.skills import Skill, SkillRoot, SkillSet, skill_request, skills_prompt

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent
    from kimi_tui.agent.desk import Desk

FLOW_MOVES = 1000
"""Nodes of a flow that get a turn, at most: a graph with a loop in it must end some day."""


class SessionSkills:
    """What the roots hold. Reading is done in a thread, and only of files whose times have changed."""

    def __init__(self, roots: Sequence[SkillRoot] = (), emit: Callable[[Event], None] = lambda event: None) -> None:
        self.roots = tuple(roots)
        self._set, self._emit = SkillSet(roots, parse_flow), emit
        self.changed: Callable[[], None] = lambda: emit(CommandsChanged(self.commands()))
        """Some have come, changed or gone."""
        self._reading = asyncio.Lock()
        self._told: set[str] = set()

    @property
    def skills(self) -> tuple[Skill, ...]:
        return self._set.skills

    async def load(self) -> tuple[str, ...]:
        """Read them for the first time. A line for the user about each file that is no use."""
        if not self.roots:
            return ()
        await asyncio.to_thread(self._set.refresh)
        return tuple(self._fresh_problems())

    async def follow(self) -> None:
        """Look for changes, and tell the screen of them."""
        if not self.roots:
            return
        async with self._reading:
            changed = await asyncio.to_thread(self._set.refresh)
        if not changed:
            return
        self.changed()
        for problem in self._fresh_problems():
            self._emit(Noticed(problem, "warning"))

    def find(self, name: str) -> Skill | None:
        """By its name, or by its slash command without the slash."""
        return self._set.find(name)

    def problem_of(self, name: str) -> str:
        """Why there is no skill of that name, where that is known."""
        return self._set.problem_of(name)

    def commands(self) -> tuple[SlashCommand, ...]:
        """`/skill:<name>` and `/flow:<name>`."""
        return tuple(
            SlashCommand(skill.command, "[request]", skill.description, turns=True) for skill in self._set.skills
        )

    def listing(self) -> str:
        """The part of the system prompt that tells of them; empty without any."""
        return skills_prompt(self._set.skills)

    def _fresh_problems(self) -> list[str]:
        """Problems not told yet; one that went away may be told again."""
        now = [f"skill left out: {problem}" for problem in self._set.problems]
        fresh = [problem for problem in now if problem not in self._told]
        self._told = set(now)
        return fresh


async def list_commands(agent: Agent, command: ListCommands) -> None:
    await agent.desk.skills.follow()


async def skill_prompt(desk: Desk, name: str, request: str, typed: str) -> Prompt:
    """What `/skill:<name> request` or `/flow:<name> request` sends. Raises OSError or ValueError with the reason."""
    await desk.skills.follow()
    skill = desk.skills.find(name)
    if skill is None:
        why = desk.skills.problem_of(name)
        raise ValueError(f"/{name} cannot be used: {why}" if why else f"there is no /{name}")
    if skill.diagram is None:
        return Prompt(await asyncio.to_thread(skill_request, skill, request), typed=typed)
    diagram = skill.diagram
    flow = await asyncio.to_thread(parse_flow, diagram.language, diagram.text, diagram.line)
    return Prompt(typed, typed=typed, flow=FlowCall(skill.name, flow, FLOW_MOVES, request))


class SkillsInjectionProvider(DynamicInjectionProvider):
    """Tells the model when the skills are no longer those that it was told of last.

    That stands in the history or, before any reminder, in the system prompt: so a revert that takes a reminder away
    also takes away the memory of it."""

    def __init__(self, skills: SessionSkills, system_prompt: Callable[[], str]) -> None:
        self._skills, self._system_prompt = skills, system_prompt
        self._told: Newest[str] = Newest(_listing_in)

    async def get_injections(self, history: Sequence[Message], view: StepView) -> list[DynamicInjection]:
        if not view.root:
            return []
        told = await self._told.find(history)
        listing = self._skills.listing() or prompt("skills_none")
        known = self._system_prompt() if told is None else told[1]
        if listing in known or (told is None and not self._skills.skills and "# Skills" not in known):
            return []
        return [DynamicInjection("skills", f"{prompt('skills_changed')}\n\n{listing}")]


def _listing_in(message: Message) -> str | None:
    """The text of a reminder of this kind; None for any other message."""
    text = message.text() if message.role == "user" else ""
    return text if prompt("skills_changed") in text else None

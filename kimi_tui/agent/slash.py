"""Slash commands that the agent carries out; the screen handles the others by itself."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from kimi_tui.agent.asides import ask_aside
from kimi_tui.agent.flow_activity import ralph_call
from kimi_tui.agent.server_prompts import PREFIX, SERVER_PROMPT, run_server_prompt
from kimi_tui.agent.session_skills import skill_prompt
from kimi_tui.agent.steering import Prompt
from kimi_tui.protocol.commands import RunSlash
from kimi_tui.protocol.events import EntryAdded, Noticed, PromptReturned
from kimi_tui.protocol.views import Entry, SlashCommand
from kimi_tui.resources import prompt
from kimi_tui.session.checkup import look_over, told

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent

RALPH_ROUNDS = 20
"""Rounds of `/ralph` when neither the command nor the config says how many."""

COMMANDS = (
    SlashCommand("init", "", "look at the project and write an AGENTS.md for it", turns=True),
    SlashCommand(
        "ralph", "[N] <prompt>", "repeat a prompt until the model says it is done, N rounds at most", turns=True
    ),
    SlashCommand("btw", "<question>", "ask aside, without leaving a trace in the context"),
    SlashCommand("doctor", "", "check the files of this session"),
    SlashCommand("stats", "", "what this program did so far: turns, steps, tokens, compactions"),
)

_RALPH = re.compile(r"(?:(-1|\d+)\s+)?(.+)", re.DOTALL)


def run_slash(agent: Agent, command: RunSlash) -> None:
    """Do what a slash command says; one that is unknown is named, never sent to the model."""
    name, argument = command.name, command.argument.strip()
    typed = f"/{name} {argument}".strip()
    if name == "init":
        agent.send(Prompt(f"{prompt('init')}\n\n{argument}".strip(), typed=typed))
    elif name == "ralph":
        _ralph(agent, argument, typed)
    elif name == "btw":
        ask_aside(agent, argument)
    elif name == "stats":
        agent.emit(EntryAdded(None, Entry("note", _stats(agent))))
    elif name == "doctor":
        agent.beside(_doctor(agent), typed)
    elif name.startswith(PREFIX):
        agent.beside(run_server_prompt(agent, name, argument, typed), SERVER_PROMPT)
    elif name.startswith(("skill", "flow")):
        agent.beside(_skill(agent, name, argument, typed), typed)
    else:
        agent.emit(Noticed(f"there is no command /{name}", "warning"))


def _ralph(agent: Agent, argument: str, typed: str) -> None:
    """`/ralph N prompt`: N rounds at most, -1 for as many as it takes."""
    given = _RALPH.fullmatch(argument)
    if given is None or given[1] == "0":
        agent.emit(PromptReturned(typed, "/ralph takes a number of rounds, if you like, and a prompt"))
        return
    task = Prompt(given[2], typed=typed)
    call = ralph_call(task, _rounds(given[1], agent.desk.loop.max_ralph_iterations), agent.desk.loop)
    agent.send(Prompt(task.text, typed=typed, flow=call))


def _rounds(said: str | None, configured: int) -> int | None:
    """How many rounds there are at most; None: no limit. The config counts those after the first."""
    if said is not None:
        return None if said == "-1" else int(said)
    if configured == 0:
        return RALPH_ROUNDS
    return None if configured < 0 else configured + 1


async def _skill(agent: Agent, name: str, argument: str, typed: str) -> None:
    try:
        agent.send(await skill_prompt(agent.desk, name, argument, typed))
    except (OSError, ValueError) as fault:
        agent.emit(PromptReturned(typed, str(fault)))


async def _doctor(agent: Agent) -> None:
    report = await asyncio.to_thread(look_over, agent.desk.context.file_backend)
    for line in told(report):
        agent.emit(EntryAdded(None, Entry("note", line)))


def _stats(agent: Agent) -> str:
    totals = agent.desk.telemetry.summary()
    lines = [
        f"{event}: " + ", ".join(f"{name} {value:,.10g}" for name, value in numbers.items())
        for event, numbers in sorted(totals.items())
    ]
    return "\n".join(lines) or "Nothing has been counted yet."

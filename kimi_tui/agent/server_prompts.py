"""Prompts of MCP servers as commands: `/mcp:<server>:<prompt> arguments`."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Container, Iterable
from typing import TYPE_CHECKING

from kimi_tui.agent.steering import Prompt
from kimi_tui.mcp import McpFault, McpPrompt
from kimi_tui.protocol.events import PromptReturned, ServerAwaited
from kimi_tui.protocol.views import SlashCommand

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent

PREFIX = "mcp:"
SERVER_PROMPT = "server prompt"
"""The name of the task: what Esc stops when nothing else runs."""

_FOREIGN = re.compile(r"[^\w.-]")


def command_name(prompt: McpPrompt) -> str:
    """As it is typed, without the slash; signs that a command cannot hold become `_`."""
    return f"{PREFIX}{_FOREIGN.sub('_', prompt.server)}:{_FOREIGN.sub('_', prompt.name)}"


def commands(prompts: Iterable[McpPrompt], ready: Container[str]) -> tuple[SlashCommand, ...]:
    """Of two that would be typed alike only the first. Those of servers that are not ready say so."""
    found = {command_name(prompt): prompt for prompt in reversed(tuple(prompts))}
    return tuple(
        SlashCommand(name, usage(prompt), prompt.description if prompt.server in ready else _waits(prompt), turns=True)
        for name, prompt in reversed(found.items())
    )


def _waits(prompt: McpPrompt) -> str:
    return f"(waits for its server) {prompt.description}"


def usage(prompt: McpPrompt) -> str:
    """`<code> [language]`: what must be given, and what may be."""
    return " ".join(f"<{name}>" if needed else f"[{name}]" for name, needed in prompt.arguments)


def arguments_of(prompt: McpPrompt, typed: str) -> dict[str, str]:
    """What was typed behind the command, by name: `name=value`, or in order; all of it for the only one.

    Raises ValueError when something that is needed is missing, or something is too much."""
    names = [name for name, _ in prompt.arguments]
    if len(names) == 1 and typed and not typed.startswith(f"{names[0]}="):
        return {names[0]: typed}
    given: dict[str, str] = {}
    for word in _words(typed):
        name, is_named, value = word.partition("=")
        if is_named and name in names:
            given[name] = value
        elif free := [one for one in names if one not in given]:
            given[free[0]] = word
        else:
            raise ValueError(f"too much is given: {_called(prompt)}")
    missing = [name for name, needed in prompt.arguments if needed and not given.get(name)]
    if missing:
        raise ValueError(f"{', '.join(missing)} must be given: {_called(prompt)}")
    return given


def _called(prompt: McpPrompt) -> str:
    return f"/{command_name(prompt)} {usage(prompt)}".strip()


def _words(typed: str) -> list[str]:
    try:
        return shlex.split(typed)
    except ValueError:  # a quotation mark that is none
        return typed.split()


async def run_server_prompt(agent: Agent, name: str, argument: str, typed: str) -> None:
    """Let the server fill it in, and send what comes of it; a fault gives back what was typed."""
    try:
        prompt = await _found(agent, name)
        assert agent.desk.servers is not None
        result = await agent.desk.servers.prompt(prompt, arguments_of(prompt, argument))
    except (McpFault, ValueError) as fault:
        agent.emit(PromptReturned(typed, str(fault)))
        return
    except asyncio.CancelledError:
        agent.emit(PromptReturned(typed, "stopped"))
        raise
    if not result.text.strip() and not result.images:
        agent.emit(PromptReturned(typed, f"the server {prompt.server} has nothing to say to that"))
        return
    agent.send(Prompt(result.text, tuple(part.image_url.url for part in result.images), typed=typed))


async def _found(agent: Agent, name: str) -> McpPrompt:
    """The prompt of that command. Its server is waited for, since servers take their time to start."""
    servers = agent.desk.servers
    if servers is None:
        raise ValueError("there are no MCP servers here")
    known = servers.prompt_named(name)
    agent.emit(ServerAwaited(known.server if known else name.split(":")[1]))
    try:
        if known is None:
            servers.start()
            await servers.settled()
        elif not await servers.ready(known.server):
            raise ValueError(f"the server {known.server} is not ready; /mcp shows why")
    finally:
        agent.emit(ServerAwaited(""))
    prompt = servers.prompt_named(name)
    if prompt is None:
        raise ValueError(f"there is no /{name}; /mcp shows how the servers stand")
    return prompt

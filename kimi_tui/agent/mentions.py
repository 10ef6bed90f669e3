"""Resources of MCP servers that the user's words name (`@server:uri`): read, and sent along."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kimi_tui.agent.steering import Prompt
from kimi_tui.mcp import McpFault, McpResult
from kimi_tui.protocol.events import Noticed, ServerAwaited
from kimi_tui.resources import prompt as wording
from kimi_tui.tools.text import clean, clip, one_line, plural

if TYPE_CHECKING:
    from kimi_tui.agent.desk import Desk

MOST = 20
"""Resources of one prompt."""

_MENTION = re.compile(r"(?:^|(?<=[\s(\[]))@(?:\"([^\"\n]+)\"|([^\s\"]+))")
_TRAILING = ".,;:!?)]}>'。，；：！？）】」』"
"""Signs that end a sentence, not an address."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A resource that is named in a prompt."""

    server: str
    uri: str


def mentions_in(text: str, servers: Sequence[str], known: frozenset[tuple[str, str]]) -> tuple[Mention, ...]:
    """All of them, each once. An address that is not known is taken without the signs that end a sentence."""
    return tuple(dict.fromkeys(_mentions(text, servers, known)))[:MOST]


def _mentions(text: str, servers: Sequence[str], known: frozenset[tuple[str, str]]) -> Iterator[Mention]:
    for found in _MENTION.finditer(text):
        named = found[1] or found[2]
        for server in sorted(servers, key=len, reverse=True):
            uri = named.removeprefix(f"{server}:")
            if uri != named:
                exact = found[1] is not None or (server, uri) in known
                uri = uri if exact else uri.rstrip(_TRAILING)
                if uri:
                    yield Mention(server, uri)
                break


async def with_resources(desk: Desk, prompt: Prompt) -> Prompt:
    """The prompt with what it names; what cannot be read is told to the user and to the model."""
    servers = desk.servers
    if servers is None or "@" not in prompt.said:
        return prompt
    found = mentions_in(prompt.said, servers.names, servers.addresses)
    if not found:
        return prompt
    desk.emit(ServerAwaited(found[0].server))
    try:
        told = await asyncio.gather(*(_read(desk, mention) for mention in found))
    finally:
        desk.emit(ServerAwaited(""))
    text = "\n\n".join((prompt.text, *(text for text, _ in told)))
    images = tuple(part.image_url.url for _, result in told if result for part in result.images)
    return replace(prompt, text=text, images=(*prompt.images, *images), typed=prompt.said)


async def _read(desk: Desk, mention: Mention) -> tuple[str, McpResult | None]:
    """What the model is told of it, and the result that holds its images."""
    assert desk.servers is not None
    shown = one_line(f"{mention.server}:{mention.uri}")
    try:
        result = await desk.servers.read(mention.server, mention.uri)
    except McpFault as fault:
        desk.emit(Noticed(f"@{shown} could not be read: {fault}", "warning"))
        return wording("resource_missing").format(resource=shown, reason=one_line(str(fault))), None
    text = clip(clean(result.text))
    size = plural(len(text.splitlines()), "line") if text else plural(len(result.images), "image")
    desk.emit(Noticed(f"@{shown}: {size} sent along"))
    return wording("resource_sent").format(resource=shown, text=text), result

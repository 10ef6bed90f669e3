"""What a server has beside its tools: prompts for the user, and resources to be read."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp import Client

log = logging.getLogger(__name__)

PROMPTS = 64
RESOURCES = 500
"""Of one server, at most; further ones are not listed, but can be read."""
DESCRIPTION = 4000
"""Characters of what anything is said to be."""


@dataclass(frozen=True, slots=True)
class McpPrompt:
    """A request that a server has ready for the user."""

    server: str
    name: str
    description: str
    arguments: tuple[tuple[str, bool], ...] = ()
    """Name, and whether it must be given."""


@dataclass(frozen=True, slots=True)
class McpResource:
    """Something that can be read from a server. `uri` may be a template with `{names}`."""

    uri: str
    name: str
    about: str = ""
    """Kind and description, where they are known."""


async def prompts_of(server: str, client: Client) -> tuple[McpPrompt, ...]:
    """The prompts of a server; none when it cannot list them, since its tools are of use all the same."""
    try:
        page = await client.list_prompts()
    except Exception as fault:
        log.warning("the prompts of %s could not be listed: %s", server, type(fault).__name__)
        return ()
    return tuple(_prompt(server, prompt) for prompt in page.prompts[:PROMPTS])


async def resources_of(client: Client) -> list[McpResource]:
    """The resources of a server, then its templates; many servers have only one of the two."""
    import mcp.types as sdk
    from mcp import MCPError

    found: dict[str, McpResource] = {}
    cursor: str | None = None
    while len(found) < RESOURCES:
        known = len(found)
        page = await client.list_resources(cursor=cursor)
        found |= {one.uri: _resource(one.uri, one) for one in page.resources}
        cursor = page.next_cursor
        if not cursor or len(found) == known:  # a list that goes round brings nothing new
            break
    try:
        templates = (await client.list_resource_templates()).resource_templates
    except MCPError as fault:
        if fault.error.code != sdk.METHOD_NOT_FOUND:
            raise
        templates = []
    return [*found.values(), *(_resource(one.uri_template, one) for one in templates)][:RESOURCES]


def _resource(uri: str, one: Any) -> McpResource:
    about = " · ".join(filter(None, (one.mime_type, one.description)))
    return McpResource(uri, (one.title or one.name)[:200], about[:DESCRIPTION])


def _prompt(server: str, prompt: Any) -> McpPrompt:
    description = " ".join((prompt.description or prompt.title or prompt.name).split())[:DESCRIPTION]
    arguments = tuple((argument.name, bool(argument.required)) for argument in prompt.arguments or ())
    return McpPrompt(server, prompt.name, description, arguments)

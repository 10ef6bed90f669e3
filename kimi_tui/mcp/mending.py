"""Answers of servers that are almost right, made what the SDK takes: it refuses a whole list for one wrong entry, and a
whole result for one kind of content that it does not know.

Works on the JSON of a result, before anything has looked at it. What cannot be mended is left out, with a word where
the model would miss it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]


def mend(result: Json) -> Json:
    """A result with the lists in it put right; the very same when there is nothing to do."""
    if "structuredContent" in result and "content" not in result:
        result = {**result, "content": []}
    mended = {key: _listed(result[key], one) for key, one in _LISTS.items() if isinstance(result.get(key), list)}
    return {**result, **mended} if any(mended[key] != result[key] for key in mended) else result


def _listed(entries: list[Any], one: Callable[[Any], Json | None]) -> list[Json]:
    return [made for made in map(one, entries) if made is not None]


def _tool(tool: Any) -> Json | None:
    """Name, words and schema. An output schema is let go: the SDK would refuse results that do not follow it."""
    if not _named(tool, "name"):
        return None
    schema = tool.get("inputSchema")
    schema = schema if isinstance(schema, dict) else {}
    return {**_words(tool, "name", "title", "description"), "inputSchema": {**schema, "type": "object"}}


def _prompt(prompt: Any) -> Json | None:
    if not _named(prompt, "name"):
        return None
    given = prompt.get("arguments")
    arguments = [
        {**_words(argument, "name", "title", "description"), "required": argument.get("required") is True}
        for argument in (given if isinstance(given, list) else ())
        if _named(argument, "name")
    ]
    return {**_words(prompt, "name", "title", "description"), "arguments": arguments}


def _resource(resource: Any) -> Json | None:
    if not _named(resource, "uri"):
        return None
    return {"name": resource["uri"], **_words(resource, "uri", "name", "title", "description", "mimeType")}


def _template(template: Any) -> Json | None:
    if not _named(template, "uriTemplate"):
        return None
    words = _words(template, "uriTemplate", "name", "title", "description", "mimeType")
    return {"name": template["uriTemplate"], **words}


def _block(block: Any) -> Json:
    """A block of content; one of a kind that is not known, or that lacks something, becomes a text that says so."""
    if not isinstance(block, dict):
        return _text(block if isinstance(block, str) else json.dumps(block))
    kind = block.get("type")
    needed = _NEEDED.get(kind) if isinstance(kind, str) else None
    if needed is not None and all(isinstance(block.get(name), str) for name in needed):
        return block
    if kind == "resource" and _named(block.get("resource"), "uri"):
        return block
    if isinstance(block.get("text"), str):
        return _text(block["text"])
    return _text(f"[{kind if isinstance(kind, str) else 'unknown content'}: cannot be shown here]")


_NEEDED: dict[str, tuple[str, ...]] = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri", "name"),
}
_LISTS: dict[str, Callable[[Any], Json | None]] = {
    "tools": _tool,
    "prompts": _prompt,
    "resources": _resource,
    "resourceTemplates": _template,
    "content": _block,
}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _named(entry: Any, name: str) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get(name), str) and bool(entry[name])


def _words(entry: Json, *names: str) -> Json:
    return {name: entry[name] for name in names if isinstance(entry.get(name), str)}

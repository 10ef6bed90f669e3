"""JSON schemas that every provider takes: references inlined, titles and nulls dropped."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel


@cache
def parameters(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a tool's arguments, with aliases as names. Made once a model: not to be changed."""
    schema = model.model_json_schema(by_alias=True)
    definitions = schema.pop("$defs", {})
    tidy: dict[str, Any] = _tidy(schema, definitions)
    tidy.pop("description", None)
    tidy.setdefault("properties", {})
    return tidy


def _tidy(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_tidy(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = definitions[node["$ref"].rpartition("/")[2]]
        return _tidy({**target, **{key: value for key, value in node.items() if key != "$ref"}}, definitions)
    found = {key: _child(key, value, definitions) for key, value in node.items() if not _noise(key, value)}
    return _without_null(found)


def _child(key: str, value: Any, definitions: dict[str, Any]) -> Any:
    if key == "properties":  # its keys are names of arguments, not words of the schema
        return {name: _tidy(schema, definitions) for name, schema in value.items()}
    return _tidy(value, definitions)


def _noise(key: str, value: Any) -> bool:
    return (key == "title" and isinstance(value, str)) or (key == "default" and value is None)


def _without_null(node: dict[str, Any]) -> dict[str, Any]:
    """An optional argument may be left out; that it may also be null only confuses strict providers."""
    choices = node.get("anyOf")
    if not isinstance(choices, list):
        return node
    real = [choice for choice in choices if choice != {"type": "null"}]
    rest = {key: value for key, value in node.items() if key != "anyOf"}
    return {**real[0], **rest} if len(real) == 1 else {**rest, "anyOf": real}

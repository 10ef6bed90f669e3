"""A server's schema of arguments, made such that strict providers take it.

What they do not know is left out, or told in words where it helps: references are put in place, variants are `anyOf`,
every node has a type, depth and size are bounded. The root is an object. Never raises, whatever the server sent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

DEEPEST = 10
LARGEST = 1000
"""Nodes; what comes after them may be anything."""
LONGEST = 1000
"""Characters of a description."""

_TYPES = ("string", "number", "integer", "boolean", "object", "array")
_KEPT = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
_TOLD = ("format", "pattern", "examples", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems")
"""Not known everywhere, but worth a word to the model."""
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")

Schema = dict[str, Any]


def strict(schema: Any) -> Schema:
    """The schema of a tool's arguments: an object with properties."""
    tidy = _Tidying(schema)
    root = tidy.flat_root(schema, 0, ())
    return {**{"type": "object", "properties": {}}, **tidy.object_of(root, 0, ())}


def _anything() -> Schema:
    return {"anyOf": [{"type": name} for name in ("string", "number", "boolean", "object")]}


class _Tidying:
    """One walk over one schema."""

    def __init__(self, root: Any) -> None:
        self._root, self._nodes = root, 0

    def flat_root(self, node: Any, depth: int, seen: tuple[str, ...]) -> Schema:
        """No variants at the root: their properties are put together, what only some of them need is optional."""
        self._nodes += 1
        if depth > DEEPEST or self._nodes > LARGEST:
            return {}
        node, seen = self._resolved(node, seen)
        variants = [self.flat_root(one, depth + 1, seen) for key in ("anyOf", "oneOf") for one in _list(node.get(key))]
        parts = [self.flat_root(one, depth + 1, seen) for one in _list(node.get("allOf"))]
        needed = [set(_list(one.get("required"))) for one in variants]
        properties: Schema = {}
        for one in (*variants, *parts, node):
            properties |= _table(one.get("properties"))
        required = [*_list(node.get("required")), *(name for one in parts for name in _list(one.get("required")))]
        required += sorted(set.intersection(*needed)) if needed else []
        return {**node, "properties": properties, "required": required}

    def object_of(self, node: Schema, depth: int, seen: tuple[str, ...]) -> Schema:
        properties = {
            name: self.node_of(value, depth + 1, seen)
            for name, value in _table(node.get("properties")).items()
            if isinstance(name, str) and _NAME.fullmatch(name)
        }
        made: Schema = {"type": "object", "properties": properties}
        required = [name for name in dict.fromkeys(filter(_is_text, _list(node.get("required")))) if name in properties]
        if required:
            made["required"] = required
        extra = node.get("additionalProperties")
        if isinstance(extra, dict) and extra and not properties:
            made["additionalProperties"] = self.node_of(extra, depth + 1, seen)
        return made

    def node_of(self, node: Any, depth: int, seen: tuple[str, ...]) -> Schema:
        """Any node but the root."""
        self._nodes += 1
        if depth > DEEPEST or self._nodes > LARGEST:
            return _anything()
        resolved, seen = self._resolved(node, seen)
        made = self._typed(_merged(resolved, lambda part: self._resolved(part, seen)[0]), depth, seen)
        description = _description(resolved)
        return {**made, "description": description} if description else made

    def _typed(self, node: Schema, depth: int, seen: tuple[str, ...]) -> Schema:
        variants = [one for key in ("anyOf", "oneOf") for one in _list(node.get(key)) if not _is_null(one)]
        if variants:
            return self._any_of(
                [{**_around(node), **one} if isinstance(one, dict) else one for one in variants], depth, seen
            )
        if "const" in node:
            node = {**node, "enum": [node["const"]]}
        if "enum" in node:
            return _enumeration(_list(node["enum"]))
        kinds = _kinds(node)
        if len(kinds) != 1:
            return self._any_of([{**node, "type": kind} for kind in kinds], depth, seen) if kinds else _anything()
        return self._plain(kinds[0], node, depth, seen)

    def _any_of(self, variants: list[Any], depth: int, seen: tuple[str, ...]) -> Schema:
        made: list[Schema] = []
        for one in (self.node_of(variant, depth + 1, seen) for variant in variants[:20]):
            made += [one] if one not in made else []
        return made[0] if len(made) == 1 else {"anyOf": made}

    def _plain(self, kind: str, node: Schema, depth: int, seen: tuple[str, ...]) -> Schema:
        if kind == "object":
            return self.object_of(node, depth, seen)
        made: Schema = {"type": kind}
        if kind == "array":
            items = node.get("items")
            made["items"] = self.node_of(items, depth + 1, seen) if isinstance(items, dict) and items else _anything()
        made |= {key: node[key] for key in _KEPT if isinstance(node.get(key), int | float)}
        default = node.get("default")
        if isinstance(default, str | int | float | bool) and _kind_of(default) in (kind, "integer"):
            made["default"] = default
        return made

    def _resolved(self, node: Any, seen: tuple[str, ...]) -> tuple[Schema, tuple[str, ...]]:
        """The node that a chain of references leads to, with what stands beside them."""
        beside: Schema = {}
        while isinstance(node, dict) and isinstance(node.get("$ref"), str):
            reference = node["$ref"]
            beside = {**{key: value for key, value in node.items() if key != "$ref"}, **beside}
            if seen.count(reference) > 1:  # it contains itself: once more is enough
                return beside, seen
            node, seen = self._at(reference), (*seen, reference)
        return ({**node, **beside} if isinstance(node, dict) else beside), seen

    def _at(self, reference: str) -> Any:
        found = self._root
        if not reference.startswith("#"):
            return {}
        for step in filter(None, reference.removeprefix("#").split("/")):
            step = step.replace("~1", "/").replace("~0", "~")
            found = found.get(step, {}) if isinstance(found, dict) else {}
        return found


def _merged(node: Schema, resolve: Any) -> Schema:
    """`allOf` put together: properties and needs add up, of the rest the last word counts."""
    parts = [resolve(part) for part in _list(node.get("allOf"))]
    if not parts:
        return node
    whole: Schema = {}
    for part in (*parts, {key: value for key, value in node.items() if key != "allOf"}):
        properties = {**_table(whole.get("properties")), **_table(part.get("properties"))}
        required = [*_list(whole.get("required")), *_list(part.get("required"))]
        whole = {**whole, **part, **({"properties": properties} if properties else {}), "required": required}
    return whole


def _kinds(node: Schema) -> list[str]:
    """The types that a node allows; guessed from its other words when it names none."""
    named = node.get("type")
    kinds = [kind for kind in (named if isinstance(named, list) else [named]) if kind in _TYPES]
    if kinds or named == "null":
        return kinds or ["string"]
    if "properties" in node or isinstance(node.get("additionalProperties"), dict):
        return ["object"]
    if "items" in node:
        return ["array"]
    return ["string"] if {"pattern", "format", "minLength", "maxLength"} & node.keys() else []


def _enumeration(values: list[Any]) -> Schema:
    """One list of values for each type among them."""
    kinds: dict[str, list[Any]] = {}
    for value in values:
        kind = _kind_of(value)
        if kind and not any(value == known and type(value) is type(known) for known in kinds.get(kind, ())):
            kinds.setdefault(kind, []).append(value)
    made = [{"type": kind, "enum": found} for kind, found in kinds.items()]
    if not made:
        return _anything()
    return made[0] if len(made) == 1 else {"anyOf": made}


def _kind_of(value: Any) -> str:
    names = {str: "string", bool: "boolean", int: "integer", float: "number"}
    return names.get(type(value), "")


def _around(node: Schema) -> Schema:
    """What stands beside variants and holds for each of them."""
    return {key: node[key] for key in ("type", "properties", "required", "items") if key in node}


def _description(node: Schema) -> str:
    said = node.get("description") or node.get("title")
    told = [f"{key}: {node[key]}" for key in _TOLD if node.get(key) not in (None, False, "", [])]
    return " ".join(
        part for part in (said if isinstance(said, str) else "", f"({'; '.join(told)})" if told else "") if part
    )[:LONGEST]


def _is_null(node: Any) -> bool:
    return isinstance(node, dict) and (node.get("type") == "null" or node.get("const", "") is None)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}

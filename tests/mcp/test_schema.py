"""Schemas of arguments, as strict providers take them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_tui.mcp.schema import DEEPEST, LARGEST, strict

ANYTHING = {"anyOf": [{"type": name} for name in ("string", "number", "boolean", "object")]}


def prop(schema: Any, **more: Any) -> Any:
    """What becomes of one property."""
    return strict({"type": "object", "properties": {"p": schema}, **more})["properties"]["p"]


@pytest.mark.parametrize(
    "schema", [None, True, [], "object", {}, {"type": "string"}, {"type": "object"}, {"$ref": "#/no"}]
)
def test_the_root_is_always_an_object(schema: Any) -> None:
    assert strict(schema) == {"type": "object", "properties": {}}


def test_needed_names_are_properties_and_stand_once() -> None:
    schema = {"properties": {"a": {"type": "string"}}, "required": ["a", "a", "gone", 5]}
    assert strict(schema) == {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


def test_names_that_no_provider_takes_are_left_out() -> None:
    schema = {"properties": {"a b": {"type": "string"}, "x" * 65: {}, "ok": {"type": "string"}}, "required": ["a b"]}
    assert strict(schema) == {"type": "object", "properties": {"ok": {"type": "string"}}}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": ["string", "null"]}, {"type": "string"}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}, {"type": "string"}),
        ({"oneOf": [{"type": "string"}, {"type": "number"}]}, {"anyOf": [{"type": "string"}, {"type": "number"}]}),
        ({"const": "x"}, {"type": "string", "enum": ["x"]}),
        ({"enum": ["a", "b", None, "a"]}, {"type": "string", "enum": ["a", "b"]}),
        (
            {"enum": ["a", 1, True]},
            {
                "anyOf": [
                    {"type": kind, "enum": [value]}
                    for kind, value in (("string", "a"), ("integer", 1), ("boolean", True))
                ]
            },
        ),
        ({"type": "array"}, {"type": "array", "items": ANYTHING}),
        ({"items": {"type": "string"}, "maxItems": 3}, {"type": "array", "items": {"type": "string"}, "maxItems": 3}),
        (
            {"additionalProperties": {"type": "string"}},
            {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}},
        ),
        (
            {"type": "string", "default": "x", "minLength": 1, "$comment": "!"},
            {"type": "string", "default": "x", "minLength": 1},
        ),
        ({"type": "string", "format": "date"}, {"type": "string", "description": "(format: date)"}),
        ({"title": "When", "pattern": "^a"}, {"type": "string", "description": "When (pattern: ^a)"}),
        ({"allOf": [{"type": "string"}, {"minLength": 2}]}, {"type": "string", "minLength": 2}),
        ({}, ANYTHING),
        (True, ANYTHING),
        ({"type": "file"}, ANYTHING),
    ],
)
def test_what_becomes_of_a_property(schema: Any, expected: Any) -> None:
    assert prop(schema) == expected


def test_references_are_put_in_place_with_what_stands_beside_them() -> None:
    definitions = {"Way": {"enum": ["up", "down"]}}
    assert prop({"$ref": "#/$defs/Way", "description": "Where to."}, **{"$defs": definitions}) == {
        "type": "string",
        "enum": ["up", "down"],
        "description": "Where to.",
    }


def test_a_schema_that_contains_itself_ends() -> None:
    node = {
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/Node"}, "many": {"items": {"$ref": "#/$defs/Node"}}},
    }
    made = strict({"properties": {"head": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}})
    assert "$ref" not in json.dumps(made) and len(json.dumps(made)) < 20_000


def test_references_that_multiply_are_bounded() -> None:
    definitions = {
        f"N{n}": {"type": "object", "properties": {f"p{k}": {"$ref": f"#/$defs/N{n + 1}"} for k in range(10)}}
        for n in range(9)
    }
    made = strict({"properties": {"a": {"$ref": "#/$defs/N0"}}, "$defs": definitions})
    assert len(json.dumps(made)) < 200 * LARGEST


def test_variants_at_the_root_are_put_together() -> None:
    variants = [
        {"properties": {"id": {"type": "integer"}, "a": {"type": "string"}}, "required": ["id", "a"]},
        {"properties": {"id": {"type": "integer"}, "b": {"type": "string"}}, "required": ["id", "b"]},
    ]
    made = strict({"type": "object", "oneOf": variants})
    assert list(made["properties"]) == ["id", "a", "b"] and made["required"] == ["id"]


def test_depth_is_bounded() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(200):
        schema = {"type": "object", "properties": {"p": schema}}
    made = json.dumps(strict(schema))
    assert made.count('"p"') <= DEEPEST + 1


_WORDS = st.sampled_from(
    [
        "type",
        "properties",
        "items",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
        "enum",
        "const",
        "required",
        "default",
        "format",
        "p",
    ]
)
_LEAVES = (
    st.none() | st.booleans() | st.integers() | st.sampled_from(["object", "string", "array", "null", "#", "#/p", "x"])
)
_SCHEMAS = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=4), max_leaves=25
)


@given(_SCHEMAS)
def test_whatever_a_server_sends_becomes_a_schema_of_known_words(schema: Any) -> None:
    made = strict(schema)
    assert made["type"] == "object"
    _check(made)


def _check(node: dict[str, Any]) -> None:
    known = {
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "anyOf",
        "default",
        "description",
    }
    assert node.keys() <= known | {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}
    assert ("type" in node) != ("anyOf" in node)
    assert set(node.get("required", ())) <= node.get("properties", {}).keys()
    below = [
        *node.get("properties", {}).values(),
        *node.get("anyOf", ()),
        *filter(None, [node.get("items"), node.get("additionalProperties")]),
    ]
    for inner in below:
        _check(inner)

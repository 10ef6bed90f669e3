"""Answers that are almost right."""

from __future__ import annotations

from typing import Any

import pytest

from kimi_tui.mcp.mending import mend


def test_what_is_right_stays_the_very_same() -> None:
    result = {"content": [{"type": "text", "text": "x", "annotations": {"priority": 1}}], "isError": False}
    assert mend(result) is result
    assert mend({}) == {} and mend({"tools": "none"}) == {"tools": "none"}


@pytest.mark.parametrize(
    ("tool", "mended"),
    [
        ({"name": "a"}, {"name": "a", "inputSchema": {"type": "object"}}),
        ({"name": "a", "inputSchema": None}, {"name": "a", "inputSchema": {"type": "object"}}),
        ({"name": "a", "inputSchema": {"anyOf": []}}, {"name": "a", "inputSchema": {"anyOf": [], "type": "object"}}),
        ({"name": "a", "title": 5, "icons": 3, "outputSchema": {}}, {"name": "a", "inputSchema": {"type": "object"}}),
        ({"name": ""}, None),
        (7, None),
    ],
)
def test_a_tool_keeps_its_name_its_words_and_a_schema(tool: Any, mended: Any) -> None:
    assert mend({"tools": [tool]}) == {"tools": [mended] if mended else []}


def test_prompts_and_resources_without_a_name_are_left_out() -> None:
    prompt = {"name": "p", "arguments": [{"name": "a", "required": "yes"}, {"title": "b"}, 5]}
    assert mend({"prompts": [prompt, {}]}) == {
        "prompts": [{"name": "p", "arguments": [{"name": "a", "required": False}]}]
    }
    assert mend({"resources": [{"uri": "x://1"}, {"name": "n"}]}) == {"resources": [{"name": "x://1", "uri": "x://1"}]}
    assert mend({"resourceTemplates": [{"uriTemplate": "x://{n}", "name": "n"}]}) == {
        "resourceTemplates": [{"name": "n", "uriTemplate": "x://{n}"}]
    }


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ("x", "x"),
        (5, "5"),
        ({"type": "text"}, "[text: cannot be shown here]"),
        ({"text": "no kind"}, "no kind"),
        ({"type": ["a"]}, "[unknown content: cannot be shown here]"),
        ({"type": "resource", "resource": {}}, "[resource: cannot be shown here]"),
    ],
)
def test_content_of_no_known_kind_becomes_a_word(block: Any, text: str) -> None:
    assert mend({"content": [block]}) == {"content": [{"type": "text", "text": text}]}


def test_structured_content_alone_is_enough() -> None:
    assert mend({"structuredContent": {"a": 1}}) == {"structuredContent": {"a": 1}, "content": []}

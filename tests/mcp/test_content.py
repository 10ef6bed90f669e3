"""Results of a server's tools."""

from __future__ import annotations

from typing import Any

import mcp.types as sdk

from kimi_tui.mcp.content import IMAGE_LIMIT, IMAGES, McpResult, result_of


def answer(*blocks: Any, **more: Any) -> McpResult:
    return result_of(sdk.CallToolResult(content=list(blocks), **more))


def image(data: str = "aGk=", kind: str = "image/png") -> sdk.ImageContent:
    return sdk.ImageContent(data=data, mime_type=kind)


def test_texts_and_images_come_in_order() -> None:
    result = answer(sdk.TextContent(text="one"), image(), sdk.TextContent(text="two"))
    assert result.text == "one\ntwo"
    assert [part.image_url.url for part in result.images] == ["data:image/png;base64,aGk="]


def test_what_cannot_be_shown_leaves_a_word() -> None:
    blob = sdk.BlobResourceContents(uri="file:///a.bin", blob="aGk=", mime_type="application/x")
    text = sdk.TextResourceContents(uri="file:///a.txt", text="inside")
    result = answer(
        sdk.AudioContent(data="aGk=", mime_type="audio/wav"),
        sdk.ResourceLink(name="doc", uri="http://a/b", description="more"),
        sdk.EmbeddedResource(resource=text),
        sdk.EmbeddedResource(resource=blob),
        image(kind="image/svg+xml"),
        image("x" * (IMAGE_LIMIT + 1)),
        image("!no base64!"),
    )
    assert result.images == ()
    assert result.text.splitlines() == [
        "[audio, audio/wav: cannot be heard here]",
        "[doc: http://a/b] more",
        "[file:///a.txt]",
        "inside",
        "[file:///a.bin, application/x: cannot be shown here]",
        "[image/svg+xml: cannot be shown here]",
        "[image/png of 3,932,160 bytes: too large to be shown]",
        "[image/png: damaged]",
    ]


def test_images_are_counted() -> None:
    result = answer(*[image()] * (IMAGES + 1))
    assert len(result.images) == IMAGES and result.text == "[one more image, left out]"


def test_structured_content_is_shown_where_there_is_no_other() -> None:
    assert answer(structured_content={"a": 1}).text == '{\n "a": 1\n}'
    assert answer(sdk.TextContent(text="x"), structured_content={"a": 1}).text == "x"


def test_a_failure_is_known_as_one() -> None:
    assert answer(sdk.TextContent(text="no"), is_error=True).failed

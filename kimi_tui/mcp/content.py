"""What a server gave back (a tool's result, a prompt, a resource) as text and images: bounded, and with a word for what
cannot be shown."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kimi_tui.protocol.messages import ImageURLPart

if TYPE_CHECKING:
    import mcp.types as sdk

TEXT_LIMIT = 2_000_000
"""Characters that are taken of one result; how much of that the model sees is the caller's business."""
IMAGES = 8
IMAGE_LIMIT = 5 << 20
"""Characters of one image in base64."""
_SEEN = ("image/png", "image/jpeg", "image/gif", "image/webp")


@dataclass(frozen=True, slots=True)
class McpResult:
    text: str
    images: tuple[ImageURLPart, ...] = ()
    failed: bool = False
    """The tool itself says that it did not work."""


def result_of(answer: sdk.CallToolResult) -> McpResult:
    """The content in order; structured content only where there is no other."""
    found = _gathered([_block(block) for block in answer.content], "\n", failed=answer.is_error)
    if found.text or found.images or answer.structured_content is None:
        return found
    text = json.dumps(answer.structured_content, ensure_ascii=False, indent=1)
    return McpResult(text[:TEXT_LIMIT], (), answer.is_error)


def prompt_of(answer: sdk.GetPromptResult) -> McpResult:
    """The messages as one. Where not all are the user's, each says whose it is."""
    mixed = any(message.role != "user" for message in answer.messages)
    parts = []
    for message in answer.messages:
        text, image = _block(message.content)
        parts.append((f"{message.role.capitalize()}: {text}" if mixed and text else text, image))
    return _gathered(parts, "\n\n")


def resource_of(answer: sdk.ReadResourceResult) -> McpResult:
    """All that stands at an address; what it is called is only said where it is more than one thing."""
    parts = [_resource(content) for content in answer.contents]
    if len(parts) == 1 and isinstance(text := getattr(answer.contents[0], "text", None), str):
        parts = [(text, None)]
    return _gathered(parts, "\n")


def _gathered(parts: Sequence[tuple[str, ImageURLPart | None]], between: str, *, failed: bool = False) -> McpResult:
    texts: list[str] = []
    images: list[ImageURLPart] = []
    for said, image in parts:
        text = said
        if image is not None and len(images) < IMAGES:
            images.append(image)
        elif image is not None:
            text = "[one more image, left out]"
        texts += [text] if text else []
    return McpResult(between.join(texts)[:TEXT_LIMIT], tuple(images), failed)


def _block(block: Any) -> tuple[str, ImageURLPart | None]:
    if block.type == "text":
        return block.text, None
    if block.type == "image":
        return _media(block.mime_type, block.data)
    if block.type == "audio":
        return f"[audio, {block.mime_type}: cannot be heard here]", None
    if block.type == "resource_link":
        return f"[{block.name}: {block.uri}]{f' {block.description}' if block.description else ''}", None
    if block.type == "resource":
        return _resource(block.resource)
    return f"[{block.type}: cannot be shown here]", None


def _resource(resource: Any) -> tuple[str, ImageURLPart | None]:
    text = getattr(resource, "text", None)
    if isinstance(text, str):
        return f"[{resource.uri}]\n{text}", None
    return _media(resource.mime_type or "unknown kind", resource.blob, f"{resource.uri}, ")


def _media(kind: str, data: str, name: str = "") -> tuple[str, ImageURLPart | None]:
    if kind not in _SEEN:
        return f"[{name}{kind}: cannot be shown here]", None
    if len(data) > IMAGE_LIMIT:
        return f"[{name}{kind} of {len(data) * 3 // 4:,} bytes: too large to be shown]", None
    if not _is_base64(data):
        return f"[{name}{kind}: damaged]", None
    return "", ImageURLPart(image_url=ImageURLPart.ImageURL(url=f"data:{kind};base64,{data}"))


def _is_base64(data: str) -> bool:
    """A provider refuses the whole conversation for an image that is none."""
    try:
        return bool(base64.b64decode(data, validate=True))
    except ValueError:
        return False

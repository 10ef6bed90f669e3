"""Messages in the wire format of the log (and of kimi-cli): what the model said, was told, and called.

A message whose only part is text is written with `content` as a plain string; `None` fields are left out. Parts and
keys that are not known here are kept as they are and written back unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Tag, field_serializer, field_validator

Role = Literal["system", "user", "assistant", "tool"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow")


class TextPart(_Part):
    type: Literal["text"] = "text"
    text: str


class ThinkPart(_Part):
    type: Literal["think"] = "think"
    think: str
    encrypted: str | None = None
    """The provider's signature, to be sent back with the reasoning."""


class MediaURL(BaseModel):
    model_config = ConfigDict(extra="allow")

    url: str
    id: str | None = None


class ImageURLPart(_Part):
    type: Literal["image_url"] = "image_url"
    image_url: MediaURL


class AudioURLPart(_Part):
    type: Literal["audio_url"] = "audio_url"
    audio_url: MediaURL


class VideoURLPart(_Part):
    type: Literal["video_url"] = "video_url"
    video_url: MediaURL


class OpaquePart(_Part):
    """A part of a type that is not known here: kept, never shown to a model."""

    type: str


_KNOWN = {"text", "think", "image_url", "audio_url", "video_url"}


def _tag(part: Any) -> str:
    kind = part.get("type") if isinstance(part, dict) else getattr(part, "type", None)
    return kind if isinstance(kind, str) and kind in _KNOWN else "opaque"


ContentPart = Annotated[
    Annotated[TextPart, Tag("text")]
    | Annotated[ThinkPart, Tag("think")]
    | Annotated[ImageURLPart, Tag("image_url")]
    | Annotated[AudioURLPart, Tag("audio_url")]
    | Annotated[VideoURLPart, Tag("video_url")]
    | Annotated[OpaquePart, Tag("opaque")],
    Discriminator(_tag),
]


class FunctionBody(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: str
    arguments: str | None = None
    """JSON text, as the model wrote it."""


class ToolCall(BaseModel):
    model_config = ConfigDict(extra="allow")

    type: Literal["function"] = "function"
    id: str
    function: FunctionBody


class Message(BaseModel):
    model_config = ConfigDict(extra="allow")

    role: Role
    name: str | None = None
    content: list[ContentPart]
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None

    def __init__(self, *, role: Role, content: str | Sequence[Any] | _Part | None = None, **fields: Any) -> None:
        super().__init__(role=role, content=content, **fields)

    @field_validator("content", mode="before")
    @classmethod
    def _as_parts(cls, value: Any) -> Any:
        if value is None:
            return []
        if isinstance(value, str):
            return [TextPart(text=value)]
        return [value] if isinstance(value, _Part) else value

    @field_serializer("content")
    def _compact(self, parts: list[ContentPart]) -> Any:
        if len(parts) == 1 and isinstance(parts[0], TextPart) and not parts[0].model_extra:
            return parts[0].text
        return [part.model_dump(exclude_none=True) for part in parts]

    def text(self, separator: str = "") -> str:
        """All text parts, joined; thinking and media left out."""
        return separator.join(part.text for part in self.content if isinstance(part, TextPart))

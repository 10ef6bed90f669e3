"""Messages in the wire format of the log (and of kimi-cli): what the model said, was told, and called.

A message whose only part is text is written with `content` as a plain string; `None` fields of a message are left
out, `None` fields of a part are written. Parts and keys that are not known here are kept and written back unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, field_serializer

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
    """An address, or the data itself (`data:image/png;base64,…`)."""
    id: str | None = None
    """Lets a model tell several media apart."""


class ImageURLPart(_Part):
    class ImageURL(MediaURL):
        pass

    type: Literal["image_url"] = "image_url"
    image_url: ImageURL


class AudioURLPart(_Part):
    class AudioURL(MediaURL):
        pass

    type: Literal["audio_url"] = "audio_url"
    audio_url: AudioURL


class VideoURLPart(_Part):
    class VideoURL(MediaURL):
        pass

    type: Literal["video_url"] = "video_url"
    video_url: VideoURL


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


def _empty_for_none(value: Any) -> Any:
    return "" if value is None else value


class ToolCall(BaseModel):
    model_config = ConfigDict(extra="allow")

    class FunctionBody(BaseModel):
        model_config = ConfigDict(extra="allow")

        name: str
        arguments: Annotated[str, BeforeValidator(_empty_for_none)] = ""
        """JSON text, as the model wrote it. `None` becomes empty text, since kimi-cli needs the key."""

        if TYPE_CHECKING:

            def __init__(self, *, name: str, arguments: str | None = "", **extra: Any) -> None: ...

    type: Literal["function"] = "function"
    id: str
    function: FunctionBody
    extras: dict[str, Any] | None = None
    """What a provider wants back with the call."""


FunctionBody = ToolCall.FunctionBody


def _as_parts(value: Any) -> Any:
    if value is None:
        return []
    if isinstance(value, str):
        return [TextPart(text=value)]
    if isinstance(value, _Part):
        return [value]
    return list(value) if isinstance(value, tuple) else value


class Message(BaseModel):
    model_config = ConfigDict(extra="allow")

    role: Role
    name: str | None = None
    content: Annotated[list[ContentPart], BeforeValidator(_as_parts)] = Field(default_factory=list)
    """Empty: no content (an assistant that only calls tools)."""
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    partial: bool | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            role: Role,
            content: str | _Part | Sequence[_Part] | None = None,
            name: str | None = None,
            tool_calls: Sequence[ToolCall] | None = None,
            tool_call_id: str | None = None,
            partial: bool | None = None,
            **extra: Any,
        ) -> None: ...

    @field_serializer("content")
    def _compact(self, parts: list[ContentPart]) -> Any:
        if len(parts) == 1 and isinstance(parts[0], TextPart) and not parts[0].model_extra:
            return parts[0].text
        return [part.model_dump() for part in parts]

    def text(self, separator: str = "") -> str:
        """All text parts, joined; thinking and media left out."""
        return separator.join(part.text for part in self.content if isinstance(part, TextPart))

    def extract_text(self, sep: str = "") -> str:
        """The name that kimi-cli has for `text`."""
        return self.text(sep)

"""One line of the log: what it says, and how it is written.

Two ways to read a line must agree: a fast typed pass that accepts only what is surely right, and an exact slow path
for everything else. No line raises: what cannot be read becomes `Bad` and says why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from kimi_tui.protocol.messages import Message

BOM = b"\xef\xbb\xbf"
LARGEST = 2**53
"""No id and no count beyond this is credible."""

_QUOTE = ord('"')

Natural = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)]


class Stamp(msgspec.Struct, frozen=True):
    """Our own metadata in a record, under the key `kt`, which other programs ignore and keep."""

    at: float | None = None
    """Seconds since the epoch."""
    tokens: Natural | None = None
    """On a checkpoint: tokens of the context right before it, pending ones included."""


class SystemPrompt(msgspec.Struct, tag_field="role", tag="_system_prompt"):
    content: str


class Checkpoint(msgspec.Struct, tag_field="role", tag="_checkpoint"):
    id: Natural
    kt: Stamp | None = None


class Usage(msgspec.Struct, tag_field="role", tag="_usage"):
    token_count: Natural
    kt: Stamp | None = None


class _Text(msgspec.Struct, tag_field="type", tag="text"):
    text: str


class _Think(msgspec.Struct, tag_field="type", tag="think"):
    think: str
    encrypted: str | None = None


class _URL(msgspec.Struct):
    url: str
    id: str | None = None


class _Image(msgspec.Struct, tag_field="type", tag="image_url"):
    image_url: _URL


class _Audio(msgspec.Struct, tag_field="type", tag="audio_url"):
    audio_url: _URL


class _Video(msgspec.Struct, tag_field="type", tag="video_url"):
    video_url: _URL


class _Function(msgspec.Struct):
    name: str
    arguments: str | None = None


class _Call(msgspec.Struct, tag_field="type", tag="function"):
    id: str
    function: _Function


class MessageLine(msgspec.Struct):
    """A line that surely is a message. Its body is read when somebody asks for it."""

    content: msgspec.Raw = msgspec.Raw()
    """Looked at only as far as needed: most bytes of a session are strings that nobody reads while it opens."""
    name: str | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = None
    partial: bool | None = None


class _System(MessageLine, tag_field="role", tag="system"):
    pass


class _User(MessageLine, tag_field="role", tag="user"):
    pass


class _Assistant(MessageLine, tag_field="role", tag="assistant"):
    pass


class _Tool(MessageLine, tag_field="role", tag="tool"):
    pass


class Foreign(msgspec.Struct):
    """A record of a role that is not known here: kept in every copy of the file, otherwise left alone."""

    role: str


class Blank(msgspec.Struct):
    """A line of white space."""


class Bad(msgspec.Struct):
    """A line that cannot be read."""

    why: str


Record = SystemPrompt | Checkpoint | Usage | MessageLine | Foreign | Blank | Bad

_Known = SystemPrompt | Checkpoint | Usage | _System | _User | _Assistant | _Tool
_decode: Callable[[bytes], _Known] = msgspec.json.Decoder(_Known).decode
_decode_parts = msgspec.json.Decoder(list[_Text | _Think | _Image | _Audio | _Video] | None).decode
_MESSAGE = MessageLine()
_BLANK = Blank()


def parse(line: bytes) -> Record:
    """What the line says. The line may end with its newline; a byte order mark must be gone."""
    try:
        record = _decode(line)
        if isinstance(record, MessageLine):
            _check_content(record.content)
        return record
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _BLANK if not line.strip() else _parse_exactly(line)


def _check_content(content: msgspec.Raw) -> None:
    """A string is fine (bad UTF-8 in it will be replaced); anything else is looked into. Raises `MsgspecError`."""
    view = memoryview(content)
    if view and view[0] != _QUOTE:
        _decode_parts(content)


def _load(line: bytes) -> Any:
    """JSON as other writers may have left it: bad bytes replaced, raw control characters in strings admitted."""
    return without_surrogates(json.loads(line.decode("utf-8", "replace"), strict=False))


def _parse_exactly(line: bytes) -> Record:
    try:
        value = _load(line)
    except RecursionError:
        return Bad("nested too deeply")
    except ValueError as error:
        return Bad(_json_fault(line, error))
    if not isinstance(value, dict):
        return Bad("not an object")
    role = value.get("role")
    if not isinstance(role, str):
        return Bad("no role")
    return _record_of(role, value)


def _json_fault(line: bytes, error: ValueError) -> str:
    if not line.strip(b"\0 \t\r\n"):
        return "only NUL bytes"
    if isinstance(error, json.JSONDecodeError):
        fault = error.msg.removesuffix(" at")
        return f"not JSON: {fault} at character {error.pos + 1}"
    return f"not JSON: {error}"


def _record_of(role: str, value: dict[str, Any]) -> Record:
    match role:
        case "_system_prompt":
            content = value.get("content")
            return SystemPrompt(content) if isinstance(content, str) else Bad("a system prompt without text")
        case "_checkpoint":
            number = _natural(value.get("id"))
            return Bad("a checkpoint without a usable id") if number is None else Checkpoint(number, _stamp(value))
        case "_usage":
            number = _natural(value.get("token_count"))
            return Bad("a usage without a usable count") if number is None else Usage(number, _stamp(value))
        case "system" | "user" | "assistant" | "tool":
            return _message_fault(value) or _MESSAGE
    return Foreign(role)


def _natural(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST else None


def _stamp(value: dict[str, Any]) -> Stamp | None:
    try:
        return msgspec.convert(value.get("kt"), Stamp | None)
    except msgspec.ValidationError:
        return None


def _message_fault(value: dict[str, Any]) -> Bad | None:
    try:
        Message.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return Bad(f"not a message: {place}: {first['msg']}")
    except RecursionError:
        return Bad("nested too deeply")
    return None


def read_message(line: bytes) -> Message:
    """The message on a line for which `parse` said `MessageLine`."""
    try:
        return Message.model_validate_json(line)
    except ValueError:
        return Message.model_validate(_load(line))


def write_message(message: Message) -> tuple[bytes, Message]:
    """The line, and the message as it will be read back (lone surrogates replaced)."""
    try:
        return message.model_dump_json(exclude_none=True).encode() + b"\n", message
    except (PydanticSerializationError, UnicodeEncodeError):
        clean = Message.model_validate(without_surrogates(message.model_dump(exclude_none=True)))
        return clean.model_dump_json(exclude_none=True).encode() + b"\n", clean


def write_system_prompt(text: str) -> bytes:
    return _special(role="_system_prompt", content=without_surrogates(text))


def write_checkpoint(number: int, stamp: Stamp | None = None) -> bytes:
    return _special(role="_checkpoint", id=number, kt=stamp)


def write_usage(token_count: int, stamp: Stamp | None = None) -> bytes:
    return _special(role="_usage", token_count=token_count, kt=stamp)


def _special(*, kt: Stamp | None = None, **fields: Any) -> bytes:
    if kt is not None:
        fields["kt"] = {key: value for key, value in msgspec.to_builtins(kt).items() if value is not None}
    return json.dumps(fields).encode() + b"\n"


_SURROGATE = re.compile("[\ud800-\udfff]")


def without_surrogates(value: Any) -> Any:
    """The same value with paired surrogates joined and lone ones replaced by U+FFFD, in all strings within."""
    if isinstance(value, str):
        if _SURROGATE.search(value):
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return value
    if isinstance(value, list):
        return [without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
    return value

"""Folds the pieces of one answer into an assistant message, telling the screen as it goes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from kimi_tui.llm.model import CallPiece, Finish, Piece, TextPiece, ThinkPiece, Usage
from kimi_tui.llm.retry import Restart
from kimi_tui.protocol.events import Event, StreamReset, TextDelta, ThinkingDelta
from kimi_tui.protocol.messages import FunctionBody, Message, TextPart, ThinkPart, ToolCall

Emit = Callable[[Event], None]


@dataclass(slots=True)
class Draft:
    """What has arrived of an answer. `usage` and `finish` come last and may be missing."""

    parts: list[TextPart | ThinkPart] = field(default_factory=list)
    calls: dict[int, ToolCall] = field(default_factory=dict)
    usage: Usage | None = None
    finish: str = ""

    def add(self, piece: Piece) -> None:
        """Take one piece in; neighbouring pieces of a kind become one part."""
        match piece:
            case TextPiece(text):
                self._text(text)
            case ThinkPiece(text, encrypted):
                self._think(text, encrypted)
            case CallPiece():
                self._call(piece)
            case Usage():
                self.usage = piece
            case Finish(reason):
                self.finish = reason

    def message(self, **extra: Any) -> Message:
        """The whole answer."""
        calls = [self.calls[index] for index in sorted(self.calls)]
        return Message(role="assistant", content=self._said(), tool_calls=calls or None, **extra)

    def partial(self, **extra: Any) -> Message | None:
        """What the user has read of a broken answer, without its calls; None when that is nothing."""
        return Message(role="assistant", content=self._said(), **extra) if self.text.strip() else None

    def clear(self) -> None:
        """Forget it: the answer starts again."""
        self.parts.clear()
        self.calls.clear()
        self.usage, self.finish = None, ""

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def silent(self) -> bool:
        """Nothing has come, or reasoning and nothing that shows. Blank text by itself is an answer, if an empty one."""
        only_blank = bool(self.parts) and all(isinstance(part, TextPart) for part in self.parts)
        return not (self.calls or self.text.strip() or only_blank)

    @property
    def length(self) -> int:
        """Characters that have come, of thinking too."""
        return sum(len(part.text) if isinstance(part, TextPart) else len(part.think) for part in self.parts)

    def _said(self) -> list[TextPart | ThinkPart]:
        return [part for part in self.parts if _weighs(part)]

    def _text(self, text: str) -> None:
        last = self.parts[-1] if self.parts else None
        if isinstance(last, TextPart):
            last.text += text
        elif text:
            self.parts.append(TextPart(text=text))

    def _think(self, text: str, encrypted: str | None) -> None:
        last = self.parts[-1] if self.parts else None
        if isinstance(last, ThinkPart) and last.encrypted is None:
            last.think += text
            last.encrypted = encrypted
        elif text or encrypted:
            self.parts.append(ThinkPart(think=text, encrypted=encrypted))

    def _call(self, piece: CallPiece) -> None:
        call = self.calls.get(piece.index)
        if call is None:
            body = FunctionBody(name=piece.name, arguments=piece.arguments)
            self.calls[piece.index] = ToolCall(id=piece.id, function=body)
            return
        call.function.name += piece.name
        call.function.arguments = (call.function.arguments or "") + piece.arguments


def _weighs(part: TextPart | ThinkPart) -> bool:
    return bool(part.text.strip()) if isinstance(part, TextPart) else bool(part.think or part.encrypted)


async def fold(pieces: AsyncGenerator[Piece | Restart, None], draft: Draft, emit: Emit) -> None:
    """Read a stream to its end into `draft`. Cancelling closes the stream and leaves in `draft` what had come."""
    async with aclosing(pieces) as stream:
        async for piece in stream:
            if isinstance(piece, Restart):
                draft.clear()
                emit(StreamReset())
                continue
            draft.add(piece)
            if isinstance(piece, TextPiece):
                emit(TextDelta(piece.text))
            elif isinstance(piece, ThinkPiece) and piece.text:
                emit(ThinkingDelta(piece.text))

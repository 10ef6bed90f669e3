"""One conversation, three forms. Every text in it is literal: fenced or escaped, never taken for markup of ours."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kimi_tui.protocol.messages import Message
from kimi_tui.session.export.markdown import markdown
from kimi_tui.session.export.page import page
from kimi_tui.session.export.sections import Heading, sections_of

ExportFormat = Literal["md", "json", "html"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is exported."""

    heading: Heading
    messages: Sequence[Message]


def conversation_of(
    messages: Sequence[Message], *, title: str, source: str, work_dir: str, tokens: int
) -> Conversation:
    """`source` is the file that the messages are from."""
    return Conversation(Heading(title or "Conversation", source, work_dir, len(messages), tokens), messages)


def render(conversation: Conversation, form: ExportFormat) -> str:
    """The whole document, ending with a line feed."""
    if form == "json":
        return _json(conversation)
    write = markdown if form == "md" else page
    return write(conversation.heading, sections_of(conversation.messages))


def _json(conversation: Conversation) -> str:
    heading = conversation.heading
    body: dict[str, Any] = {
        "title": heading.title,
        "source": heading.source,
        "work_dir": heading.work_dir,
        "tokens": heading.tokens,
        "messages": [message.model_dump(mode="json", exclude_none=True) for message in conversation.messages],
    }
    text = json.dumps(body, ensure_ascii=False, indent=2)
    return text.encode("utf-8", "replace").decode("utf-8") + "\n"

"""Messages that the program itself wrote for the model, and how to tell them from what the user said.

They are user messages in a wrapping of tags, as kimi-cli writes them, so that the log stays a plain conversation.
Recognition goes by stable beginnings: of our own prompts, and of kimi-cli's for sessions that it made.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Literal

from kimi_tui.protocol.messages import Message, TextPart
from kimi_tui.resources import prompt

Mark = Literal["checkpoint", "reminder", "dmail", "summary", "shell", "system", ""]
"""What a user message is; the empty string is for what the user really said."""

_CHECKPOINT = re.compile(r"\A<system>CHECKPOINT \d+</system>\Z")
_FOREIGN_DMAIL = re.compile(r"\A<system>.{0,80}\bD-Mail\b", re.DOTALL)
_FOREIGN_SUMMARY = "<system>Previous context has been compacted"


def system_note(text: str) -> TextPart:
    """A word from the program to the model."""
    return TextPart(text=f"<system>{text}</system>")


def carried_over(note: str, at: float) -> list[Message]:
    """The user's word to an earlier point; nothing for an empty note."""
    text = f"{prompt('carry_note')}\n{note.strip()}"
    return [Message(role="user", content=text, kt={"at": round(at, 3)})] if note.strip() else []


def reminder(text: str) -> str:
    """An injection, as it stands in the history."""
    return f"<system-reminder>\n{text}\n</system-reminder>"


@cache
def _beginnings() -> tuple[tuple[str, Mark], ...]:
    return (
        (f"<system>{prompt('summary')}", "summary"),
        (_FOREIGN_SUMMARY, "summary"),
        (f"<system>{prompt('dmail')[:60]}", "dmail"),
        (f"<system>{prompt('shell_note')}", "shell"),
        ("<system-reminder>", "reminder"),
    )


def mark_of(message: Message) -> Mark:
    """Which of the program's own messages this is."""
    if message.role != "user" or not message.content:
        return ""
    head = message.content[0]
    if not isinstance(head, TextPart) or not head.text.lstrip().startswith("<system"):
        return ""
    text = head.text.strip()
    if _CHECKPOINT.match(text):
        return "checkpoint"
    for beginning, mark in _beginnings():
        if text.startswith(beginning):
            return mark
    if _FOREIGN_DMAIL.match(text):
        return "dmail"
    return "system" if text.startswith("<system>") and text.endswith("</system>") and len(message.content) == 1 else ""


def unwrapped(message: Message) -> str:
    """The text of one of the program's messages without its tags and its standing first words."""
    text = message.text("\n").strip()
    for opening, closing in (("<system>", "</system>"), ("<system-reminder>", "</system-reminder>")):
        if text.startswith(opening):
            text = text.removeprefix(opening).replace(closing, "", 1)
    for name in ("summary", "dmail", "shell_note"):
        text = text.strip().removeprefix(prompt(name))
    return text.strip()


def meta(message: Message) -> dict[str, Any]:
    """What the program noted about a message for itself (the extra key `kt`); empty for others' messages."""
    noted = (message.model_extra or {}).get("kt")
    return noted if isinstance(noted, dict) else {}


def is_prompt(message: Message) -> bool:
    """The user really said this."""
    return message.role == "user" and mark_of(message) == ""


def said(message: Message) -> str:
    """What the user typed: the command, where the message is what a command made of it; of a flow's own, nothing."""
    noted = meta(message)
    typed = noted.get("typed")
    if isinstance(typed, str) and typed:
        return typed
    return "" if noted.get("label") else message.text("\n")


_SHORT = 240
"""Characters of what a flow says in a turn of its own that the chat shows in full."""


def shown(message: Message) -> str:
    """What the chat shows of a user message. A flow says the same long thing round after round: there its name does."""
    text = message.text("\n").strip()
    label = meta(message).get("label")
    if said(message) or not isinstance(label, str) or len(text) <= _SHORT:
        return said(message) or text
    return f"{label}: {' '.join(text.split())[:100]}…"

"""The front of a history that no later message changes."""

from __future__ import annotations

import pytest

from kimi_tui.llm.settled import settled_length
from kimi_tui.protocol.messages import FunctionBody, ImageURLPart, Message, TextPart, ThinkPart, ToolCall


def user(text: str = "go") -> Message:
    return Message(role="user", content=text)


def said(text: str = "yes") -> Message:
    return Message(role="assistant", content=text)


def calling(*ids: str) -> Message:
    calls = [ToolCall(id=name, function=FunctionBody(name="Shell", arguments="{}")) for name in ids]
    return Message(role="assistant", content=[], tool_calls=calls)


def result(call_id: str, *parts: ImageURLPart) -> Message:
    return Message(role="tool", content=[TextPart(text="done"), *parts], tool_call_id=call_id)


IMAGE = ImageURLPart(image_url=ImageURLPart.ImageURL(url="data:image/png;base64,AA"))
SILENT = Message(role="assistant", content=[ThinkPart(think="hm")])


def test_answers_and_calls_with_their_results_are_settled() -> None:
    assert settled_length([user(), said(), user(), calling("a", "b"), result("b"), result("a")]) == 6


@pytest.mark.parametrize(
    "open_end",
    [
        [user()],
        [SILENT],
        [SILENT, user()],
        [calling("a")],
        [calling("a", "b"), result("a")],
        [calling("a"), user(), result("a")],
        [calling("a"), result("a", IMAGE)],
        [calling("a", "b"), result("a", IMAGE), result("b")],
        [calling(""), result("")],
        [result("stray"), said()],
    ],
    ids=[
        "a prompt",
        "only a thought",
        "a thought and a prompt",
        "an open call",
        "one of two results",
        "a late result",
        "an image",
        "an image among results",
        "a call without an id",
        "a result without a call",
    ],
)
def test_what_a_later_message_may_change_is_not(open_end: list[Message]) -> None:
    assert settled_length([user(), said(), *open_end]) == 2


def test_it_goes_on_behind_images_and_thoughts_when_something_plain_follows() -> None:
    assert settled_length([user(), calling("a"), result("a", IMAGE), said(), SILENT, user(), said()]) == 7

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_tui.llm import normalize_history, prepare_history
from kimi_tui.llm.model import Request
from kimi_tui.llm.pairing import pair_calls
from kimi_tui.llm.provider import Dialect, to_provider, valid_arguments, written
from kimi_tui.llm.written import Memory, as_json
from kimi_tui.protocol.messages import FunctionBody, ImageURLPart, Message, TextPart, ThinkPart, ToolCall
from kimi_tui.tools.results import from_message
from tests.scripted_server import violations


def user(text: str) -> Message:
    return Message(role="user", content=text)


def calling(*ids: str, text: str = "", arguments: str | None = "{}") -> Message:
    calls = [ToolCall(id=call_id, function=FunctionBody(name="Shell", arguments=arguments)) for call_id in ids]
    return Message(role="assistant", content=text, tool_calls=calls)


def result(call_id: str | None, text: str) -> Message:
    return Message(role="tool", content=text, tool_call_id=call_id)


def sent(*history: Message, system: str = "Be brief.", **dialect: Any) -> list[dict[str, Any]]:
    return to_provider(Request(system, history), Dialect(**dialect))


def answers(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(message["tool_call_id"], message["content"]) for message in messages if message["role"] == "tool"]


def test_neighbouring_user_messages_become_one_and_keep_their_parts_apart() -> None:
    merged = normalize_history(
        [user("a"), user("b"), Message(role="assistant", content="x"), user("c"), user("d"), user("e")]
    )
    assert [len(message.content) for message in merged] == [2, 1, 3]


def test_notifications_stand_alone() -> None:
    history = [user("a"), user('<notification id="n1">done</notification>'), user("b")]
    assert normalize_history(history) == history


def test_assistant_and_tool_messages_are_never_merged() -> None:
    history = [Message(role="assistant", content="x"), Message(role="assistant", content="y")]
    assert normalize_history(history) == history


def test_a_call_that_was_killed_is_answered_as_interrupted() -> None:
    messages = sent(user("run it"), calling("c1"), user("continue"))
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool", "user"]
    assert "interrupted" in messages[3]["content"]


def test_a_missing_result_is_filled_in_at_its_place() -> None:
    messages = sent(user("go"), calling("a", "b", "c"), result("c", "third"), result("a", "first"), user("next"))
    assert [call_id for call_id, _ in answers(messages)] == ["a", "b", "c"]
    assert [text for _, text in answers(messages)][::2] == ["first", "third"]


def test_a_record_that_was_written_twice_is_sent_once() -> None:
    messages = sent(user("go"), user("go"), calling("a"), calling("a"), result("a", "x"), result("a", "x"))
    assert answers(messages) == [("a", "x")]
    assert not violations(messages)


def test_ids_used_again_are_made_unique_and_paired_with_the_nearest_call() -> None:
    turns = [m for n in range(3) for m in (user(f"turn {n}"), calling("call_0"), result("call_0", str(n)))]
    messages = sent(*turns, calling("", ""), result("", "x"), result("", "y"))
    assert [text for _, text in answers(messages)] == ["0", "1", "2", "x", "y"]
    assert not violations(messages)


def test_ids_stay_the_same_when_the_history_grows() -> None:
    history = [user("a"), calling("x", "x"), result("x", "1"), result("x", "2")]
    longer = sent(*history, user("b"), calling("x"), result("x", "3"))
    assert longer[: len(history) + 1] == sent(*history)


def test_a_result_without_a_call_is_dropped() -> None:
    assert answers(sent(user("a"), result("ghost", "boo"), user("b"))) == []


def test_a_late_result_moves_up_to_its_call() -> None:
    messages = sent(user("a"), calling("x"), user("a steer"), result("x", "late"))
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool", "user"]


def test_empty_and_thinking_only_answers_are_left_out() -> None:
    empty = [[], "", "  \n", [ThinkPart(think="only thoughts")]]
    history = [m for content in empty for m in (user("hm"), Message(role="assistant", content=content))]
    assert sent(*history)[1:] == [{"role": "user", "content": "hm\n\nhm\n\nhm\n\nhm"}]


def test_content_is_absent_beside_calls_rather_than_empty() -> None:
    assert "content" not in sent(user("a"), calling("x"), result("x", "ok"))[2]


@pytest.mark.parametrize(
    ("written", "goes_out_as"),
    [
        ('{"command": "ls"}', '{"command": "ls"}'),
        ("", "{}"),
        (None, "{}"),
        ("null", "{}"),
        ("[1,2]", '{"arguments": [1, 2]}'),
        ('"ls"', '{"arguments": "ls"}'),
        ('{"command": "ls', '{"arguments": "{\\"command\\": \\"ls"}'),
        ('{"command": "a\tb"}', '{"command": "a\\tb"}'),
        ('{"n": NaN}', '{"n": "NaN"}'),
        ("[" * 100_000, None),
    ],
)
def test_arguments_are_always_a_json_object(written: str | None, goes_out_as: str | None) -> None:
    assert isinstance(json.loads(valid_arguments(written)), dict)
    if goes_out_as is not None:
        assert valid_arguments(written) == goes_out_as


def test_lone_surrogates_and_nul_become_marks() -> None:
    messages = sent(user("a\ud83db \ud83d\ude00 c\0d"), system="s\udc00")
    assert messages == [{"role": "system", "content": "s\ufffd"}, {"role": "user", "content": "a\ufffdb 😀 c␀d"}]


def test_a_later_system_message_is_told_by_the_user() -> None:
    messages = sent(user("a"), Message(role="system", content="new rule"))
    assert messages[1]["content"] == "a\n\n<system>new rule</system>"


@pytest.mark.parametrize("history", [[], [Message(role="assistant", content="hi")], [user("")]])
def test_the_last_word_is_never_the_assistants(history: list[Message]) -> None:
    assert sent(*history)[-1]["role"] == "user"


def test_reasoning_goes_back_with_every_call_where_the_provider_wants_it() -> None:
    thoughtful = calling("b")
    thoughtful.content = [ThinkPart(think="I look", encrypted="sig")]
    history = [user("a"), calling("a"), result("a", "1"), thoughtful, result("b", "2")]
    wanted = [message["reasoning_content"] for message in sent(*history, reasoning=True)[2::2]]
    assert wanted == ["(none)", "I look"]
    assert not any("reasoning_content" in message for message in sent(*history))
    signed = sent(*history, signatures=True)[4]["thinking_blocks"]
    assert signed == [{"type": "thinking", "thinking": "I look", "signature": "sig"}]


def test_an_image_goes_out_or_is_noted_as_left_out() -> None:
    picture = Message(
        role="user", content=[TextPart(text="see"), ImageURLPart(image_url=ImageURLPart.ImageURL(url="data:x"))]
    )
    assert sent(picture)[1]["content"][1] == {"type": "image_url", "image_url": {"url": "data:x"}}
    assert "an image was left out" in sent(picture, vision=False)[1]["content"]


def test_an_image_in_a_result_follows_the_whole_block_of_results() -> None:
    shot = Message(role="tool", tool_call_id="a", content=[ImageURLPart(image_url=ImageURLPart.ImageURL(url="data:x"))])
    messages = sent(user("look"), calling("a", "b"), shot, result("b", "ok"), user("and?"))
    assert [message["role"] for message in messages[3:]] == ["tool", "tool", "user"]
    assert [part["type"] for part in messages[5]["content"]] == ["image_url", "text"]
    assert not violations(messages)


@pytest.mark.parametrize(("style", "pattern"), [("plain", r"[A-Za-z0-9_-]{1,40}"), ("nine", r"[A-Za-z0-9]{9}")])
def test_ids_take_the_shape_that_the_provider_wants(style: Any, pattern: str) -> None:
    import re

    messages = sent(user("a"), calling("调用:1", "functions.Shell:0", "x" * 80, "call_1"), ids=style)
    ids = [call["id"] for call in messages[2]["tool_calls"]]
    assert all(re.fullmatch(pattern, call_id) for call_id in ids)
    assert not violations(messages)


IDS = st.sampled_from(["", "a", "b", "call_0", "é"])
TEXTS = st.sampled_from(["", " ", "text", "\ud800", "中文\0"])
PARTS = st.lists(
    st.builds(TextPart, text=TEXTS)
    | st.builds(ThinkPart, think=TEXTS)
    | st.just(ImageURLPart(image_url=ImageURLPart.ImageURL(url="data:x"))),
    max_size=3,
)
CALLS = st.lists(
    st.builds(
        ToolCall,
        id=IDS,
        function=st.builds(
            FunctionBody, name=st.sampled_from(["Shell", "", "a.b"]), arguments=st.none() | TEXTS | st.just("{}")
        ),
    ),
    max_size=3,
)
MESSAGES = st.builds(
    Message,
    role=st.sampled_from(["user", "assistant", "tool", "system"]),
    content=PARTS,
    tool_calls=st.none() | CALLS,
    tool_call_id=st.none() | IDS,
)


@given(st.lists(MESSAGES, max_size=12), st.booleans(), st.sampled_from(["kept", "plain", "nine"]))
def test_any_history_at_all_satisfies_a_strict_backend(history: list[Message], vision: bool, style: Any) -> None:
    messages = to_provider(Request("s", history), Dialect(vision=vision, ids=style, reasoning=vision))
    assert violations(messages) == []
    json.dumps(messages, ensure_ascii=False).encode()


@given(st.lists(MESSAGES, max_size=8))
def test_preparing_twice_changes_nothing_more(history: list[Message]) -> None:
    once = prepare_history(history)
    assert prepare_history(once) == once


def test_a_lost_result_is_said_to_be_lost_right_after_the_results_that_came() -> None:
    calls = [ToolCall(id=name, function=FunctionBody(name="Shell", arguments="{}")) for name in ("a", "b")]
    history = [
        Message(role="assistant", content="", tool_calls=calls),
        Message(role="tool", content="done", tool_call_id="b"),
        Message(role="user", content="and now?"),
        Message(role="assistant", content="", tool_calls=calls[:1]),
    ]
    found = normalize_history(history)
    assert [(message.role, message.tool_call_id) for message in found] == [
        ("assistant", None),
        ("tool", "b"),
        ("tool", "a"),
        ("user", None),
        ("assistant", None),
        ("tool", "a"),
    ]
    assert "interrupted" in found[2].text()


@st.composite
def groups(draw: st.DrawFn) -> list[Message]:
    """A message; or calls with their results right after them, as they mostly are."""
    message = draw(MESSAGES)
    if message.role != "assistant":
        return [message]
    calls = message.tool_calls or []
    parts = draw(st.lists(PARTS, min_size=len(calls), max_size=len(calls)))
    results = [
        Message(role="tool", content=part, tool_call_id=call.id) for call, part in zip(calls, parts, strict=True)
    ]
    return [message, *draw(st.permutations(results))]


HISTORIES = st.lists(groups(), max_size=8).map(lambda found: [message for group in found for message in group])


@given(HISTORIES, st.lists(st.integers(0, 24), min_size=1, max_size=4), st.booleans())
def test_what_is_remembered_of_a_request_changes_no_other(
    history: list[Message], ends: list[int], vision: bool
) -> None:
    memory = Memory()
    for end in ends:
        request = Request("s", history[:end])
        for dialect in (Dialect(vision=vision), Dialect(vision=vision), Dialect(reasoning=True, ids="nine")):
            messages = written(request, dialect, memory)
            assert [message.value for message in messages] == to_provider(request, dialect)
            sent = json.loads(as_json({"model": "x"}, messages=messages, tools=[]))
            assert sent == {"model": "x", "messages": to_provider(request, dialect)}


def test_of_the_next_request_only_what_is_new_is_made() -> None:
    memory, dialect = Memory(), Dialect()
    call = ToolCall(id="c1", function=FunctionBody(name="Shell", arguments='{"command": "ls"}'))
    history = [
        Message(role="user", content="go"),
        Message(role="assistant", content="", tool_calls=[call]),
        Message(role="tool", content="a.py", tool_call_id="c1"),
    ]
    first = written(Request("s", history), dialect, memory)
    second = written(Request("s", [*history, Message(role="assistant", content="done")]), dialect, memory)
    assert [new is old for new, old in zip(second[2:4], first[2:4], strict=True)] == [True, True]
    assert written(Request("s", history), Dialect(ids="nine"), memory)[2] is not first[2]


def test_a_result_that_was_filled_in_is_shown_as_interrupted() -> None:
    [_, _, filled, _] = pair_calls([user("go"), calling("a"), user("next")])
    assert from_message(filled).outcome == "interrupted"

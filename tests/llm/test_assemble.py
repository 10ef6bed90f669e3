from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_tui.agent.stream import Draft
from kimi_tui.llm.assemble import Assembler, read_usage
from kimi_tui.llm.model import CallPiece, Finish, ModelFault, Piece, TextPiece, ThinkPiece, Usage


def assembled(*deltas: dict[str, Any], reason: str | None = "stop", taken: tuple[str, ...] = ()) -> list[Piece]:
    assembler = Assembler(taken)
    chunks = [{"choices": [{"delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"delta": {}, "finish_reason": reason}]})
    pieces = [piece for chunk in chunks for piece in assembler.feed(chunk)]
    return [*pieces, *assembler.end(sent_tokens=10)]


def calls(*entries: dict[str, Any], taken: tuple[str, ...] = ()) -> list[tuple[str, str, str]]:
    whole: dict[int, tuple[str, str, str]] = {}
    for piece in assembled(*({"tool_calls": [entry]} for entry in entries), taken=taken):
        if isinstance(piece, CallPiece):
            _, name, arguments = whole.get(piece.index, ("", "", ""))
            whole[piece.index] = (piece.id, name + piece.name, arguments + piece.arguments)
    return [whole[index] for index in sorted(whole)]


def entry(arguments: Any = "", *, name: str | None = None, **keys: Any) -> dict[str, Any]:
    return {**keys, "function": {"name": name, "arguments": arguments}}


def test_later_pieces_with_an_empty_or_no_id_belong_to_the_open_call() -> None:
    got = calls(entry(name="Shell", index=0, id="c9"), entry('{"a": ', index=0, id=""), entry("1}", index=0, id=None))
    assert got == [("c9", "Shell", '{"a": 1}')]


def test_a_call_without_an_id_gets_one() -> None:
    [(call_id, name, _)] = calls(entry("{}", name="Shell", index=0))
    assert call_id.startswith("call_")
    assert name == "Shell"


def test_pieces_of_two_calls_may_come_interleaved() -> None:
    got = calls(
        entry(name="A", index=0, id="a"),
        entry(name="B", index=1, id="b"),
        entry('{"x":', index=0),
        entry('{"y":', index=1),
        entry("1}", index=0),
        entry("2}", index=1),
    )
    assert got == [("a", "A", '{"x":1}'), ("b", "B", '{"y":2}')]


def test_an_id_that_repeats_is_made_unique() -> None:
    got = calls(entry("{}", name="A", index=0, id="same"), entry("{}", name="B", index=1, id="same"))
    assert got[0][0] == "same"
    assert got[1][0] != "same"


def test_an_id_of_the_history_is_not_used_again() -> None:
    [(call_id, _, _)] = calls(entry("{}", name="A", index=0, id="call_0"), taken=("call_0",))
    assert call_id != "call_0"


def test_calls_that_all_have_the_index_zero_are_told_apart() -> None:
    by_id = calls(entry("{}", name="A", index=0, id="a"), entry("{}", name="A", index=0, id="b"))
    by_name = calls(entry('{"n": 1}', name="A", index=0), entry('{"n": 2}', name="A", index=0))
    assert [arguments for _, _, arguments in by_id] == ["{}", "{}"]
    assert [arguments for _, _, arguments in by_name] == ['{"n": 1}', '{"n": 2}']


def test_pieces_without_an_index_go_by_id_or_to_the_last_call() -> None:
    got = calls(entry('{"x":', name="A", id="a"), entry("1}"), entry("{}", name="B", id="b"))
    assert got == [("a", "A", '{"x":1}'), ("b", "B", "{}")]


def test_arguments_that_are_an_object_become_text_and_null_becomes_empty() -> None:
    assert [json.loads(calls(entry({"a": 1}, name="A", index=0))[0][2])] == [{"a": 1}]
    assert calls(entry(None, name="A", index=0))[0][2] == ""


def test_a_name_that_comes_late_is_waited_for() -> None:
    assert calls(entry("{", index=0, id="a"), entry("}", name="A", index=0)) == [("a", "A", "{}")]


def test_stop_with_a_call_counts_as_a_call() -> None:
    assert assembled({"tool_calls": [entry("{}", name="A", index=0)]})[-1] == Finish("tool_calls")


def test_reasoning_text_and_signature_become_thinking() -> None:
    pieces = assembled({"reasoning_content": "hm"}, {"thinking_blocks": [{"signature": "s"}]}, {"content": "ok"})
    assert pieces[:3] == [ThinkPiece("hm"), ThinkPiece("", encrypted="s"), TextPiece("ok")]


@pytest.mark.parametrize(
    ("sent", "cached"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 7}}, 7),
        ({"cached_tokens": 6}, 6),
        ({"prompt_cache_hit_tokens": 5}, 5),
        ({"prompt_tokens_details": None}, 0),
    ],
)
def test_cached_tokens_are_found_where_each_provider_puts_them(sent: dict[str, Any], cached: int) -> None:
    assembler = Assembler()
    usage = {"prompt_tokens": 9, "completion_tokens": 3, **sent}
    list(assembler.feed({"choices": [], "usage": usage}))
    assert next(assembler.end(0)) == Usage(9, 3, cached)


def test_usage_is_estimated_where_none_is_sent() -> None:
    assert Usage(10, 2, exact=False) in assembled({"content": "forty-two"[:8]})


def test_nothing_at_all_is_an_empty_answer() -> None:
    with pytest.raises(ModelFault) as fault:
        assembled(reason=None)
    assert fault.value.kind == "empty"
    assert fault.value.passing


def test_a_number_for_an_id_and_usage_in_fractions_are_taken() -> None:
    assert calls(entry("{}", name="Shell", index="0", id=7)) == [("7", "Shell", "{}")]
    chunk = {"choices": [], "usage": {"prompt_tokens": 12.0, "completion_tokens": None, "prompt_tokens_details": "?"}}
    assert read_usage(chunk) == Usage(12, 0)


ODD = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(0, 9), st.text(max_size=2), st.just([0]))


def objects(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Objects with some of these fields, or with something odd in their place."""
    return st.fixed_dictionaries({}, optional={name: each | ODD for name, each in fields.items()})


CALLS = st.lists(objects(index=ODD, id=ODD, function=objects(name=st.just("Shell"), arguments=ODD)) | ODD, max_size=3)
DELTAS = objects(content=st.text(max_size=2), reasoning_content=ODD, thinking_blocks=st.lists(ODD), tool_calls=CALLS)
CHOICES = st.lists(objects(delta=DELTAS, finish_reason=st.just("stop"), usage=ODD) | ODD, max_size=2)
USAGES = objects(prompt_tokens=ODD, completion_tokens=ODD, prompt_tokens_details=objects(cached_tokens=ODD))


@given(st.lists(objects(choices=CHOICES, usage=USAGES), max_size=4))
def test_whatever_a_server_sends_is_put_together_or_said_to_be_empty(chunks: list[dict[str, Any]]) -> None:
    assembler, draft = Assembler(), Draft()
    try:
        for piece in [*(piece for chunk in chunks for piece in assembler.feed(chunk)), *assembler.end(10)]:
            draft.add(piece)
    except ModelFault as fault:
        assert fault.kind == "empty"
    made = draft.message().tool_calls or []
    assert all(call.id and call.function.name for call in made)
    assert len({call.id for call in made}) == len(made)

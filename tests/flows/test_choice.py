"""Which branch a model chose, however it wrote it down."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_tui.flows import match_choice, parse_choice


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("Answer <choice>a</choice> <choice>b</choice>", "b"),
        ("No choice tag", None),
        ("", None),
        ("<choice> spaced out </choice>", "spaced out"),
        ("<choice></choice>", ""),
        ("<choice>a</choice> then <choice>never closed", "a"),
        ("<choice>a</choice></choice>", "a"),
        ("<choice><b>a</b></choice>", None),
        ("<CHOICE>a</CHOICE>", None),
        ("<choice>a\nb</choice>", "a\nb"),
        ("<choice>x<choice>y</choice>", "y"),
    ],
)
def test_the_strict_reading_takes_the_last_well_formed_tag(text: str, choice: str | None) -> None:
    assert parse_choice(text) == choice


@pytest.mark.parametrize(
    "text",
    [
        "<choice>STOP</choice>",
        "<choice> stop </choice>",
        "<choice>Stop.</choice>",
        "＜choice＞STOP＜/choice＞",
        "<CHOICE>STOP</CHOICE>",
        "<choice><b>STOP</b></choice>",
        "<choice>**STOP**</choice>",
        "<choice>`STOP`</choice>",
        "<choice>“ＳＴＯＰ”。</choice>",
        "< choice >STOP< / choice >",
        "Done.\n<choice>\nSTOP\n</choice>\n",
        "<choice>CONTINUE</choice> no, really: <choice>STOP</choice>",
        "I am done <choice>STOP</choice",
        "<think>maybe <choice>CONTINUE</choice></think><choice>STOP</choice>",
        "was <choice>CONTINUE</choice> my plan?</think> <choice>STOP</choice>",
    ],
)
def test_a_careless_answer_is_understood(text: str) -> None:
    assert match_choice(text, ["CONTINUE", "STOP"]) == "STOP"


@pytest.mark.parametrize(
    "text",
    [
        "STOP",
        "maybe",
        "<choice>maybe</choice>",
        "<choice></choice>",
        "<choice>...</choice>",
        "<choice>STOP",
        "<choice>STOP or CONTINUE</choice>",
        "<choice>STOP</choice> Format: <choice>NAME</choice>",
        "<think><choice>STOP</choice></think> still thinking",
        "<think>so <choice>STOP</choice>",
        "<choices>STOP</choices>",
    ],
)
def test_what_is_no_clear_choice_is_none(text: str) -> None:
    assert match_choice(text, ["CONTINUE", "STOP"]) is None


def test_labels_that_differ_only_in_case_or_marks_are_told_apart_when_written_exactly() -> None:
    labels = ["yes", "Yes", "C", "C++"]
    assert [match_choice(f"<choice>{said}</choice>", labels) for said in ["yes", "Yes", "YES", "c++", "C", "C."]] == [
        "yes",
        "Yes",
        None,
        "C++",
        "C",
        None,
    ]


def test_chinese_labels_are_matched() -> None:
    assert match_choice("我认为<choice>「是」。</choice>", ["是", "否"]) == "是"
    assert match_choice("<choice>maybe</choice>", ["是", "否"]) is None


def test_a_label_in_angle_brackets_is_matched_literally() -> None:
    assert match_choice("<choice>〈甲〉</choice>", ["〈甲〉", "〈乙〉"]) == "〈甲〉"


@given(st.text(st.sampled_from("<>/ choiceSTOPthnk＜＞\n."), max_size=80))
def test_any_text_is_answered_with_one_of_the_labels_or_none(text: str) -> None:
    assert match_choice(text, ["STOP", "choice"]) in ("STOP", "choice", None)
    choice = parse_choice(text)
    assert choice is None or f"<choice>{choice}" in text.replace("<choice> ", "<choice>") or choice in text


@pytest.mark.parametrize("piece", ["<", "<choice>", "</choice>", "< ", "<think>", "</", "< / choice", "<b", "　"])
def test_long_garbage_is_read_in_no_time(piece: str) -> None:
    text = piece * (400_000 // len(piece))  # each piece against each other one would take hours
    assert parse_choice(text) is None
    assert match_choice(f"<choice>{text}</choice>", ["STOP", "GO"]) is None

from __future__ import annotations

from kimi_tui.ui.history import History
from kimi_tui.ui.paste import Pastes


def test_walking_back_and_forth_comes_home_to_the_draft() -> None:
    history = History(["one", "two"])
    assert [history.older("draft"), history.older("two"), history.older("one")] == ["two", "one", None]
    assert [history.newer(), history.newer(), history.newer()] == ["two", "draft", None]


def test_the_same_prompt_is_kept_once_in_a_row() -> None:
    history = History(["one"])
    history.add("one")
    history.add("  ")
    assert history.prompts == ["one"]


def test_search_finds_all_words_newest_first() -> None:
    assert History(["fix the parser", "fix it", "parser fix"]).search("fix PARS") == ["parser fix", "fix the parser"]


def test_a_big_paste_is_folded_and_comes_back_whole() -> None:
    pastes, text = Pastes(), "line\n" * 5_000
    tag = pastes.fold(text)
    assert tag == "[pasted #1: 5001 lines]"
    assert pastes.unfold(f"look: {tag}!") == f"look: {text}!"


def test_a_small_paste_is_put_in_as_it_is_with_its_line_ends_mended() -> None:
    assert Pastes().fold("a\r\nb\rc") == "a\nb\nc"


def test_a_tag_that_was_typed_by_hand_stays_as_it_is() -> None:
    assert Pastes().unfold("[pasted #7: 3 lines]") == "[pasted #7: 3 lines]"

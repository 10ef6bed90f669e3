from __future__ import annotations

import pytest

from kimi_tui.protocol.views import Tokens
from kimi_tui.ui.marks import ASCII
from kimi_tui.ui.meter import bar
from kimi_tui.ui.rows import Piece
from kimi_tui.ui.state import Compaction
from kimi_tui.ui.widgets.gauge import compaction_pieces, compaction_share, gauge_pieces
from tests.ui.session import TOKENS


def text(pieces: tuple[Piece, ...] | list[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def test_exact_pending_reserve_and_trigger_have_forms_of_their_own() -> None:
    tokens = Tokens(exact=50, pending=20, window=100, reserve=10, trigger=80, exact_at=1.0)
    assert text(bar(tokens, 20, ASCII)) == "==========~~~~--^-.."


def test_the_figures_tell_exact_from_pending() -> None:
    assert text(gauge_pieces(TOKENS, 120)).endswith("61.2k + ~4.1k of 128k · 51% · $0.42")


@pytest.mark.parametrize(("width", "said"), [(50, "61.2k + ~4.1k of 128k · 51%"), (30, "65.3k · 51%"), (8, " 51%")])
def test_narrow_windows_drop_figures_and_at_last_the_bar(width: int, said: str) -> None:
    assert text(gauge_pieces(TOKENS, width)).endswith(said)


@pytest.mark.parametrize("width", range(1, 130))
def test_it_never_overflows(width: int) -> None:
    assert len(text(gauge_pieces(TOKENS, width))) <= max(width, 4)


def test_a_few_pending_tokens_show_at_least_one_mark() -> None:
    assert "~" in text(bar(Tokens(exact=50, pending=1, window=1000), 20, ASCII))


def test_an_estimate_is_marked_as_one() -> None:
    assert text(gauge_pieces(Tokens(exact=9_100, window=128_000), 80)).count("~9.1k") == 1


def test_a_compaction_moves_forward_through_its_phases() -> None:
    steps = [("hooks", 0), ("reading", 0), ("summarising", 10), ("summarising", 3000), ("switching", 3000)]
    shares = [compaction_share(Compaction("auto", 1, phase, done)) for phase, done in steps]
    assert shares == sorted(shares) and shares[-1] < 1


def test_the_compaction_bar_says_what_it_does_and_how_to_stop_it() -> None:
    said = text(compaction_pieces(Compaction("auto", 180_000, "summarising", 1_900), 14.2, 100))
    assert said.startswith("  ◆ compacting ━") and said.rstrip().endswith("summary 1.9k tokens · 14s  esc cancels")


@pytest.mark.parametrize("width", [120, 50, 30, 8])
def test_more_than_the_window_holds_is_no_figure_of_percents(width: int) -> None:
    said = text(gauge_pieces(Tokens(exact=4_550_000, pending=5, window=1_000_000), width))
    assert said.endswith(">100%")


def test_a_window_that_is_just_full_is_full() -> None:
    assert text(gauge_pieces(Tokens(exact=1000, window=1000), 50)).endswith("· 100%")

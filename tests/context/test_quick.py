"""A small session is opened on the spot, any other in a thread."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from benchmarks.generate import write_session
from kimi_tui.context import Context
from kimi_tui.context.quick import FEW_BYTES, FEW_LINES, is_quick
from kimi_tui.context.store import Store

SHORT = b'{"role":"user","content":"hi"}\n'


@pytest.fixture
def live(tmp_path: Path) -> Path:
    return tmp_path / "context.jsonl"


def test_a_megabyte_of_a_usual_session_is_quick(live: Path) -> None:
    write_session(live, 1 << 20)
    assert is_quick(live)


def test_many_short_lines_are_not_quick(live: Path) -> None:
    live.write_bytes(SHORT * (2 * FEW_LINES))
    assert live.stat().st_size < FEW_BYTES // 4
    assert not is_quick(live)


def test_what_lies_beside_the_live_file_is_weighed_too(live: Path) -> None:
    live.write_bytes(SHORT)
    live.with_name("context_1.jsonl").write_bytes(b"x" * FEW_BYTES)
    assert not is_quick(live)


@pytest.mark.parametrize("data", [None, b""], ids=["missing", "empty"])
def test_a_session_that_may_have_to_be_brought_back_is_not_quick(live: Path, data: bytes | None) -> None:
    if data is not None:
        live.write_bytes(data)
    assert not is_quick(live)
    assert not is_quick(live.parent / "no folder" / "context.jsonl")


@pytest.mark.parametrize(("size", "on_the_spot"), [(100_000, True), (3 << 20, False)])
async def test_only_a_quick_session_is_opened_where_it_was_asked_for(
    live: Path, size: int, on_the_spot: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_session(live, size)
    opened_in: list[threading.Thread] = []
    opening = Store.open

    def watched(store: Store) -> object:
        opened_in.append(threading.current_thread())
        return opening(store)

    monkeypatch.setattr(Store, "open", watched)
    context = Context(live)
    assert await context.restore()
    assert (opened_in == [threading.current_thread()]) == on_the_spot
    await context.close()

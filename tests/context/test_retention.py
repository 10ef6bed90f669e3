"""Rotations are compressed and removed by a budget, visibly; pinned ones and the newest stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_tui.context import Budget, Context, list_rotations, read_timeline_file
from kimi_tui.context.disk import Disk
from kimi_tui.context.packed import pack, packed_size
from tests.context.faulty_disk import RefusingDisk
from tests.context.scenarios import a_session, told, user


async def with_rotations(path: Path, count: int, disk: Disk | None = None) -> Context:
    await a_session(path)
    context = Context(path, disk=disk)
    await context.restore()
    for number in range(count):
        await context.append_message(user(f"{number}" * 500))
        await context.checkpoint(add_user_message=False)
        await context.revert_to(context.n_checkpoints - 1)
    return context


async def test_the_dry_run_names_what_would_go_and_spares_pins_and_the_newest(tmp_path: Path) -> None:
    context = await with_rotations(tmp_path / "context.jsonl", 9)
    await context.pin("context_2.jsonl")
    names = sorted(tmp_path.iterdir())
    asked = await context.pruning(Budget(rotations=6, compress_after=4))
    assert [(each.change, each.file) for each in asked.proposals] == [
        ("delete", "context_1.jsonl"),
        ("delete", "context_3.jsonl"),
        ("delete", "context_4.jsonl"),
        ("compress", "context_5.jsonl"),
    ]
    assert sorted(tmp_path.iterdir()) == names


async def test_the_size_budget_counts_too_but_never_touches_the_newest_three(tmp_path: Path) -> None:
    context = await with_rotations(tmp_path / "context.jsonl", 5)
    asked = await context.pruning(Budget(size=0, compress_after=99))
    assert [each.file for each in asked.proposals] == ["context_1.jsonl", "context_2.jsonl"]


async def test_a_compressed_rotation_reads_and_comes_back_as_before(tmp_path: Path) -> None:
    context = await with_rotations(tmp_path / "context.jsonl", 2)
    plain = tmp_path / "context_1.jsonl"
    data = plain.read_bytes()
    before = await list_rotations(context.file_backend)
    freed = await context.compress("context_1.jsonl")
    assert freed > len(data) // 2
    assert plain.read_bytes() == b""
    after = await list_rotations(context.file_backend)
    assert [(each.file, each.messages, each.tokens) for each in after] == [
        (each.file, each.messages, each.tokens) for each in before
    ]
    assert (after[1].compressed, after[1].size) == (True, len(data) - freed)
    assert len((await read_timeline_file(plain)).history) == after[1].messages
    assert await context.compress("context_1.jsonl") == 0
    await context.go_to("context_1.jsonl")
    assert context.file_backend.read_bytes() == data


async def test_a_removed_rotation_is_gone_from_the_tree_and_from_undo(tmp_path: Path) -> None:
    context = await with_rotations(tmp_path / "context.jsonl", 3)
    size = (tmp_path / "context_3.jsonl").stat().st_size
    assert await context.delete("context_3.jsonl") == size
    target = context.undo_target()
    assert target is not None
    assert target.file == "context_2.jsonl"
    timeline = context.timeline
    await context.close()
    context = Context(context.file_backend)
    await context.restore()
    assert context.timeline == timeline
    await context.undo()
    assert (tmp_path / "context_4.jsonl").exists()


async def test_a_pinned_rotation_is_not_removed(tmp_path: Path) -> None:
    context = await with_rotations(tmp_path / "context.jsonl", 1)
    await context.pin("context_1.jsonl")
    with pytest.raises(ValueError, match="is pinned"):
        await context.delete("context_1.jsonl")
    await context.pin("context_1.jsonl", on=False)
    await context.delete("context_1.jsonl")


async def test_only_rotations_can_be_removed(tmp_path: Path) -> None:
    context = await with_rotations(tmp_path / "context.jsonl", 1)
    for name in ("context.jsonl", "../context_1.jsonl", "context_01.jsonl", "context_9.jsonl", "timeline.jsonl"):
        with pytest.raises(ValueError, match=r"is not a|is gone"):
            await context.delete(name)


async def test_a_refused_compression_loses_nothing(tmp_path: Path) -> None:
    context = await with_rotations(tmp_path / "context.jsonl", 1)
    path = tmp_path / "context_1.jsonl"
    expected, known = list((await read_timeline_file(path)).history), told(context)
    for at in range(1, 12):
        disk = RefusingDisk(at, torn=True)
        context._store.disk = disk
        try:
            await context.compress("context_1.jsonl")
        except OSError:
            assert list((await read_timeline_file(path)).history) == expected
    assert path.read_bytes() == b""
    assert list((await read_timeline_file(path)).history) == expected
    assert told(context) == known


async def test_compressing_comes_first_and_only_the_rest_is_deleted(tmp_path: Path) -> None:
    context = await with_rotations(tmp_path / "context.jsonl", 8)
    sizes = {each.file: each.size for each in await list_rotations(context.file_backend)}
    budget = Budget(size=sum(sizes.values()) - sizes["context_1.jsonl"], compress_after=5)
    found = await context.pruning(budget)
    assert found.over
    assert [(each.change, each.file) for each in found.proposals] == [
        ("compress", f"context_{number}.jsonl") for number in (1, 2, 3)
    ]
    freed = [await context.compress(each.file) for each in found.proposals]
    assert freed == [each.frees for each in found.proposals]
    assert not (await context.pruning(budget)).over


async def test_what_the_next_undo_or_redo_goes_to_is_spared_and_other_steps_are_named(tmp_path: Path) -> None:
    context = await with_rotations(tmp_path / "context.jsonl", 5)
    for _ in range(2):
        await context.undo()
    undo, redo = context.undo_target(), context.redo_target()
    assert undo is not None and redo is not None
    found = await context.pruning(Budget(rotations=0, compress_after=99))
    assert {undo.file, redo.file}.isdisjoint(each.file for each in found.proposals)
    steps = {each.file: each.step for each in found.proposals}
    assert steps["context_1.jsonl"] == "undo"
    for each in found.proposals:
        await context.delete(each.file)
    assert context.undo_target() == undo and context.redo_target() == redo


def test_the_size_after_compressing_is_told_beforehand_also_of_a_big_file(tmp_path: Path) -> None:
    lines = [f'{{"role":"user","content":"{number} {number * number % 977:x} said"}}\n' for number in range(60_000)]
    data = "".join(lines).encode()
    assert len(data) > 2 << 20
    (tmp_path / "context_1.jsonl").write_bytes(data)
    assert packed_size(tmp_path / "context_1.jsonl") == pytest.approx(len(pack(data)), rel=0.25)

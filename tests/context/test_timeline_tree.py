"""The tree of timelines: drawn from the journal, or from the files alone, and walked both ways."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_tui.context import CheckpointRef, Context, compare, list_rotations, read_timeline_file
from kimi_tui.context.doctor import check
from kimi_tui.context.timeline import ROOT
from tests.context.scenarios import a_session, assistant, told, user


@pytest.fixture
async def context(tmp_path: Path) -> Context:
    await a_session(tmp_path / "context.jsonl")
    return await opened(tmp_path / "context.jsonl")


async def opened(path: Path) -> Context:
    context = Context(path)
    await context.restore()
    return context


async def reopened(context: Context) -> Context:
    await context.close()
    return await opened(context.file_backend)


async def test_the_tree_tells_why_each_timeline_arose_and_survives_a_restart(context: Context) -> None:
    await context.revert_to(2)
    await context.rewrite("compact", keep_until=None, messages=[user("summary")], note="short")
    await context.go_to("context_1.jsonl", until=CheckpointRef(3))
    for timeline in (context.timeline, (await reopened(context)).timeline):
        shape = [
            (node.file, node.birth and node.birth.why, node.birth and node.birth.checkpoint) for node in timeline.nodes
        ]
        assert shape == [
            ("context_1.jsonl", None, None),
            ("context_2.jsonl", "revert", 2),
            ("context_3.jsonl", "compact", None),
            ("context.jsonl", "restore", 3),
        ]
        parents = [node.parent for node in timeline.nodes]
        assert parents == [None, ROOT, None, ROOT]
        assert timeline.live.id == timeline.nodes[3].id
        assert timeline.node_of("context_2.jsonl") == timeline.nodes[1]


async def test_going_to_a_rotation_brings_its_very_bytes_back(context: Context) -> None:
    before, known = context.file_backend.read_bytes(), told(context)
    await context.clear()
    switch = await context.go_to("context_1.jsonl")
    assert (context.file_backend.read_bytes(), told(context)) == (before, known)
    assert (switch.why, switch.file, switch.messages) == ("restore", "context_2.jsonl", (0, 15))


async def test_going_to_a_checkpoint_of_a_rotation_takes_what_stands_before_it(context: Context) -> None:
    mark = context.checkpoints[2]
    await context.clear()
    await context.go_to("context_1.jsonl", until=mark.ref)
    assert (len(context.history), context.n_checkpoints) == (mark.history_index, 2)
    expected = told(context)
    assert told(await reopened(context)) == expected


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("until", [None, 3])
async def test_words_can_be_taken_along_to_a_rotation_in_the_same_step(
    context: Context, until: int | None, packed: bool
) -> None:
    await context.revert_to(1)
    if packed:
        await context.compress("context_1.jsonl")
    past = await read_timeline_file(context.file_backend.parent / "context_1.jsonl")
    mark = None if until is None else past.find(CheckpointRef(until))
    kept = len(past.history) if mark is None else mark.history_index
    switch = await context.go_to("context_1.jsonl", until=mark and mark.ref, messages=[user("mind the gap")])
    assert switch.messages[1] == kept + 1 and switch.tokens[1] == context.token_count_with_pending
    expected = [*(message.text() for message in past.history[:kept]), "mind the gap"]
    for each in (context, await reopened(context)):
        assert [message.text() for message in each.history] == expected
        assert each.timeline.last == switch
    assert check(context.file_backend).healthy


async def test_a_switch_knows_whether_a_model_had_counted(tmp_path: Path) -> None:
    context = await opened(tmp_path / "context.jsonl")
    await context.checkpoint(add_user_message=False)
    await context.append_message(user("one"))
    await context.checkpoint(add_user_message=False)
    await context.update_token_count(500)
    await context.revert_to(1)
    await context.undo()
    await context.rewrite("compact", keep_until=None, messages=[user("short")], usage=40)
    await context.clear()
    counted = [switch.counted for switch in (await reopened(context)).timeline.switches]
    assert counted == [(True, False), (False, True), (True, True), (True, False)]


async def test_only_rotations_of_the_session_can_be_gone_to(context: Context) -> None:
    for name in ("../context_1.jsonl", "timeline.jsonl", "context.jsonl"):
        with pytest.raises(ValueError, match="not a rotation"):
            await context.go_to(name)
    with pytest.raises(FileNotFoundError):
        await context.go_to("context_7.jsonl")


async def test_a_new_switch_after_an_undo_forgets_the_redo(context: Context) -> None:
    await context.revert_to(3)
    await context.undo()
    assert context.redo_target() is not None
    await context.revert_to(1)
    assert context.redo_target() is None
    await context.undo()
    assert len(context.checkpoints) == 4


async def test_an_undo_keeps_what_was_said_since(context: Context) -> None:
    await context.revert_to(1)
    await context.append_message(assistant("said since"))
    await context.undo()
    await context.redo()
    assert context.history[-1].text() == "said since"


async def test_rotations_of_another_program_are_adopted_from_their_bytes(tmp_path: Path) -> None:
    path = tmp_path / "context.jsonl"
    await a_session(path)
    whole = path.read_bytes()
    offset = whole.index(b'{"role": "_checkpoint", "id": 2}')
    (tmp_path / "timeline.jsonl").unlink(missing_ok=True)
    path.rename(tmp_path / "context_1.jsonl")
    (tmp_path / "context_2.jsonl").write_bytes(whole[:offset] + b'{"role":"user","content":"other way"}\n')
    path.write_bytes(b'{"role":"user","content":"summary"}\n')
    context = await opened(path)
    first, second, live = context.timeline.nodes
    assert (first.file, first.parent) == ("context_1.jsonl", None)
    assert second.birth is not None
    assert (second.parent, second.birth.checkpoint, second.birth.offset) == (ROOT, 2, offset)
    assert (live.parent, live.birth and live.birth.why) == (None, "foreign")
    await context.undo()
    await context.undo()
    assert path.read_bytes() == whole


async def test_a_foreign_rotation_between_ours_keeps_its_place(context: Context) -> None:
    path = context.file_backend
    await context.revert_to(2)
    await context.close()
    path.rename(path.with_name("context_2.jsonl"))
    path.write_bytes(b'{"role": "_checkpoint", "id": 0}\n{"role":"user","content":"theirs"}\n')
    context = await opened(path)
    await context.revert_to(0)
    timeline = (await reopened(context)).timeline
    assert [node.file for node in timeline.nodes] == [
        "context_1.jsonl",
        "context_2.jsonl",
        "context_3.jsonl",
        "context.jsonl",
    ]
    assert [switch.why for switch in timeline.switches] == ["revert", "foreign", "revert"]


async def test_losing_the_journal_loses_labels_only(context: Context) -> None:
    await context.revert_to(2)
    await context.close()
    context.file_backend.with_name("timeline.jsonl").write_bytes(b'{"begin": nonsense\n\0\0{}{}')
    context = await opened(context.file_backend)
    await context.undo()
    assert len(context.checkpoints) == 4


async def test_a_lost_live_file_comes_back_from_the_newest_rotation(context: Context) -> None:
    path, known = context.file_backend, told(context)
    await context.close()
    for leave in (lambda: None, path.touch):
        path.rename(path.with_name("context_1.jsonl"))
        leave()
        context = await opened(path)
        assert told(context) == known
        assert [problem.kind for problem in context.problems] == ["recovered"]
        await context.close()


async def test_a_session_that_was_cleared_stays_empty(context: Context) -> None:
    await context.clear()
    context = await reopened(context)
    assert (len(context.history), list(context.problems)) == (0, [])


async def test_rotations_are_listed_newest_first_with_their_figures(context: Context) -> None:
    size, tokens = context.file_backend.stat().st_size, context.token_count_with_pending
    offset = context.checkpoints[2].offset
    await context.revert_to(2)
    await context.append_message(user("x"))
    shorter = context.file_backend.stat().st_size
    await context.clear()
    await context.pin("context_1.jsonl")
    second, first = await list_rotations(context.file_backend)
    assert (first.file, first.why, first.size, first.unique) == ("context_1.jsonl", "revert", size, size)
    assert (first.messages, first.checkpoints, first.tokens, first.pinned) == (15, 4, tokens, True)
    assert (second.file, second.why, second.unique, second.pinned) == (
        "context_2.jsonl",
        "clear",
        shorter - offset,
        False,
    )


async def test_a_new_rotation_never_takes_the_number_of_a_removed_one(context: Context) -> None:
    await context.revert_to(3)
    await context.revert_to(2)
    context.file_backend.with_name("context_2.jsonl").unlink()
    context = await reopened(context)
    assert (await context.rewrite("clear", keep_until=None)).file == "context_3.jsonl"
    await context.undo()
    target = context.undo_target()
    assert target is not None
    assert target.file == "context_1.jsonl"


async def test_timelines_are_compared_message_by_message(context: Context) -> None:
    mark = context.checkpoints[2]
    await context.revert_to(2)
    await context.append_message(user("another way"))
    left = await read_timeline_file(context.file_backend.with_name("context_1.jsonl"))
    found = compare(left, context.projection)
    assert (found.common, len(found.only_left)) == (mark.history_index, 15 - mark.history_index)
    assert [message.text() for message in found.only_right] == ["another way"]
    assert found.tokens == context.token_count_with_pending - left.tokens
    assert compare(left, context.projection, left_until=CheckpointRef(2)).only_left == []


async def test_names_of_checkpoints_follow_into_timelines_that_share_them(context: Context) -> None:
    await context.name_checkpoint(1, "green")
    await context.name_checkpoint(3, "late")
    await context.revert_to(2)
    assert context.timeline.names() == {1: "green"}
    await context.name_checkpoint(1, "")
    context = await reopened(context)
    assert context.timeline.names() == {}
    assert context.timeline.names(ROOT) == {1: "green", 3: "late"}


def told_by(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("context*.jsonl")}


async def test_undo_and_redo_again_and_again_do_not_make_the_folder_grow(context: Context) -> None:
    folder = context.file_backend.parent
    await context.revert_to(1)
    back, known = told_by(folder), context.timeline
    for _ in range(3):
        await context.undo()
        assert (len(told_by(folder)), sorted(told_by(folder).values())) == (2, sorted(back.values()))
        await context.redo()
        assert told_by(folder)["context.jsonl"] == back["context.jsonl"]
        assert sorted(told_by(folder).values()) == sorted(back.values())
    assert len(context.timeline.nodes) == len(known.nodes)
    timeline = context.timeline
    await context.close()
    again = Context(context.file_backend)
    await again.restore()
    assert again.timeline == timeline
    assert [finding for finding in check(context.file_backend).findings if "gone" in finding.what] == []


async def test_what_is_appended_after_an_undo_is_in_no_rotation(context: Context) -> None:
    await context.revert_to(1)
    await context.undo()
    before = told_by(context.file_backend.parent)
    await context.append_message(user("later"))
    after = told_by(context.file_backend.parent)
    assert [name for name in after if after[name] != before[name]] == ["context.jsonl"]


async def test_a_pinned_or_compressed_rotation_stays_when_undo_goes_to_it(context: Context) -> None:
    folder = context.file_backend.parent
    await context.revert_to(1)
    await context.pin("context_1.jsonl")
    await context.undo()
    assert (folder / "context_1.jsonl").read_bytes() == context.file_backend.read_bytes()
    await context.compress("context_2.jsonl")
    await context.redo()
    assert sorted(path.name for path in folder.glob("context_2*"))[0] == "context_2.jsonl"
    assert context.timeline.node_of("context_2.jsonl") is not None

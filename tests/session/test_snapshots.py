"""Snapshots: what is recorded, what differs, what is put back, and what is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_tui.protocol.views import DiffView
from kimi_tui.session.snapshots import FileChange, GitFault, Kept, Limits, Snapshot, Snapshots, Stretch
from tests.session.trees import picture, plant


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    plant(folder, a_txt="one\n", src__b_txt="two\n", src__deep__c_txt="three\n")
    return folder


async def taken(snapshots: Snapshots) -> Snapshot:
    found = await snapshots.take()
    assert found is not None, snapshots.off
    return found


async def test_nothing_is_made_on_disk_before_the_first_snapshot(work: Path, home: Path) -> None:
    Snapshots(work)
    assert list(home.iterdir()) == []


async def test_a_tree_that_did_not_change_is_the_same_snapshot(work: Path) -> None:
    snapshots = Snapshots(work)
    first = await taken(snapshots)
    again = await taken(snapshots)
    assert first.changed and not again.changed and again.id == first.id
    assert (await taken(Snapshots(work))).id == first.id


async def test_changes_are_told_with_kind_and_size(work: Path) -> None:
    snapshots = Snapshots(work)
    first = await taken(snapshots)
    (work / "a.txt").write_text("one more\n")
    (work / "src" / "b.txt").unlink()
    (work / "src" / "deep" / "c.txt").chmod(0o755)
    (work / "new").write_bytes(b"\0\1")
    (work / "link").symlink_to("a.txt")
    (work / "void").mkdir()
    assert await snapshots.changes(first.id) == [
        FileChange("a.txt", "modified", 4, 9),
        FileChange("link", "link", None, 5),
        FileChange("new", "added", None, 2, binary=True),
        FileChange("src/b.txt", "deleted", 4, None),
        FileChange("src/deep/c.txt", "mode", 6, 6),
        FileChange("void", "folder"),
    ]


async def test_a_diff_gives_both_texts_and_nothing_for_what_is_no_text(work: Path) -> None:
    snapshots = Snapshots(work)
    first = await taken(snapshots)
    (work / "a.txt").write_text("uno\n")
    (work / "new").write_bytes(b"\0\1")
    assert await snapshots.diff(first.id, None, "a.txt") == DiffView("a.txt", "one\n", "uno\n")
    assert await snapshots.diff(first.id, None, "new") is None


async def test_a_restore_puts_back_what_was_changed_made_and_deleted(work: Path) -> None:
    snapshots = Snapshots(work)
    first, before = await taken(snapshots), picture(work)
    plant(work, a_txt="changed", made__x_txt="x", made__y__z_txt="z")
    (work / "src" / "b.txt").unlink()
    (work / "src" / "deep" / "c.txt").chmod(0o600)
    last, changed = await taken(snapshots), picture(work)
    done = await snapshots.take_back([Stretch(first.id, last.id)])
    assert picture(work) == before
    assert done.written == ("a.txt", "src/b.txt", "src/deep/c.txt")
    assert sorted(done.removed) == ["made/x.txt", "made/y/z.txt"]
    assert (done.before.id, done.after.id, done.conflicts, done.failed) == (last.id, first.id, (), ())
    await snapshots.take_back([Stretch(done.before.id, done.after.id)])
    assert picture(work) == changed


async def test_what_somebody_else_has_edited_since_is_left_alone_unless_asked_for(work: Path) -> None:
    snapshots = Snapshots(work)
    first = await taken(snapshots)
    plant(work, a_txt="agent", src__b_txt="agent", made_txt="agent", gone_txt="agent")
    last = await taken(snapshots)
    plant(work, a_txt="user", made_txt="user", own_txt="user")
    (work / "gone.txt").unlink()
    done = await snapshots.take_back([Stretch(first.id, last.id)])
    assert done.conflicts == (Kept("a.txt", "edited since"), Kept("made.txt", "edited since"))
    assert (work / "a.txt").read_text() == (work / "own.txt").read_text() == "user"
    assert (work / "src" / "b.txt").read_text() == "two\n"
    asked = await snapshots.take_back([Stretch(first.id, last.id)], overwrite=frozenset({"a.txt"}))
    assert asked.written == ("a.txt",)
    assert (work / "a.txt").read_text() == "one\n"
    assert (work / "made.txt").read_text() == "user"
    await snapshots.take_back([Stretch(asked.before.id, asked.after.id)])
    assert (work / "a.txt").read_text() == "user"


async def test_what_the_user_did_between_two_steps_stays(work: Path) -> None:
    snapshots = Snapshots(work)
    begun = await taken(snapshots)
    plant(work, a_txt="agent 1", made_txt="agent 1")
    first = Stretch(begun.id, (await taken(snapshots)).id)
    plant(work, own_txt="user", src__b_txt="user", made_txt="user")
    between = await taken(snapshots)
    plant(work, a_txt="agent 2", src__b_txt="agent 2", made_txt="agent 2")
    second = Stretch(between.id, (await taken(snapshots)).id)
    seen = [(wish.path, edited) for wish, edited in await snapshots.touched([first, second])]
    assert seen == [("a.txt", False), ("made.txt", True), ("src/b.txt", False)]
    done = await snapshots.take_back([first, second])
    assert done.conflicts == (Kept("made.txt", "edited since"),)
    texts = {name: (work / name).read_text() for name in ("a.txt", "own.txt", "src/b.txt", "made.txt")}
    assert texts == {"a.txt": "one\n", "own.txt": "user", "src/b.txt": "user", "made.txt": "agent 2"}


async def test_a_whole_snapshot_or_some_paths_of_it_can_be_restored(work: Path) -> None:
    snapshots = Snapshots(work)
    first, before = await taken(snapshots), picture(work)
    plant(work, a_txt="changed", src__b_txt="changed")
    await taken(snapshots)
    await snapshots.restore(first.id, paths=["a.txt"])
    assert (work / "a.txt").read_text() == "one\n" and (work / "src" / "b.txt").read_text() == "changed"
    await snapshots.restore(first.id)
    assert picture(work) == before


async def test_an_ignored_file_is_neither_recorded_nor_overwritten_nor_deleted(work: Path) -> None:
    snapshots = Snapshots(work)
    first = await taken(snapshots)
    plant(work, secret_txt="agent's", a_txt="agent's")
    last = await taken(snapshots)
    (work / ".gitignore").write_text("secret.txt\na.txt\n")
    done = await snapshots.take_back([Stretch(first.id, last.id)])
    assert {kept.path for kept in done.conflicts} == {"secret.txt", "a.txt"}
    assert (work / "secret.txt").read_text() == (work / "a.txt").read_text() == "agent's"
    assert [change.path for change in await snapshots.changes(last.id)] == [".gitignore", "a.txt", "secret.txt"]


async def test_a_folder_that_was_empty_before_stays_and_one_that_became_empty_goes(work: Path) -> None:
    (work / "void" / "inner").mkdir(parents=True)
    snapshots = Snapshots(work)
    first, before = await taken(snapshots), picture(work)
    plant(work, void__inner__x_txt="x", made__x_txt="x")
    (work / "made" / "void").mkdir()
    (work / "src" / "deep" / "c.txt").unlink()
    last = await taken(snapshots)
    await snapshots.take_back([Stretch(first.id, last.id)])
    assert picture(work) == before


async def test_a_file_becomes_a_folder_a_folder_a_link_and_back(work: Path) -> None:
    (work / "void").mkdir()
    snapshots = Snapshots(work)
    first, before = await taken(snapshots), picture(work)
    (work / "a.txt").unlink()
    plant(work, a_txt__inside_txt="x")
    (work / "src" / "deep" / "c.txt").unlink()
    (work / "src" / "deep").rmdir()
    (work / "src" / "deep").symlink_to("/etc")
    (work / "src" / "b.txt").unlink()
    (work / "src" / "b.txt").mkdir()
    (work / "void").rmdir()
    (work / "void").write_text("x")
    last, changed = await taken(snapshots), picture(work)
    done = await snapshots.take_back([Stretch(first.id, last.id)])
    assert picture(work) == before and not done.failed
    await snapshots.take_back([Stretch(done.before.id, done.after.id)])
    assert picture(work) == changed


async def test_nothing_is_written_through_a_link_that_leads_out_of_the_folder(work: Path, tmp_path: Path) -> None:
    snapshots = Snapshots(work)
    first = await taken(snapshots)
    (work / "src" / "deep" / "c.txt").write_text("agent")
    last = await taken(snapshots)
    outside = tmp_path / "outside"
    plant(outside, c_txt="agent")
    (work / "src" / "deep" / "c.txt").unlink()
    (work / "src" / "deep").rmdir()
    (work / "src" / "deep").symlink_to(outside)
    done = await snapshots.take_back([Stretch(first.id, last.id)], overwrite=frozenset({"src/deep/c.txt"}))
    assert (outside / "c.txt").read_text() == "agent"
    assert [kept.path for kept in done.failed] == ["src/deep/c.txt"]


async def test_what_the_file_system_refuses_is_named_and_the_rest_is_done(work: Path) -> None:
    snapshots = Snapshots(work)
    first = await taken(snapshots)
    plant(work, a_txt="agent")
    (work / "src" / "b.txt").unlink()
    last = await taken(snapshots)
    (work / "src" / "b.txt").mkdir()
    (work / "src" / "b.txt" / "void").mkdir()
    done = await snapshots.take_back([Stretch(first.id, last.id)])
    assert done.written == ("a.txt",)
    assert [kept.path for kept in done.failed] == ["src/b.txt"]


async def test_files_of_a_time_that_is_no_longer_kept_are_refused_before_anything_happens(work: Path) -> None:
    snapshots = Snapshots(work)
    last = await taken(snapshots)
    before = picture(work)
    with pytest.raises(GitFault, match="no longer kept"):
        await snapshots.take_back([Stretch("0123456789" * 4, last.id)])
    assert picture(work) == before


async def test_big_files_are_left_out_by_name_and_never_touched(work: Path) -> None:
    snapshots = Snapshots(work, limits=Limits(file_bytes=1 << 20))
    (work / "big").write_bytes(b"x" * (1 << 20) + b"x")
    first = await taken(snapshots)
    assert first.skipped == {"big": "larger than 1 MB"}
    (work / "a.txt").write_bytes(b"y" * (2 << 20))
    (work / "big").write_bytes(b"z" * (3 << 20))
    last = await taken(snapshots)
    assert set(last.skipped) == {"a.txt", "big"}
    done = await snapshots.take_back([Stretch(first.id, last.id)])
    assert [kept.path for kept in done.conflicts] == ["a.txt"]
    assert ((work / "a.txt").stat().st_size, (work / "big").stat().st_size) == (2 << 20, 3 << 20)


async def test_a_folder_with_too_much_in_it_is_not_recorded_and_says_so(work: Path) -> None:
    snapshots = Snapshots(work, limits=Limits(files=2))
    assert await snapshots.take() is None
    assert "more than 2" in snapshots.off
    snapshots = Snapshots(work, limits=Limits(total_bytes=3))
    assert await snapshots.take() is None
    assert snapshots.off


async def test_home_and_what_lies_above_it_are_refused(home: Path) -> None:
    for folder in (home, home.parent, Path("/")):
        snapshots = Snapshots(folder)
        assert await snapshots.take() is None
        assert snapshots.off.startswith("files are not recorded")
    assert list(home.iterdir()) == [home / "snapshots"]


async def test_without_git_snapshots_are_off_with_one_clear_line(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    snapshots = Snapshots(work)
    assert await snapshots.take() is None
    assert snapshots.off == "files are not recorded: git is not installed"


async def test_a_first_snapshot_that_was_cut_short_goes_on_where_it_was(work: Path, home: Path) -> None:
    (work / "a.txt").chmod(0o600)
    first = await taken(Snapshots(work))
    (store,) = (home / "snapshots").iterdir()
    (store / "current").unlink()
    (work / "src" / "b.txt").chmod(0o640)
    later = Snapshots(work)
    second = await taken(later)
    (work / "src" / "b.txt").chmod(0o644)
    third = await taken(later)
    assert (third.id, second.id == first.id) == (first.id, False)


async def test_an_index_whose_state_is_unknown_is_made_anew(work: Path, home: Path) -> None:
    first = await taken(Snapshots(work))
    (store,) = (home / "snapshots").iterdir()
    (store / "git" / "index").write_bytes(b"garbage")
    (store / "git" / "index.lock").write_bytes(b"")
    (store / "current").unlink()
    (work / "a.txt").write_text("changed")
    second = await taken(Snapshots(work))
    assert [change.path for change in await Snapshots(work).changes(first.id, second.id)] == ["a.txt"]


async def test_old_snapshots_are_let_go_of_but_for_wanted_ones_and_the_current_one(work: Path) -> None:
    snapshots = Snapshots(work)
    ids = []
    for text in ("1", "2", "3"):
        (work / "a.txt").write_text(text)
        ids.append((await taken(snapshots)).id)
    await snapshots.tidy(-1, frozenset({ids[0]}))
    listed = snapshots._store.git.run("for-each-ref", "--format=%(objectname)").decode().split()
    assert set(listed) == {ids[0], ids[2]}

"""Snapshots of what real work trees hold: other people's repositories, odd names, links, several writers."""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path

import pytest

from kimi_tui.session.snapshots import Snapshots, Stretch
from tests.session.test_snapshots import taken
from tests.session.trees import everything, git, picture, plant

ODD = (
    b"bad\xff\xfename",
    b"line\nbreak",
    b'quote"and\\back',
    "naïve".encode(),
    "nai\u0308ve".encode(),
    b"-dash",
    b" ",
    b"a*b",
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of the user's in the middle of things: staged, changed, untracked, ignored, with a hook and a
    filter that leave a trace when they run."""
    folder = tmp_path / "work"
    folder.mkdir()
    git(folder, "init", "-q")
    plant(folder, tracked_txt="1", staged_txt="1", deleted_txt="1", forced_log="1")
    (folder / "forced.log").write_text("1")
    (folder / ".gitignore").write_text("*.log\nbuild/\n")
    git(folder, "add", "-A", "-f", ".")
    git(folder, "commit", "-qm", "first")
    plant(folder, tracked_txt="2", staged_txt="2", untracked_txt="1", build__out_txt="1", note_txt="1")
    (folder / "some.log").write_text("1")
    git(folder, "add", "staged.txt")
    (folder / "deleted.txt").unlink()
    (folder / ".git" / "info" / "exclude").write_text("note.txt\n")
    trace = f"touch {tmp_path / 'ran'}; cat"
    for name in ("post-index-change", "pre-commit", "fsmonitor"):
        (folder / ".git" / "hooks" / name).write_text(f"#!/bin/sh\n{trace}\n")
        (folder / ".git" / "hooks" / name).chmod(0o755)
    git(folder, "config", "core.fsmonitor", str(folder / ".git" / "hooks" / "fsmonitor"))
    git(folder, "config", "filter.trace.clean", trace)
    git(folder, "config", "filter.trace.smudge", trace)
    for key, value in (("autocrlf", "true"), ("hooksPath", str(folder / ".git" / "hooks")), ("safecrlf", "true")):
        git(folder, "config", f"core.{key}", value)
    git(folder, "config", "commit.gpgSign", "true")
    git(folder, "config", "gpg.program", str(folder / ".git" / "hooks" / "pre-commit"))
    (folder / ".gitattributes").write_text("* filter=trace text=auto\n*.u16 working-tree-encoding=UTF-16\n")
    (tmp_path / "ran").unlink(missing_ok=True)
    return folder


async def test_the_users_repository_stays_as_it_is_and_nothing_of_it_runs(repository: Path, tmp_path: Path) -> None:
    before = everything(repository / ".git")
    snapshots = Snapshots(repository)
    first, seen = await taken(snapshots), picture(repository)
    (repository / "crlf.txt").write_bytes(b"a\r\nb\n$Id$\r\n")
    (repository / "x.u16").write_text("plain")
    (repository / "tracked.txt").write_text("agent")
    last, changed = await taken(snapshots), picture(repository)
    done = await snapshots.take_back([Stretch(first.id, last.id)])
    assert picture(repository) == seen
    await snapshots.take_back([Stretch(done.before.id, done.after.id)])
    assert picture(repository) == changed
    assert everything(repository / ".git") == before
    assert not (tmp_path / "ran").exists()


async def test_what_the_user_ignores_is_left_out_but_for_what_is_tracked_all_the_same(repository: Path) -> None:
    snapshots = Snapshots(repository)
    first = await taken(snapshots)
    for name in ("forced.log", "some.log", "note.txt", "build/out.txt", "untracked.txt"):
        (repository / name).write_text("2")
    assert [change.path for change in await snapshots.changes(first.id)] == ["forced.log", "untracked.txt"]


async def test_the_users_own_ignore_file_counts(tmp_path: Path, home: Path) -> None:
    work = tmp_path / "work"
    plant(work, kept_txt="1", global_txt="1")
    plant(home, **{"my__ignore": "global.txt\n"})
    (home / ".gitconfig").write_text(f"[core]\n\texcludesFile = {home}/my/ignore\n")
    snapshots = Snapshots(work)
    first = await taken(snapshots)
    plant(work, kept_txt="2", global_txt="2")
    assert [change.path for change in await snapshots.changes(first.id)] == ["kept.txt"]


async def test_a_folder_inside_a_repository_is_recorded_alone_under_its_rules(repository: Path) -> None:
    sub = repository / "pack"
    plant(sub, a_txt="1", b__c_txt="1")
    (sub / "x.log").write_text("1")
    snapshots = Snapshots(sub)
    first = await taken(snapshots)
    plant(repository, tracked_txt="3")
    plant(sub, a_txt="2")
    (sub / "x.log").write_text("2")
    last = await taken(snapshots)
    assert [change.path for change in await snapshots.changes(first.id, last.id)] == ["a.txt"]
    await snapshots.take_back([Stretch(first.id, last.id)])
    assert (sub / "a.txt").read_text() == "1"


async def test_a_folder_that_its_repository_ignores_is_recorded_for_itself(repository: Path) -> None:
    snapshots = Snapshots(repository / "build")
    first = await taken(snapshots)
    (repository / "build" / "out.txt").write_text("2")
    assert [change.path for change in await snapshots.changes(first.id)] == ["out.txt"]


async def test_files_of_nested_repositories_are_files_like_any_other(tmp_path: Path) -> None:
    work = tmp_path / "work"
    for name in ("nested", "nested/inner", "void", "fresh"):
        (work / name).mkdir(parents=True)
        git(work / name, "init", "-q")
    plant(work, nested__a_txt="1", nested__inner__b_txt="1", fresh__c_txt="1")
    git(work / "nested", "add", "a.txt")
    git(work / "nested", "commit", "-qm", "first")
    inside = everything(work / "nested" / ".git")
    snapshots = Snapshots(work)
    first, before = await taken(snapshots), picture(work)
    assert not (await taken(snapshots)).changed
    plant(work, nested__a_txt="2", nested__inner__b_txt="2", nested__new_txt="1")
    (work / "fresh" / "c.txt").unlink()
    last = await taken(snapshots)
    paths = [change.path for change in await snapshots.changes(first.id, last.id)]
    assert paths == ["fresh", "fresh/c.txt", "nested/a.txt", "nested/inner/b.txt", "nested/new.txt"]
    await snapshots.take_back([Stretch(first.id, last.id)])
    assert picture(work) == before
    assert everything(work / "nested" / ".git") == inside


async def test_odd_names_come_back_byte_for_byte(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    for name in ODD:
        (work / os.fsdecode(name)).write_bytes(name)
    snapshots = Snapshots(work)
    first, before = await taken(snapshots), picture(work)
    for name in ODD:
        (work / os.fsdecode(name)).unlink()
        (work / os.fsdecode(b"new " + name)).write_bytes(name)
    last = await taken(snapshots)
    await snapshots.take_back([Stretch(first.id, last.id)])
    assert picture(work) == before


async def test_links_are_kept_as_they_are_and_never_followed(tmp_path: Path) -> None:
    work, outside = tmp_path / "work", tmp_path / "outside"
    plant(outside, a_txt="1")
    work.mkdir()
    targets = {"out": str(outside), "broken": "./nowhere//", "self": "self", "odd": os.fsdecode(b"\xff\n")}
    for name, target in targets.items():
        (work / name).symlink_to(target)
    snapshots = Snapshots(work)
    first, before = await taken(snapshots), picture(work)
    for name in targets:
        (work / name).unlink()
    plant(work, out__a_txt="2", self="text")
    last = await taken(snapshots)
    await snapshots.take_back([Stretch(first.id, last.id)])
    assert picture(work) == before
    assert (outside / "a.txt").read_text() == "1"


async def test_permissions_come_back_those_of_a_deleted_secret_too(tmp_path: Path) -> None:
    work = tmp_path / "work"
    plant(work, key_txt="k", run_txt="r", plain_txt="p", other_txt="o")
    (work / "key.txt").chmod(0o600)
    (work / "run.txt").chmod(0o750)
    snapshots = Snapshots(work)
    first, before = await taken(snapshots), picture(work)
    (work / "key.txt").unlink()
    (work / "run.txt").chmod(0o644)
    (work / "plain.txt").chmod(0o400)
    last = await taken(snapshots)
    await snapshots.take_back([Stretch(first.id, last.id)])
    assert picture(work) == before


async def test_sockets_and_pipes_are_left_alone(tmp_path: Path) -> None:
    work = tmp_path / "work"
    plant(work, a_txt="1", b_txt="1")
    snapshots = Snapshots(work)
    first = await taken(snapshots)
    os.mkfifo(work / "pipe")
    (work / "a.txt").unlink()
    os.mkfifo(work / "a.txt")
    last = await taken(snapshots)
    done = await snapshots.take_back([Stretch(first.id, last.id)])
    assert [kept.path for kept in done.conflicts] == ["a.txt"]
    assert (work / "pipe").is_fifo() and (work / "a.txt").is_fifo()


async def test_our_own_folders_inside_the_work_dir_are_no_part_of_it(tmp_path: Path, home: Path) -> None:
    work = home.parent / f"{home.name}-around"
    work.mkdir()
    (work / "link-to-home").symlink_to(home)
    plant(work, a_txt="1", s__context_txt="1")
    snapshots = Snapshots(work, work / "store", hide=[work / "s"])
    first = await taken(snapshots)
    plant(work, s__context_txt="2")
    second = await taken(snapshots)
    assert not second.changed and second.id == first.id


async def test_two_processes_worth_of_snapshots_share_a_folder(tmp_path: Path) -> None:
    work = tmp_path / "work"
    plant(work, a_txt="1")
    both = [Snapshots(work), Snapshots(work)]
    for text in ("2", "3", "4"):
        plant(work, a_txt=text)
        found = await asyncio.gather(*(taken(each) for each in both))
        assert found[0].id == found[1].id


STEPS = 24


@pytest.mark.parametrize("seed", [1, 2])
async def test_a_random_walk_of_jumps_brings_back_every_byte(tmp_path: Path, seed: int) -> None:
    """The agent changes things, time is moved to and fro; the tree is each time what it was."""
    chance = random.Random(seed)
    work = tmp_path / "work"
    plant(work, a_txt="1", b__c_txt="1", d__e__f_txt="1")
    (work / "void").mkdir()
    snapshots = Snapshots(work)
    stretches: list[Stretch] = []
    moments = [picture(work)]
    for number in range(STEPS):
        if stretches and chance.random() < 0.4:
            point = chance.randrange(len(stretches))
            done = await snapshots.take_back(stretches[point:])
            assert not done.conflicts and not done.failed
            assert picture(work) == moments[point]
            stretches.append(Stretch(done.before.id, done.after.id))
        else:
            before = await taken(snapshots)
            for _ in range(chance.randrange(1, 5)):
                disturb(work, chance, number)
            stretches.append(Stretch(before.id, (await taken(snapshots)).id))
        moments.append(picture(work))


async def test_taking_a_restore_back_gives_every_byte_again_whatever_the_user_has_done(tmp_path: Path) -> None:
    chance = random.Random(3)
    work = tmp_path / "work"
    plant(work, a_txt="1", b__c_txt="1", d__e__f_txt="1")
    snapshots = Snapshots(work)
    stretches: list[Stretch] = []
    for number in range(STEPS):
        disturb(work, chance, 100 + number)  # the user
        before = await taken(snapshots)
        disturb(work, chance, number)  # the agent
        stretches.append(Stretch(before.id, (await taken(snapshots)).id))
        disturb(work, chance, 200 + number)  # the user again
        if number % 3 == 2:
            seen = picture(work)
            done = await snapshots.take_back(stretches[chance.randrange(len(stretches)) :])
            again = await snapshots.take_back([Stretch(done.before.id, done.after.id)])
            assert picture(work) == seen
            assert not again.conflicts and not again.failed


def disturb(work: Path, chance: random.Random, number: int) -> None:
    """One change of the kinds that agents make."""
    files = sorted(path for path in work.rglob("*") if path.is_symlink() or path.is_file())
    fresh = work / chance.choice(["", "b", "d/e", "n/m", f"k{number}"]) / f"f{chance.randrange(6)}"
    kind = chance.choice(["write", "write", "append", "delete", "mode", "link", "rename", "folder"])
    if kind in ("write", "link", "folder") or not files:
        clear(work, fresh)
        if kind == "folder":
            fresh.mkdir()
        elif kind == "link":
            fresh.symlink_to(chance.choice(["a.txt", "../nowhere", "b"]))
        else:
            fresh.write_bytes(chance.randbytes(chance.randrange(40)))
        return
    file = chance.choice(files)
    if kind == "append" and not file.is_symlink():
        file.write_bytes(file.read_bytes() + b"+")
    elif kind == "mode" and not file.is_symlink():
        file.chmod(chance.choice([0o644, 0o755, 0o600, 0o640]))
    elif kind == "rename" and not fresh.exists() and not fresh.is_symlink():
        clear(work, fresh)
        file.rename(fresh)
    else:
        file.unlink()


def clear(work: Path, place: Path) -> None:
    """Make room for something at this place."""
    for folder in reversed(place.relative_to(work).parents):
        here = work / folder
        if here.is_symlink() or here.is_file():
            here.unlink()
        here.mkdir(exist_ok=True)
    if place.is_dir() and not place.is_symlink():
        for inner in sorted(place.rglob("*"), reverse=True):
            inner.rmdir() if inner.is_dir() and not inner.is_symlink() else inner.unlink()
        place.rmdir()
    elif place.is_symlink() or place.exists():
        place.unlink()

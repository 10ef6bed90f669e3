"""A file that was opened before opens by its index; an index that is wrong in any way is as good as none."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from benchmarks.generate import write_session
from kimi_tui.context import Context, Message
from kimi_tui.context import index as index_module
from tests.context.scenarios import told, user

SIZE = 700_000


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """A session that was opened and closed once."""
    path = tmp_path / "context.jsonl"
    write_session(path, SIZE)
    with path.open("ab") as file:
        file.write(b'junk\n\n{"role":"_odd"}\n')
    await (await opened(path)).close()
    assert path.with_name("context.idx").exists()
    return path


async def opened(path: Path) -> Context:
    context = Context(path)
    await context.restore()
    return context


async def without_index(path: Path) -> tuple[object, ...]:
    fresh = path.with_name("fresh")
    fresh.mkdir(exist_ok=True)
    shutil.copyfile(path, fresh / "context.jsonl")
    context = await opened(fresh / "context.jsonl")
    await context.close()
    return everything(context)


def everything(context: Context) -> tuple[object, ...]:
    projection = context.projection
    return told(context), list(context.problems), projection.left_out, projection.prompts, projection.lines


def parsed_lines(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Lines that are read one by one from now on."""
    from kimi_tui.context import reading

    seen: list[bytes] = []
    parse = reading.parse
    monkeypatch.setattr(reading, "parse", lambda line: (seen.append(line), parse(line))[1])
    return seen


async def test_a_reopened_file_says_the_same_and_is_not_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = await without_index(path)
    seen = parsed_lines(monkeypatch)
    context = await opened(path)
    assert everything(context) == expected
    assert seen == []


async def test_what_was_appended_since_the_last_start_is_read_alone(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = await opened(path)
    await context.checkpoint(add_user_message=False)
    await context.append_message(user("since"))
    await context.close()
    expected = await without_index(path)
    seen = parsed_lines(monkeypatch)
    context = await opened(path)
    assert everything(context) == expected
    assert len(seen) == 2


async def test_a_revert_works_from_an_index_and_makes_it_stale(path: Path) -> None:
    context = await opened(path)
    await context.revert_to(20)
    after = everything(context)[0]
    await context.close()
    context = await opened(path)
    assert everything(context)[0] == after == (await without_index(path))[0]
    await context.undo()
    await context.append_message(Message(role="user", content="on"))
    expected = told(context)
    await context.close()
    assert told(await opened(path)) == expected


async def lies(path: Path) -> list[bytes]:
    """Indexes that are wrong, each in its own way."""
    good = path.with_name("context.idx").read_bytes()
    other = path.with_name("other") / "context.jsonl"
    other.parent.mkdir()
    write_session(other, SIZE, seed=99)
    await (await opened(other)).close()
    return [
        b"",
        good[:50],
        good[:-1],
        good[:-1] + bytes([good[-1] ^ 1]),
        good[:300] + bytes([good[300] ^ 64]) + good[301:],
        b"\0" * len(good),
        other.with_name("context.idx").read_bytes(),
    ]


async def test_a_wrong_index_is_as_good_as_none(path: Path) -> None:
    expected = await without_index(path)
    for lie in await lies(path):
        path.with_name("context.idx").write_bytes(lie)
        context = await opened(path)
        assert everything(context) == expected
        await context.close()


async def test_a_file_that_another_program_changed_is_read_anew_whatever_its_dates_say(path: Path) -> None:
    status, data = path.stat(), path.read_bytes()
    at = data.index(b'"_usage"')
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b'"_usagX"')
    times = (status.st_atime_ns, status.st_mtime_ns)
    os.utime(path, ns=times)
    while path.stat().st_ctime_ns == status.st_ctime_ns:  # some file systems' clocks tick a hundred times a second only
        os.utime(path, ns=times)
    context = await opened(path)
    assert everything(context) == await without_index(path)


async def test_a_small_file_has_no_index(tmp_path: Path) -> None:
    context = await opened(tmp_path / "context.jsonl")
    await context.append_message(user("x"))
    await context.close()
    await (await opened(tmp_path / "context.jsonl")).close()
    assert not (tmp_path / "context.idx").exists()
    assert index_module.WORTH_IT > 100_000


async def test_a_change_in_place_under_an_open_session_is_an_error_and_not_a_wrong_text(path: Path) -> None:
    context = await opened(path)
    path.write_bytes(b"x" * 1000)
    with pytest.raises(OSError, match="another program changed"):
        list(context.history)


async def grown(path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    """A session that was opened, has grown by a lot since and is still open."""
    monkeypatch.setattr(index_module, "EVERY", 100_000)
    context = await opened(path)
    for number in range(8):
        await context.checkpoint(add_user_message=False)
        await context.append_message(user(f"{number}" * 30_000))
    assert context._indexing is not None
    await context._indexing
    await context.append_message(user("after the index"))
    return context


async def test_after_a_kill_only_what_came_after_the_last_index_is_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = await grown(path, monkeypatch)
    killed = path.with_name("killed")
    killed.mkdir()
    os.link(path, killed / "context.jsonl")
    os.link(path.with_name("context.idx"), killed / "context.idx")
    expected = await without_index(path)
    seen = parsed_lines(monkeypatch)
    again = Context(killed / "context.jsonl", read_only=True)
    await again.restore()
    assert everything(again) == expected
    assert 1 <= len(seen) < 10
    assert everything(again)[0] == told(context)


async def test_an_index_of_a_part_that_was_changed_since_is_not_believed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = await grown(path, monkeypatch)
    context._store.log.close()
    with path.open("r+b") as file:
        at = path.read_bytes().index(b"3" * 30_000)
        file.seek(at)
        file.write(b"4")
    expected = await without_index(path)
    again = Context(path, read_only=True)
    await again.restore()
    assert everything(again) == expected


async def test_a_session_that_began_small_gets_its_index_while_it_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "EVERY", 100_000)
    path = tmp_path / "context.jsonl"
    context = await opened(path)
    await context.append_message(user("hello"))
    await context.append_message(user("x" * 200_000))
    assert context._indexing is not None
    await context._indexing
    assert index_module.load(path, path.with_name("context.idx")) is not None
    await context.close()
    again = await opened(path)
    assert again.history == context.history


async def test_a_record_that_is_half_there_waits_for_the_next_index(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b'{"role":"user","con')
    assert index_module.renewed(None, path) is None

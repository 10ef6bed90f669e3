"""Files as crashes, other programs and time leave them. No line stops an open, nothing good is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_tui.context import Context, Message, SessionLocked
from tests.context.scenarios import a_lost_session

GOOD = b'{"role":"user","content":"good"}\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "context.jsonl"


async def opened(path: Path) -> Context:
    context = Context(path)
    await context.restore()
    return context


async def texts_after_one_more(path: Path) -> list[str]:
    """Opens, appends, closes, opens again: what is there then."""
    context = await opened(path)
    await context.append_message(Message(role="user", content="next"))
    await context.close()
    context = await opened(path)
    await context.close()
    return [message.text() for message in context.history]


async def test_a_torn_last_line_is_closed_so_that_the_next_record_survives(path: Path) -> None:
    path.write_bytes(GOOD + b'{"role":"user","con')
    context = await opened(path)
    assert [(problem.kind, problem.line) for problem in context.problems] == [("repaired", 2)]
    await context.close()
    assert await texts_after_one_more(path) == ["good", "next"]
    assert b'{"role":"user","con\n' in path.read_bytes()


async def test_a_good_last_line_without_its_end_gets_it(path: Path) -> None:
    path.write_bytes(GOOD * 2 + GOOD[:-1])
    assert await texts_after_one_more(path) == ["good", "good", "good", "next"]


async def test_a_tail_of_nul_bytes_is_closed(path: Path) -> None:
    path.write_bytes(GOOD + b"\0" * 512)
    assert await texts_after_one_more(path) == ["good", "next"]


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"[1,2]",
        b"\xff\xfe{",
        b"{" * 100_000,
        b'{"a":' + b"9" * 5000 + b"}",
        b"[" * 100_000 + b"]" * 100_000,
        b'{"role":5}',
        b'{"role":"user"}{"role":"user"}',
        b'{"role":"_checkpoint","id":true}',
        b'{"role":"_checkpoint","id":-1}',
        b'{"role":"_checkpoint","id":1e400}',
        b'{"role":"_checkpoint"}',
        b'{"role":"_usage","token_count":-50}',
        b'{"role":"_usage","token_count":NaN}',
        b'{"role":"_usage","token_count":12.0}',
        b'{"role":"_system_prompt","content":7}',
        b'{"role":"user","content":[{"type":5}]}',
        b'{"role":"user","content":{"type":"text"}}',
        b'{"role":"assistant","content":"","tool_calls":[{"id":"1"}]}',
    ],
    ids=range(19),
)
async def test_a_damaged_line_is_skipped_named_and_left_behind_by_a_revert(path: Path, line: bytes) -> None:
    mark = b'{"role": "_checkpoint", "id": 0}\n'
    path.write_bytes(GOOD + line + b"\n" + GOOD + mark + GOOD)
    context = await opened(path)
    assert len(context.history) == 3
    [problem] = context.problems
    assert (problem.line, problem.byte) == (2, len(GOOD))
    await context.revert_to(0)
    assert path.read_bytes() == GOOD * 2
    assert line in path.with_name("context_1.jsonl").read_bytes()
    await context.checkpoint(add_user_message=False)
    assert context.checkpoints[0].offset == 2 * len(GOOD)


async def test_a_record_of_an_unknown_role_is_kept_by_a_revert(path: Path) -> None:
    odd = b'{"role":"_telemetry","x":1}\n'
    path.write_bytes(GOOD + odd + b'{"role": "_checkpoint", "id": 0}\n' + GOOD)
    context = await opened(path)
    assert (len(context.history), context.problems) == (2, [])
    await context.revert_to(0)
    assert path.read_bytes() == GOOD + odd


async def test_a_byte_order_mark_and_windows_line_ends_are_accepted(path: Path) -> None:
    path.write_bytes(b'\xef\xbb\xbf{"role":"_system_prompt","content":"P"}\r\n{"role":"user","content":"x"}\r\n')
    context = await opened(path)
    assert (context.system_prompt, len(context.history), context.problems) == ("P", 1, [])


async def test_only_a_newline_ends_a_line(path: Path) -> None:
    text = "a\u2028b\u2029c\x85d"
    path.write_bytes(b'{"role":"user","content":"' + text.encode() + b'"}\n')
    context = await opened(path)
    assert context.history[0].text() == text


async def test_lone_surrogates_become_replacement_marks_on_both_ways(path: Path) -> None:
    path.write_bytes(b'{"role":"user","content":"a\\ud83d"}\n{"role":"user","content":"\\ud83d\\ude00"}\n')
    context = await opened(path)
    assert [message.text() for message in context.history] == ["a\ufffd", "😀"]
    await context.append_message(Message(role="user", content="b\udc00"))
    assert context.history[2].text() == "b\ufffd"
    before = list(context.history)
    await context.close()
    assert list((await opened(path)).history) == before


async def test_of_two_checkpoints_with_one_id_the_newer_is_meant_and_the_offset_can_tell(path: Path) -> None:
    mark = b'{"role": "_checkpoint", "id": 0}\n'
    path.write_bytes(mark + GOOD + mark + GOOD)
    context = await opened(path)
    await context.revert_to(0)
    assert len(context.history) == 1
    await context.undo()
    await context.rewrite("revert", keep_until=context.checkpoints[0].ref)
    assert len(context.history) == 0


async def test_a_second_context_reads_but_does_not_write(path: Path) -> None:
    first = await opened(path)
    await first.append_message(Message(role="user", content="mine"))
    second = await opened(path)
    assert second.holder is not None
    assert (second.holder.pid > 0, len(second.history)) == (True, 1)
    with pytest.raises(SessionLocked, match="is being written by process"):
        await second.append_message(Message(role="user", content="not mine"))
    with pytest.raises(SessionLocked):
        await second.clear()
    assert len(second.history) == 1
    await first.close()
    third = await opened(path)
    await third.append_message(Message(role="user", content="now mine"))


async def test_a_context_that_is_dropped_without_being_closed_lets_go_of_the_session(path: Path) -> None:
    for number in range(3):
        context = Context(path)  # the one before is garbage now, as with kimi-cli, where nobody closes
        await context.restore()
        assert context.holder is None
        await context.checkpoint(add_user_message=False)
        await context.append_message(Message(role="user", content=f"life {number}"))
    await context.revert_to(2)
    del context
    assert [message.text() for message in (await opened(path)).history] == ["life 0", "life 1"]


async def test_a_lost_session_that_cannot_be_mended_here_tells_where_the_conversation_is(path: Path) -> None:
    await a_lost_session(path)
    reader = Context(path, read_only=True)
    assert not await reader.restore()
    assert [problem.kind for problem in reader.problems] == ["disk"]
    assert "context_1.jsonl" in reader.problems[0].what
    assert (await opened(path)).problems[0].kind == "recovered"


async def test_an_opening_that_fails_lets_go_of_the_session(path: Path) -> None:
    path.mkdir()
    failed = Context(path)
    with pytest.raises(OSError, match="directory"):
        await failed.restore()
    path.rmdir()
    assert (await opened(path)).holder is None


async def test_records_that_another_program_appends_are_taken_in(path: Path) -> None:
    context = await opened(path)
    await context.append_message(Message(role="user", content="ours"))
    with path.open("ab") as file:
        file.write(b'{"role": "_checkpoint", "id": 0}\n' + GOOD)
    await context.checkpoint(add_user_message=False)
    assert [message.text() for message in context.history] == ["ours", "good"]
    assert [mark.id for mark in context.checkpoints] == [0, 1]
    assert context.problems[-1].kind == "foreign"


async def test_a_revert_by_another_program_is_noticed(path: Path) -> None:
    context = await opened(path)
    await context.append_message(Message(role="user", content="lost"))
    path.rename(path.with_name("context_1.jsonl"))
    path.write_bytes(GOOD)
    await context.append_message(Message(role="user", content="next"))
    assert [message.text() for message in context.history] == ["good", "next"]
    assert context.problems[-1].kind == "foreign"


async def test_a_deleted_file_comes_back(path: Path) -> None:
    context = await opened(path)
    await context.append_message(Message(role="user", content="kept"))
    path.unlink()
    await context.append_message(Message(role="user", content="next"))
    await context.close()
    assert [message.text() for message in (await opened(path)).history] == ["kept", "next"]


async def test_a_revert_keeps_the_mode_and_follows_a_symbolic_link(tmp_path: Path) -> None:
    target = tmp_path / "real" / "context.jsonl"
    target.parent.mkdir()
    target.write_bytes(b'{"role": "_checkpoint", "id": 0}\n' + GOOD)
    target.chmod(0o640)
    link = tmp_path / "context.jsonl"
    link.symlink_to(target)
    context = await opened(link)
    await context.revert_to(0)
    assert (link.is_symlink(), target.read_bytes(), target.stat().st_mode & 0o777) == (True, b"", 0o640)


async def test_a_record_cut_within_a_word_is_told_in_whole_words(path: Path) -> None:
    path.write_bytes(GOOD + b'{"role":"_checkpoint","i\n' + GOOD)
    [problem] = (await opened(path)).problems
    assert "starting at character 23" in str(problem)

"""`kimi-tui timeline` and `kimi-tui export` on sessions that the engine made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kimi_tui.cli.main import run
from kimi_tui.context import Context, Message, TextPart, ThinkPart, ToolCall
from kimi_tui.protocol.messages import FunctionBody
from kimi_tui.session import SessionState, new_session


@pytest.fixture
async def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two turns, the second reverted and told anew; then a compaction that was undone."""
    monkeypatch.chdir(tmp_path)
    session = new_session(tmp_path)
    session.save_state(SessionState(title="Parser [work]"))
    context = Context(session.context_file, clock=lambda: 1_700_000_000.0)
    call = ToolCall(id="1", function=FunctionBody(name="Shell", arguments='{"command":"ls"}'))
    for words in ("fix the parser", "now the lexer"):
        await context.checkpoint(add_user_message=True)
        await context.append_message(Message(role="user", content=words))
        await context.append_message(
            [
                Message(role="assistant", content=[ThinkPart(think="hm"), TextPart(text="I look.")], tool_calls=[call]),
                Message(role="tool", tool_call_id="1", content="a.py\n```\n<b>\x1b[31m"),
            ]
        )
    await context.revert_to(1)
    await context.append_message(Message(role="user", content="rather the docs"))
    await context.rewrite(
        "compact", keep_until=None, messages=[Message(role="user", content="summary")], usage=9, note="s"
    )
    await context.undo()
    await context.close()
    return session.folder


async def test_the_tree_shows_checkpoints_rotations_why_and_when(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    assert await in_thread("timeline", str(folder)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == str(folder)
    marks = [line.split(" · ")[0] for line in lines if line[0] in "○◉"]
    assert marks == ["○ context_1.jsonl", "◉ context.jsonl", "○ context_3.jsonl"]
    assert any("fix the parser" in line for line in lines)
    assert not any("CHECKPOINT" in line for line in lines)


async def test_the_tree_as_json_has_every_timeline_with_its_parent(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await in_thread("timeline", folder.name, "--json") == 0
    tree = json.loads(capsys.readouterr().out)
    by_file = {timeline["file"]: timeline for timeline in tree["timelines"]}
    first, live, undone = by_file["context_1.jsonl"], by_file["context.jsonl"], by_file["context_3.jsonl"]
    assert (first["parent"], live["parent"], undone["parent"]) == (None, first["id"], None)
    assert (live["why"], undone["why"], live["live"]) == ("undo", "compact", True)
    assert [mark["label"] for mark in first["checkpoints"]] == ["fix the parser", "now the lexer"]
    assert tree["live"] == live["id"]


async def test_looking_changes_nothing_in_the_session(folder: Path) -> None:
    def state() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    before = state()
    for arguments in (["timeline", str(folder)], ["export", str(folder)], ["sessions"]):
        assert await in_thread(*arguments) == 0
    assert state() == before


async def test_markdown_keeps_tool_output_inside_its_fence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert await in_thread("export", str(folder)) == 0
    out = capsys.readouterr().out
    assert out.startswith("# Parser \\[work\\]\n")
    assert "**Shell**\n\n````\na.py\n```\n<b>␛[31m\n````" in out
    assert '**Shell**\n\n```\n{\n  "command": "ls"\n}\n```' in out
    assert "## You\n\nrather the docs\n" in out
    assert "\x1b" not in out


async def test_one_rotation_can_be_exported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert await in_thread("export", str(folder / "context_1.jsonl")) == 0
    assert "now the lexer" in capsys.readouterr().out


async def test_a_page_escapes_everything_and_needs_nothing_else(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    assert await in_thread("export", str(folder), "-o", str(target)) == 0
    page = target.read_text()
    assert page.startswith("<!doctype html>")
    assert "&lt;b&gt;␛[31m" in page
    assert "<script" not in page
    assert "http" not in page


async def test_json_holds_the_messages_as_they_are_on_disk(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert await in_thread("export", str(folder), "--format", "json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["title"] == "Parser [work]"
    assert document["messages"][-1] == {"role": "user", "content": "rather the docs"}


@pytest.mark.parametrize("command", ["timeline", "export"])
async def test_a_path_that_is_no_session_is_one_clear_line(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (str(tmp_path), str(tmp_path / "none"), "20990101"):
        assert await in_thread(command, path) == 1
        assert capsys.readouterr().err.count("\n") == 1


async def test_a_file_that_cannot_be_written_is_one_clear_line(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await in_thread("export", str(folder), "-o", str(tmp_path / "no" / "x.md")) == 1
    assert "cannot write" in capsys.readouterr().err


async def in_thread(*arguments: str) -> int:
    """The commands start an event loop of their own, so they need a thread of their own here."""
    from asyncio import to_thread

    return await to_thread(run, arguments)

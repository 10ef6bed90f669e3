"""`kimi-tui timeline VERB`: what scripts do with a session, on real files."""

from __future__ import annotations

import json
from asyncio import to_thread
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.cli.main import run
from kimi_tui.context import Context, Message, ToolCall
from kimi_tui.context.lock import SessionLock
from kimi_tui.protocol.messages import FunctionBody
from kimi_tui.session import SessionState, new_session
from kimi_tui.session.state import read_state

Output = pytest.CaptureFixture[str]


@pytest.fixture
async def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three turns; the third was reverted and told anew."""
    monkeypatch.chdir(tmp_path)
    session = new_session(tmp_path)
    session.save_state(SessionState())
    context = Context(session.context_file)
    await _say(context, "one", "two", "three")
    await context.revert_to(2)
    await _say(context, "four")
    await context.close()
    return session.folder


async def _say(context: Context, *words: str) -> None:
    for word in words:
        await context.checkpoint(add_user_message=False)
        await context.append_message(Message(role="user", content=word))


async def told(folder: Path, verb: str, *rest: str, code: int = 0, capsys: Output) -> dict[str, Any]:
    assert await to_thread(run, ["timeline", verb, str(folder), *rest, "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


async def said(folder: Path) -> list[str]:
    context = Context(folder / "context.jsonl", read_only=True)
    await context.restore()
    return [message.text() for message in context.history]


async def test_revert_drops_everything_from_the_checkpoint_on(folder: Path, capsys: Output) -> None:
    switch = await told(folder, "revert", "1", capsys=capsys)
    assert (switch["why"], switch["checkpoint"], switch["messages"]) == ("revert", 1, [3, 1])
    assert switch["file"] == "context_2.jsonl"
    assert await said(folder) == ["one"]


async def test_undo_and_redo_walk_the_jumps(folder: Path, capsys: Output) -> None:
    assert (await told(folder, "undo", "--dry-run", capsys=capsys))["messages"] == [3, 3]
    assert await said(folder) == ["one", "two", "four"]
    await told(folder, "undo", capsys=capsys)
    assert await said(folder) == ["one", "two", "three"]
    await told(folder, "redo", capsys=capsys)
    assert await said(folder) == ["one", "two", "four"]
    for rest in ([], ["--dry-run"]):
        assert await to_thread(run, ["timeline", "redo", str(folder), *rest]) == 1
        assert capsys.readouterr().err == f"kimi-tui: there is nothing to redo in {folder}\n"


@pytest.mark.parametrize(
    ("point", "left"),
    [("context_1.jsonl", ["one", "two", "three"]), ("context_1", ["one", "two", "three"]), ("context_1@1", ["one"])],
)
async def test_a_rotation_or_a_point_in_it_can_be_restored(
    folder: Path, point: str, left: list[str], capsys: Output
) -> None:
    assert (await told(folder, "restore", point, capsys=capsys))["why"] == "restore"
    assert await said(folder) == left


async def test_diff_tells_what_only_one_side_has(folder: Path, capsys: Output) -> None:
    found = await told(folder, "diff", "now", "context_1.jsonl", capsys=capsys)
    only = [[message["content"] for message in found[side]] for side in ("only_left", "only_right")]
    assert (found["common"], only) == (2, [["four"], ["three"]])
    found = await told(folder, "diff", "now@1", "context_1.jsonl@2", capsys=capsys)
    assert (found["common"], len(found["only_left"]), len(found["only_right"])) == (1, 0, 1)
    assert await to_thread(run, ["timeline", "diff", str(folder), "now", "context_1.jsonl"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["- user: four", "+ user: three"]


async def test_what_is_derived_from_the_history_follows(folder: Path, capsys: Output) -> None:
    todos = json.dumps({"todos": [{"title": "look", "status": "pending"}]})
    call = ToolCall(id="1", function=FunctionBody(name="SetTodoList", arguments=todos))
    context = Context(folder / "context.jsonl")
    await context.restore()
    await context.checkpoint(add_user_message=False)
    await context.append_message(Message(role="assistant", content="", tool_calls=[call]))
    await context.append_message(Message(role="tool", tool_call_id="1", content="ok"))
    await context.close()
    for verb, rest, titles in (("revert", ["3"], []), ("undo", [], ["look"]), ("redo", [], [])):
        await told(folder, verb, *rest, capsys=capsys)
        assert [item.title for item in read_state(folder).todos] == titles


async def test_prune_says_first_and_does_what_it_said(folder: Path, capsys: Output) -> None:
    for _ in range(10):
        assert await to_thread(run, ["timeline", "revert", str(folder), "0"]) == 0
        assert await to_thread(run, ["timeline", "undo", str(folder)]) == 0
    capsys.readouterr()
    assert await to_thread(run, ["timeline", "pin", str(folder), "context_1.jsonl"]) == 0
    assert capsys.readouterr().out == "context_1.jsonl is pinned\n"
    planned = await told(folder, "prune", "--dry-run", "--keep", "4", capsys=capsys)
    assert [step["change"] for step in planned["steps"]].count("delete") == 7
    assert len(list(folder.glob("context_*.jsonl"))) == 11
    done = await told(folder, "prune", "--keep", "4", capsys=capsys)
    assert [step["file"] for step in done["steps"]] == [step["file"] for step in planned["steps"]]
    left = sorted(path.name for path in folder.glob("context_*.jsonl"))
    assert left == ["context_1.jsonl", "context_17.jsonl", "context_19.jsonl", "context_21.jsonl"]
    assert (await told(folder, "prune", "--keep", "4", "--max-size", "1G", capsys=capsys))["steps"] == []


async def test_names_and_pins_are_shown_by_the_tree(folder: Path, capsys: Output) -> None:
    await told(folder, "name", "1", "before the docs", capsys=capsys)
    await told(folder, "name", "2", "left [here]", "--file", "context_1.jsonl", capsys=capsys)
    await told(folder, "pin", "context_1", capsys=capsys)
    assert await to_thread(run, ["timeline", str(folder)]) == 0
    tree = capsys.readouterr().out
    assert "«before the docs» two" in tree
    assert "«left [here]» three" in tree
    assert "context_1.jsonl · pinned" in tree
    await told(folder, "unpin", "context_1.jsonl", capsys=capsys)
    assert await to_thread(run, ["timeline", str(folder), "--json"]) == 0
    assert not any(each["pinned"] for each in json.loads(capsys.readouterr().out)["timelines"])


@pytest.mark.parametrize(
    ("verb", "rest", "reason"),
    [
        ("revert", ["9"], "Checkpoint 9 is not in this timeline, which has 0 to 2"),
        ("restore", ["context_7.jsonl"], "no timeline of this session, which has context_1.jsonl"),
        ("restore", ["../x"], "no timeline of this session"),
        ("restore", ["now"], "is the live timeline"),
        ("pin", ["context.jsonl"], "is the live timeline"),
        ("diff", ["now", "now@x"], "'x' is no checkpoint"),
        ("diff", ["now", "now@9"], "Checkpoint 9 is not in this timeline"),
        ("name", ["9", "x"], "Checkpoint 9 is not in this timeline"),
    ],
)
async def test_what_is_not_there_is_one_line_that_names_what_is(
    folder: Path, verb: str, rest: list[str], reason: str, capsys: Output
) -> None:
    before = {path.name: path.read_bytes() for path in folder.glob("*.jsonl")}
    assert await to_thread(run, ["timeline", verb, str(folder), *rest]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert reason in err
    assert {path.name: path.read_bytes() for path in folder.glob("*.jsonl")} == before


@pytest.mark.parametrize(
    "rest", [["revert"], ["revert", "x", "-3"], ["revert", "x", "one"], ["prune", "x", "--keep", "-1"]]
)
async def test_wrong_usage_exits_with_two(rest: list[str], folder: Path, capsys: Output) -> None:
    assert await to_thread(run, ["timeline", *rest]) == 2
    assert capsys.readouterr().err.count("\n") == 1


async def test_a_size_that_is_none_is_wrong_usage(folder: Path, capsys: Output) -> None:
    assert await to_thread(run, ["timeline", "prune", str(folder), "--max-size", "much"]) == 2
    assert "is no size" in capsys.readouterr().err


async def test_a_session_that_another_process_has_open_is_not_touched(folder: Path, capsys: Output) -> None:
    lock = SessionLock(folder / "context.lock")
    lock.acquire()
    try:
        for rest in (["revert", str(folder), "1"], ["undo", str(folder)], ["pin", str(folder), "context_1.jsonl"]):
            assert await to_thread(run, ["timeline", *rest]) == 1
            err = capsys.readouterr().err
            assert "has" in err and "open. Close it there first." in err and err.count("\n") == 1
        assert await to_thread(run, ["timeline", "diff", str(folder), "now", "context_1.jsonl"]) == 0
        assert await to_thread(run, ["timeline", "prune", str(folder), "--dry-run"]) == 0
    finally:
        lock.release()


async def test_a_folder_that_is_called_like_a_verb_is_shown(folder: Path, tmp_path: Path, capsys: Output) -> None:
    folder.rename(tmp_path / "revert")
    for path in ("./revert", "revert"):
        assert await to_thread(run, ["timeline", path]) == 0
        assert capsys.readouterr().out.splitlines()[0] == str(tmp_path / "revert")
    assert (await told(Path("./revert"), "revert", "1", capsys=capsys))["messages"] == [3, 1]


@pytest.mark.parametrize("arguments", [["--help"], ["revert", "--help"]])
def test_help_names_the_verbs(arguments: list[str], capsys: Output) -> None:
    assert run(["timeline", *arguments]) == 0
    assert "revert" in capsys.readouterr().out

"""Going back: by the user and by the model, with steers, damage and unfinished work in the way."""

from __future__ import annotations

from pathlib import Path

from kimi_tui.protocol.commands import Interrupt, PreviewRevert, RevertTo, SendPrompt, Steer
from kimi_tui.protocol.events import (
    ContextSwitched,
    Noticed,
    PromptReturned,
    RevertPreviewed,
    TextDelta,
    TranscriptReset,
    TurnEnded,
)
from kimi_tui.protocol.views import FileTouched
from tests.cases.house import assistant, calls, checkpoint, house, result, usage, user


async def test_a_model_that_writes_to_a_point_that_is_gone_is_told_which_are_there(tmp_path: Path) -> None:
    replies = [
        calls(("Shell", {"command": "echo 1"})),
        calls(("SendDMail", {"message": "it says 1", "checkpoint_id": 1})),
        calls(("SendDMail", {"message": "and again", "checkpoint_id": 9})),
        calls(("SendDMail", {"message": "", "checkpoint_id": -2})),
        {"text": "It says 1."},
    ]
    async with house(tmp_path, replies) as it:
        assert (await it.turn("what does it say?")).reason == "done"
        refused = it.spoken("tool")
        assert "no checkpoint 9" in refused[0] and "from 0 to 2" in refused[0]
        assert "was not run" in refused[1]
        assert it.spoken("assistant")[-1] == "It says 1."


async def test_every_call_of_the_step_has_ended_before_the_letter_arrives(tmp_path: Path) -> None:
    replies = [
        calls(
            ("WriteFile", {"path": "a.txt", "content": "a"}),
            ("SendDMail", {"message": "a.txt is there", "checkpoint_id": 0}),
            ("Shell", {"command": "sleep 0.3; echo b > b.txt"}),
        ),
        {"text": "Going on."},
    ]
    async with house(tmp_path, replies) as it:
        await it.turn("write")
        assert {path.name for path in it.work.iterdir()} == {"a.txt", "b.txt"}
        assert it.spoken("tool") == []
        said = it.spoken("user")
        assert said[0] == "write" and "a.txt is there" in said[-1]
        assert it.seen(ContextSwitched)[-1].switch.why == "dmail"


async def test_a_steer_is_no_turn_of_its_own_and_going_back_lands_on_the_right_record(tmp_path: Path) -> None:
    session = [
        checkpoint(0),
        user("paint the fence"),
        assistant("painting", ("k", "Shell", {"command": "true"})),
        result("k", ""),
        user("the gate too"),
        assistant("both painted"),
        usage(500),
        checkpoint(1),
        user("now the shed"),
        assistant("painted"),
        usage(600),
    ]
    async with house(tmp_path, [], session=session) as it:
        turns = [entry.text for entry in it.seen(TranscriptReset)[0].entries if entry.turn]
        assert turns == ["paint the fence", "now the shed"]
        await it.do(RevertTo(1))
        assert it.spoken("user") == ["paint the fence", "the gate too"]
        assert it.seen(TranscriptReset)[-1].prompt == "now the shed"


async def test_after_going_back_only_the_new_prompt_is_worked_on(tmp_path: Path) -> None:
    replies = [{"text": "A is a long story " * 4000, "delay_ms": 20}, {"text": "B it is."}]
    async with house(tmp_path, replies) as it:
        it.tell(SendPrompt("task A"))
        await it.until(TextDelta)
        it.tell(Steer("more of A"), Interrupt())
        await it.until(TurnEnded)
        await it.idle()
        (it.work / "untracked").write_text("mine")
        await it.do(RevertTo(0))
        await it.turn("task B")
        assert it.spoken("user") == ["task B"]
        assert "task A" not in it.sent() and "more of A" not in it.sent()
        assert [event.text for event in it.seen(PromptReturned)] == ["more of A"]
        assert (it.work / "untracked").read_text() == "mine"


async def test_a_point_whose_record_is_damaged_is_refused_before_anything_is_touched(tmp_path: Path) -> None:
    whole = [checkpoint(0), user("one"), assistant("eins"), checkpoint(2), user("two"), assistant("zwei")]
    async with house(tmp_path, [], session=[*whole[:3], *whole[3:]]) as it:
        pass
    log = tmp_path / "session" / "context.jsonl"
    damaged = log.read_bytes().replace(b'{"role": "_checkpoint", "id": 2}', b'{"role": "_checkpoint", "i')
    async with house(tmp_path, [], session=damaged) as it:
        said = await it.do(RevertTo(2))
        assert [event.severity for event in said if isinstance(event, Noticed)] == ["error"]
        assert log.read_bytes() == damaged
        assert not list(it.folder.glob("context_*"))


async def test_written_files_that_cannot_be_put_back_are_named_with_the_reason(tmp_path: Path) -> None:
    outside = str(tmp_path / "outside.txt")
    replies = [calls(*(("WriteFile", {"path": path, "content": "x"}) for path in ("in.txt", "out.log", outside)))]
    async with house(tmp_path, replies) as it:
        (it.work / ".gitignore").write_text("*.log\n")
        await it.turn("write")
        await it.do(PreviewRevert(0))
        assert it.seen(RevertPreviewed)[-1].preview.files == (
            FileTouched("in.txt", False, "deleted"),
            FileTouched("out.log", stays="ignored by git"),
            FileTouched(outside, stays="outside the work folder"),
        )

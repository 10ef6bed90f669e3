"""D-Mail: parked by the tool, delivered by the loop, in one switch."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_tui.agent import DenwaRenji, DenwaRenjiError, DMail
from kimi_tui.agent.dmail import MAX_JUMPS
from kimi_tui.protocol.commands import AnswerApproval, SendPrompt, Steer, Undo
from kimi_tui.protocol.events import ApprovalRequested, ContextSwitched, ToolCallFinished, TranscriptReset, TurnEnded
from tests.agent.fakes import Asks, Echo, ScriptedModel, Wait, bench, calls, says


def mail(checkpoint: int, text: str = "it is done", **extra: str) -> tuple[str, dict[str, object]]:
    return "SendDMail", {"message": text, "checkpoint_id": checkpoint, **extra}


def test_only_one_letter_to_a_checkpoint_that_exists_is_accepted() -> None:
    phone = DenwaRenji()
    with pytest.raises(DenwaRenjiError, match="No checkpoint"):
        phone.send_dmail(DMail(message="x", checkpoint_id=0))
    phone.set_n_checkpoints(3)
    with pytest.raises(DenwaRenjiError, match="from 0 to 2"):
        phone.send_dmail(DMail(message="x", checkpoint_id=3))
    with pytest.raises(DenwaRenjiError):
        phone.send_dmail(DMail.model_construct(message="x", checkpoint_id=-1))
    phone.send_dmail(DMail(message="x", checkpoint_id=2))
    with pytest.raises(DenwaRenjiError, match="one"):
        phone.send_dmail(DMail(message="y", checkpoint_id=1))
    assert phone.fetch_pending_dmail() == DMail(message="x", checkpoint_id=2)
    assert phone.fetch_pending_dmail() is None


async def test_the_span_is_folded_into_the_letter_with_one_switch(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("Echo", {"text": "big"})), calls(mail(1)), says("Going on"))
    async with bench(tmp_path, model, tools=[Echo()], dmail=True) as it:
        ended = await it.turn("work")
        assert (ended.reason, ended.steps) == ("done", 3)
        told = it.told()
        assert told[:5] == [
            "system_prompt: You are a test.",
            "checkpoint 0",
            "user: <system>CHECKPOINT 0</system>",
            "user: work",
            "checkpoint 1",
        ]
        assert told[5] == "user: <system>CHECKPOINT 1</system>"
        assert told[6].startswith("user: <system>A D-Mail from your future self")
        assert told[6].endswith("D-Mail content:\n\nit is done</system>")
        assert told[7:] == ["checkpoint 2", "user: <system>CHECKPOINT 2</system>", "assistant: Going on", "usage 100"]
        switch = it.last(ContextSwitched).switch
        assert (switch.why, switch.from_checkpoint, switch.to_checkpoint, switch.note) == ("dmail", 2, 1, "it is done")
        assert len(list(it.folder.glob("context_*.jsonl"))) == 1
        kinds = [entry.kind for entry in it.last(TranscriptReset).entries]
        assert kinds == ["user", "dmail"]
        assert [row.kind for row in it.last(TranscriptReset).timeline] == [
            "checkpoint",
            "switch",
            "rotation",
            "checkpoint",
        ]


async def test_what_the_user_asked_is_never_folded_away(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("Echo", {"text": "big"}), text="I look."), calls(mail(0)), says("Going on"))
    async with bench(tmp_path, model, tools=[Echo()], dmail=True) as it:
        await it.turn("write notes")
        said = [text for text in model.sent() if not text.startswith("user: <system>CHECKPOINT")]
        assert said[0] == "user: write notes"
        assert "I look." in said[1], "the letter says what the user has read"
        assert said[1].endswith("it is done</system>")
        assert [entry.kind for entry in it.desk.transcript.entries] == ["user", "dmail", "assistant"]


async def test_other_calls_of_the_step_end_before_the_jump(tmp_path: Path) -> None:
    model = ScriptedModel(
        calls(("Echo", {"id": "a", "text": "first"}), mail(1, id="b"), ("Echo", {"id": "c", "text": "last"})),
        says("Going on"),
    )
    async with bench(tmp_path, model, tools=[Echo()], dmail=True) as it:
        await it.turn("work")
        kinds = it.kinds()
        assert len(it.all(ToolCallFinished)) == 3
        assert kinds.index("ToolCallFinished") < kinds.index("ContextSwitched")
        assert not [line for line in it.told() if line.startswith("tool")]
        left = (it.folder / "context_1.jsonl").read_text()
        assert left.count('"role":"tool"') == 3, "the future that was left is whole"


async def test_a_letter_is_dropped_when_another_tool_of_the_step_was_rejected(tmp_path: Path) -> None:
    model = ScriptedModel(calls(mail(1, id="m"), ("Asks", {"id": "a"})), says("Fine"))
    async with bench(tmp_path, model, tools=[Asks()], dmail=True) as it:
        it.tell(SendPrompt("work"))
        request = await it.until(ApprovalRequested)
        it.tell(AnswerApproval(request.approval.request_id, "reject"))
        await it.until(TurnEnded)
        assert not it.all(ContextSwitched)
        await it.idle()
        await it.turn("next")
        assert not it.all(ContextSwitched)


async def test_the_error_names_the_valid_checkpoints_after_a_jump(tmp_path: Path) -> None:
    model = ScriptedModel(calls(mail(1)), calls(mail(7)), says("Fine"))
    async with bench(tmp_path, model, dmail=True) as it:
        assert (await it.turn("work")).reason == "done"
        assert any("Valid ids go from 0 to 2" in line for line in it.told())


async def test_the_jumps_of_a_turn_are_bounded(tmp_path: Path) -> None:
    model = ScriptedModel(*(calls(mail(1, f"round {number}")) for number in range(MAX_JUMPS + 1)), says("I stop"))
    async with bench(tmp_path, model, dmail=True) as it:
        assert (await it.turn("work")).reason == "done"
        assert len(it.all(ContextSwitched)) == MAX_JUMPS


async def test_a_jump_forgets_the_repeats(tmp_path: Path) -> None:
    again = [calls(("Echo", {"text": "again"})) for _ in range(10)]
    model = ScriptedModel(*again, calls(mail(1)), *again, says("Done"))
    async with bench(tmp_path, model, tools=[Echo()], dmail=True) as it:
        assert (await it.turn("work")).reason == "done"


async def test_a_steer_of_this_turn_survives_the_jump_once(tmp_path: Path) -> None:
    wait = Wait()
    model = ScriptedModel(calls(("Wait", {"id": "w"})), calls(mail(1)), says("Going on"))
    async with bench(tmp_path, model, tools=[wait], dmail=True) as it:
        it.tell(SendPrompt("work"))
        await wait.begun.wait()
        it.tell(Steer("also B"))
        wait.go.set()
        await it.until(TurnEnded)
        sent = [text for text in model.sent() if "CHECKPOINT" not in text]
        assert [text for text in sent if text == "user: also B"] == ["user: also B"]
        assert sent[-1].endswith("it is done</system>")


async def test_the_user_can_undo_a_jump(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("Echo", {"text": "big"})), calls(mail(1)), says("Going on"))
    async with bench(tmp_path, model, tools=[Echo()], dmail=True) as it:
        await it.turn("work")
        await it.do(Undo())
        assert [line.split(":")[0] for line in it.told() if line.startswith("tool")] == ["tool", "tool"]
        assert it.last(TranscriptReset).redo == "the D-Mail"


async def test_without_the_tool_nothing_is_shown_to_the_model(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("ok"))) as it:
        await it.turn("hi")
        assert it.model.sent() == ["user: hi"]

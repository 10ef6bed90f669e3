"""Going back and forth: what is taken back, what comes back into the input, what the screen is told."""

from __future__ import annotations

from pathlib import Path

from kimi_tui.agent.travel.rows import all_rows
from kimi_tui.context import Context
from kimi_tui.protocol.commands import (
    ClearContext,
    CompareTimelines,
    ExportTimeline,
    ListRotations,
    LoadEntries,
    MeasureContext,
    NameCheckpoint,
    PreviewRevert,
    ReadRotation,
    Redo,
    RestoreRotation,
    RevertTo,
    SendPrompt,
    Undo,
)
from kimi_tui.protocol.events import (
    CheckpointCreated,
    ContextMeasured,
    ContextSwitched,
    EntriesLoaded,
    Noticed,
    RevertPreviewed,
    RotationRead,
    RotationsListed,
    StepEnded,
    TimelinesCompared,
    TranscriptReset,
    TurnEnded,
)
from kimi_tui.protocol.views import TimelineRow
from tests.agent.fakes import Bench, Echo, ScriptedModel, Wait, bench, calls, message, says


def chat(it: Bench) -> list[str]:
    return [entry.text for entry in it.desk.transcript.entries if entry.kind in ("user", "assistant")]


async def two_turns(it: Bench) -> None:
    await it.turn("one")
    await it.turn("two")


async def test_rows_that_are_told_while_a_turn_runs_are_those_of_the_timeline_read_anew(tmp_path: Path) -> None:
    model = ScriptedModel(
        calls(("Echo", {"text": "a" * 4000})), calls(("Echo", {"text": "b"})), says("done"), says("2")
    )
    async with bench(tmp_path, model, tools=[Echo()]) as it:
        await it.turn("one")
        await it.turn("two")
        told: dict[int | None, TimelineRow] = {}
        for event in it.events:
            match event:
                case CheckpointCreated(row, before):
                    told |= {each.offset: each for each in (row, before) if each is not None}
                case StepEnded(row=row):
                    told[row.offset] = row
        rows = [row for row in all_rows(it.desk) if row.kind == "checkpoint"]
        assert len(rows) == 4 and list(told.values()) == rows[::-1]
        assert [row.exact for row in rows] == [False, True, True, False]


async def test_points_and_jumps_of_a_session_that_had_no_system_prompt_stay_where_they_are(tmp_path: Path) -> None:
    context = Context(tmp_path / "s" / "context.jsonl")
    await context.restore()
    for number in range(4):
        await context.checkpoint(add_user_message=False)
        await context.append_message([message("user", f"ask {number}"), message("assistant", f"say {number}")])
    await context.revert_to(3)
    await context.close()
    async with bench(tmp_path, ScriptedModel(says("zwei"))) as it:
        it.desk.first_prompt *= 20
        await it.turn("two")
        rows = it.last(TranscriptReset).timeline
        assert [row.checkpoint for row in rows if row.kind == "checkpoint"] == [2, 1, 0]
        for row in (row for row in rows if row.kind == "checkpoint"):
            await it.do(PreviewRevert(row.checkpoint, offset=row.offset))
        assert [event.preview.checkpoint for event in it.all(RevertPreviewed)] == [2, 1, 0]
        kinds = [(row.kind, row.checkpoint) for row in all_rows(it.desk)]
        assert kinds[:4] == [("checkpoint", 3), ("switch", 3), ("rotation", None), ("checkpoint", 2)]


async def test_going_back_takes_the_prompt_back_into_the_input(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("eins"), says("zwei"), says("drei"))) as it:
        await two_turns(it)
        await it.do(RevertTo(2))
        reset = it.last(TranscriptReset)
        assert (reset.prompt, reset.undo, reset.redo) == ("two", "going back", "")
        assert chat(it) == ["one", "eins"]
        assert reset.entries[-1].switch == it.last(ContextSwitched).switch
        assert it.told()[-1] == "usage 100"
        await it.turn("three")
        assert it.model.sent() == ["user: one", "assistant: eins", "user: three"]


async def test_the_checkpoint_of_a_turns_first_step_means_the_turn(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("eins"), says("zwei"))) as it:
        await two_turns(it)
        await it.do(RevertTo(3))
        assert it.last(TranscriptReset).prompt == "two"
        assert chat(it) == ["one", "eins"]


async def test_going_back_to_a_later_step_keeps_the_prompt(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("Echo", {"text": "a"})), calls(("Echo", {"text": "b"})), says("done"))
    async with bench(tmp_path, model, tools=[Echo()]) as it:
        await it.turn("one")
        await it.do(RevertTo(2))
        assert it.last(TranscriptReset).prompt is None
        assert [entry.kind for entry in it.desk.transcript.entries] == ["user", "tool", "note"]


async def test_a_note_is_carried_over_to_the_earlier_point(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("eins"), says("zwei"), says("drei"))) as it:
        await two_turns(it)
        await it.do(RevertTo(2, note="two does not work"))
        await it.turn("three")
        sent = it.model.sent()
        assert sent[2].endswith("two does not work") and sent[3] == "user: three"


async def test_undo_and_redo_walk_every_switch(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("eins"), says("zwei"))) as it:
        await two_turns(it)
        whole = it.told()
        await it.do(RevertTo(2))
        short = it.told()
        await it.do(ClearContext())
        assert it.told() == ["system_prompt: You are a test."]
        assert it.last(TranscriptReset).undo == "clearing"
        await it.do(Undo())
        assert it.told() == short
        await it.do(Undo())
        assert it.told() == whole
        assert chat(it) == ["one", "eins", "two", "zwei"]
        assert it.last(TranscriptReset).redo == "going back"
        await it.do(Redo())
        assert it.told() == short
        assert it.last(TranscriptReset).redo == "clearing"


async def test_there_may_be_nothing_to_undo(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel()) as it:
        await it.do(Undo())
        assert it.last(Noticed).text == "there is nothing to undo"
        await it.do(Redo())
        assert it.last(Noticed).text == "there is nothing to redo"


async def test_a_rotation_can_be_made_live_whole_or_up_to_a_point(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("eins"), says("zwei"))) as it:
        await two_turns(it)
        await it.do(RevertTo(0))
        await it.do(RestoreRotation("context_1.jsonl"))
        assert chat(it) == ["one", "eins", "two", "zwei"]
        await it.do(RevertTo(2, file="context_1.jsonl"))
        assert chat(it) == ["one", "eins"]
        assert it.last(TranscriptReset).prompt == "two"


async def test_no_time_is_moved_while_a_turn_runs(tmp_path: Path) -> None:
    wait = Wait()
    async with bench(tmp_path, ScriptedModel(calls(("Wait", {})), says("ok")), tools=[wait]) as it:
        it.tell(SendPrompt("go"))
        await wait.begun.wait()
        for command in (RevertTo(0), Undo(), Redo(), ClearContext(), RestoreRotation("context_1.jsonl")):
            it.tell(command)
        wait.go.set()
        await it.until(TurnEnded)
        assert len(it.all(Noticed)) == 5
        assert not it.all(ContextSwitched)


async def test_a_checkpoint_that_does_not_exist_is_refused_before_anything_happens(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("eins"))) as it:
        await it.turn("one")
        before = it.told()
        await it.do(RevertTo(9))
        assert "checkpoint 9" in it.last(Noticed).text
        assert it.told() == before
        assert not list(it.folder.glob("context_*"))


async def test_a_preview_counts_what_would_go(tmp_path: Path) -> None:
    model = ScriptedModel(says("eins", 50), calls(("Echo", {"text": "a"}), tokens=80), says("zwei", 120))
    async with bench(tmp_path, model, tools=[Echo()]) as it:
        await two_turns(it)
        await it.do(PreviewRevert(2))
        seen = it.last(RevertPreviewed).preview
        assert (seen.checkpoint, seen.steps, seen.messages, seen.tokens, seen.tool_calls) == (2, 2, 4, 70, 1)
        assert (seen.prompt, seen.first_dropped) == ("two", 2)
        assert it.desk.transcript.entries[2].text == "two"


async def test_the_timeline_names_jumps_and_files_newest_first(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("eins"), says("zwei"), says("drei"))) as it:
        await two_turns(it)
        await it.do(RevertTo(2))
        await it.turn("three")
        await it.do(NameCheckpoint(0, "the start"))
        rows = it.last(TranscriptReset).timeline
        assert [(row.kind, row.label, row.name) for row in rows] == [
            ("checkpoint", "three", ""),
            ("switch", "", ""),
            ("rotation", "context_1", ""),
            ("checkpoint", "one", "the start"),
        ]
        assert rows[1].switch is not None and rows[1].switch.why == "revert" and rows[1].undoable
        assert (rows[2].file, rows[2].depth, rows[2].messages) == ("context_1.jsonl", 1, 4)


async def test_rotations_are_listed_read_and_compared(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("eins"), says("zwei"))) as it:
        await two_turns(it)
        await it.do(RevertTo(2))
        await it.do(ListRotations())
        (rotation,) = it.last(RotationsListed).rotations
        assert (rotation.file, rotation.why, rotation.messages) == ("context_1.jsonl", "revert", 4)
        await it.do(ReadRotation("context_1.jsonl"))
        assert [entry.text for entry in it.last(RotationRead).entries] == ["one", "eins", "two", "zwei"]
        await it.do(CompareTimelines("context_1.jsonl", "now"))
        found = it.last(TimelinesCompared)
        assert (found.common, [entry.text for entry in found.only_left], found.only_right) == (2, ["two", "zwei"], ())
        await it.do(CompareTimelines("context_1.jsonl@2", "now"))
        assert it.last(TimelinesCompared).only_left == ()


async def test_a_file_that_is_no_timeline_of_the_session_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("{}")
    async with bench(tmp_path, ScriptedModel()) as it:
        for command in (ReadRotation("../secret"), RestoreRotation("../secret"), ExportTimeline("../secret")):
            await it.do(command)
        assert len(it.all(Noticed)) == 3


async def test_an_export_is_written_into_the_work_folder(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("eins"))) as it:
        await it.turn("one")
        await it.do(ExportTimeline(format="md", target="talk.md"))
        assert "eins" in (tmp_path / "talk.md").read_text()
        assert str(tmp_path / "talk.md") in it.last(Noticed).text


async def test_the_breakdown_adds_up_to_the_gauge(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("Echo", {"text": "word " * 200})), says("done", 800))
    async with bench(tmp_path, model, tools=[Echo()]) as it:
        await it.turn("one")
        await it.do(MeasureContext())
        measured = it.last(ContextMeasured)
        assert sum(share.tokens for share in measured.shares) == measured.tokens.total == 800
        assert measured.shares[0].category in ("tool results", "assistant")
        assert {"system", "tools", "user", "assistant", "tool results"} <= {share.category for share in measured.shares}


async def test_older_entries_come_when_asked_for(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("eins"))) as it:
        await it.turn("one")
        await it.do(LoadEntries(0, 1))
        assert [entry.text for entry in it.last(EntriesLoaded).entries] == ["one"]


async def test_what_a_jump_frees_is_what_the_gauge_loses(tmp_path: Path) -> None:
    """Also to before the first report, where the gauge has an estimate of the system prompt and the tools left."""
    async with bench(tmp_path, ScriptedModel(says("eins", 500), says("zwei", 900)), tools=[Echo()]) as it:
        assert 0 < it.desk.total < 100, "an estimate"
        await two_turns(it)
        assert it.desk.total == 900
        for command in (RevertTo(2), RevertTo(0), Undo(), Undo(), Redo(), ClearContext(), Undo(), Undo()):
            before = it.desk.total
            if isinstance(command, RevertTo):
                await it.do(PreviewRevert(command.checkpoint))
            await it.do(command)
            switch, row = it.last(ContextSwitched).switch, it.last(TranscriptReset).timeline
            assert (switch.tokens_before, switch.tokens_after) == (before, it.desk.total)
            newest = next((each for each in row if each.kind == "switch" and each.switch == switch), None)
            assert newest is None or newest.tokens == it.desk.total - before
            if isinstance(command, RevertTo):
                assert it.last(RevertPreviewed).preview.tokens == before - it.desk.total
        said = it.desk.context.estimate(it.desk.context.history[:2])
        first = next(row for row in it.last(TranscriptReset).timeline if row.label == "one")
        assert first.tokens == said
        await it.do(RevertTo(0))
        assert it.desk.total == 500 - said, "what the model counted beside the messages"


async def test_a_branch_tells_the_tokens_of_its_steps_as_the_live_timeline_did(tmp_path: Path) -> None:
    model = ScriptedModel(says("eins", 500), calls(("Echo", {"text": "a"}), tokens=700), says("zwei", 900))
    async with bench(tmp_path, model, tools=[Echo()]) as it:
        await two_turns(it)
        lived = all_rows(it.desk)
        await it.do(NameCheckpoint(2, "here"))
        await it.do(RevertTo(0))
        await it.do(ReadRotation("context_1.jsonl"))
        told = it.last(RotationRead).rows
        assert [(row.checkpoint, row.label, row.tokens, row.offset) for row in told] == [
            (row.checkpoint, row.label, row.tokens, row.offset) for row in lived
        ]
        assert [row.name for row in told] == ["", "here", ""]
        assert {(row.file, row.depth) for row in told} == {("context_1.jsonl", 1)}


async def test_the_list_of_rotations_and_a_comparison_count_as_the_gauge_does(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(says("eins", 500)), tools=[Echo()]) as it:
        await it.turn("one")
        await it.do(RevertTo(0))
        left = it.desk.total
        await it.do(CompareTimelines("context_1.jsonl", "now"))
        assert it.last(TimelinesCompared).tokens == left - 500
        await it.do(Undo())
        await it.do(CompareTimelines("now@0", "now"))
        assert it.last(TimelinesCompared).tokens == 500 - left

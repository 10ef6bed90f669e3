"""What plain mode is made of: cutting streamed text, numbered questions, slash commands in lines."""

from __future__ import annotations

import pytest

from kimi_tui.agent.dispatch import HANDLERS
from kimi_tui.cli.plain import rotations, slash
from kimi_tui.cli.plain.asking import answer, approval_answer, approval_lines, approve, review
from kimi_tui.cli.plain.speaking import Speaker
from kimi_tui.cli.plain.telling import Telling
from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import ApprovalView, DiffView, Modes, QuestionOption, QuestionView, ToolView
from kimi_tui.ui.state import ScreenState

SENTENCE = "This is one of several sentences of a paragraph without line ends. "


def spoken(*pieces: str) -> list[str]:
    speaker = Speaker()
    return [line for piece in pieces for line in speaker.feed(piece)] + speaker.flush()


def test_text_is_told_line_by_line_however_it_comes() -> None:
    text = "First.\n\n- a\n- b"
    assert spoken(*text) == spoken(text) == ["First.", "", "- a", "- b"]


def test_a_long_paragraph_is_told_sentence_by_sentence() -> None:
    speaker = Speaker()
    said = [line for letter in SENTENCE * 4 for line in speaker.feed(letter)]
    assert said == [(SENTENCE * 2).rstrip()]
    assert speaker.flush() == [(SENTENCE * 2).rstrip()]
    assert spoken("这是一个很长的段落。" * 30)[0] == "这是一个很长的段落。" * 30


@pytest.mark.parametrize("start", ["```py\n", "| ", "~~~\n"])
def test_code_and_tables_are_never_cut_inside_a_line(start: str) -> None:
    line = f"{start}{SENTENCE * 5}"
    assert spoken(*line) == [*line.rstrip().split("\n")]


APPROVAL = ApprovalView("7", "Shell", "run a command", "rm -rf x\nls", rule="rm *")


def test_an_approval_is_asked_in_numbered_lines() -> None:
    change = DiffView("a.py", "one\ntwo\nthree", "one\n2\nthree", first_line=10)
    view = ApprovalView("1", "WriteFile", "edit a.py", diffs=(change,), outside=True, explicit=True)
    assert [*approval_lines(view)] == [
        "May I edit a.py? (asked by WriteFile)",
        "This lies outside the allowed folders.",
        "a.py, line 10:",
        "      one",
        "    - two",
        "    + 2",
        "      three",
        "1. yes, this once",
        "3. no",
    ]


@pytest.mark.parametrize(
    ("typed", "decision", "feedback"),
    [
        ("1", "once", ""),
        ("yes", "once", ""),
        ("2.", "session", ""),
        ("3", "reject", ""),
        ("No", "reject", ""),
        (" use trash instead ", "reject", "use trash instead"),
    ],
)
def test_numbers_and_words_answer_an_approval(typed: str, decision: str, feedback: str) -> None:
    answered = approval_answer(APPROVAL, typed)
    assert answered is not None
    assert (answered.request_id, answered.decision, answered.feedback) == ("7", decision, feedback)


def test_what_says_nothing_is_asked_again() -> None:
    typed = iter(["", "9", "1"])
    said: list[str] = []
    assert approve(APPROVAL, said.extend, lambda _: next(typed)).decision == "once"
    assert said.count("Please answer with a number.") == 2
    explicit = ApprovalView("1", "WriteFile", "edit", explicit=True)
    assert approval_answer(explicit, "2") is None


def test_questions_take_numbers_or_own_words() -> None:
    options = (QuestionOption("red", "like fire"), QuestionOption("blue"))
    asked = ev.QuestionAsked("q", (QuestionView("Which?", "Hue", options), QuestionView("All?", "", options, True)))

    def answered(*typed: str) -> tuple[tuple[str, ...], ...]:
        words = iter(typed)
        return answer(asked, said.extend, lambda _: next(words)).answers

    said: list[str] = []
    assert answered("2", "1, 2") == (("blue",), ("red", "blue"))
    assert said == [
        "Hue: Which?",
        "1. red, like fire",
        "2. blue",
        "All? (several may be chosen: 1, 3)",
        "1. red, like fire",
        "2. blue",
    ]
    assert answered("green", "") == (("green",), ())
    assert answered("") == ()


@pytest.mark.parametrize(
    ("typed", "meaning"),
    [
        ("fix it", cmd.SendPrompt("fix it")),
        ("!ls -l", cmd.RunShell("ls -l")),
        ("/compact keep it", cmd.Compact("keep it")),
        ("/undo", cmd.Undo()),
        ("/rotations", cmd.ListRotations()),
        ("/context", cmd.MeasureContext()),
        ("/model", cmd.ListModels()),
        ("/model kimi", cmd.SwitchModel("kimi")),
        ("/yolo", cmd.SetMode("yolo", True)),
        ("/restore context_2.jsonl", slash.Wanted("restore", "context_2.jsonl")),
        ("/rotations prune", cmd.ProposePruning()),
        ("/rotations pin context_2", cmd.ChangeRotation("context_2.jsonl", "pin")),
        ("/rotations export context_2.jsonl html", cmd.ExportTimeline("context_2.jsonl", "html")),
        ("/rotations what", slash.Said((f"It is /rotations {rotations.USAGE}.",))),
        ("/diff now@1 context_2.jsonl", cmd.CompareTimelines("now@1", "context_2.jsonl")),
        ("/name 3 the good one", cmd.NameCheckpoint(3, "the good one")),
        ("/init", cmd.RunSlash("init")),
        ("/timeline", slash.Wanted("timeline")),
        ("/rewind", slash.Wanted("timeline")),
        ("/rewind 3", slash.Wanted("rewind", "3")),
        ("/exit", slash.Wanted("exit")),
        ("/quit", slash.Wanted("exit")),
        ("/plan on", slash.Said(("plan is on already.",))),
        ("/tasks", slash.Wanted("tasks")),
        ("/tasks stop t1", cmd.StopTask("t1")),
        ("/mcp restart x", cmd.RestartMcp("x")),
        ("/diff now", slash.Said(("It is /diff LEFT RIGHT.",))),
    ],
)
def test_a_line_means_what_it_means_on_the_screen(typed: str, meaning: object) -> None:
    assert slash.read(typed, ScreenState(modes=Modes(plan=True))) == meaning


def test_help_names_every_command_that_works_here() -> None:
    said = slash.read("/help", ScreenState())
    assert isinstance(said, slash.Said)
    text = "\n".join(said.lines)
    for word in ("/compact [focus]", "/rewind [N]", "/restore FILE", "/exit", "Ctrl+C"):
        assert word in text
    assert "/theme" not in text


def test_every_command_that_is_sent_has_an_event_that_settles_it() -> None:
    silent = {cmd.ExportTimeline, cmd.AddDir}  # a notice is all that they are answered with
    sent = [slash.read(f"/{known.name} x y", ScreenState()) for known in slash.slash.TABLE]
    for command in sent:
        assert not isinstance(command, cmd.Command) or type(command) in slash.SETTLED or type(command) in silent


def test_every_command_that_takes_time_says_when_it_is_through() -> None:
    for command in slash.SETTLED:
        assert (HANDLERS[command].when == "now") == (command in slash.AT_ONCE), command


def test_a_tool_is_one_line_with_its_outcome() -> None:
    tool = ToolView("1", "Shell", "Shell", "make\ntest", outcome="error", brief="exit 2", output="long", seconds=1.25)
    assert Telling().take(ev.ToolCallFinished(tool)) == ["[error] Shell make test: exit 2, 1.2 s"]


def test_a_download_is_told_every_ten_per_cent() -> None:
    telling = Telling()
    coming = [ev.ModelProgressed("local", "fetching", done, 1000) for done in range(0, 1001, 25)]
    told = [line for event in coming for line in telling.take(event)]
    assert len(told) == 11
    assert told[1] == "fetching local: 10 % of 1.0 kB …"


def test_what_a_flow_and_an_aside_do_is_told_in_lines() -> None:
    told = Telling()
    move = ev.FlowMoved("ralph", "R2", "make it green", "decision", 1, 2, 0, "", ("CONTINUE", "STOP"), 900, None)
    assert list(told.take(move)) == ["Flow, turn 2: make it green"]
    ended = ev.FlowEnded("ralph", "done", "ralph reached its end", 2, 1800)
    assert list(told.take(ended)) == ["Flow ralph has ended: ralph reached its end"]
    assert list(told.take(ev.AsideEnded("why?", "So."))) == ["So."]


def test_a_subagent_asks_in_its_own_name() -> None:
    view = ApprovalView("1", "Shell", "run a command", "ls", asker="find it")
    assert next(approval_lines(view)) == "May I run a command? (asked by Shell of the subagent find it)"


def test_a_summary_can_be_changed_in_an_editor_before_it_takes_its_place() -> None:
    proposed = ev.CompactionProposed("short", (), (), 900, 90)
    written = iter([None, "better"])
    typed = iter(["4", "what?"])
    said: list[str] = []

    def edit(text: str) -> str | None:
        assert text == "short"
        return next(written)

    assert review(proposed, said.extend, lambda _: next(typed), edit) == cmd.AnswerCompaction("redo", focus="what?")
    typed = iter(["4"])
    assert review(proposed, said.extend, lambda _: next(typed), edit) == cmd.AnswerCompaction("accept", "better")
    assert said.count("Nothing was written: the summary stands as it is.") == 1

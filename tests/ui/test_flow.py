"""A flow on the screen: its row, its graph, its end; and a subagent's block."""

from __future__ import annotations

from dataclasses import replace

from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import Entry, FlowNodeView, FlowView, SubagentView, Tokens, ToolView
from kimi_tui.ui import slash
from kimi_tui.ui.blocks import entry_rows
from kimi_tui.ui.conversation import Conversation
from kimi_tui.ui.drawing import Drawing
from kimi_tui.ui.flow_run import FlowRun, figures, follow
from kimi_tui.ui.screens.flow import FlowScreen, walk_order
from kimi_tui.ui.state import ScreenState, apply
from kimi_tui.ui.toasts import aside, ended, walked
from tests.ui.stage import Stage

FLOW = FlowView(
    "release",
    (
        FlowNodeView("A", "begin", "BEGIN", (("", "B"),)),
        FlowNodeView("B", "task", "Run the [b]tests[/b]\nall of them", (("", "C"),)),
        FlowNodeView("C", "decision", "Green?", (("yes", "D"), ("no", "B"))),
        FlowNodeView("D", "end", "END"),
        FlowNodeView("X", "task", "a note in the margin"),
    ),
    limit=20,
)


def at(node: str, visits: int, iterations: int, choice: str = "", asks: int = 0) -> ev.FlowMoved:
    kind = "decision" if node == "C" else "task"
    return ev.FlowMoved(
        "release", node, f"at {node}", kind, visits, iterations, asks, choice, (), 1200 * iterations, 0.5
    )


WALK = [ev.FlowStarted(FLOW), at("B", 1, 1), at("C", 1, 2), at("C", 1, 2, asks=1), at("B", 2, 3, "no"), at("C", 2, 4)]
DONE = ev.FlowEnded("release", "done", "release reached its end", 4, 4800, 0.5)


def walked_so_far(*events: ev.Event) -> FlowRun:
    run = None
    for event in events:
        run = follow(run, event)
    assert run is not None
    return run


def text_of(app: Stage) -> str:
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


def test_visits_and_ways_are_counted_and_a_repeated_question_is_no_way() -> None:
    run = walked_so_far(*WALK)
    assert run.visits == {"A": 1, "B": 2, "C": 2}
    assert run.taken == {("A", ""): 1, ("B", ""): 2, ("C", "no"): 1}
    assert figures(run) == ["round 4 of 20", "4.8k tokens", "$0.50"]
    assert walked_so_far(*WALK, DONE).taken[("C", "yes")] == 1


def test_the_list_goes_from_begin_to_end_and_leaves_out_what_cannot_be_reached() -> None:
    assert [node.id for node in walk_order(FLOW.nodes)] == ["A", "B", "C", "D"]


async def test_the_graph_shows_where_the_walk_stands_and_which_ways_it_went() -> None:
    app = Stage(lambda: FlowScreen(walked_so_far(*WALK[:3])))
    async with app.run_test(size=(90, 20)) as pilot:
        await pilot.pause()
        shown = text_of(app)
        assert "FLOW release" in shown and "round 2 of 20 · 2.4k tokens · $0.50" in shown
        assert "◉ ? Green?" in shown and "●   Run the [b]tests[/b]" in shown and "○   END" in shown
        assert "yes → END" in shown and "margin" not in shown
        for event in WALK[3:]:
            app.tell(event)
        await pilot.pause()
        shown = text_of(app)
        assert [line.split()[-1] for line in shown.splitlines() if "Green?" in line or "tests[/b]" in line][:2] == [
            "×2",
            "×2",
        ]
        app.tell(DONE)
        await pilot.pause()
        assert "release reached its end" in text_of(app) and "◉" not in text_of(app)


async def test_enter_shows_in_full_what_the_model_is_told_at_a_node() -> None:
    told = "First the [b]tests[/b].\n\nThen the notes, " + "word by word " * 12 + "to the end."
    flow = FlowView("long", (FlowNodeView("A", "begin", "A", (("", "B"),)), FlowNodeView("B", "task", told)))
    app = Stage(lambda: FlowScreen(walked_so_far(ev.FlowStarted(flow))))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("down")
        assert "to the end." not in text_of(app)
        await pilot.press("enter")
        await pilot.pause()
        assert "First the [b]tests[/b]." in text_of(app) and "to the end." in text_of(app)
        await pilot.press("up")
        await pilot.pause()
        assert "to the end." not in text_of(app)
        await pilot.press("escape")
        assert len(app.screen_stack) == 2
        await pilot.press("escape")
        await pilot.pause()
        assert len(app.screen_stack) == 1


async def test_without_a_flow_the_screen_says_how_to_start_one() -> None:
    app = Stage(lambda: FlowScreen(None))
    async with app.run_test(size=(60, 16)) as pilot:
        await pilot.pause()
        assert "/ralph and /flow:<name> start one" in text_of(app)
        app.tell(WALK[0])
        app.tell(WALK[1])
        await pilot.pause()
        assert "◉   Run the" in text_of(app)


def test_a_flow_keeps_the_screen_busy_between_its_turns() -> None:
    state = ScreenState()
    for event in (*WALK[:2], ev.TurnStarted(Entry("user", "x"), 0), ev.TurnEnded("done")):
        state = apply(state, event)
    assert (state.walking, state.busy, state.activity) == (True, True, "waiting")
    state = apply(state, DONE)
    assert (state.walking, state.busy) == (False, False)
    assert slash.read("/flow", state) == slash.ForScreen("flow")


def test_how_it_ended_is_said_once_and_with_its_figures() -> None:
    assert walked(DONE) == Entry("note", "release reached its end · 4 rounds · 4.8k tokens · $0.50")
    assert walked(ev.FlowEnded("ralph", "no_choice", "ralph stopped", 1, 10)).kind == "error"
    assert ended(ev.TurnEnded("interrupted"), walking=True) is None
    assert ended(ev.TurnEnded("interrupted")) is not None


def test_an_answer_aside_is_shown_with_its_question_and_not_kept() -> None:
    state = apply(ScreenState(), ev.AsideStarted("why?"))
    assert state.busy and not apply(state, ev.AsideEnded("why?", "so")).busy
    assert aside(ev.AsideEnded("why?", "so")).text == "*aside:* why?\n\nso"
    assert aside(ev.AsideEnded("why?", fault="the key was refused")).kind == "error"


def subagent_on_screen(*, running: bool) -> Conversation:
    conversation = Conversation()
    call = ToolView("c1", "Agent", "Explore", "find it")
    tokens = Tokens(exact=32_000, window=128_000)
    conversation.apply(ev.ToolCallStarted(call))
    conversation.apply(ev.ToolOutputDelta("c1", "".join(f"Read file{n}.py\n" for n in range(9))))
    subagent = SubagentView("c1", "a1", "explore", "find it", "running", "Grep x", 3, 9, tokens)
    conversation.apply(ev.SubagentChanged(subagent))
    if not running:
        done = ToolView("c1", "Agent", "Explore", "find it", "", "ok", "3 steps", "It is in file8.py.", 2.0)
        conversation.apply(ev.SubagentChanged(replace(subagent, state="done")))
        conversation.apply(ev.ToolCallFinished(done))
    return conversation


def drawn(conversation: Conversation, *, unfolded: bool) -> list[str]:
    block = conversation.blocks[0]
    assert block.entry is not None
    rows = entry_rows(block.entry, Drawing(80, unfolded, live=block.live, helper=block.helper))
    return ["".join(piece.text for piece in row.pieces).rstrip() for row in rows]


def test_a_subagent_that_works_shows_its_gauge_and_the_newest_of_what_it_did() -> None:
    rows = drawn(subagent_on_screen(running=True), unfolded=False)
    assert rows[1] == "    │ ━━━━──────────── 32k · 3 steps  Grep x"
    assert rows[2:] == [f"    │ Read file{n}.py" for n in (5, 6, 7, 8)]


def test_a_subagent_that_is_done_folds_to_its_gauge_and_unfolds_to_all_it_did() -> None:
    conversation = subagent_on_screen(running=False)
    assert drawn(conversation, unfolded=False)[1:] == ["    │ ━━━━──────────── 32k · 3 steps"]
    unfolded = drawn(conversation, unfolded=True)
    assert len(unfolded) == 12 and unfolded[-1] == "    It is in file8.py."

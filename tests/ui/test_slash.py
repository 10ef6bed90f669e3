from __future__ import annotations

import pytest

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol.views import Modes, SlashCommand
from kimi_tui.ui.slash import TABLE, ForScreen, Meaning, Wrong, known, read
from kimi_tui.ui.state import ScreenState

STATE = ScreenState(modes=Modes(plan=True), commands=(SlashCommand("skill:review"), SlashCommand("flow:ship")))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("/compact keep the SQL schema", cmd.Compact("keep the SQL schema")),
        ("/compact", cmd.Compact()),
        ("/new", cmd.NewSession()),
        ("/clear", cmd.ClearContext()),
        ("/undo", cmd.Undo()),
        ("/plan", cmd.SetMode("plan", False)),
        ("/plan on", cmd.SetMode("plan", True)),
        ("/yolo", cmd.SetMode("yolo", True)),
        ("/model", ForScreen("model")),
        ("/model kimi", cmd.SwitchModel("kimi")),
        ("/rewind", ForScreen("timeline")),
        ("/rewind 4", ForScreen("rewind", "4")),
        ("/context", ForScreen("context")),
        ("/tasks", ForScreen("tasks")),
        ("/mcp", ForScreen("mcp")),
        ("/todo", ForScreen("todo")),
        ("/export html out.html", cmd.ExportTimeline(format="html", target="out.html")),
        ("/export notes.md", cmd.ExportTimeline(target="notes.md")),
        ("/title A b", cmd.SetTitle("A b")),
        ("/init", cmd.RunSlash("init")),
        ("/btw why?\nreally", cmd.RunSlash("btw", "why?\nreally")),
        ("/skill:review src", cmd.RunSlash("skill:review", "src")),
        ("/flow-ship now", cmd.RunSlash("flow:ship", "now")),
        ("/quit", ForScreen("exit")),
        ("/resume", ForScreen("sessions")),
        ("hello /new", None),
        ("/usr/bin/ls is broken", None),
        ("/ 2", None),
    ],
)
def test_what_is_typed_means(typed: str, meant: Meaning | None) -> None:
    assert read(typed, STATE) == meant


@pytest.mark.parametrize("typed", ["/nonsense", "/plan maybe", "/title", "/rewind x", "/add-dir"])
def test_a_wrong_command_says_why(typed: str) -> None:
    assert isinstance(read(typed, STATE), Wrong)


def test_the_commands_of_the_session_follow_the_built_in_ones() -> None:
    assert [command.name for command in known(STATE)] == [*(c.name for c in TABLE), "skill:review", "flow:ship"]

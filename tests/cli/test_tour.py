"""The tour, walked as its notes say: the real app, agent and tools, the recorded model that is shipped."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from textual.pilot import Pilot

from kimi_tui.bootstrap import connect
from kimi_tui.cli.main import run
from kimi_tui.cli.tour import scratch
from kimi_tui.llm.replay_model import with_checkpoint
from kimi_tui.protocol.views import Entry
from kimi_tui.resources import folder
from kimi_tui.ui.app import KimiApp
from kimi_tui.ui.screens.revert_choice import RevertChoice
from kimi_tui.ui.widgets.guarded import GuardedOptions
from tests.ui.stillness import unhurried
from tests.ui.waiting import settled

__all__ = ["unhurried"]

PATIENCE = 240.0


class Walk:
    """Presses keys, and waits for what comes of them."""

    def __init__(self, pilot: Pilot[None]) -> None:
        assert isinstance(pilot.app, KimiApp)
        self.pilot, self.app = pilot, pilot.app
        self.clock = partial(next, count(time.monotonic() + 10_000, 1.0))
        """Far ahead of the time at which anything was asked, however slow the machine; a second between two looks."""

    async def until(self, holds: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not holds():
                await self.pilot.pause(0.02)

    async def say(self, text: str) -> None:
        await self.pilot.press(*("space" if letter == " " else letter for letter in text), "enter")

    async def allow(self, tool: str) -> None:
        """For the session, once it is asked for; no key comes too early for the guard over the options."""
        panel = self.app.chat.asking.approval
        options = panel.query_one(GuardedOptions)
        await self.until(lambda: panel.asking and panel.waiting[0].tool == tool and options.has_focus)
        options.clock = self.clock
        await self.pilot.press("2", "enter")

    @property
    def entries(self) -> list[Entry]:
        return [block.entry for block in self.app.chat.conversation.blocks if block.entry is not None]

    def shows(self, text: str) -> bool:
        return any(text in entry.text for entry in self.entries)

    @property
    def kinds(self) -> list[str]:
        return [entry.switch.why for entry in self.entries if entry.switch]

    @property
    def idle(self) -> bool:
        return not self.app.chat.state.busy


@pytest.mark.usefixtures("unhurried")
async def test_the_tour_shows_all_that_it_promises_and_leaves_nothing_behind(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with scratch() as options:
        place = options.work_dir.parent
        without_pauses(place / "home" / "config.toml", place / "script.json")
        app = KimiApp(partial(connect, options), prompt=options.prompt or "")
        async with app.run_test(size=(120, 40)) as pilot:
            walk = Walk(pilot)
            await walk.allow("Shell")
            await walk.allow("StrReplaceFile")
            await walk.until(lambda: walk.shows("Your turn:** type `make it louder`") and walk.idle)
            assert check(options.work_dir) == "passed"
            await walk.say("make it louder")
            await walk.until(lambda: walk.shows("go back in time") and walk.idle)
            assert "failed" in check(options.work_dir)
            await pilot.press("ctrl+t", *["down"] * 2, "enter")
            await walk.until(lambda: isinstance(app.screen, RevertChoice))
            await settled(pilot)
            await pilot.press("enter")
            await walk.until(lambda: app.chat.editor.text == "make it louder")
            assert not walk.shows("go back in time")
            await pilot.press("enter")
            await walk.until(lambda: walk.shows("out of paper") and walk.shows("three last things") and walk.idle)
            assert walk.kinds[-1] == "dmail"
            assert not any("08:01:00 host1" in entry.text for entry in walk.entries)
            await walk.say("/compact")
            await walk.until(lambda: walk.shows("The user is being shown around") and walk.idle)
            assert walk.kinds[0] == "compact"
            assert walk.shows("three last things"), "what comes next can still be read"
            left = sorted(path.name for path in (place / "home").rglob("context_*.jsonl"))
            assert left == ["context_1.jsonl", "context_2.jsonl", "context_3.jsonl"]
            await walk.say("/rotations")
            await walk.until(lambda: app.screen is not app.chat)
            await pilot.press("escape")
            await app.action_quit()
            await walk.until(lambda: app.chat.state.closed)
    assert not place.exists()
    assert os.environ["KIMI_TUI_HOME"] == str(home)
    assert not list(home.rglob("*"))


def without_pauses(config: Path, copy: Path) -> None:
    """The same script, told as fast as it can be."""
    shipped = folder("prompts") / "tour" / "script.json"
    copy.write_text(shipped.read_text().replace('"delay_ms"', '"chunk": 4000, "was_delay_ms"'))
    config.write_text(config.read_text().replace(str(shipped), str(copy)))


def check(work: Path) -> str:
    return subprocess.run(["sh", "check.sh"], cwd=work, capture_output=True, text=True).stdout.strip()


def test_the_script_asks_for_checkpoints_that_it_cannot_know() -> None:
    reply = {"tools": [{"name": "SendDMail", "args": {"message": "{checkpoint}!", "checkpoint_id": "{checkpoint-1}"}}]}
    sent = "<system>CHECKPOINT 3</system> … <system>CHECKPOINT 12</system>"
    assert with_checkpoint(reply, sent)["tools"][0]["args"] == {"message": "{checkpoint}!", "checkpoint_id": 11}
    assert with_checkpoint(reply, "")["tools"][0]["args"]["checkpoint_id"] == 0
    raw = {"tools": [{"name": "Shell", "args": "{not json"}]}
    assert with_checkpoint(raw, sent) == raw


def test_the_tour_needs_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tour"]) == 1
    assert "is not a terminal" in capsys.readouterr().err
    assert run(["tour", "--help"]) == 0
    assert (folder("prompts") / "tour" / "project" / "printer.log").is_file()

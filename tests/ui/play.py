"""`python -m tests.ui.play`: the screen with a made-up agent, to be driven by hand.

Prompts are answered with streamed text and tools; `/compact` and the timeline work on made-up data.
Words in a prompt change the answer: `fail`, `retry`, `long`, `ask`, `dmail`.
"""

from __future__ import annotations

import asyncio
import sys
import time

from kimi_tui.options import UiOptions
from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.ports import AgentPort
from kimi_tui.protocol.views import DiffView, Entry, TimelineRow, ToolView
from kimi_tui.ui.start import skeleton
from tests.ui.fakes import ScriptedAgent
from tests.ui.session import ANSWER, ENTRIES, MODEL, TOKENS, opened, reset

PACE = 0.02
THOUGHT = "Let me see. The user wants something, and I will think about it for a while first."


class DemoAgent(ScriptedAgent):
    """Answers with a little theatre."""

    def __init__(self, blocks: int) -> None:
        super().__init__()
        entries = ENTRIES * max(1, blocks // len(ENTRIES)) if blocks else ENTRIES
        self.tell(opened(), reset(entries[-200:], total=len(entries)), ev.ModelReady(MODEL))
        self.entries = list(entries)
        self.turn: asyncio.Task[None] | None = None
        self.step = 8

    async def run(self) -> None:
        while True:
            command = await self._inbox.get()
            match command:
                case cmd.Close():
                    self.tell(ev.Closed("kimi-tui -r 0123"))
                    return
                case cmd.SendPrompt(text) | cmd.Steer(text):
                    self.turn = asyncio.create_task(self._turn(text))
                case cmd.Interrupt() if self.turn:
                    self.turn.cancel()
                case cmd.Compact():
                    self.turn = asyncio.create_task(self._compact())
                case cmd.LoadEntries(start, stop):
                    self.tell(ev.EntriesLoaded(start, tuple(self.entries[start:stop])))
                case cmd.SetMode(mode, on):
                    self.tell(ev.Noticed(f"{mode} is {'on' if on else 'off'}"))
                case _:
                    self.tell(ev.Noticed(repr(command)))

    def _store(self, *entries: Entry) -> int:
        self.entries.extend(entries)
        return len(self.entries) - len(entries)

    async def _turn(self, text: str) -> None:
        began = time.time()
        entry = Entry("user", text, turn=True)
        self.tell(ev.TurnStarted(entry, self._store(entry)))
        try:
            await self._answer_to(text)
            self.tell(ev.TurnEnded("done", steps=1, seconds=time.time() - began))
        except asyncio.CancelledError:
            self.tell(ev.TurnEnded("interrupted", "stopped by you"))

    async def _answer_to(self, text: str) -> None:
        self.step += 1
        row = TimelineRow("checkpoint", self.step, label=text, turn=True, offset=90_000 + self.step)
        self.tell(ev.StepStarted(1), ev.CheckpointCreated(row))
        await asyncio.sleep(0.8)
        if "retry" in text:
            self.tell(ev.RetryScheduled("rate limited by the provider", 2, 3, 4.0))
            await asyncio.sleep(4)
        if "fail" in text:
            self.tell(
                ev.TurnEnded(
                    "failed",
                    "The provider refused the key.",
                    "Set MOONSHOT_API_KEY, or pick another model with /model.",
                )
            )
            return
        for word in THOUGHT.split(" "):
            self.tell(ev.ThinkingDelta(word + " "))
            await asyncio.sleep(PACE)
        answer = ANSWER * (20 if "long" in text else 1)
        for start in range(0, len(answer), 6):
            self.tell(ev.TextDelta(answer[start : start + 6]))
            await asyncio.sleep(PACE / 2)
        await self._tools(answer)
        self.tell(
            ev.StepEnded(
                1, TimelineRow("checkpoint", self.step, label="ran pytest", tokens=900, offset=90_000 + self.step)
            )
        )

    async def _tools(self, answer: str) -> None:
        call = f"call-{self.step}"
        tool = ToolView(call, "Shell", "Shell", "pytest -x tests/test_parser.py")
        self.tell(ev.ToolCallStarted(tool))
        stored = (Entry("thinking", "Let me see.", seconds=2.1), Entry("assistant", answer), Entry("tool", tool=tool))
        self.tell(ev.MessageStored(self._store(*stored), stored))
        for number in range(30):
            self.tell(ev.ToolOutputDelta(call, f"tests/test_parser.py::test_{number} PASSED\n"))
            await asyncio.sleep(0.05)
        done = ToolView(
            call, "Shell", "Shell", tool.subject, outcome="ok", brief="30 passed", output="ok\n" * 30, seconds=1.5
        )
        self.tell(ev.ToolCallFinished(done))
        diff = DiffView(
            "parser.py", "def f():\n    return data['items']\n", "def f():\n    return data.get('items', [])\n"
        )
        edit = Entry(
            "tool",
            tool=ToolView(call + "e", "StrReplaceFile", "Edit", "parser.py", "", "ok", "+1 −1", "", 0.01, (diff,)),
        )
        self.tell(ev.EntryAdded(self._store(edit), edit))

    async def _compact(self) -> None:
        self.tell(ev.CompactionStarted("manual", TOKENS.total))
        try:
            for tokens in range(0, 4000, 40):
                self.tell(ev.CompactionProgressed("summarising", tokens))
                await asyncio.sleep(0.05)
            self.tell(ev.CompactionEnded("done", TOKENS.total, 9_100))
        except asyncio.CancelledError:
            self.tell(ev.CompactionEnded("cancelled"))


def main() -> None:
    blocks = int(sys.argv[1]) if len(sys.argv) > 1 else 0

    async def connect() -> AgentPort:
        return DemoAgent(blocks)

    theme = sys.argv[2] if len(sys.argv) > 2 else ""
    with skeleton(light=theme == "light"):
        from kimi_tui.ui.app import KimiApp

        app = KimiApp(connect, UiOptions(theme=theme))
        app.run()
    if app.farewell:
        print(app.farewell)
    sys.exit(app.return_code)


if __name__ == "__main__":
    main()

"""One prompt without a screen, be it a turn or a flow of many: the agent's events printed instead of drawn."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from kimi_tui.cli.answer import Answer
from kimi_tui.cli.connecting import connect
from kimi_tui.cli.progress import Progress
from kimi_tui.cli.secrets import masked
from kimi_tui.literal import one_line
from kimi_tui.options import LaunchOptions
from kimi_tui.protocol.commands import (
    AnswerApproval,
    AnswerCompaction,
    AnswerQuestion,
    Close,
    Command,
    Interrupt,
    RunSlash,
    SendPrompt,
)
from kimi_tui.protocol.events import (
    ApprovalRequested,
    CompactionProposed,
    Event,
    Failed,
    FlowEnded,
    ModelProgressed,
    ModelUnavailable,
    PromptReturned,
    QuestionAsked,
    SessionOpened,
    TurnEnded,
    to_json,
)
from kimi_tui.protocol.ports import AgentPort, Connect
from kimi_tui.protocol.views import SlashCommand

_CALL = re.compile(r"/([\w:.-]+)(?:\s+(.*))?\Z", re.DOTALL)
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if sys.platform != "win32" else ()


def run(options: LaunchOptions, prompt: str, output_format: str) -> int:
    """Print the answer to the prompt. Returns the exit code: 0, 1 for a turn that failed, 128 + n for a signal."""
    return asyncio.run(PrintedTurn(partial(connect, replace(options, prompt=None)), prompt, output_format).run())


class PrintedTurn:
    """Drives one agent through one prompt."""

    def __init__(self, connect: Connect, prompt: str, output_format: str) -> None:
        self.connect, self.prompt, self.format = connect, prompt, output_format
        self.answer = Answer()
        self.progress = Progress()
        self.port: AgentPort | None = None
        self.stopped_by = 0
        self._work: asyncio.Task[None] | None = None

    async def run(self) -> int:
        """Serve until the turn is over. Raises whatever the agent could not be built or broke with."""
        self._listen_to_signals()
        self._work = asyncio.current_task()
        try:
            await self._serve()
        except asyncio.CancelledError:
            if not self.stopped_by:
                raise
        if self.stopped_by:
            return 128 + self.stopped_by
        return self._finish()

    async def _serve(self) -> None:
        self.port = port = await self.connect()
        serving = asyncio.ensure_future(port.run())
        reading = asyncio.ensure_future(self._read(port))
        try:
            await asyncio.wait({serving, reading}, return_when=asyncio.FIRST_COMPLETED)
            if (serving.done() and serving.exception() is None) or reading.done():
                await reading
            await serving
        finally:
            for task in (reading, serving):
                task.cancel()
            await asyncio.gather(reading, serving, return_exceptions=True)

    async def _read(self, port: AgentPort) -> None:
        async for event in port.events():
            self._print(event)
            self.answer.take(event)
            match event:
                case ApprovalRequested(approval):
                    port.submit(AnswerApproval(approval.request_id, "reject", "nobody is there to approve this"))
                case CompactionProposed():
                    port.submit(AnswerCompaction("accept"))
                case QuestionAsked(request_id):
                    port.submit(AnswerQuestion(request_id, ()))
                case SessionOpened(commands=commands):
                    port.submit(_meant(self.prompt, commands))
                case TurnEnded() | FlowEnded() if self.answer.over:
                    port.submit(Close())
                case ModelUnavailable() | Failed() | PromptReturned():
                    port.submit(Close())

    def _print(self, event: Event) -> None:
        if self.format == "stream-json":
            print(to_json(event), flush=True)
        elif isinstance(event, ModelProgressed):
            self._show(event)
        elif warning := self.answer.warning(event):
            _complain(warning)

    def _show(self, event: ModelProgressed) -> None:
        """Fetching weights takes minutes; all else that a model does to get ready takes seconds."""
        if event.phase in ("fetching", "checking"):
            self.progress.show(event.name, event.phase, event.done, event.total)
        else:
            self.progress.end()

    def _finish(self) -> int:
        if self.format == "text" and self.answer.text:
            print(self.answer.printable())
        elif self.format == "json":
            print(self.answer.to_json())
        for command in self.answer.tasks:
            _complain(f"ended with the run, while it was at work in the background: {command}")
        if self.answer.fault:
            _complain(self.answer.fault)
        return 0 if self.answer.reason == "done" else 1

    def _listen_to_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._stop, number)

    def _stop(self, number: int) -> None:
        """The first signal ends the turn in good order, the second at once."""
        again, self.stopped_by = bool(self.stopped_by), number
        if self.port is None or again:
            assert self._work is not None
            self._work.cancel()
            return
        self.port.submit(Interrupt())
        self.port.submit(Close())


def _meant(prompt: str, commands: Sequence[SlashCommand]) -> Command:
    """A prompt that begins with a command which starts turns (`/init`, `/flow-release`) is that command, any other is
    text. What is written as a skill, a flow or a server's prompt is never text: one that there is not is said so."""
    called = _CALL.match(prompt.strip())
    if called is not None:
        word = re.sub(r"^(flow|skill)-", r"\1:", called[1])
        if word.startswith(("mcp:", "skill:", "flow:")) or any(
            command.turns and command.name == word for command in commands
        ):
            return RunSlash(word, (called[2] or "").strip())
    return SendPrompt(prompt)


def _complain(text: str) -> None:
    print(f"kimi-tui: {one_line(masked(text))}", file=sys.stderr, flush=True)

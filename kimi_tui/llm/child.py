"""The parent's side of a model process: starts it, speaks with it, starts it again, ends it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from kimi_tui.llm.host import from_dict
from kimi_tui.llm.model import ModelFault

LONGEST_LINE = 64 * 1024 * 1024
LOG_LIMIT = 1_000_000
GOODBYE = 2.0
"""Seconds between the request to end and the kill."""
BREATH = 50
"""Events that are taken in at a stretch; after so many that are there already, others on the loop have their turn."""
_PACKAGE_ROOT = Path(__file__).parents[2]

Event = dict[str, Any]


class Child:
    """One process that runs `python -m module`. Started by the first call, and by the next after it has died."""

    def __init__(self, module: str, log: Path, environment: dict[str, str] | None = None) -> None:
        self._module = module
        self._log = log
        self._environment = environment or {}
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._calls: dict[int, asyncio.Queue[Event]] = {}
        self._numbers = itertools.count(1)
        self._starting = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self.running and self._process else None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.returncode is None and not self._lost

    @property
    def _lost(self) -> bool:
        return self._reader is None or self._reader.done()

    async def call(self, do: str, *, raw: bytes = b"", **what: Any) -> AsyncGenerator[Event, None]:
        """The events of one request. Leaving the loop cancels it. `raw` goes along as it is. Raises ModelFault."""
        process = await self._start()
        number, events = next(self._numbers), asyncio.Queue[Event]()
        self._calls[number] = events
        ended = False
        try:
            line = await asyncio.to_thread(_line, {"id": number, "do": do, **what, "raw": len(raw)})
            await self._send(process, line, raw)
            for count in itertools.count(1):
                if count % BREATH == 0:
                    await asyncio.sleep(0)
                event = await events.get()
                ended = "end" in event or "fault" in event
                if "fault" in event:
                    raise from_dict(event["fault"])
                if ended:
                    return
                yield event
        finally:
            del self._calls[number]
            if not ended and process.returncode is None and process.stdin is not None:
                process.stdin.write(_line({"id": number, "do": "cancel"}))

    async def close(self) -> None:
        """Ends the process and everything it started: asked first, then made to. Never raises."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), GOODBYE)
        _kill(process)
        await process.wait()
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)

    async def _start(self) -> asyncio.subprocess.Process:
        async with self._starting:
            if self.running and self._process is not None:
                return self._process
            self._log.parent.mkdir(parents=True, exist_ok=True)
            _rotate(self._log)
            with self._log.open("ab") as log:
                self._process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-P", "-m", self._module),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=log,
                    env=self._env(),
                    limit=LONGEST_LINE,
                    start_new_session=True,
                )
            self._reader = asyncio.create_task(self._read(self._process))
            return self._process

    def _env(self) -> dict[str, str]:
        """The child finds this package, and (`-P`) nothing in the folder that the user happens to work in."""
        path = os.pathsep.join(filter(None, (str(_PACKAGE_ROOT), os.environ.get("PYTHONPATH"))))
        return {**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8", **self._environment}

    async def _send(self, process: asyncio.subprocess.Process, line: bytes, raw: bytes) -> None:
        assert process.stdin is not None
        try:
            process.stdin.write(line)
            process.stdin.write(raw)
            await process.stdin.drain()
        except (ConnectionError, RuntimeError):
            raise self._died(process) from None

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        try:
            for count in itertools.count(1):
                if count % BREATH == 0:
                    await asyncio.sleep(0)
                if not (line := await process.stdout.readline()):
                    return
                event = json.loads(line)
                if (events := self._calls.get(event["id"])) is not None:
                    events.put_nowait(event)
        finally:
            self._fail_all(process)

    def _fail_all(self, process: asyncio.subprocess.Process) -> None:
        fault = self._died(process)
        sent = {"kind": fault.kind, "message": str(fault), "hint": fault.hint, "status": None, "retry_after": None}
        for events in self._calls.values():
            events.put_nowait({"fault": sent})

    def _died(self, process: asyncio.subprocess.Process) -> ModelFault:
        return ModelFault("connection", "The model's process has ended unexpectedly.", hint=f"Its log: {self._log}")


def _line(message: Event) -> bytes:
    """Written piece by piece: the encoder in C would hold up every other thread until it is through."""
    return "".join(json.JSONEncoder().iterencode(message)).encode() + b"\n"


def _rotate(log: Path) -> None:
    if log.exists() and log.stat().st_size > LOG_LIMIT:
        log.replace(log.with_suffix(".old.log"))


def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()

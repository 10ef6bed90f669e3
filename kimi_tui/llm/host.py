"""The child's side of a model process: requests in, events out, a line of JSON each.

In:  {"id": n, "do": name, …} starts a task, {"id": n, "do": "cancel"} ends one. With "raw": size, so many bytes follow
     the line; the handler gets them under that name.
Out: {"id": n, …} any number of times, the last with "end": true or "fault": {…}.
The process ends with its parent: when stdin does.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

from kimi_tui.llm.masking import MaskedStream, mask
from kimi_tui.llm.model import ModelFault
from kimi_tui.own_environment import conceal

Emit = Callable[[dict[str, Any]], None]
Handler = Callable[[dict[str, Any], Emit], Awaitable[None]]

NICENESS = 2
LONGEST_GOODBYE = 1.0
"""Seconds that tasks get to tidy up."""

log = logging.getLogger(__name__)


class Host:
    """Runs one task a request and writes what each emits."""

    def __init__(self, handle: Handler, out: int) -> None:
        self._handle = handle
        self._out = out
        self._writing = threading.Lock()
        self._waiting = bytearray()
        self._thread = threading.get_ident()
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def receive(self, request: dict[str, Any]) -> None:
        number = request["id"]
        if request["do"] != "cancel":
            self._tasks[number] = asyncio.create_task(self._run(request))
        elif task := self._tasks.get(number):
            task.cancel()

    def emit(self, event: dict[str, Any]) -> None:
        """May be called from any thread. What the loop emits in one go is written in one go."""
        data = json.dumps(event).encode() + b"\n"
        with self._writing:
            first, self._waiting = not self._waiting, self._waiting + data
        if threading.get_ident() != self._thread:
            self._flush()
        elif first:
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        with self._writing:
            data, self._waiting = self._waiting, bytearray()
            while data:
                data = data[os.write(self._out, data) :]

    async def close(self) -> None:
        """Ends every task, then the process. A task that does not end in time is left behind."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=LONGEST_GOODBYE)
        self._flush()
        os._exit(0)

    async def _run(self, request: dict[str, Any]) -> None:
        number = request["id"]
        try:
            await self._handle(request, lambda event: self.emit({"id": number, **event}))
            self.emit({"id": number, "end": True})
        except asyncio.CancelledError:
            self.emit({"id": number, "end": True})
        except ModelFault as fault:
            self.emit({"id": number, "fault": as_dict(fault)})
        except Exception as error:
            log.exception("an unforeseen fault")
            said = mask(f"{type(error).__name__}: {error}")
            self.emit({"id": number, "fault": as_dict(ModelFault("other", " ".join(said.split())[:300]))})
        finally:
            del self._tasks[number]


def as_dict(fault: ModelFault) -> dict[str, Any]:
    return {
        "kind": fault.kind,
        "message": str(fault),
        "hint": fault.hint,
        "status": fault.status,
        "retry_after": fault.retry_after,
    }


def from_dict(sent: dict[str, Any]) -> ModelFault:
    return ModelFault(
        sent["kind"], sent["message"], hint=sent["hint"], status=sent["status"], retry_after=sent["retry_after"]
    )


def serve(handle: Handler) -> None:
    """Serves until stdin ends. Everything that libraries print goes to stderr, which the parent keeps as a log."""
    _settle()
    conceal()
    out = os.dup(1)
    os.dup2(2, 1)
    _log_masked()
    asyncio.run(_serve(Host(handle, out)))


async def _serve(host: Host) -> None:
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    threading.Thread(target=_listen, args=(loop, host, over), daemon=True).start()
    await over.wait()
    await host.close()


def _listen(loop: asyncio.AbstractEventLoop, host: Host, over: asyncio.Event) -> None:
    """Reads in a thread of its own, so that the end of the parent is noticed whatever else runs."""
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if size := request.get("raw"):
            request["raw"] = sys.stdin.buffer.read(size)
        loop.call_soon_threadsafe(host.receive, request)
    loop.call_soon_threadsafe(over.set)
    time.sleep(2 * LONGEST_GOODBYE)
    os._exit(1)


def _settle() -> None:
    """Steps back behind the screen, and leaves Ctrl+C to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(NICENESS)


def _log_masked() -> None:
    sys.stdout = sys.stderr = MaskedStream(sys.stderr)
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s", stream=sys.stderr, force=True
    )

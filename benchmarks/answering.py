"""A chat server in a process of its own, for `benchmarks.steps`: answers at once, and knows how long it had to wait."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

from kimi_tui.llm.replay_model import script_chunks

GAPS = "gaps.json"
"""Beside the script: seconds between the end of each answer and the arrival of the next request."""


@contextlib.asynccontextmanager
async def answering(script: Path) -> AsyncIterator[str]:
    """Serve the script's replies; gives the api_base."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.answering", str(script), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(await process.stdout.readline())}/v1"
    finally:
        process.terminate()
        await process.wait()


class Server:
    """Replies in turn, one a request, whatever is asked."""

    def __init__(self, script: Path) -> None:
        self._replies = iter(json.loads(script.read_text())["replies"])
        self._gaps, self._file = list[float](), script.with_name(GAPS)
        self._ended = 0.0

    async def serve(self) -> None:
        server = await asyncio.start_server(self._talk, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                arrived = time.perf_counter()
                sizes = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                await reader.readexactly(int(sizes[0].partition(b":")[2]))
                if self._ended:
                    self._gaps.append(arrived - self._ended)
                writer.write(_answer(next(self._replies, {"text": "(the script has ended)"})))
                await writer.drain()
                self._ended = time.perf_counter()
                self._file.write_text(json.dumps(self._gaps))
        writer.close()


def _answer(reply: dict[str, object]) -> bytes:
    data = (
        b"".join(b"data: %s\n\n" % json.dumps(chunk).encode() for chunk in script_chunks(reply)) + b"data: [DONE]\n\n"
    )
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(data)
    return head + data


if __name__ == "__main__":
    asyncio.run(Server(Path(sys.argv[1])).serve())

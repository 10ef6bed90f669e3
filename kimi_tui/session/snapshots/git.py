"""The git command line, cut off from all that is the user's: configuration, hooks, filters, attributes, variables."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from kimi_tui.faults import Fault

_NULL = os.devnull

SETTINGS = {
    "core.attributesFile": _NULL,
    "core.autocrlf": "false",
    "core.fsmonitor": "false",
    "core.hooksPath": _NULL,
    "core.looseCompression": "1",
    "core.protectHFS": "false",
    "core.protectNTFS": "false",
    "core.quotePath": "false",
    "core.safecrlf": "false",
    "core.untrackedCache": "false",
    "gc.auto": "0",
    "index.threads": "true",
}

ATTRIBUTES = "* -text !eol -ident -filter !working-tree-encoding -diff\n"
"""In `info/attributes` these outrank every `.gitattributes`: bytes go in and come out as they are."""

_NICENESS = 10


class GitFault(Fault):
    """Git could not do it. The message is git's own first line."""


class GitLate(GitFault):
    """It took longer than it may, and was ended."""


class Git:
    """Runs git on a repository of our own, with the work tree `root`. One call at a time; any thread."""

    def __init__(self, folder: Path, root: Path, seconds: float = 60.0) -> None:
        """`folder` is the git dir; `seconds` is how long one call may take."""
        self.folder, self.root, self.seconds = folder, root, seconds
        self.excludes = _NULL
        """The user's own file of patterns to ignore everywhere."""
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = threading.Event()

    def make(self) -> None:
        """Create the repository unless it is there. Raises GitFault, OSError."""
        if not (self.folder / "HEAD").is_file():
            self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._call(["init", "--quiet", "--bare", "--template=", str(self.folder)], alone=True)
        info = self.folder / "info"
        info.mkdir(exist_ok=True)
        (info / "attributes").write_text(ATTRIBUTES, encoding="ascii")

    def run(
        self,
        *arguments: str,
        given: bytes = b"",
        settings: Iterable[str] = (),
        gentle: bool = False,
        seconds: float | None = None,
    ) -> bytes:
        """What git prints. `given` goes to its standard input; `seconds` is another limit. Raises GitFault."""
        flags = [part for setting in settings for part in ("-c", setting)]
        return self._call([*flags, *arguments], given=given, gentle=gentle, seconds=seconds)

    def contents(self, oids: Iterable[str]) -> Iterator[bytes]:
        """The blobs of these names, one after the other. Raises GitFault for one that is missing."""
        with tempfile.TemporaryFile() as asked:
            asked.write("".join(f"{oid}\n" for oid in oids).encode())
            asked.seek(0)
            process = self._start(["cat-file", "--batch"], stdin=asked)
            assert process.stdout is not None
            try:
                while header := process.stdout.readline():
                    name, *rest = header.split()
                    if len(rest) != 2:
                        raise GitFault(f"the recorded content {name.decode()} is no longer there")
                    yield process.stdout.read(int(rest[1]))
                    process.stdout.read(1)
            finally:
                self._end(process)

    def stop(self) -> None:
        """End what runs and refuse anything more."""
        self._stopped.set()
        self.kill()

    def kill(self) -> None:
        """End what runs."""
        for process in tuple(self._running):
            _kill(process)

    def _call(
        self,
        arguments: list[str],
        *,
        given: bytes = b"",
        gentle: bool = False,
        alone: bool = False,
        seconds: float | None = None,
    ) -> bytes:
        limit = self.seconds if seconds is None else seconds
        process = self._start(arguments, alone=alone)
        if gentle and hasattr(os, "setpriority"):
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, process.pid, _NICENESS)
        try:
            out, err = process.communicate(given, timeout=limit)
        except subprocess.TimeoutExpired as late:
            raise GitLate(f"git {_verb(arguments)} took longer than {limit:.0f} s") from late
        finally:
            self._end(process)
        if process.returncode:
            said = err.decode("utf-8", "replace").strip().splitlines() or [f"exit {process.returncode}"]
            raise GitFault(f"git {_verb(arguments)}: {said[-1]}")
        return out

    def _start(
        self, arguments: list[str], *, stdin: int | IO[bytes] = subprocess.PIPE, alone: bool = False
    ) -> subprocess.Popen[bytes]:
        if self._stopped.is_set():
            raise GitFault("snapshots are closed")
        settings = [part for key, value in SETTINGS.items() for part in ("-c", f"{key}={value}")]
        settings += ["-c", f"core.excludesFile={self.excludes}"]
        process = subprocess.Popen(
            [program(), *settings, *arguments],
            cwd=self.root,
            env=isolated(None if alone else self.folder, self.root),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._running.add(process)
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        if process.poll() is None:
            _kill(process)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        process.wait()
        self._running.discard(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End it and the programs that it has started: these hold its pipes open."""
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


def program() -> str:
    """Where git is. Raises GitFault when it is nowhere."""
    found = shutil.which("git")
    if found is None:
        raise GitFault("git is not installed")
    return found


def isolated(folder: Path | None, root: Path) -> dict[str, str]:
    """An environment without any of the user's git settings; with `folder`, for our repository and work tree."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": _NULL,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
    if folder is not None:
        environment |= {"GIT_DIR": str(folder), "GIT_WORK_TREE": str(root), "GIT_INDEX_FILE": str(folder / "index")}
        environment["GIT_LITERAL_PATHSPECS"] = "1"
        # older gits know no GIT_CONFIG_GLOBAL: they find nothing where they look instead
        environment |= {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    return environment


def _verb(arguments: list[str]) -> str:
    words = iter(arguments)
    for word in words:
        if word == "-c":
            next(words, None)
        else:
            return word
    return ""

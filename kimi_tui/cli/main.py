"""Decides by the first word which command is meant, and turns every foreseeable fault into one line and a code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path

import click

from kimi_tui.cli.secrets import masked
from kimi_tui.faults import Fault
from kimi_tui.literal import one_line

SUBCOMMANDS = {
    "tour": "see it all in two minutes, without a key",
    "sessions": "list the sessions, this folder's first",
    "timeline": "show the timelines of a session as a tree; revert, restore, undo, compare, prune",
    "doctor": "check a session's files, and mend them",
    "export": "write out a conversation: Markdown, a page, JSON",
    "model": "list, pull and remove the weights of the embedded models",
    "mcp": "the servers of tools: list them, sign in, sign out",
    "config": "show the effective configuration, and where each value comes from",
}
"""Word → what it does. Each is the `command` of the module of that name."""

FAILED, USAGE, INTERRUPTED = 1, 2, 130
_NO_ROOM = {errno.ENOSPC, errno.EIO, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


def run(arguments: Sequence[str]) -> int:
    """The whole program. Returns the exit code; prints faults to standard error, never a traceback."""
    _fill_closed_streams()
    if sys.stdout is None:
        return _say("standard output is closed.", FAILED)
    _tolerate_odd_characters()
    name, command, rest = _command_for(list(arguments))
    try:
        code = command.main(args=rest, prog_name=name, standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except Fault as fault:
        return _say(fault.line(), FAILED)
    except click.UsageError as error:
        return _say(f"{error.format_message()} See {name} --help.", USAGE)
    except click.ClickException as error:
        return _say(error.format_message(), FAILED)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        return FAILED
    except Exception as error:
        return _say(told, FAILED) if (told := _surroundings(error)) else _unforeseen(error)


def _command_for(arguments: list[str]) -> tuple[str, click.Command, list[str]]:
    if arguments and arguments[0] in SUBCOMMANDS:
        word = arguments[0]
        return f"kimi-tui {word}", import_module(f"kimi_tui.cli.{word}").command, arguments[1:]
    from kimi_tui.cli.chat import command

    return "kimi-tui", command, arguments


def _say(message: str, code: int) -> int:
    print(f"kimi-tui: {one_line(masked(message))}", file=sys.stderr)
    return code


def _surroundings(error: Exception) -> str:
    """What is the matter with where the program was started; empty when that is not the reason."""
    if not isinstance(error, OSError):
        return ""
    if error.errno in _NO_ROOM and error.filename is None:
        _discard_output()
        return f"standard output cannot be written: {error.strerror}."
    try:
        Path.cwd()
    except OSError:
        return "the current folder is gone. Go to one that is there, or name it with --work-dir."
    return ""


def _unforeseen(error: Exception) -> int:
    """A fault of our own: the traceback goes to the log, and the user is told where that is."""
    from kimi_tui.cli.logs import log_failure

    log = log_failure(error)
    where = f" Details: {log}." if log else ""
    return _say(f"an internal fault: {type(error).__name__}: {error}.{where}", FAILED)


def _fill_closed_streams() -> None:
    """A standard stream that is closed (`2>&-`) leaves its number to the next file that is opened, be it a session:
    whatever is then written to the stream would end up in there."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this one
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)


def _tolerate_odd_characters() -> None:
    """A letter that the terminal's encoding lacks becomes a question mark instead of a crash."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def _discard_output() -> None:
    """The reader has gone: let the interpreter's last flush go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

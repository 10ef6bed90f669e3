"""The graphics protocol of kitty, as far as pictures in running text need it: what is said to the terminal.

A picture is sent once and known by a number. It is seen wherever placeholders stand in the text: their colour names the
picture, marks on them the row and the column of it. So it scrolls, is cut off and is covered as any text is, also by a
multiplexer that knows nothing of it. Facts: https://sw.kovidgoyal.net/kitty/graphics-protocol/#unicode-placeholders
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterator, Mapping

PLACEHOLDER = "\U0010eeee"
CHUNK = 4_096
"""Characters of content in one command."""
_PROBE = 31

_RANGES = (
    "0305 030d-030e 0310 0312 033d-033f 0346 034a-034c 0350-0352 0357 035b 0363-036f 0483-0487 0592-0595 0597-0599 "
    "059c-05a1 05a8-05a9 05ab-05ac 05af 05c4 0610-0617 0657-065b 065d-065e 06d6-06dc 06df-06e2 06e4 06e7-06e8 "
    "06eb-06ec 0730 0732-0733 0735-0736 073a 073d 073f-0741 0743 0745 0747 0749-074a"
)


def _marks() -> Iterator[str]:
    for part in _RANGES.split():
        first, _, last = part.partition("-")
        yield from map(chr, range(int(first, 16), int(last or first, 16) + 1))


MARKS = tuple(_marks())
"""Combining marks that stand for the numbers from 0 on."""

_TERMS = ("xterm-kitty", "xterm-ghostty")
_KNOWN = re.compile(r"\s*(kitty|ghostty)\b", re.IGNORECASE)

ASK_NAME = "\x1b[>0q"
"""What is the terminal called? Answered by most of them, and passed over by the others."""
ASK = f"\x1b_Gi={_PROBE},s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"
"""Can pictures be shown? Only for terminals that are said to know the protocol: some print what they do not know."""

NO_MORE = "\x1b_Gq=2,m=0;\x1b\\"
"""Ends the sending of a picture of which not all is sent."""


def is_named(environ: Mapping[str, str]) -> bool:
    """Whether the environment names a terminal that has placeholders."""
    if environ.get("TMUX"):
        return False  # what it says is true of where the multiplexer was started
    return environ.get("TERM") in _TERMS or "KITTY_WINDOW_ID" in environ or environ.get("TERM_PROGRAM") == "ghostty"


def is_known(name: str) -> bool:
    """The same of what the terminal answered, e.g. `kitty(0.39.1)`, or of a `TERM`."""
    return name in _TERMS or _KNOWN.match(name) is not None


def agrees(answer: str) -> bool:
    """Whether this is a good answer to `ASK`: `i=31;OK`."""
    keys, _, said = answer.partition(";")
    return f"i={_PROBE}" in keys.split(",") and said == "OK"


def transmission(number: int, png: bytes) -> Iterator[str]:
    """The commands that send a picture."""
    content = base64.b64encode(png).decode()
    for at in range(0, len(content), CHUNK):
        head = f"a=t,f=100,i={number}," if at == 0 else ""
        more = int(at + CHUNK < len(content))
        yield f"\x1b_G{head}q=2,m={more};{content[at : at + CHUNK]}\x1b\\"


def placement(number: int, columns: int, rows: int) -> str:
    """How many cells the picture covers where its placeholders are. Another one takes the place of the first."""
    return f"\x1b_Ga=p,U=1,i={number},p=1,c={columns},r={rows},q=2\x1b\\"


def removal(number: int) -> str:
    """The terminal may forget it."""
    return f"\x1b_Ga=d,d=I,i={number},q=2\x1b\\"


def cells(columns: int, row: int) -> str:
    """One row of a picture; its colour has to name it."""
    return "".join(PLACEHOLDER + MARKS[row] + MARKS[column] for column in range(columns))


def colour(number: int) -> str:
    """The colour that names a picture: `#rrggbb`."""
    return f"#{number:06x}"


def through_tmux(command: str) -> str:
    """For the terminal that tmux runs in."""
    escaped = command.replace("\x1b", "\x1b\x1b")
    return f"\x1bPtmux;{escaped}\x1b\\"


def cell_size(fd: int) -> tuple[int, int]:
    """Width and height of a cell in pixels; a guess where the terminal does not say."""
    try:
        import fcntl
        import struct
        import termios

        answer = fcntl.ioctl(fd, termios.TIOCGWINSZ, b"\0" * 8)
        rows, columns, width, height = struct.unpack("HHHH", answer)
    except (ImportError, OSError):
        return 10, 20
    return (width // columns, height // rows) if rows and width >= columns and height >= rows else (10, 20)


async def tmux_passes_on() -> bool:
    """Whether the tmux around us lets commands and colours through to a terminal that has placeholders."""
    import asyncio

    asked = ("tmux", "display-message", "-p", "#{allow-passthrough} #{client_termname} #{client_termfeatures}")
    try:
        process = await asyncio.create_subprocess_exec(
            *asked,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ},
        )
        said, _ = await process.communicate()
    except OSError:
        return False
    return tmux_agrees(said.decode("utf-8", "replace"))


def tmux_agrees(said: str) -> bool:
    """`on xterm-kitty RGB,title`: without all colours the pictures would not be known by theirs."""
    lets, name, features = [*said.split(), "", "", ""][:3]
    return lets in ("on", "all", "1", "2") and is_known(name) and "RGB" in features.split(",")

"""The very first frame, drawn before anything is imported that takes time: a sketch of the screen to come.

From here on the terminal neither echoes nor waits for Enter, so what is typed early reaches the prompt and nothing
else; it marks pasted text as such, so that an early paste is not sent line by line. It stays so until the end:
switching line editing on and off again would lose what has been typed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

DARK = ("\x1b[38;2;92;172;238;48;2;17;22;31m", "\x1b[38;2;91;100;112;48;2;13;17;23m")
LIGHT = ("\x1b[38;2;11;98;184;48;2;244;242;236m", "\x1b[38;2;141;147;155;48;2;251;250;247m")
SMALLEST = (24, 10)


@contextmanager
def skeleton(*, light: bool = False) -> Iterator[None]:
    """Paints the sketch. Whatever goes wrong inside, the terminal is afterwards as it was found."""
    restore = _quiet_terminal()
    if restore is None:
        yield
        return
    try:
        _write("\x1b[?1049h\x1b[?25l\x1b[?2004h" + sketch(*shutil.get_terminal_size(), light=light))
        yield
    except BaseException:
        _write("\x1b[?2004l\x1b[?1049l\x1b[?25h")
        raise
    finally:
        restore()


def sketch(width: int, height: int, *, light: bool = False) -> str:
    """Header and prompt box where they will stand; plain where there are not all colours, nothing in a tiny window."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("COLORTERM", "").lower() not in ("truecolor", "24bit")
    head, rest = ("", "") if plain else (LIGHT if light else DARK)
    blank = f"{rest}\x1b[2J\x1b[H"
    if width < SMALLEST[0] or height < SMALLEST[1]:
        return blank
    inner = "─" * (width - 2)
    box = (f"╭{inner}╮", f"│❯{' ' * (width - 3)}│", f"╰{inner}╯")
    top = height - 4
    rows = "".join(f"\x1b[{top + number};1H{row}" for number, row in enumerate(box))
    return f"{blank}{head}\x1b[1m{' kimi-tui':<{width}}\x1b[0m{rest}{rows}\x1b[0m"


def _write(text: str) -> None:
    os.write(sys.__stderr__.fileno(), text.encode()) if sys.__stderr__ else None


def _quiet_terminal() -> Callable[[], None] | None:
    """No echo and no line editing; the function that puts both back, or None where there is no such terminal."""
    try:
        import termios

        stdin = sys.__stdin__.fileno() if sys.__stdin__ else -1
        if not (os.isatty(stdin) and sys.__stderr__ and sys.__stderr__.isatty()):
            return None
        found = termios.tcgetattr(stdin)
        quiet = termios.tcgetattr(stdin)
        quiet[0] &= ~termios.ICRNL  # else an early Enter would come as Ctrl+J
        quiet[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(stdin, termios.TCSANOW, quiet)
    except (ImportError, OSError, termios.error):
        return None

    def restore() -> None:
        with contextlib.suppress(OSError, termios.error):  # the terminal may be gone
            termios.tcsetattr(stdin, termios.TCSANOW, found)

    return restore

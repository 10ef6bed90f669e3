"""Text for the model and the screen: no control codes, no lone surrogates, no more than fits."""

from __future__ import annotations

import re

MODEL_LIMIT = 50_000
"""Characters of one tool's output that the model gets to see, unless a tool sets its own limit."""

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor moves, modes
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC, DCS, SOS, PM, APC with their text
    r"|\x1b[ -/]*[0-~]"  # two-character escapes, character sets
    r"|\x9b[0-?]*[ -/]*[@-~]"  # CSI as one C1 character
)
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def _mark(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0xDC80 <= code <= 0xDCFF:  # a byte that Python could not decode in a file name
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0xA0 else "\ufffd"


def visible(text: str) -> str:
    """Every control code but tab and newline as a mark (NUL → ␀), lone surrogates as U+FFFD. Escapes stay readable."""
    return _CONTROLS.sub(_mark, text)


def clean(text: str) -> str:
    """Terminal output as plain text: line endings unified, escapes dropped, overwritten progress lines gone."""
    text = _ESCAPES.sub("", text.replace("\r\n", "\n")) if "\x1b" in text or "\r" in text or "\x9b" in text else text
    if "\r" in text:
        text = "\n".join(_overwritten(line) for line in text.split("\n"))
    return visible(text)


def _overwritten(line: str) -> str:
    """What a terminal would still show of a line that returned to its start: the last piece that wrote anything."""
    pieces = [piece for piece in line.split("\r") if piece.strip()]
    return pieces[-1] if pieces else ""


def clip(text: str, limit: int = MODEL_LIMIT, *, where: str = "") -> str:
    """At most about `limit` characters: head and tail, and between them how much was left out and `where` it is."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit // 2], text[-(limit - limit // 2) :]
    return head + omission(len(text) - limit, where) + tail


def omission(count: int, where: str = "") -> str:
    """The line that stands where `count` characters were left out."""
    return f"\n[… {count:,} characters left out{f'; the whole output is in {where}' if where else ''} …]\n"


def one_line(text: str, limit: int = 200) -> str:
    """For rows and messages: blanks folded, cut with an ellipsis, nothing that is not printable."""
    folded = visible(" ".join(text[: limit * 4].split()))
    return folded if len(folded) <= limit else folded[: limit - 1] + "…"


def plural(count: int, one: str, many: str = "") -> str:
    """`1 line`, `2 lines`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"

"""Foreign text made safe to draw: whatever a model, tool, file or user sent becomes plain visible characters.

Escape sequences are dropped, other controls are shown as their pictures, invisible and direction-changing characters
are shown by number (a command must not read differently from what it is), and a line that was overwritten with
carriage returns shows its last state.
"""

from __future__ import annotations

import re

TAB = 4

_SUSPECT = re.compile(
    r"[^\n\x20-\x7e\xa1-\xac\xae-\u02ff\u0370-\u0482\u1e00-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\u2e7f\u2e80-\ud7ff\uff01-\uff9f]"
)
_ESCAPES = re.compile(
    r"\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor moves, modes
    r"|[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|(?=\x1b)|\Z)"  # OSC, DCS, SOS, PM, APC with their text
    r"|[ -/]+[0-~]"  # character sets
    r"|[0-Z\\^-~]"  # two-character sequences
    r")"
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|[\x9d\x90\x98\x9e\x9f][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|\Z)"
)
_OVERSTRIKE = re.compile(r"[^\x08\n]\x08")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_HIDDEN = re.compile(
    r"[\x80-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f"
    r"\u3164\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff\U0010eeee]"
)
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""What a terminal would obey instead of showing it."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LONE_JOINER = re.compile(r"(?:^|(?<=[\s\x21-\x7e]))\u200d|\u200d(?=[\s\x20-\x7e]|$)")
_MARK_PILE = re.compile(
    r"([\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f]{4})[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f]+"
)


def clean(text: str) -> str:
    """The text with `\\n` as its only control character; what was harmful is dropped or shown, never obeyed."""
    if not _SUSPECT.search(text):
        return text
    if "\x1b" in text or _HIDDEN.search(text):
        text = _ESCAPES.sub("", text)
    if "\x08" in text:
        text = _OVERSTRIKE.sub("", text)
    if "\r" in text:
        text = "\n".join(_last_state(line) for line in text.split("\n"))
    if "\t" in text:
        text = text.expandtabs(TAB)
    text = _CONTROL.sub(_picture, text)
    text = _LONE_JOINER.sub("‹200D›", text)
    text = _HIDDEN.sub(lambda match: f"‹{ord(match[0]):04X}›", text)
    text = _MARK_PILE.sub(r"\1", text)
    return _SURROGATE.sub("\ufffd", text)


def one_line(text: str) -> str:
    """For rows, titles and toasts: cleaned, and line breaks shown as `⏎`."""
    return clean(text.strip()).replace("\n", " ⏎ ")


def _last_state(line: str) -> str:
    """What a terminal would show of a line in which carriage returns go back to its start."""
    shown = ""
    for part in line.split("\r"):
        shown = part + shown[len(part) :] if part else shown
    return shown


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    return "\u2421" if code == 0x7F else chr(0x2400 + code)

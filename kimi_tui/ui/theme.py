"""The colours. They carry meaning: blue is the present and what is exact, amber is time that moved and what is
pending, violet is compaction, green and red are outcomes; everything else is grey.

In style sheets these are `$primary`, `$warning`, `$accent` (and `$secondary`), `$success`, `$error`; `$quiet` and
`$faint` are the two greys below the text colour, `$edge` is a hairline, `$cut` and `$grown` are the grounds of removed
and added lines.
"""

from __future__ import annotations

import os

from textual.theme import Theme

DARK, LIGHT, CONTRAST, TERMINAL = "kimi-dark", "kimi-light", "kimi-contrast", "kimi-terminal"


def _variables(quiet: str, faint: str, edge: str, cut: str, grown: str, selection: str) -> dict[str, str]:
    return {
        "quiet": quiet,
        "faint": faint,
        "edge": edge,
        "cut": cut,
        "grown": grown,
        "screen-selection-background": selection,
        "input-selection-background": selection,
        "scrollbar": edge,
        "scrollbar-hover": faint,
        "scrollbar-active": quiet,
        "scrollbar-background": "transparent",
        "scrollbar-background-hover": "transparent",
        "scrollbar-background-active": "transparent",
    }


THEMES = (
    Theme(
        name=DARK,
        primary="#5cacee",
        secondary="#b794f6",
        warning="#f0a848",
        error="#f2777a",
        success="#7fd88f",
        accent="#b794f6",
        foreground="#d8dee9",
        background="#0d1117",
        surface="#11161f",
        panel="#161c27",
        dark=True,
        variables=_variables("#8b949e", "#5b6470", "#292e35", "#33191c", "#15301f", "#27476b"),
    ),
    Theme(
        name=LIGHT,
        primary="#0b62b8",
        secondary="#7434c2",
        warning="#a65a00",
        error="#bf2430",
        success="#1c7a36",
        accent="#7434c2",
        foreground="#24292f",
        background="#fbfaf7",
        surface="#f4f2ec",
        panel="#ebe8e0",
        dark=False,
        variables=_variables("#5d6570", "#8d939b", "#d8d4ca", "#fbe3e1", "#dff3e1", "#c4dcf7"),
    ),
    Theme(
        name=CONTRAST,
        primary="#66ccff",
        secondary="#d9a8ff",
        warning="#ffc233",
        error="#ff7070",
        success="#66ff80",
        accent="#d9a8ff",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#101010",
        dark=True,
        variables=_variables("#d0d0d0", "#b0b0b0", "#808080", "#4d0000", "#003d00", "#004a99"),
    ),
    Theme(
        name=TERMINAL,
        primary="ansi_bright_blue",
        secondary="ansi_bright_magenta",
        warning="ansi_yellow",
        error="ansi_red",
        success="ansi_green",
        accent="ansi_bright_magenta",
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_default",
        ansi=True,
        variables={
            **_variables(
                "ansi_bright_black",
                "ansi_bright_black",
                "ansi_bright_black",
                "ansi_default",
                "ansi_default",
                "ansi_bright_blue",
            ),
            "ansi-background": "ansi_black",
            "ansi-foreground": "ansi_white",
            "border-blurred": "ansi_bright_black",
            "block-cursor-foreground": "ansi_black",
            "block-cursor-background": "ansi_white",
            "input-cursor-background": "ansi_white",
            "input-cursor-foreground": "ansi_black",
            "input-cursor-text-style": "none",
            "input-selection-foreground": "ansi_black",
            "screen-selection-foreground": "ansi_black",
            "scrollbar-background": "ansi_default",
            "scrollbar-background-hover": "ansi_default",
            "scrollbar-background-active": "ansi_default",
        },
    ),
)

DEFAULTS = dict(THEMES[0].variables)
"""For Textual's own themes, which do not know our names."""

ALIASES = {"dark": DARK, "light": LIGHT, "contrast": CONTRAST, "terminal": TERMINAL, "ansi": TERMINAL}


def short(name: str) -> str:
    """As one writes it in the config."""
    return next((alias for alias, known in ALIASES.items() if known == name), name)


def resolve(name: str, colours: str | None = "truecolor") -> str:
    """The theme for a configured name; an empty one follows the terminal as far as it tells (`COLORFGBG`).

    `colours` is what Rich calls the terminal's system of colours. The sixteen of `standard` are too few to come near to
    those of a theme: amber would be red.
    """
    if name:
        return ALIASES.get(name, name)
    if colours == "standard":
        return TERMINAL
    ground = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT if ground in ("7", "15") else DARK

"""A shell command taken apart, as far as that can be done with certainty."""

from __future__ import annotations

import re
import shlex

_HARMLESS_REDIRECT = re.compile(r"(?<!\S)(?:2>&1|[12&]?>\s?/dev/null|<\s?/dev/null)(?=\s|[;|&]|$)")
_UNCERTAIN = re.compile(r"[`$\\\n\r\0]|<<|\|&")
_LITERAL = re.compile(r"""("[^"]*")|'[^'\n\r\0]*'""")
"""Between single quotes nothing has a meaning; between double ones that is not so."""
_SEPARATORS = {";", "|", "||", "&&"}


def simple_commands(command: str) -> list[list[str]] | None:
    """The words of every simple command in a list or pipeline.

    None where the shell might do more than the words say: expansions, redirections to files, groups, background jobs,
    escapes, several lines. Globs stay in the words as they are.
    """
    text = _HARMLESS_REDIRECT.sub("", command.strip())
    if not text or _UNCERTAIN.search(_LITERAL.sub(lambda quoted: quoted[1] or "''", text)):
        return None
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:
        return None
    found: list[list[str]] = [[]]
    for word in words:
        if word in _SEPARATORS:
            found.append([])
        elif word and set(word) <= set("();<>|&"):
            return None
        else:
            found[-1].append(word)
    if found[-1] == [] and len(found) > 1 and text.endswith(";"):
        found.pop()
    return found if all(found) else None

"""Which shell commands provably change nothing. Anything not understood counts as changing something."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase

from kimi_tui.tools.shell_words import simple_commands

_HARMLESS = """
basename cal cat cd cksum cmp column comm cut diff dirname du df echo egrep expand false fgrep fmt fold free grep groups
head hexdump id join jq ls lsblk lscpu md5sum nl nproc od paste printenv ps pwd readlink realpath rev seq sha1sum
sha224sum sha256sum sha384sum sha512sum shasum sleep stat strings sum tac tail tr true tty type uname unexpand uptime wc
which whoami
"""
_FREE = frozenset(_HARMLESS.split())
"""No option or argument of these writes a file or runs another program."""

_FORBIDDEN: dict[str, tuple[str, ...]] = {
    "fd": ("-x", "-X", "--exec", "--exec-batch"),
    "fdfind": ("-x", "-X", "--exec", "--exec-batch"),
    "file": ("-C", "--compile"),
    "rg": ("--pre", "--hostname-bin", "-z", "--search-zip"),
    "sort": ("-o", "--output", "--compress-program", "-T", "--temporary-directory"),
    "tree": ("-o", "--output", "-R"),
}
"""Options that would write or run something."""

_FIND_ACTS = ("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls")
_GLOB = re.compile(r"[*?\[{]")
_UPWARDS = re.compile(r"\.\.(?:/|$)|(?:^|/)\.[*?\[]")
"""`..`, or a glob that fits it, as a part of a path; `a..b` is a range of commits."""

_READING_VERBS = """
blame cat-file check-ignore count-objects describe diff diff-tree for-each-ref grep log ls-files ls-tree merge-base
name-rev rev-list rev-parse shortlog show show-ref status version whatchanged
"""
_GIT_READS = frozenset(_READING_VERBS.split())
_GIT_FORBIDDEN = ("--output", "--ext-diff", "--textconv", "--filters", "-O", "--open-files-in-pager", "--paginate")
_GIT_LISTS: dict[str, frozenset[str]] = {
    "branch": frozenset(("-a", "-r", "-v", "-vv", "--all", "--remotes", "--list", "--show-current", "--verbose")),
    "remote": frozenset(("-v", "--verbose", "show")),
    "stash": frozenset(("list", "show")),
    "tag": frozenset(("-l", "--list")),
    "reflog": frozenset(("show",)),
    "worktree": frozenset(("list",)),
    "config": frozenset(("--list", "-l", "--local", "--global", "--show-origin")),
}
"""Subcommands that only read when nothing but these words follows; `stash` and `worktree` need one."""


def is_read_only(command: str) -> bool:
    """Whether every part of the command is known to change nothing."""
    parts = simple_commands(command)
    return parts is not None and all(_reads(words) for words in parts)


def stays_inside(command: str) -> bool:
    """Whether no word of the command can name a place outside the folder it runs in (links apart)."""
    parts = simple_commands(command) or ()
    return all(_goes_down(part) and not any(map(_may_lead_out, part[1:])) for part in parts)


def _goes_down(words: list[str]) -> bool:
    """`cd` without a folder goes home, `cd -` to wherever the program came from."""
    return words[0] != "cd" or (len(words) == 2 and not words[1].startswith("-"))


def _may_lead_out(word: str) -> bool:
    """Whether a path in it is not relative, climbs, or may be made by the shell to do so (`{/,}`, `.*`)."""
    head, slash, _ = word.partition("/")
    attached = head.startswith(("-", "@")) and (not head.startswith("--") or "=" not in head)
    out = slash and (not head or attached or head[-1] in "=:,")
    return bool(out) or word.startswith("~") or "{" in word or _UPWARDS.search(word) is not None


def _reads(words: list[str]) -> bool:
    program, arguments = words[0], words[1:]
    if program in _FREE:
        return True
    if any(_GLOB.search(argument) for argument in arguments) and program != "find":
        return False  # a file may be named like an option
    rule = _RULES.get(program)
    if rule is not None:
        return rule(arguments)
    forbidden = _FORBIDDEN.get(program)
    return forbidden is not None and not _uses(arguments, forbidden)


def _uses(arguments: list[str], options: tuple[str, ...]) -> bool:
    """Whether one of the options is given: long ones may be shortened, short ones may stand in a cluster."""
    for argument in arguments:
        name = argument.partition("=")[0]
        if name.startswith("--"):
            if name != "--" and any(option.startswith(name) for option in options):
                return True
        elif name.startswith("-") and any(option[1] in name for option in options if not option.startswith("--")):
            return True
    return False


def _find(arguments: list[str]) -> bool:
    return not any(_may_act(argument) for argument in arguments)


def _may_act(argument: str) -> bool:
    """Whether the word is an action of `find`, or a glob that a file named like one could be put in for."""
    if "{" in argument:
        return True
    return any(fnmatchcase(act, argument) for act in _FIND_ACTS)


def _date(arguments: list[str]) -> bool:
    """A bare argument would set the clock."""
    return all(argument.startswith(("+", "-")) for argument in arguments) and not _uses(arguments, ("-s", "--set"))


def _sed(arguments: list[str]) -> bool:
    """Only `sed -n '10,20p' file…`: other scripts can write and run."""
    return (
        len(arguments) >= 2
        and arguments[0] == "-n"
        and re.fullmatch(r"\d+(,\d+)?p", arguments[1]) is not None
        and not any(argument.startswith("-") for argument in arguments[2:])
    )


def _uniq(arguments: list[str]) -> bool:
    """A second file name would be written; `-` and what follows `--` are names, too."""
    names = [argument for argument in arguments if argument == "-" or not argument.startswith("-")]
    return len(names) <= 1 and "--" not in arguments


def _no_variable(arguments: list[str]) -> bool:
    """Asked for a variable (`-v`), the shell works out its index: `a[$(…)]` runs a command."""
    return not any(argument.startswith(("-v", "-R")) for argument in arguments)


def _git(arguments: list[str]) -> bool:
    rest = list(arguments)
    while rest and rest[0] in ("-C", "--no-pager", "-P"):
        rest = rest[2:] if rest[0] == "-C" else rest[1:]
    if not rest:
        return False
    verb, options = rest[0], rest[1:]
    if verb in _GIT_READS:
        return not any(_git_forbidden(option) for option in options)
    allowed = _GIT_LISTS.get(verb)
    if allowed is None or (verb in ("stash", "worktree", "config") and not options):
        return False
    return _git_get(options) if verb == "config" and options[0].startswith("--get") else set(options) <= allowed


def _git_forbidden(option: str) -> bool:
    name = option.partition("=")[0]
    if name.startswith("--"):
        return name != "--" and any(word.startswith(name) for word in _GIT_FORBIDDEN)
    return name.startswith("-O")


def _git_get(options: list[str]) -> bool:
    return options[0] in ("--get", "--get-all", "--get-regexp") and not any(
        word.startswith("-") for word in options[1:]
    )


def _no_arguments(arguments: list[str]) -> bool:
    return not arguments


_RULES: dict[str, Callable[[list[str]], bool]] = {
    "date": _date,
    "find": _find,
    "git": _git,
    "hostname": _no_arguments,
    "printf": _no_variable,
    "sed": _sed,
    "test": _no_variable,
    "[": _no_variable,
    "uniq": _uniq,
}

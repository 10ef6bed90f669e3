"""The environment that commands run in: the user's own, without secrets, and with nothing that waits for a key."""

from __future__ import annotations

import os
from collections.abc import Mapping

from kimi_tui.own_environment import is_secret, secret_values

_CODE = ("BASH_ENV", "ENV", "PROMPT_COMMAND")
"""Would run something before the command does."""

_QUIET = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "DEBIAN_FRONTEND": "noninteractive",
    "PYTHONUNBUFFERED": "1",
}


def command_environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """`base` (default: this process's) without secrets, also where a value of theirs stands under another name."""
    source = dict(os.environ if base is None else base)
    secrets = set(secret_values(source))
    return {
        name: value
        for name, value in source.items()
        if not is_secret(name)
        and value not in secrets
        and name not in _CODE
        and not name.startswith(("BASH_FUNC_", "KIMI_TUI_"))
    } | _QUIET

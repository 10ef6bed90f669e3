"""The environment that commands run in: the user's own, without secrets, and with nothing that waits for a key."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

_SECRET_NAME = re.compile(
    r"""(?:^|_)(?:
        API_?KEYS? | APP_?KEY | ACCESS_?KEY(?:_ID)? | ACCOUNT_?KEY | PRIVATE_?KEY | SIGNING_?KEY | ENCRYPTION_?KEY
        | MASTER_?KEY | SECRETS?(?:_KEY)? | CLIENT_?SECRET
        | [A-Z0-9]*TOKENS? | [A-Z0-9]*PASSWORD | PASSWD | PASSPHRASE | PASS | CREDENTIALS? | BEARER
    )(?:$|_)
    | _KEY$ | (?:APIKEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$""",
    re.IGNORECASE | re.VERBOSE,
)
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


def is_secret(name: str) -> bool:
    """Whether a variable of that name holds a key, a token or a password."""
    return _SECRET_NAME.search(name) is not None


def command_environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """`base` (default: this process's) without secrets, also where a value of theirs stands under another name."""
    source = dict(os.environ if base is None else base)
    secrets = {value for name, value in source.items() if is_secret(name) and len(value) >= 8}
    return {
        name: value
        for name, value in source.items()
        if not is_secret(name)
        and value not in secrets
        and name not in _CODE
        and not name.startswith(("BASH_FUNC_", "KIMI_TUI_"))
    } | _QUIET

"""The secrets in this process's environment: which variables hold one, and how they are kept from onlookers."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

_SECRET_NAME = re.compile(
    r"""(?:^|_)(?:
        API_?KEYS? | APP_?KEY | ACCESS_?KEY(?:_ID)? | ACCOUNT_?KEY | PRIVATE_?KEY | SIGNING_?KEY | ENCRYPTION_?KEY
        | MASTER_?KEY | SECRETS?(?:_KEY)? | CLIENT_?SECRET
        | [A-Z0-9]*TOKENS? | [A-Z0-9]*PASSWORD | PASSWD | PASSPHRASE | PASS | PAT | CREDENTIALS? | BEARER
    )(?:$|_)
    | _KEY$ | (?:APIKEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$""",
    re.IGNORECASE | re.VERBOSE,
)
_SHORTEST = 8
"""Characters. Anything shorter would be found in plain words."""
_STAT = Path("/proc/self/stat")
_ENVIRONMENT_BEGINS = 47
"""Which field of it, counted from the one after the program's name; the next one tells where it ends."""


def is_secret(name: str) -> bool:
    """Whether a variable of that name holds a key, a token or a password."""
    return _SECRET_NAME.search(name) is not None


def secret_values(environment: Mapping[str, str] = os.environ) -> Iterator[str]:
    """The secrets themselves, as far as they are long enough to be told from plain words."""
    return (value for name, value in environment.items() if len(value) >= _SHORTEST and is_secret(name))


def conceal() -> None:
    """Blank the secrets in `/proc/PID/environ`, where every command that is run could read them. This program and the
    ones that it starts have them as before: the variables move to where the system does not look."""
    if sys.platform.startswith("linux"):
        with contextlib.suppress(ImportError, OSError, ValueError):  # an odd system may not let us
            _conceal()


def _conceal() -> None:
    import ctypes

    libc = ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_void_p
    shown = _shown()
    for name, value in list(os.environ.items()):
        where = libc.getenv(os.fsencode(name)) if is_secret(name) else None
        if where is not None and where in shown:
            os.environ[name] = value
            ctypes.memset(where, ord("*"), len(os.fsencode(value)))


def _shown() -> range:
    """The addresses of what the system tells of the environment: where it stood when the program was started."""
    fields = _STAT.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    begin, end = map(int, fields[_ENVIRONMENT_BEGINS : _ENVIRONMENT_BEGINS + 2])
    return range(begin, end)

"""What went wrong with a server, in one line that holds no secret."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import ValidationError

MASK = "•••"
KEY_HINT = 'Give it one as headers = { Authorization = "Bearer ${NAME}" }, with the variable NAME set'
"""`${NAME}` stands for a variable of the environment (see `config`)."""
_REFUSED = {401: "wants a key", 403: "does not accept the key"}


class McpFault(Exception):
    """A call that could not be made or was not answered. `str(fault)` says why, for the model."""


def told(fault: BaseException, *, target: str, seconds: float, status: int = 0) -> str:
    """The line for the user; the innermost fault of a group counts."""
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    if isinstance(fault, TimeoutError):
        return f"no answer within {seconds:g} s"
    if isinstance(fault, ValidationError):
        first = fault.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"its answer is not what the protocol asks for ({place or fault.title}: {first['msg'].lower()})"
    if isinstance(fault, FileNotFoundError):
        return f"there is no program {fault.filename or target!r}"
    if isinstance(fault, PermissionError):
        return f"{fault.filename or target!r} may not be run"
    said = " ".join(str(fault).split())[:300] or type(fault).__name__
    if status in (401, 403):
        return f"HTTP {status}: {target} {_REFUSED[status]}. {KEY_HINT}"
    if status >= 400:
        return f"HTTP {status}: {said}"
    return f"{target} cannot be reached: {said}" if "Connect" in type(fault).__name__ else said


def masked(text: str, secrets: Iterable[str]) -> str:
    """The text without these."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    return text

"""From the JSON text that the model wrote to the arguments of a tool, or a fault it can learn from."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from pydantic import BaseModel, ValidationError

from kimi_tui.tools.text import one_line


class ArgumentFault(ValueError):
    """The arguments cannot be used. `str(fault)` says why, for the model."""


def parse(text: str | None) -> dict[str, Any]:
    """The arguments as an object. None, nothing and `null` count as `{}`.

    Raises ArgumentFault for anything that is not exactly one JSON object: text that was cut, raw control characters,
    a list, a string, a key given twice.
    """
    if text is None or not text.strip():
        return {}
    try:
        value = json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant)
    except json.JSONDecodeError as fault:
        raise ArgumentFault(_explain(text, fault)) from None
    except RecursionError:
        raise ArgumentFault("The arguments are nested too deeply.") from None
    except ArgumentFault:
        raise
    except ValueError as fault:
        raise ArgumentFault(f"The arguments are not usable: {one_line(str(fault))}") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ArgumentFault(f"The arguments must be one JSON object, not {_kind(value)}.")
    return value


def validate(params: type[BaseModel], arguments: dict[str, Any]) -> BaseModel:
    """The arguments checked against the tool's own model. Raises ArgumentFault that names every wrong field."""
    try:
        return params.model_validate(arguments)
    except ValidationError as fault:
        lines = [f"- {_place(error['loc'])}: {error['msg']}" for error in fault.errors(include_url=False)[:10]]
        raise ArgumentFault("The arguments do not fit:\n" + "\n".join(lines)) from None


def canonical(text: str | None) -> str:
    """One spelling for equal arguments, whatever their key order and blanks; the raw text when it is not JSON."""
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return (text or "").strip()
    return json.dumps(value if value is not None else {}, sort_keys=True, separators=(",", ":"))


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ArgumentFault(f"The key {key!r} is given twice; it is not clear which one is meant.")
        found[key] = value
    return found


def _no_constant(name: str) -> NoReturn:
    raise ArgumentFault(f"{name} is not a JSON value.")


def _explain(text: str, fault: json.JSONDecodeError) -> str:
    if fault.pos >= len(text.rstrip()) or fault.msg.startswith("Unterminated string"):
        return (
            "The arguments end before the JSON object does: they were probably cut off by the output limit. "
            "Send the call again, in smaller pieces if it is long."
        )
    if fault.msg.startswith("Invalid control character"):
        return (
            f"The arguments hold a raw control character at position {fault.pos}. "
            r"Inside JSON strings write \n, \t and the like as escapes."
        )
    return f"The arguments are not valid JSON: {fault.msg} at position {fault.pos}."


def _kind(value: object) -> str:
    names = {list: "a list", str: "a string", bool: "a truth value", int: "a number", float: "a number"}
    return names.get(type(value), type(value).__name__)


def _place(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in loc) or "arguments"

"""Faults in plain words: one clear line without secrets, a kind that says whether to try again, and what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

from kimi_tui.llm.masking import mask
from kimi_tui.llm.model import FaultKind, ModelFault

_OVERFLOW = re.compile(
    r"context.{0,20}(length|window|limit|size).{0,40}(exceed|exceeds|large|maximum|is \d)|context_length_exceeded"
    r"|maximum context length|exceed(s|ed|ing)?.{0,40}(context|token limit|maximum.{0,20}tokens)"
    r"|(prompt|input|request|messages?).{0,30}(is |are |was )?too (long|large)"
    r"|reduce the length|too many (input )?tokens"
    r"|(input|prompt) (token count|tokens?).{0,40}exceed|larger than the (model's )?context",
    re.IGNORECASE | re.DOTALL,
)
_OUT_OF_CREDIT = re.compile(r"insufficient_quota|insufficient (balance|funds|credit)|credit balance|billing", re.I)
_LONGEST = 300
"""Characters of a provider's own words that are shown."""

_BY_STATUS: dict[int, FaultKind] = {
    401: "auth",
    402: "auth",
    403: "auth",
    408: "timeout",
    409: "server",
    413: "context_overflow",
    429: "rate_limit",
    504: "timeout",
}
_IN_WORDS: dict[FaultKind, str] = {
    "auth": "The provider refused the key",
    "rate_limit": "The provider limits the rate",
    "server": "The provider has a fault",
    "timeout": "The provider did not answer in time",
    "context_overflow": "The context is too long for the model",
    "bad_request": "The provider refused the request",
}


def from_response(status: int, headers: Mapping[str, str], body: str, *, host: str, key_hint: str) -> ModelFault:
    """A fault from an HTTP answer. `key_hint` says how to set the key."""
    said = readable(body)
    kind = kind_of(status, said)
    line = f"{_IN_WORDS.get(kind, 'The provider refused the request')} (HTTP {status})"
    wait = retry_after(headers) if kind in ("rate_limit", "server") else None
    return ModelFault(
        kind,
        f"{line}: {said}" if said else f"{line}.",
        hint=hint_for(kind, status, said, host=host, key_hint=key_hint, wait=wait),
        status=status,
        retry_after=wait,
    )


def kind_of(status: int, said: str) -> FaultKind:
    """What an HTTP status and the provider's words amount to."""
    if status in (400, 413, 422, 500) and _OVERFLOW.search(said):
        return "context_overflow"
    if status == 429 and _OUT_OF_CREDIT.search(said):
        return "auth"
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    return "server" if status >= 500 else "bad_request"


def hint_for(kind: FaultKind, status: int | None, said: str, *, host: str, key_hint: str, wait: float | None) -> str:
    """What the user can do about it; empty when there is nothing to say."""
    if kind == "auth":
        return "Add credit at the provider, or choose another /model." if _OUT_OF_CREDIT.search(said) else key_hint
    if kind in ("rate_limit", "server") and wait is not None and wait > 5:
        return f"The provider asks to wait {spoken(wait)}. Send again then, or choose another /model."
    if kind == "connection":
        return f"Check the network and that {host} can be reached."
    if kind == "bad_request" and status == 404:
        return "Check the model's name and the api_base."
    return "Use /compact, or a model with a larger window." if kind == "context_overflow" else ""


def spoken(seconds: float) -> str:
    """`2 s`, `19 min 12 s`, `3 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from `Retry-After` (a number or a date) or `retry-after-ms`; None when there is none."""
    lower = {name.lower(): value for name, value in headers.items()}
    try:
        if "retry-after-ms" in lower:
            return max(0.0, float(lower["retry-after-ms"]) / 1000)
        value = lower.get("retry-after")
        if value is None:
            return None
        return (
            float(value) if re.fullmatch(r"\d+(\.\d+)?", value) else parsedate_to_datetime(value).timestamp() - time()
        )
    except (ValueError, TypeError):
        return None


def readable(body: str) -> str:
    """The provider's own words out of an error body, as one masked line; nothing of an HTML page but its title."""
    text = body.strip()
    if re.match(r"<(!doctype|html|head|\?xml)", text, re.IGNORECASE):
        title = re.search(r"<title>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
        text = title.group(1) if title else ""
    else:
        with suppress(ValueError):
            text = _message(json.loads(text)) or text
    line = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f]+", " ", mask(text)).split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _message(value: Any) -> str:
    """The message inside an error body, whatever its nesting."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return _message(value[0]) if value else ""
    if not isinstance(value, dict):
        return ""
    found = (_message(value[key]) for key in ("error", "message", "detail", "errors", "msg") if value.get(key))
    return next((text for text in found if text), "")

from __future__ import annotations

import json
from email.utils import formatdate
from time import time

import pytest

from kimi_tui.llm.faults import from_response, readable, retry_after, spoken
from kimi_tui.llm.masking import mask, remember
from kimi_tui.llm.model import FaultKind, ModelFault

KEY = "sk-FAKE0000000000000000000000ABCD"


def fault(status: int, body: object = "", **headers: str) -> ModelFault:
    text = body if isinstance(body, str) else json.dumps(body)
    return from_response(status, headers, text, host="api.example", key_hint="Set EXAMPLE_API_KEY.")


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (401, "Incorrect API key", "auth"),
        (403, "no", "auth"),
        (404, "no such model", "bad_request"),
        (429, "slow down", "rate_limit"),
        (429, "You exceeded your current quota: insufficient_quota", "auth"),
        (500, "boom", "server"),
        (529, "", "server"),
        (504, "", "timeout"),
        (413, "<html><title>413 Request Entity Too Large</title></html>", "context_overflow"),
        (400, "This model's maximum context length is 16384 tokens. However, you sent 19211.", "context_overflow"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", "context_overflow"),
        (400, "Your request exceeded model token limit: 131072", "context_overflow"),
        (400, "the request exceeds the available context size, try increasing it", "context_overflow"),
        (400, "The input token count (1200000) exceeds the maximum number of tokens allowed", "context_overflow"),
        (400, "Please reduce the length of the messages", "context_overflow"),
        (400, "tool_choice is not supported", "bad_request"),
    ],
)
def test_a_status_and_words_become_a_kind(status: int, message: str, kind: FaultKind) -> None:
    assert fault(status, {"error": {"message": message}}).kind == kind


def test_the_line_holds_the_providers_own_words() -> None:
    assert str(fault(429, {"error": {"message": "engine\noverloaded"}})).endswith("(HTTP 429): engine overloaded")


def test_html_is_not_dumped() -> None:
    page = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
    assert readable(page) == "502 Bad Gateway"
    assert readable("<html>bad gateway</html>") == ""


def test_no_secret_gets_into_the_line() -> None:
    remember("hunter22")
    said = f"Incorrect API key provided: {KEY}. headers={{'Authorization': 'Bearer {KEY}'}} for hunter22"
    line = str(fault(401, {"error": {"message": said}}))
    assert "FAKE" not in line
    assert "hunter22" not in line


@pytest.mark.parametrize(
    "secret",
    [
        KEY,
        "Authorization: Bearer abcdefgh12345678",
        '"api_key": "0123456789abcdef"',
        "https://me:passw0rd@proxy:3128",
        "AIzaSyA1234567890abcdefghijklmnopqrs",
        "x-api-key=verysecretvalue",
    ],
)
def test_everything_that_looks_like_a_secret_is_masked(secret: str) -> None:
    masked = mask(f"before {secret} after")
    assert "•••" in masked
    assert not any(part in masked for part in ("FAKE", "abcdefgh", "0123456789", "passw0rd", "AIza", "verysecret"))
    assert masked.startswith("before") and masked.endswith("after")


def test_plain_words_are_not_masked() -> None:
    text = "Incorrect API key provided. The task-force of 12 desk-workers asked for a password."
    assert mask(text) == text


def test_retry_after_is_read_as_seconds_or_as_a_date() -> None:
    assert retry_after({"Retry-After": "1152"}) == 1152
    assert retry_after({"retry-after-ms": "1500"}) == 1.5
    assert retry_after({"retry-after": formatdate(time() + 30, usegmt=True)}) == pytest.approx(30, abs=2)
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({}) is None


def test_a_long_wait_is_said_with_what_to_do() -> None:
    limited = fault(429, {"error": {"message": "limit reached"}}, **{"retry-after": "1152"})
    assert limited.retry_after == 1152
    assert "19 min 12 s" in limited.hint


def test_the_hint_says_how_to_set_the_key() -> None:
    assert fault(401).hint == "Set EXAMPLE_API_KEY."


def test_durations_are_spoken() -> None:
    assert [spoken(seconds) for seconds in (7, 65, 11_100)] == ["7 s", "1 min 5 s", "3 h 5 min"]

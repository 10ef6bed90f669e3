"""Keys are struck out; words about keys are not."""

from __future__ import annotations

import pytest

from kimi_tui.cli.secrets import masked


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("bad key sk-FAKE0000000000 given", "bad key *** given"),
        ("{'Authorization': 'Bearer abcdef.123'}", "{'Authorization': 'Bearer ***'}"),
        ("https://host/v1?api_key=abcdef123&x=1", "https://host/v1?api_key=***&x=1"),
        ("set it: `export OPENAI_API_KEY=…`, or in the config", "set it: `export OPENAI_API_KEY=…`, or in the config"),
        ("the task-list of desk-keeping", "the task-list of desk-keeping"),
    ],
)
def test_what_looks_like_a_key_is_struck_out(text: str, shown: str) -> None:
    assert masked(text) == shown


def test_the_environments_keys_are_struck_out_whatever_they_look_like(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOONSHOT_API_KEY", "plain words here")
    assert masked("it said plain words here.") == "it said ***."

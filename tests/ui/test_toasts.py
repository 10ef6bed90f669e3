"""What the agent tells in a line, as the screen says it."""

from __future__ import annotations

import pytest

from kimi_tui.protocol import events as ev
from kimi_tui.ui.toasts import sentence, toast


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("there is nothing to undo", "There is nothing to undo."),
        ("written to /home/me/x.md", "Written to /home/me/x.md"),
        ("context_2.jsonl is gone: 4 KB freed", "context_2.jsonl is gone: 4 KB freed."),
        ("/btw needs a question", "/btw needs a question."),
        ("No price is known.", "No price is known."),
        ("[/] 你好", "[/] 你好."),
        ("", ""),
    ],
)
def test_it_is_a_sentence_and_names_stay_as_they_are(told: str, said: str) -> None:
    assert sentence(told) == said


def test_the_key_that_takes_it_back_stands_below() -> None:
    note = toast(ev.Noticed("went back", action="undo"))
    assert note is not None
    assert note.text == "Went back.\nalt+u takes it back"

"""Keys that come faster than the screen, and text that is meant for the prompt wherever the focus is."""

from __future__ import annotations

import pytest
from textual import events

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import ApprovalView
from tests.ui.test_app import Stage, stage


def burst(shown: Stage, text: str) -> None:
    """All keys at once, before any of them is looked at."""
    for letter in text:
        name = {"\r": "enter", " ": "space"}.get(letter, letter)
        shown.app.post_message(events.Key(name, None if letter == "\r" else letter))


def said(shown: Stage) -> list[str]:
    return [command.text for command in shown.agent.submitted if isinstance(command, cmd.SendPrompt | cmd.Steer)]


async def test_what_is_typed_after_enter_belongs_to_the_next_prompt_however_fast_it_is() -> None:
    async with stage() as shown:
        burst(shown, "one\rtwo\rdraft")
        await shown.settle()
        assert said(shown) == ["one", "two"]
        assert shown.app.chat.editor.text == "draft"


async def test_a_command_that_is_wrong_comes_back_before_what_was_typed_since() -> None:
    async with stage() as shown:
        burst(shown, "/rewind nowhere\rx")
        await shown.settle()
        assert said(shown) == []
        assert shown.app.chat.editor.text == "/rewind nowherex"


async def test_blanks_typed_over_a_question_reach_the_prompt_and_answer_nothing() -> None:
    async with stage() as shown:
        await shown.tell(ev.ApprovalRequested(ApprovalView("a1", "Shell", "run a command", "rm -r x")))
        shown.app.chat.asking.approval.options.clock = lambda: 1e9
        burst(shown, "so what now")
        await shown.settle()
        assert shown.app.chat.editor.text == "so what now"
        assert not any(isinstance(command, cmd.AnswerApproval) for command in shown.agent.submitted)


@pytest.mark.parametrize("focus", [False, True])
async def test_a_paste_that_nothing_else_takes_goes_into_the_prompt(focus: bool) -> None:
    async with stage() as shown:
        if not focus:
            shown.app.screen.set_focus(None)
        shown.app.post_message(events.Paste("first line\nsecond [b"))
        await shown.settle()
        assert shown.app.chat.editor.text == "first line\nsecond [b"

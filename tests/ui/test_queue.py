"""What waits while a turn runs: seen, walked, edited one by one."""

from __future__ import annotations

from textual import events

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.commands import Command
from kimi_tui.protocol.views import Draft, Entry
from kimi_tui.ui.paste import Pastes
from tests.ui.session import opened, reset
from tests.ui.test_app import Stage, stage

BUSY = (opened(), reset(), ev.TurnStarted(Entry("user", "go on", turn=True), 14))
WAITING = ev.QueueChanged(("steer me",), ("first", "second", "third"))


def rows(shown: Stage) -> list[str]:
    queue = shown.app.chat.queue
    return [queue.render_line(y).text.rstrip() for y in range(queue.size.height)]


def asked(shown: Stage) -> list[Command]:
    """Without the drafts that are kept by the way."""
    return [command for command in shown.agent.submitted if not isinstance(command, cmd.KeepDraft)]


async def test_what_waits_is_shown_and_up_goes_to_the_newest() -> None:
    async with stage(*BUSY, WAITING) as shown:
        assert rows(shown)[0].startswith("  steer steer me") and rows(shown)[0].endswith("up to edit")
        await shown.press("up")
        assert rows(shown)[3].startswith("› then  third") and rows(shown)[3].endswith("enter edit  del remove")


async def test_enter_brings_one_of_them_into_the_prompt_and_sends_it_back_to_its_place() -> None:
    async with stage(*BUSY, WAITING) as shown:
        await shown.press("up", "up", "enter")
        assert asked(shown) == [cmd.TakeQueued("prompts", 1, "second")]
        await shown.tell(ev.QueueChanged(("steer me",), ("first", "third")), ev.PromptReturned("second"))
        assert shown.prompt == "second"
        assert shown.agent.submitted[-1] == cmd.KeepDraft(Draft("second"))
        await shown.press("!", "enter")
        assert asked(shown)[-1] == cmd.SendPrompt("second!", place=1)


async def test_the_place_is_kept_however_fast_the_keys_come() -> None:
    async with stage(*BUSY, WAITING) as shown:
        await shown.press("up", "enter")
        await shown.tell(ev.QueueChanged(("steer me",), ("first", "second")), ev.PromptReturned("third"))
        for key in (events.Key("x", "x"), events.Key("enter", "\r")):
            shown.app.chat.editor.post_message(key)
        await shown.settle()
        assert asked(shown)[-1] == cmd.SendPrompt("thirdx", place=2)


async def test_a_steer_goes_back_among_the_steers() -> None:
    async with stage(*BUSY, WAITING) as shown:
        await shown.press("up", *["up"] * 3, "enter")
        await shown.tell(ev.QueueChanged((), ("first", "second", "third")), ev.PromptReturned("steer me"))
        await shown.press("enter")
        assert asked(shown) == [cmd.TakeQueued("steers", 0, "steer me"), cmd.Steer("steer me", place=0)]


async def test_what_is_cleared_has_no_place_any_more() -> None:
    async with stage(*BUSY, WAITING) as shown:
        await shown.press("up", "enter")
        await shown.tell(ev.QueueChanged(("steer me",), ("first", "second")), ev.PromptReturned("third"))
        await shown.press("ctrl+u", "x", "enter")
        assert asked(shown)[-1] == cmd.Steer("x")


async def test_delete_removes_one_for_good() -> None:
    async with stage(*BUSY, WAITING) as shown:
        await shown.press("up", "up", "delete")
        assert asked(shown) == [cmd.TakeQueued("prompts", 1, "second", drop=True)]
        await shown.tell(ev.QueueChanged(("steer me",), ("first", "third")))
        assert [row[8:14].strip() for row in rows(shown)] == ["steer", "first", "third"]
        assert shown.prompt == ""


async def test_what_was_being_written_is_in_the_history_when_another_text_is_edited() -> None:
    async with stage(*BUSY, WAITING) as shown:
        shown.write("half a thought")
        await shown.pilot.click("Queue", offset=(10, 1))
        await shown.pilot.click("Queue", offset=(10, 1))
        await shown.settle()
        assert asked(shown) == [cmd.TakeQueued("prompts", 0, "first")]
        await shown.tell(ev.QueueChanged(("steer me",), ("second", "third")), ev.PromptReturned("first"))
        assert shown.prompt == "first"
        assert shown.app.chat.editor.earlier.prompts[-1] == "half a thought"


async def test_all_of_them_come_back_with_one_key() -> None:
    async with stage(*BUSY, WAITING) as shown:
        await shown.press("up", "ctrl+u")
        assert asked(shown) == [cmd.TakeBackQueued()]
        await shown.tell(ev.QueueChanged((), ()), ev.PromptReturned("steer me\n\nfirst"))
        assert shown.prompt == "steer me\n\nfirst"


async def test_esc_goes_back_to_the_prompt_and_stops_nothing() -> None:
    async with stage(*BUSY, WAITING) as shown:
        await shown.press("up", "escape", "h", "i")
        assert (asked(shown), shown.prompt) == ([], "hi")


async def test_letters_are_meant_for_the_prompt_and_so_is_down_behind_the_last_one() -> None:
    async with stage(*BUSY, WAITING) as shown:
        await shown.press("up", "h")
        assert shown.prompt == "h"
        await shown.press("backspace", "up", "down", "i")
        assert shown.prompt == "i"


async def test_the_prompt_has_the_focus_again_when_nothing_waits_any_more() -> None:
    async with stage(*BUSY, WAITING) as shown:
        await shown.press("up")
        await shown.tell(ev.QueueChanged((), ()))
        assert shown.app.focused is shown.app.chat.editor


async def test_the_cursor_stays_on_its_text_when_others_go_out() -> None:
    async with stage(*BUSY, WAITING) as shown:
        await shown.press("up", "up")
        await shown.tell(ev.QueueChanged((), ("first", "second", "third")))
        assert rows(shown)[1].startswith("› then  second")


def test_images_that_come_back_are_attached_again() -> None:
    pastes = Pastes()
    old = pastes.attach("data:old", "shot.png")
    text = pastes.again("see [image #1: a.png] and [image #2: b.png]", ("data:a", "data:b"))
    assert text == "see [image #2: a.png] and [image #3: b.png]"
    assert pastes.images(f"{old} {text}") == ("data:old", "data:a", "data:b")


def test_a_tag_without_an_image_stays_what_was_typed() -> None:
    assert Pastes().again("what is [image #7: x]?", ()) == "what is [image #7: x]?"


def test_images_of_the_same_name_from_two_prompts_are_told_apart() -> None:
    pastes = Pastes()
    text = pastes.again("[image #1: clipboard.png]\n\n[image #1: clipboard.png]", ("data:a", "data:b"))
    assert pastes.images(text) == ("data:a", "data:b")

from __future__ import annotations

from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import Entry, Tokens, ToolView
from kimi_tui.ui.conversation import Conversation

USER = Entry("user", "hi", turn=True)
RUNNING = ToolView("c1", "Shell", "Shell", "ls")
DONE = ToolView("c1", "Shell", "Shell", "ls", outcome="ok", output="a\nb")


def told(*events: ev.Event) -> Conversation:
    conversation = Conversation()
    for event in events:
        conversation.apply(event)
    return conversation


def entries(conversation: Conversation) -> list[Entry | None]:
    return [block.entry for block in conversation.blocks]


def reset(total: int, *kept: Entry) -> ev.TranscriptReset:
    return ev.TranscriptReset(total, kept, (), Tokens())


def test_deltas_flow_into_one_open_block() -> None:
    conversation = told(ev.TurnStarted(USER, 0), ev.TextDelta("\nHel"), ev.TextDelta("lo"))
    assert entries(conversation) == [USER, Entry("assistant", "Hello")]
    assert conversation.blocks[1].open


def test_thinking_ends_when_the_answer_begins() -> None:
    conversation = told(ev.ThinkingDelta("hm"), ev.TextDelta("so"))
    assert [(block.kind, block.open) for block in conversation.blocks] == [("thinking", False), ("assistant", True)]


def test_the_stored_message_takes_the_place_of_what_was_streamed() -> None:
    stored = (Entry("thinking", "hm", seconds=2), Entry("assistant", "Hello"), Entry("tool", tool=RUNNING))
    conversation = told(
        ev.TurnStarted(USER, 0),
        ev.ThinkingDelta("hm"),
        ev.TextDelta("Hello"),
        ev.ToolCallStarted(RUNNING),
        ev.MessageStored(1, stored),
    )
    assert entries(conversation) == [USER, *stored]
    assert conversation.stored == 4


def test_a_block_keeps_its_fold_state_when_it_is_stored_and_when_its_tool_ends() -> None:
    conversation = told(ev.TurnStarted(USER, 0), ev.ToolCallStarted(RUNNING))
    block = conversation.blocks[1]
    block.unfolded = True
    conversation.apply(ev.MessageStored(1, (Entry("tool", tool=RUNNING),)))
    conversation.apply(ev.ToolOutputDelta("c1", "a\n"))
    conversation.apply(ev.ToolCallFinished(DONE))
    assert conversation.blocks[1] is block
    assert (block.entry, block.unfolded, block.live) == (Entry("tool", tool=DONE), True, "a\n")


def test_a_broken_stream_is_forgotten() -> None:
    conversation = told(ev.TurnStarted(USER, 0), ev.TextDelta("half"), ev.ToolCallStarted(RUNNING), ev.StreamReset())
    assert entries(conversation) == [USER]


def test_the_end_of_a_turn_drops_what_was_never_stored() -> None:
    conversation = told(ev.TurnStarted(USER, 0), ev.TextDelta("half"), ev.TurnEnded("interrupted"))
    assert entries(conversation) == [USER]


def test_what_is_only_said_takes_no_stored_index() -> None:
    said = Entry("error", "no network")
    conversation = told(ev.TurnStarted(USER, 0), ev.EntryAdded(None, said), ev.TurnStarted(USER, 1))
    assert entries(conversation) == [USER, said, USER]
    assert [conversation.index(position) for position in range(3)] == [0, None, 1]
    assert [conversation.position(index) for index in range(2)] == [0, 2]


def test_what_is_said_while_text_streams_stands_before_it() -> None:
    said = Entry("note", "slow")
    conversation = told(ev.TurnStarted(USER, 0), ev.TextDelta("so"), ev.EntryAdded(None, said))
    assert [block.kind for block in conversation.blocks] == ["user", "note", "assistant"]


def test_earlier_entries_are_filled_in_where_they_belong() -> None:
    conversation = told(reset(4, USER), ev.EntriesLoaded(1, (Entry("note", "b"), Entry("note", "c"))))
    assert entries(conversation) == [None, Entry("note", "b"), Entry("note", "c"), USER]


def test_a_reset_forgets_everything() -> None:
    conversation = told(ev.TextDelta("x"), ev.EntryAdded(None, Entry("note", "y")), reset(1, USER))
    assert entries(conversation) == [USER]
    assert conversation.take_changes().reset


def test_changes_name_the_first_position_that_is_new() -> None:
    conversation = told(reset(2, USER, USER))
    conversation.take_changes()
    conversation.apply(ev.TextDelta("a"))
    assert conversation.take_changes().cut == 2
    conversation.apply(ev.TextDelta("b"))
    changes = conversation.take_changes()
    assert changes.cut is None and changes.blocks == {conversation.blocks[2]}


def test_live_output_keeps_only_its_end() -> None:
    conversation = told(ev.ToolCallStarted(RUNNING))
    for _ in range(100):
        conversation.apply(ev.ToolOutputDelta("c1", "x" * 1_000))
    assert len(conversation.blocks[0].live) <= 16_384

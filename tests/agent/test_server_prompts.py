"""Prompts of MCP servers as slash commands, and their resources as tools; the servers are real ones."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from kimi_tui.agent.server_prompts import arguments_of, commands
from kimi_tui.mcp import McpPrompt
from kimi_tui.protocol.commands import AnswerApproval, Interrupt, RunSlash, SendPrompt
from kimi_tui.protocol.events import (
    ApprovalRequested,
    CommandsChanged,
    PromptReturned,
    ResourcesChanged,
    ServerAwaited,
    TurnEnded,
    TurnStarted,
)
from kimi_tui.protocol.views import SlashCommand
from tests.agent.fakes import ScriptedModel, calls, says
from tests.agent.running import eventually
from tests.agent.test_mcp_servers import plain, session, until_state

LENDER = plain("lends")
REVIEW = McpPrompt("my", "review", "Asks for a review.", (("code", True), ("language", False)))
ASK = McpPrompt("my docs", "ask/it", "Asks.", (("question", True),))


async def test_a_prompt_is_a_command_and_what_the_server_makes_of_it_is_sent(tmp_path: Path) -> None:
    model = ScriptedModel(says("It is fine."))
    async with session(tmp_path, model, my=LENDER) as it:
        await until_state(it, "my", "ready")
        told = {command.name: command for command in (await it.until(CommandsChanged)).commands}
        assert told["mcp:my:review"] == SlashCommand(
            "mcp:my:review", "<code> [language]", "Asks for a review.", turns=True
        )
        assert "init" in told, "the agent's own commands are still there"
        it.tell(RunSlash("mcp:my:review", "'x = 1' language=Rust"))
        assert (await it.until(TurnEnded)).reason == "done"
        assert model.sent()[0] == "user: Review this Rust: x = 1"
        entry = it.last(TurnStarted).entry
        assert entry.text == "/mcp:my:review 'x = 1' language=Rust"


async def test_what_cannot_be_asked_for_comes_back_with_the_reason(tmp_path: Path) -> None:
    async with session(tmp_path, ScriptedModel(), my=LENDER) as it:
        it.tell(RunSlash("mcp:my:review"))
        returned = await it.until(PromptReturned)
        assert returned.text == "/mcp:my:review"
        assert returned.reason == "code must be given: /mcp:my:review <code> [language]"
        it.tell(RunSlash("mcp:my:nothing", "x"))
        returned = await it.until(PromptReturned, 2)
        assert returned.text == "/mcp:my:nothing x" and returned.reason.startswith("there is no /mcp:my:nothing")


async def test_a_prompt_of_last_time_can_be_typed_before_its_server_is_ready(tmp_path: Path) -> None:
    async with session(tmp_path, ScriptedModel(), my=LENDER) as it:
        await until_state(it, "my", "ready")
    gate = tmp_path / "gate"
    model = ScriptedModel(says("It is fine."))
    async with session(tmp_path, model, my=plain("lends", "gate", str(gate))) as it:
        assert it.desk.servers is not None
        [command] = it.desk.servers.commands()
        assert command == SlashCommand(
            "mcp:my:review", "<code> [language]", "(waits for its server) Asks for a review.", turns=True
        )
        it.tell(RunSlash("mcp:my:review", "x"))
        assert (await it.until(ServerAwaited)).server == "my"
        gate.touch()
        assert (await it.until(TurnEnded)).reason == "done"
        assert model.sent()[0] == "user: Review this Python: x"
        assert it.last(ServerAwaited).server == ""
        [command] = it.desk.servers.commands()
        assert command.help == "Asks for a review."


async def test_waiting_for_a_server_is_stopped_and_the_command_comes_back(tmp_path: Path) -> None:
    async with session(tmp_path, ScriptedModel(), my=LENDER) as it:
        await until_state(it, "my", "ready")
    async with session(tmp_path, ScriptedModel(), my=plain("lends", "deaf")) as it:
        it.tell(RunSlash("mcp:my:review", "x"))
        assert (await it.until(ServerAwaited)).server == "my"
        it.tell(Interrupt())
        assert (await it.until(PromptReturned)).text == "/mcp:my:review x"
        await eventually(lambda: it.last(ServerAwaited).server == "")


async def test_a_prompt_of_a_server_that_does_not_come_up_says_so(tmp_path: Path) -> None:
    async with session(tmp_path, ScriptedModel(), my=LENDER) as it:
        await until_state(it, "my", "ready")
    async with session(tmp_path, ScriptedModel(), my=plain("lends", "crash")) as it:
        it.tell(RunSlash("mcp:my:review", "x"))
        assert "is not ready; /mcp shows why" in (await it.until(PromptReturned)).reason


async def test_a_run_without_a_screen_waits_for_the_server_of_its_prompt(tmp_path: Path) -> None:
    model = ScriptedModel(says("It is fine."))
    async with session(tmp_path, model, headless=True, my=LENDER) as it:
        it.tell(RunSlash("mcp:my:review", "x"))
        assert (await it.until(TurnEnded)).reason == "done"
        assert model.sent()[0] == "user: Review this Python: x"


async def test_resources_are_read_with_the_users_approval(tmp_path: Path) -> None:
    model = ScriptedModel(
        calls(("ListMcpResources", {"id": "l"})),
        calls(("ReadMcpResource", {"server": "my", "uri": "notes://today", "id": "r"})),
        calls(("ReadMcpResource", {"server": "nobody", "uri": "notes://today", "id": "n"})),
        says("rain"),
    )
    async with session(tmp_path, model, my=LENDER) as it:
        await until_state(it, "my", "ready")
        it.tell(SendPrompt("what was written?"))
        for number in (1, 2):
            asked = (await it.until(ApprovalRequested, number)).approval
            it.tell(AnswerApproval(asked.request_id, "once"))
            assert asked.detail == "notes://today"
        assert (await it.until(TurnEnded)).reason == "done"
        assert "my · notes://today · today · text/plain · What was written today" in model.sent(1)[-1]
        assert model.sent(2)[-1] == "tool: Rain, 漢字."
        assert "There is no MCP server 'nobody'. There are: my." in model.sent(3)[-1]


async def test_the_tools_that_read_go_with_the_last_server_that_has_anything(tmp_path: Path) -> None:
    async with session(tmp_path, ScriptedModel(), my=LENDER) as it:
        await until_state(it, "my", "ready")
        assert "ReadMcpResource" in it.desk.toolset and "mcp__my__echo" in it.desk.toolset
        assert it.desk.servers is not None and await it.until(ResourcesChanged)
        os.kill(it.desk.servers._servers._child.pid or 0, signal.SIGKILL)
        await eventually(lambda: "ReadMcpResource" not in it.desk.toolset)
        assert it.last(ResourcesChanged).resources == ()
        [command] = it.desk.servers.commands()
        assert command.help == "(waits for its server) Asks for a review."


@pytest.mark.parametrize(
    ("typed", "given"),
    [
        ("x", {"code": "x"}),
        ("'a b' Rust", {"code": "a b", "language": "Rust"}),
        ("language=Go x", {"language": "Go", "code": "x"}),
        ("x=1", {"code": "x=1"}),
        ("it's", {"code": "it's"}),
        ("code=", None),
        ("a b c", None),
    ],
)
def test_arguments_are_taken_by_name_or_in_order(typed: str, given: dict[str, str] | None) -> None:
    if given is None:
        with pytest.raises(ValueError, match="given: /mcp:my:review <code>"):
            arguments_of(REVIEW, typed)
    else:
        assert arguments_of(REVIEW, typed) == given


def test_the_only_argument_is_all_that_was_typed() -> None:
    assert arguments_of(ASK, 'why is the sky "blue"?') == {"question": 'why is the sky "blue"?'}
    assert arguments_of(ASK, "question=why") == {"question": "why"}
    with pytest.raises(ValueError, match="question must be given"):
        arguments_of(ASK, "")


def test_signs_that_a_command_cannot_hold_are_replaced_and_no_name_comes_twice() -> None:
    twin = McpPrompt("my_docs", "ask_it", "Another.")
    assert [(command.name, command.help) for command in commands([ASK, twin, REVIEW], {"my", "my docs"})] == [
        ("mcp:my_docs:ask_it", "Asks."),
        ("mcp:my:review", "Asks for a review."),
    ]

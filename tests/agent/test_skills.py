"""Skills in a session: offered as commands, told to the model, followed when their files change."""

from __future__ import annotations

import os
from pathlib import Path

from kimi_tui.agent.session_skills import SkillsInjectionProvider
from kimi_tui.protocol.commands import ListCommands, RevertTo, RunSlash
from kimi_tui.protocol.events import CommandsChanged, Noticed, SessionOpened, TranscriptReset, TurnEnded, TurnStarted
from tests.agent.fakes import Bench, ScriptedModel, bench, says

REVIEW = "---\nname: review\ndescription: Looks a change over\n---\nRead the diff twice.\n"


def put(folder: Path, name: str, text: str) -> Path:
    file = folder / ".kimi" / "skills" / name / "SKILL.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def reminders(b: Bench) -> list[str]:
    return [m.text() for m in b.desk.context.history if m.role == "user" and "The skills have changed" in m.text()]


def follow(b: Bench) -> None:
    b.desk.injections.providers.append(SkillsInjectionProvider(b.desk.skills, lambda: b.desk.system_prompt))


async def test_a_skill_is_sent_with_the_request_and_shown_as_it_was_typed(tmp_path: Path) -> None:
    put(tmp_path, "review", REVIEW)
    model = ScriptedModel(says("Looks fine."))
    async with bench(tmp_path, model, skills=True) as b:
        b.tell(RunSlash("skill:review", "of the parser"))
        assert (await b.until(TurnEnded)).reason == "done"
        sent = model.sent()[-1]
        assert "Read the diff twice." in sent and sent.endswith("of the parser")
        assert b.last(TurnStarted).entry.text == "/skill:review of the parser"
        await b.idle()
        await b.do(RevertTo(0))
        assert b.last(TranscriptReset).prompt == "/skill:review of the parser"


async def test_skills_are_offered_as_commands_from_the_start(tmp_path: Path) -> None:
    put(tmp_path, "review", REVIEW)
    async with bench(tmp_path, ScriptedModel(says("a")), skills=True) as b:
        await b.desk.skills.load()
        b.events.clear()
        await b.agent.show()
        opened = await b.until(SessionOpened)
        offered = {command.name: command.help for command in opened.commands}
        assert offered["skill:review"] == "Looks a change over"
        assert {"init", "ralph", "btw"} <= offered.keys()


async def test_a_skill_that_came_meanwhile_is_offered_when_the_commands_are_asked_for(tmp_path: Path) -> None:
    async with bench(tmp_path, ScriptedModel(), skills=True) as b:
        await b.do(ListCommands())
        assert b.all(CommandsChanged) == []
        put(tmp_path, "review", REVIEW)
        await b.do(ListCommands())
        assert [command.name for command in b.last(CommandsChanged).commands][-1] == "skill:review"


async def test_a_change_of_files_is_seen_by_the_next_turn_and_told_once(tmp_path: Path) -> None:
    model = ScriptedModel(says("a"), says("b"), says("c"))
    async with bench(tmp_path, model, skills=True) as b:
        follow(b)
        await b.turn("one")
        assert not reminders(b)
        file = put(tmp_path, "review", REVIEW)
        await b.turn("two")
        assert [command.name for command in b.last(CommandsChanged).commands] == ["skill:review"]
        assert len(reminders(b)) == 1 and f"review: Looks a change over ({file})" in reminders(b)[0]
        await b.turn("three")
        assert len(reminders(b)) == 1
        file.unlink()
        model.replies.append(says("d"))
        await b.turn("four")
        assert "none any more" in reminders(b)[-1] and b.last(CommandsChanged).commands == ()


async def test_a_reminder_that_was_taken_back_is_given_again(tmp_path: Path) -> None:
    model = ScriptedModel(says("a"), says("b"), says("c"))
    async with bench(tmp_path, model, skills=True) as b:
        follow(b)
        await b.turn("one")
        put(tmp_path, "review", REVIEW)
        await b.turn("two")
        second = b.all(TurnStarted)[-1].entry.checkpoint
        await b.do(RevertTo(second))
        assert not reminders(b)
        await b.turn("two again")
        assert len(reminders(b)) == 1


FAULTY = {
    "two-begins": "flowchart LR\nA([BEGIN]) --> B{pick}\nB -->|same| E([END])\nB -->|same| E\nF([BEGIN]) --> E",
    "half": "flowchart LR\nA([BEGIN]) --> B[work",
}


async def test_faulty_flows_are_named_once_each_and_hide_no_other_skill(tmp_path: Path) -> None:
    put(tmp_path, "review", REVIEW)
    files = [
        put(tmp_path, name, f"---\nname: {name}\ntype: flow\n---\n```mermaid\n{graph}\n```\n")
        for name, graph in FAULTY.items()
    ]
    async with bench(tmp_path, ScriptedModel(says("a"), says("b")), skills=True) as b:
        await b.turn("one")
        told = [event.text for event in b.all(Noticed)]
        assert len(told) == 2 and all(str(file) in "".join(told) for file in files)
        assert "found 2: A, F" in "".join(told) and 'label "same"' in "".join(told)
        assert [command.name for command in b.last(CommandsChanged).commands] == ["skill:review"]
        stamp = files[0].stat().st_mtime_ns + 1_000_000_000
        os.utime(files[0], ns=(stamp, stamp))
        await b.turn("two")
        assert len(b.all(Noticed)) == 2


async def test_init_asks_for_an_agents_md_in_words_of_our_own(tmp_path: Path) -> None:
    model = ScriptedModel(says("written"))
    async with bench(tmp_path, model) as b:
        b.tell(RunSlash("init", "mention the tests"))
        await b.until(TurnEnded)
        assert "`AGENTS.md`" in model.sent()[-1] and model.sent()[-1].endswith("mention the tests")
        assert b.last(TurnStarted).entry.text == "/init mention the tests"

"""Reminders before a model call: who gives them, when, and what stops them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kimi_tui.injections import (
    AfkInjectionProvider,
    DynamicInjection,
    DynamicInjectionProvider,
    Injections,
    Newest,
    PlanInjectionProvider,
    StepView,
)
from kimi_tui.injections.plan import full_reminder, sparse_reminder
from kimi_tui.protocol.messages import Message, Role
from kimi_tui.resources import prompt

PLAN = StepView(plan=True, plan_file=Path("/plans/p.md"))


def said(*turns: str) -> list[Message]:
    """`u:text` and `a:text` as messages."""
    roles: dict[str, Role] = {"u": "user", "a": "assistant"}
    return [Message(role=roles[turn[0]], content=turn[2:]) for turn in turns]


async def kinds(provider: DynamicInjectionProvider, history: Sequence[Message], view: StepView) -> list[str]:
    return [injection.content for injection in await provider.get_injections(history, view)]


class Broken(DynamicInjectionProvider):
    async def get_injections(self, history: Sequence[Message], view: StepView) -> list[DynamicInjection]:
        raise RuntimeError("broken")

    async def on_context_compacted(self) -> None:
        raise RuntimeError("broken")


class Told(DynamicInjectionProvider):
    def __init__(self) -> None:
        self.heard: list[str] = []

    async def get_injections(self, history: Sequence[Message], view: StepView) -> list[DynamicInjection]:
        return [DynamicInjection("told", "hello")]

    async def on_context_compacted(self) -> None:
        self.heard.append("compacted")

    async def on_afk_changed(self, enabled: bool) -> None:
        self.heard.append(f"afk {enabled}")


async def test_a_broken_provider_does_not_silence_the_others() -> None:
    told = Told()
    injections = Injections([Broken(), told])
    assert await injections.collect([], StepView()) == [DynamicInjection("told", "hello")]
    await injections.context_compacted()
    await injections.afk_changed(True)
    assert told.heard == ["compacted", "afk True"]


async def test_plan_mode_is_explained_in_full_first_and_then_left_alone() -> None:
    provider = PlanInjectionProvider()
    assert await kinds(provider, said("u:plan it"), PLAN) == [full_reminder(PLAN.plan_file)]
    history = [*said("u:plan it"), Message(role="user", content=full_reminder(PLAN.plan_file))]
    for number in range(5):
        assert await kinds(provider, history, PLAN) == [], number
        history += said("a:looking")
    assert await kinds(provider, history, PLAN) == [sparse_reminder(PLAN.plan_file)]


async def test_every_fifth_plan_reminder_after_the_first_is_a_full_one() -> None:
    provider = PlanInjectionProvider()
    history: list[Message] = []
    given = []
    for _ in range(40):
        for text in await kinds(provider, history, PLAN):
            history.append(Message(role="user", content=f"<system-reminder>\n{text}\n</system-reminder>"))
            given.append("full" if text == full_reminder(PLAN.plan_file) else "sparse")
        history += said("a:looking")
    assert given == ["full", "sparse", "sparse", "sparse", "sparse", "full", "sparse", "sparse"]


async def test_a_revert_that_takes_the_reminder_away_brings_it_back() -> None:
    provider = PlanInjectionProvider()
    assert await kinds(provider, [], PLAN)
    assert await kinds(provider, said("u:again"), PLAN) == [full_reminder(PLAN.plan_file)]


async def test_switching_plan_mode_on_by_hand_reminds_at_once(tmp_path: Path) -> None:
    provider = PlanInjectionProvider()
    history = [Message(role="user", content=full_reminder())]
    file = tmp_path / "plan.md"
    now = StepView(plan=True, plan_file=file, plan_activated=True)
    assert await kinds(provider, history, now) == [full_reminder(file)]
    file.write_text("1. look")
    (again,) = await provider.get_injections(history, now)
    assert again.type == "plan_reentry"
    assert "read it before you change it" in again.content


async def test_only_the_root_agent_is_reminded() -> None:
    view = StepView(plan=True, afk=True, root=False)
    assert await kinds(PlanInjectionProvider(), [], view) == []
    assert await kinds(AfkInjectionProvider(), [], view) == []


def reminded(text: str) -> Message:
    return Message(role="user", content=f"<system-reminder>\n{text}\n</system-reminder>")


async def test_absence_is_told_once_and_again_after_a_compaction_or_a_toggle() -> None:
    provider, away = AfkInjectionProvider(), StepView(afk=True)
    history = said("u:go")
    assert await kinds(provider, history, away) == [prompt("afk")]
    history.append(reminded(prompt("afk")))
    assert await kinds(provider, history, away) == []
    assert await kinds(provider, [*history, *said("a:on it", "u:more")], away) == []
    assert await kinds(provider, said("u:summary"), away) == [prompt("afk")]
    assert await kinds(provider, history, StepView()) == [prompt("afk_off")]
    history.append(reminded(prompt("afk_off")))
    assert await kinds(provider, history, StepView()) == []
    assert await kinds(provider, history, away) == [prompt("afk")]
    history.append(reminded(prompt("afk")))
    await provider.on_afk_changed(True)
    assert await kinds(provider, history, away) == [prompt("afk")]


async def test_the_next_run_of_the_program_does_not_repeat_that_nobody_is_there() -> None:
    history = [*said("u:go"), reminded(prompt("afk")), *said("a:done", "u:and now")]
    assert await kinds(AfkInjectionProvider(), history, StepView(afk=True)) == []
    long = [*history, *said(*("a:more" for _ in range(500)))]
    assert await kinds(AfkInjectionProvider(), long, StepView(afk=True)) == []
    assert await kinds(AfkInjectionProvider(), long, StepView()) == [prompt("afk_off")]


async def test_a_jump_to_before_the_word_makes_it_due_again() -> None:
    provider, away = AfkInjectionProvider(), StepView(afk=True)
    history = [*said("u:go"), reminded(prompt("afk")), *said("a:done")]
    assert await kinds(provider, history, away) == []
    assert await kinds(provider, [*history[:1], *said("a:x", "u:y", "a:z")], away) == [prompt("afk")]


async def test_what_a_user_says_about_absence_is_no_reminder() -> None:
    assert await kinds(AfkInjectionProvider(), said(f"u:{prompt('afk')}"), StepView(afk=True)) == [prompt("afk")]


async def test_nobody_is_welcomed_back_who_was_never_said_to_be_away() -> None:
    provider = AfkInjectionProvider()
    await provider.on_afk_changed(True)
    await provider.on_afk_changed(False)
    assert await kinds(provider, [], StepView()) == []


async def test_a_plan_that_nobody_waits_for_is_made_without_questions() -> None:
    away = StepView(plan=True, plan_file=Path("/plans/p.md"), afk=True)
    provider = PlanInjectionProvider()
    [rules] = await kinds(provider, [], away)
    assert rules.startswith(full_reminder(Path("/plans/p.md")))
    assert rules.endswith(prompt("plan_away"))
    [short] = await kinds(provider, said(f"u:{rules}", *["a:x"] * 5), away)
    assert short == f"{sparse_reminder(Path('/plans/p.md'))}\n\n{prompt('plan_away')}"


async def test_the_newest_of_its_kind_is_found_by_looking_at_what_is_new() -> None:
    looked: list[str] = []

    def look(message: Message) -> str | None:
        looked.append(message.text())
        return message.text() if message.text().startswith("*") else None

    newest, history = Newest(look), said("u:one", "u:*two", "u:three")
    assert await newest.find(history) == (1, "*two")
    looked.clear()
    assert await newest.find(history) == (1, "*two")
    history += said("a:four", "u:five")
    assert await newest.find(history) == (1, "*two")
    assert looked == ["five", "four"]
    del history[1:]
    assert await newest.find(history) is None, "it went with the jump"
    history += said(*["u:more"] * 300)
    looked.clear()
    history += said("u:*last")
    assert await newest.find(history) == (301, "*last")
    assert looked == ["*last"]

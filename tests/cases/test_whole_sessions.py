"""Healthy sessions as kimi-cli writes them: opened, taken back to each checkpoint, compacted, gone on with."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_tui.llm.provider import Dialect
from kimi_tui.protocol.commands import Compact, RevertTo, Undo
from kimi_tui.protocol.events import CompactionEnded, Noticed, SessionOpened
from tests.cases.house import House, Record, assistant, checkpoint, house, result, usage, user

PIXEL = "data:image/png;base64,iVBORw0KGgo="
PROMPT = {"role": "_system_prompt", "content": "Be brief."}


def seen(number: int) -> list[Record]:
    """A checkpoint that the model is shown."""
    return [checkpoint(number), user(f"<system>CHECKPOINT {number}</system>")]


def picture(text: str) -> Record:
    image = {"type": "image_url", "image_url": {"url": PIXEL, "id": None}}
    return {"role": "user", "content": [{"type": "text", "text": text}, image]}


def signed(record: Record) -> Record:
    thought = {"type": "think", "think": "先看图", "encrypted": "c2lnbmF0dXJl"}
    return {**record, "content": [thought, *record["content"]]}


SESSIONS: dict[str, list[Record]] = {
    "a picture, Chinese, a letter to the past, ids of all kinds": [
        PROMPT,
        *seen(0),
        picture("这个截图里的错误是什么?"),
        *seen(1),
        user("<system>A D-Mail came from the future: 不要读大文件</system>"),
        signed(
            assistant(
                "我来看看。", ("调用·1", "ReadFile", {"path": "主.py"}), ("functions.Grep:2", "Grep", {"pattern": "错"})
            )
        ),
        usage(900),
        result("调用·1", "     1\tprint('错')"),
        result("functions.Grep:2", "主.py:1:print('错')"),
        *seen(2),
        assistant("第一行有错。"),
        usage(1100),
    ],
    "what a compaction left": [
        PROMPT,
        checkpoint(0),
        user("<system>Previous context has been compacted.</system>\nThe parser was mended."),
        assistant("Tests pass."),
        usage(400),
        checkpoint(1),
        user("Now the lexer."),
        checkpoint(2),
        assistant("", ("c9", "Shell", {"command": "pytest"}), think="run them"),
        usage(600),
        result("c9", "<system>ERROR: Command failed with exit code: 1.</system>"),
        checkpoint(3),
        assistant("One fails."),
        usage(700),
    ],
    "plan mode, reads side by side, a steer, a task that ended": [
        PROMPT,
        checkpoint(0),
        user("Plan the move."),
        checkpoint(1),
        user("<system-reminder>\nPlan mode is active.\n</system-reminder>"),
        assistant("", ("a", "ReadFile", {"path": "a"}), ("b", "ReadFile", {"path": "b"}), ("c", "EnterPlanMode", {})),
        result("a", "1"),
        result("b", "2"),
        result("c", "Plan mode is on."),
        user("and keep the API"),
        usage(500),
        checkpoint(2),
        user('<notification id="n1" type="task.completed">\nTask t1 completed.\n</notification>'),
        assistant("Noted."),
        usage(650),
    ],
    "rounds of a loop": [
        PROMPT,
        *(
            record
            for number in range(3)
            for record in (
                checkpoint(2 * number),
                user("Make it green." if not number else "Go on, or choose STOP."),
                checkpoint(2 * number + 1),
                assistant(f"Round {number}. <choice>{'STOP' if number == 2 else 'CONTINUE'}</choice>"),
                usage(300 + number),
            )
        ),
    ],
}


async def taken_back_and_forth(it: House) -> None:
    before = it.records()
    for record in [record for record in before if record["role"] == "_checkpoint"]:
        await it.do(RevertTo(record["id"]))
        assert (await it.turn("from here")).reason == "done"
        await it.do(Undo())
        assert it.records() == before, f"checkpoint {record['id']}"


@pytest.mark.parametrize(
    "dialect", [Dialect(), Dialect(reasoning=True, signatures=True, ids="nine")], ids=["plain", "fussy"]
)
@pytest.mark.parametrize("session", SESSIONS)
async def test_every_point_of_it_can_be_gone_on_from(session: str, dialect: Dialect, tmp_path: Path) -> None:
    summary = {"when": "compaction", "text": "They worked."}
    script = {"default": {"text": "fine"}}
    async with house(tmp_path, [summary], session=SESSIONS[session], dialect=dialect, script=script) as it:
        assert it.seen(SessionOpened)[0].notices == ()
        assert it.records() == SESSIONS[session], "opening changes nothing"
        await taken_back_and_forth(it)
        await it.do(Compact())
        assert it.seen(CompactionEnded)[-1].outcome == "done"
        assert (await it.turn("after it")).reason == "done"
        assert not [event for event in it.seen(Noticed) if event.severity != "information"]
        left = it.records()
    async with house(tmp_path, [], dialect=dialect, script=script) as it:
        assert it.records() == left
        assert (await it.turn("resumed")).reason == "done"
        assert "They worked." in it.sent()

"""Sessions, and one change to each: what every fault test is run over."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from kimi_tui.context import CheckpointRef, Context, Message, ToolCall, list_rotations, read_timeline_file
from kimi_tui.context.disk import Disk
from kimi_tui.context.doctor import repair


def user(text: str) -> Message:
    return Message(role="user", content=text)


def assistant(text: str) -> Message:
    return Message(role="assistant", content=text)


def a_step(number: int) -> list[Message]:
    call = ToolCall(id=f"call-{number}", function=ToolCall.FunctionBody(name="Shell", arguments='{"command":"ls"}'))
    return [
        Message(role="assistant", content=f"let me look {number}", tool_calls=[call]),
        Message(role="tool", content=f"file-{number}.py\n" * 20, tool_call_id=f"call-{number}"),
    ]


async def a_session(path: Path, steps: int = 4) -> None:
    context = Context(path)
    await context.restore()
    await context.write_system_prompt("You help.")
    for number in range(steps):
        await context.checkpoint(add_user_message=number % 2 == 1)
        await context.append_message(user(f"question {number}"))
        await context.commit(messages=a_step(number), usage=1000 * (number + 1))
    await context.append_message(user("pending"))
    await context.close()


async def a_reverted_session(path: Path) -> None:
    await a_session(path)
    context = Context(path)
    await context.restore()
    await context.revert_to(2)
    await context.append_message(user("another way"))
    await context.close()


async def an_undone_session(path: Path) -> None:
    await a_reverted_session(path)
    context = Context(path)
    await context.restore()
    await context.undo()
    await context.close()


async def a_torn_session(path: Path) -> None:
    await a_session(path)
    with path.open("ab") as file:
        file.write(b'{"role":"user","con')


async def a_lost_session(path: Path) -> None:
    """As another program leaves it when it is killed in the middle of a compaction."""
    await a_session(path)
    path.rename(path.with_name("context_1.jsonl"))
    path.touch()


async def a_damaged_session(path: Path) -> None:
    await a_session(path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:5], b"junk\n", lines[5][:-1] + lines[6], *lines[7:]]))


async def a_compressed_session(path: Path) -> None:
    await a_reverted_session(path)
    context = Context(path)
    await context.restore()
    await context.compress("context_1.jsonl")
    await context.close()


async def _nothing_more(context: Context) -> None:
    """Opening is all."""


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    prepare: Callable[[Path], Awaitable[None]]
    act: Callable[[Context], Awaitable[object]]
    mends: bool = False
    """The session is repaired first, and only then opened."""

    async def run(self, path: Path, disk: Disk | None = None) -> Context:
        """Opens and acts on what `prepare` left."""
        if self.mends:
            repair(path, disk)
        context = Context(path, disk=disk)
        await context.restore()
        await self.act(context)
        return context


def dmail(context: Context) -> Awaitable[object]:
    return context.rewrite("dmail", keep_until=CheckpointRef(1), checkpoint=True, messages=[user("letter")])


def compaction(context: Context) -> Awaitable[object]:
    return context.rewrite(
        "compact", keep_until=None, system_prompt="You help.", checkpoint=True, messages=[user("summary")], usage=77
    )


SCENARIOS = [
    Scenario("append", a_session, lambda context: context.append_message(user("more"))),
    Scenario("batch", a_session, lambda context: context.append_message([user(f"m{n}") for n in range(8)])),
    Scenario("step", a_session, lambda context: context.commit(messages=a_step(9), usage=9000, sync=True)),
    Scenario("checkpoint", a_session, lambda context: context.checkpoint(add_user_message=True)),
    Scenario("revert", a_session, lambda context: context.revert_to(2)),
    Scenario("dmail", a_session, dmail),
    Scenario("clear", a_session, lambda context: context.clear()),
    Scenario("compaction", a_session, compaction),
    Scenario("new prompt", a_session, lambda context: context.write_system_prompt("You help more.")),
    Scenario("replace", a_session, lambda context: context.replace_message(4, user("in short"), usage=900)),
    Scenario("go to", a_reverted_session, lambda context: context.go_to("context_1.jsonl")),
    Scenario("undo", a_reverted_session, lambda context: context.undo()),
    Scenario("redo", an_undone_session, lambda context: context.redo()),
    Scenario("compress", a_reverted_session, lambda context: context.compress("context_1.jsonl")),
    Scenario("delete", a_reverted_session, lambda context: context.delete("context_1.jsonl")),
    Scenario("delete compressed", a_compressed_session, lambda context: context.delete("context_1.jsonl")),
    Scenario("repair", a_damaged_session, _nothing_more, mends=True),
    Scenario("mend", a_torn_session, _nothing_more),
    Scenario("bring back", a_lost_session, _nothing_more),
]


def told(context: Context) -> tuple[object, ...]:
    """All that a context says of itself."""
    return (
        [message.model_dump_json() for message in context.history],
        context.token_count,
        context.token_count_with_pending,
        context.n_checkpoints,
        context.system_prompt,
        [(mark.id, mark.offset, mark.history_index, mark.tokens) for mark in context.checkpoints],
    )


async def said_by(path: Path) -> tuple[object, ...]:
    """What a fresh process would know. Mends what a crash left."""
    context = Context(path)
    await context.restore()
    await context.close()
    return told(context)


async def all_said_by(path: Path) -> tuple[object, ...]:
    """The same, with what the rotations say."""
    return *(await said_by(path)), await _rotations(path)


async def _rotations(path: Path) -> list[object]:
    """What each says, which form it has, and how often it is there."""
    found: list[object] = []
    for rotation in await list_rotations(path):
        said = [message.text() for message in (await read_timeline_file(path.parent / rotation.file)).history]
        forms = sum(form.stat().st_size > 0 for form in path.parent.glob(f"{rotation.file}*"))
        found.append([rotation.file, said, rotation.compressed, forms])
    return found


def litter(folder: Path) -> list[str]:
    """Files that no healthy session has."""
    live = folder / "context.jsonl"
    unfinished = [path.name for path in folder.glob(".context*")]
    second_names = [path.name for path in folder.glob("context_*.jsonl") if live.exists() and path.samefile(live)]
    return unfinished + second_names

"""Whatever is done in whatever order, memory says what a replay of the file says, and nothing said is lost."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kimi_tui.context import Context, Message, index
from kimi_tui.context.reading import read_file
from kimi_tui.context.records import Bad, Blank, MessageLine, _parse_exactly, parse, read_message
from tests.context.scenarios import a_step, told, user

TEXTS = st.text(max_size=30)


class AgainstReplay(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.loop = asyncio.new_event_loop()
        self.said: set[str] = set()
        self.count = 0
        self._open()

    def _open(self) -> None:
        self.context = Context(self.folder / "context.jsonl", clock=lambda: 1.5)
        self._do(self.context.restore())

    def _do(self, work: Any) -> Any:
        return self.loop.run_until_complete(work)

    def _new(self, text: str) -> Message:
        self.count += 1
        message = user(f"{self.count} {text}")
        self.said.add(message.text().encode("utf-8", "replace").decode())
        return message

    @rule(text=TEXTS)
    def append(self, text: str) -> None:
        self._do(self.context.append_message(self._new(text)))

    @rule()
    def step(self) -> None:
        self._do(self.context.commit(messages=a_step(self.count), usage=self.count * 10))

    @rule(visible=st.booleans())
    def checkpoint(self, visible: bool) -> None:
        self._do(self.context.checkpoint(visible))

    @rule(prompt=TEXTS)
    def system_prompt(self, prompt: str) -> None:
        self._do(self.context.write_system_prompt(prompt))

    @precondition(lambda self: self.context.checkpoints)
    @rule(data=st.data(), mail=st.booleans())
    def revert(self, data: st.DataObject, mail: bool) -> None:
        mark = data.draw(st.sampled_from(list(self.context.checkpoints)))
        messages = [self._new("letter")] if mail else []
        self._do(self.context.rewrite("dmail", keep_until=mark.ref, checkpoint=mail, messages=messages))

    @rule(prompt=st.none() | TEXTS)
    def compact(self, prompt: str | None) -> None:
        summary = [self._new("summary")]
        self._do(
            self.context.rewrite(
                "compact", keep_until=None, system_prompt=prompt, checkpoint=True, messages=summary, usage=3
            )
        )

    @rule()
    def clear(self) -> None:
        self._do(self.context.clear())

    @rule()
    def undo(self) -> None:
        self._do(self.context.undo())

    @rule()
    def redo(self) -> None:
        self._do(self.context.redo())

    @precondition(lambda self: len(self.context.timeline.nodes) > 1)
    @rule(data=st.data())
    def go_to(self, data: st.DataObject) -> None:
        node = data.draw(st.sampled_from([node for node in self.context.timeline.nodes if not node.live]))
        target, _ = read_file(self.folder / node.file)
        marks = st.sampled_from([None, *(mark.ref for mark in target.checkpoints)])
        self._do(self.context.go_to(node.file, until=data.draw(marks)))

    @rule(junk=st.binary(max_size=20))
    def somebody_appends_junk(self, junk: bytes) -> None:
        with (self.folder / "context.jsonl").open("ab") as file:
            file.write(junk.replace(b"\n", b"") + b"\n")
        self._do(self.context.checkpoint(False))

    @rule()
    def restart(self) -> None:
        before, timeline = told(self.context), self.context.timeline
        self._do(self.context.close())
        self._open()
        assert told(self.context) == before
        assert self.context.timeline == timeline

    @invariant()
    def memory_says_what_the_file_says(self) -> None:
        if not self.context.file_backend.exists():
            return
        projection, torn = read_file(self.context.file_backend)
        mine = self.context.projection
        assert not torn
        assert told_by(projection) == told_by(mine)

    def teardown(self) -> None:
        self.everything_said_is_in_some_timeline()
        self._do(self.context.close())
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()
        shutil.rmtree(self.folder)

    def everything_said_is_in_some_timeline(self) -> None:
        found: set[str] = set()
        for path in self.folder.glob("context*.jsonl"):
            projection, _ = read_file(path)
            found |= {message.text() for message in projection.history}
        assert self.said <= found


def told_by(projection: Any) -> tuple[object, ...]:
    return (
        list(projection.history),
        [(m.id, m.offset, m.lines, m.history_index, m.tokens, m.at, m.system_prompt) for m in projection.checkpoints],
        (projection.system_prompt, projection.token_count, projection.tokens, projection.exact_at),
        (projection.next_id, projection.size, projection.lines, projection.left_out, projection.prompts),
    )


AgainstReplay.TestCase.settings = settings(
    max_examples=15, stateful_step_count=25, suppress_health_check=list(HealthCheck)
)
TestAgainstReplay = AgainstReplay.TestCase


class IndexedAgainstReplay(AgainstReplay):
    """The same when every start goes by an index, and bodies stay in the file."""

    def __init__(self) -> None:
        self.worth_it, index.WORTH_IT = index.WORTH_IT, 1
        super().__init__()

    def teardown(self) -> None:
        super().teardown()
        index.WORTH_IT = self.worth_it


IndexedAgainstReplay.TestCase.settings = AgainstReplay.TestCase.settings
TestIndexedAgainstReplay = IndexedAgainstReplay.TestCase


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)
PART = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "think", "image_url", "audio_url", "hologram"]) | JSON},
    optional={"text": TEXTS | JSON, "think": TEXTS, "encrypted": JSON, "image_url": JSON | st.just({"url": "u"})},
)
CALL = st.fixed_dictionaries(
    {"id": TEXTS, "function": JSON | st.fixed_dictionaries({"name": TEXTS}, optional={"arguments": TEXTS | JSON})},
    optional={"type": st.just("function") | JSON, "extras": JSON},
)
RECORD = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "tool", "system", "_checkpoint", "_usage", "_system_prompt"])
        | JSON
    },
    optional={
        "content": TEXTS | JSON | st.lists(PART | JSON, max_size=3),
        "tool_calls": JSON | st.lists(CALL, max_size=2),
        "tool_call_id": TEXTS | JSON,
        "name": JSON,
        "partial": JSON,
        "id": st.integers(0, 9) | JSON,
        "token_count": st.integers(0, 9) | JSON,
        "kt": JSON | st.fixed_dictionaries({"at": st.floats(0, 9)}),
        "x": JSON,
    },
)


@settings(max_examples=150)
@given(record=RECORD, cut=st.integers(0, 400), flip=st.integers(0, 255), ascii_only=st.booleans(), whole=st.booleans())
def test_the_fast_way_to_read_a_line_agrees_with_the_exact_one(
    record: dict[str, Any], cut: int, flip: int, ascii_only: bool, whole: bool
) -> None:
    line = json.dumps(record, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    if not whole:
        line = line[:cut] + bytes([flip]) + line[cut + 1 :]
        line = line.replace(b"\n", b"")
    fast, exact = parse(line), _parse_exactly(line)
    if isinstance(exact, MessageLine):
        assert isinstance(fast, MessageLine)
        message = read_message(line)
        written = message.model_dump_json(exclude_none=True)
        assert Message.model_validate_json(written).model_dump_json(exclude_none=True) == written
    elif isinstance(exact, Bad):
        assert isinstance(fast, Bad | Blank)
    else:
        assert fast == exact

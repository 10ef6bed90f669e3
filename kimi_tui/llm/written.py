"""A request in pieces: what each message looks like to a provider, remembered from one request to the next.

A request says again all that the one before it said. Of that, nothing is made anew: a step costs what is new in it.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kimi_tui.llm.model import ToolSpec
from kimi_tui.llm.pairing import CallIds
from kimi_tui.llm.text import rough_tokens
from kimi_tui.protocol.messages import Message


class Written:
    """A message as a provider wants it, as the text of that, and as a rough number of tokens. Not to be changed."""

    __slots__ = ("_text", "_tokens", "value")

    def __init__(self, value: dict[str, Any]) -> None:
        self.value = value
        self._text = ""
        self._tokens = -1

    @property
    def text(self) -> str:
        """Its JSON."""
        self._text = self._text or json.dumps(self.value, ensure_ascii=False)
        return self._text

    @property
    def tokens(self) -> int:
        if self._tokens < 0:
            self._tokens = rough_tokens(self.text)
        return self._tokens


Make = Callable[[Message], Written]
Known = Callable[[Message, Make], Written]
Entry = tuple[Message, Written]


@dataclass(frozen=True, slots=True)
class Front:
    """The part of a history that will look the same in every later request, and how it looks."""

    messages: Sequence[Message] = ()
    written: Sequence[Written] = ()
    ids: CallIds = field(default_factory=CallIds)
    """Those of its calls are taken."""
    entries: Mapping[int, Entry] = field(default_factory=dict)

    def opens(self, history: Sequence[Message]) -> bool:
        """Whether there is such a part, and the history begins with it."""
        return 0 < len(self.messages) <= len(history) and all(map(operator.is_, self.messages, history))


class Memory:
    """What the messages of the last request were made into, for one dialect. Messages are told apart by identity: a
    stored message never changes. May be used by several threads; at worst something is made twice."""

    def __init__(self) -> None:
        self._last: tuple[Hashable, dict[int, Entry], Front] = (None, {}, Front())
        self._tools: tuple[tuple[ToolSpec, ...], list[Written]] = ((), [])

    @contextmanager
    def of(self, dialect: Hashable) -> Iterator[Recall]:
        """Within the block: looks a message up, or has it made. After it, only what was asked for is still known."""
        made_for, entries, front = self._last
        recall = Recall(entries, front) if made_for == dialect else Recall({}, Front())
        yield recall
        self._last = (dialect, recall.asked, recall.front)

    def tools(
        self, specs: Sequence[ToolSpec], make: Callable[[Sequence[ToolSpec]], list[dict[str, Any]]]
    ) -> list[Written]:
        """The same for the tools that are offered, which hardly ever change."""
        known, found = self._tools
        if known != tuple(specs):
            found = [Written(value) for value in make(specs)]
            self._tools = (tuple(specs), found)
        return found


class Recall:
    """The memory of one request while it is made."""

    def __init__(self, entries: Mapping[int, Entry], front: Front) -> None:
        self._before, self._settled = entries, front.entries
        self.front = front
        self.asked: dict[int, Entry] = {}

    def known(self, message: Message, make: Make) -> Written:
        """What the message looks like."""
        found = self._before.get(id(message)) or self._settled.get(id(message))
        if found is None or found[0] is not message:
            found = (message, make(message))
        self.asked[id(message)] = found
        return found[1]


def as_json(fields: dict[str, Any], **lists: Sequence[Written]) -> bytes:
    """One object: the fields, then these lists; empty ones are left out."""
    parts = [f'"{name}": [{", ".join(each.text for each in items)}]' for name, items in lists.items() if items]
    return f"{{{', '.join([json.dumps(fields, ensure_ascii=False)[1:-1], *parts])}}}".encode("utf-8", "replace")

"""What the user sends while something runs: steers for the running turn, prompts for after it (MECHANISMS M22)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from kimi_tui.flows import Flow
from kimi_tui.protocol.events import Event, PromptReturned, QueueChanged
from kimi_tui.protocol.messages import ImageURLPart, Message, TextPart


@dataclass(frozen=True, slots=True)
class FlowCall:
    """A flow that is to be walked, and how far."""

    name: str
    flow: Flow
    max_moves: int | None
    request: str = ""
    """A word of the user's on this walk, told with its first turn."""
    max_cost: float | None = None
    """US dollars."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the user said, before it is a message."""

    text: str
    images: tuple[str, ...] = ()
    """Data URLs."""
    typed: str | None = None
    """What the user typed for it, where that was a command; empty when the program says it by itself."""
    label: str = ""
    """The name of the checkpoint before it."""
    flow: FlowCall | None = None
    """Walked in place of one turn."""

    @property
    def said(self) -> str:
        """What the user typed."""
        return self.text if self.typed is None else self.typed

    def message(self, at: float) -> Message:
        """As it is stored."""
        images = [ImageURLPart(image_url=ImageURLPart.ImageURL(url=url)) for url in self.images]
        named = {"typed": self.typed, "label": self.label if self.typed == "" else ""}
        noted = {"at": round(at, 3)} | {key: value for key, value in named.items() if value}
        return Message(role="user", content=[TextPart(text=self.text), *images], kt=noted)


@dataclass(slots=True)
class Steering:
    """Two queues. Nothing put in here is ever lost: it is taken once, or given back to the prompt."""

    emit: Callable[[Event], None]
    steers: list[Prompt] = field(default_factory=list)
    prompts: list[Prompt] = field(default_factory=list)
    changed: Callable[[], None] = lambda: None
    """Called whenever something else waits, so that it outlives a crash."""

    @property
    def waiting(self) -> bool:
        return bool(self.steers or self.prompts)

    @property
    def texts(self) -> tuple[str, ...]:
        """What waits, as the user typed it, in the order in which it goes out."""
        return tuple(prompt.said for prompt in (*self.steers, *self.prompts))

    def steer(self, prompt: Prompt, place: int | None = None) -> None:
        self.steers.insert(len(self.steers) if place is None else place, prompt)
        self._tell()

    def queue(self, prompt: Prompt, place: int | None = None) -> None:
        self.prompts.insert(len(self.prompts) if place is None else place, prompt)
        self._tell()

    def take(self, queue: Literal["steers", "prompts"], place: int, text: str) -> Prompt | None:
        """One of them, so that the others stay as they are; None when that text no longer waits."""
        waiting = self.steers if queue == "steers" else self.prompts
        places = [number for number, prompt in enumerate(waiting) if prompt.said == text]
        if not places:
            return None
        prompt = waiting.pop(min(places, key=lambda number: abs(number - place)))
        self._tell()
        return prompt

    def take_steers(self) -> list[Prompt]:
        """All steers, oldest first; the queue is empty afterwards."""
        taken, self.steers = self.steers, []
        if taken:
            self._tell()
        return taken

    def next_prompt(self) -> Prompt | None:
        """What the next turn is about: leftover steers first, then one queued prompt."""
        waiting = self.steers or self.prompts
        if not waiting:
            return None
        prompt = waiting.pop(0)
        self._tell()
        return prompt

    def give_back(self, reason: str) -> None:
        """Put everything back into the user's input."""
        waiting = [*self.steers, *self.prompts]
        if not waiting:
            return
        self.steers, self.prompts = [], []
        self._tell()
        self.emit(returned(waiting, reason))

    def _tell(self) -> None:
        texts, steers = self.texts, len(self.steers)
        self.emit(QueueChanged(texts[:steers], texts[steers:]))
        self.changed()


def returned(prompts: Iterable[Prompt], reason: str = "") -> PromptReturned:
    """They go back into the input, with what is attached."""
    prompts = list(prompts)
    images = tuple(image for prompt in prompts for image in prompt.images)
    return PromptReturned("\n\n".join(prompt.said for prompt in prompts), reason, images)

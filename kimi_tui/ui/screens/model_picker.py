"""Which model answers: the embedded ones, those of the config, or any model string that is typed.

Asks for `ListModels` and `SwitchModel`, listens to `ModelsListed`.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult

from kimi_tui.protocol.commands import ListModels, SwitchModel
from kimi_tui.protocol.events import Event, ModelsListed
from kimi_tui.protocol.views import ModelView
from kimi_tui.ui.cells import count, literal, plural
from kimi_tui.ui.listening import ask
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.screens.typed import Typed, TypedList
from kimi_tui.ui.tones import Rows, Span, spread
from kimi_tui.ui.widgets.sheet import Sheet, paragraph

TYPED = "any model string: provider/name, as litellm writes it"


class ModelList(TypedList[ModelView]):
    """A name that is not known is offered as it was typed."""

    current = ""

    def words(self, item: ModelView) -> str:
        return f"{item.name} {'embedded' if item.embedded else ''}"

    def same(self, one: ModelView, other: ModelView) -> bool:
        return one.name == other.name

    def sought(self, query: str) -> None:
        super().sought(query)
        name = query.strip()
        if name and all(item.name != name for item in self.shown):
            self.shown.append(ModelView(name, about=TYPED))
            self.resized()

    def spans(self, index: int, width: int) -> list[Span]:
        item = self.shown[index]
        lead: Span = (self.marks.cursor if index == self.cursor else " ", "now")
        mark = self.marks.now if item.name == self.current else " "
        left: list[Span] = [(f" {mark} ", "now"), (literal(item.name), "strong" if item.name == self.current else "")]
        if item.about == TYPED:
            left.append(("  use this", "quiet"))
        said = ["on this machine"] if item.embedded else []
        said += [f"{count(item.window)} window"] if item.window else []
        return [lead, *spread(left, [(" · ".join(said), "quiet")], width - 2)]

    def about(self, width: int) -> Rows:
        item = self.item
        if item is None:
            return [[("type a model string", "quiet")]]
        can = [word for word, yes in (("tools", item.tools), ("images", item.vision)) if yes]
        rows: Rows = [[(literal(item.name), "strong"), (f"  {', '.join(can)}" if item.about != TYPED else "", "quiet")]]
        return [*rows, *paragraph(item.about, width, "", 4)] if item.about else rows


class ModelPicker(Typed[ModelView]):
    """See the module. `current` is listed until the agent has told the others."""

    def __init__(self, current: ModelView | None = None, marks: Marks = UNICODE) -> None:
        super().__init__()
        self.listing = self.models = ModelList(marks, classes="listing")
        self._current = current

    def body(self) -> ComposeResult:
        yield self.models
        yield Sheet(self.models.about, classes="about")

    def on_mount(self) -> None:
        super().on_mount()
        if self._current is not None:
            self.take(ModelsListed((self._current,), self._current.name))
        ask(self, ListModels())

    def take(self, event: Event) -> None:
        if isinstance(event, ModelsListed):
            self.models.current = event.current
            self.models.show(event.models)
            names = [model.name for model in event.models]
            if event.current in names and not self.models.query_text:
                self.models.rest(names.index(event.current))
            self.frame_changed()

    def title_words(self) -> str:
        return "MODELS"

    def facts(self, width: int) -> str:
        return plural(len(self.models.items), "model")

    def keys(self) -> Sequence[tuple[str, str]]:
        return (("enter", "use"), ("type", "search, or any model string"), ("esc", "back"))

    def use(self, item: ModelView) -> None:
        if item.name != self.models.current:
            ask(self, SwitchModel(item.name))
        self.dismiss()

"""`/theme`: the colours, ours first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.app import ComposeResult

from kimi_tui.ui import theme
from kimi_tui.ui.cells import plural
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.screens.typed import Typed, TypedList
from kimi_tui.ui.tones import Rows, Span, spread
from kimi_tui.ui.widgets.sheet import Sheet

ABOUT = {
    theme.DARK: "light on dark",
    theme.LIGHT: "dark on light",
    theme.CONTRAST: "as far apart as colours go",
    theme.TERMINAL: "the terminal's own sixteen colours",
}


class ThemeList(TypedList[str]):
    """Names of themes; the one in use has a mark."""

    current = ""

    def words(self, item: str) -> str:
        return f"{item} {ABOUT.get(item, '')}"

    def called(self, item: str) -> str:
        return theme.short(item)

    def spans(self, index: int, width: int) -> list[Span]:
        item = self.shown[index]
        lead: Span = (self.marks.cursor if index == self.cursor else " ", "now")
        mark = self.marks.now if item == self.current else " "
        left: list[Span] = [(f" {mark} ", "now"), (item, "strong" if item == self.current else "")]
        return [lead, *spread(left, [(ABOUT.get(item, ""), "quiet")], width - 2)]

    def about(self, width: int) -> Rows:
        if self.item is None:
            return [[("no theme is called like that", "quiet")]]
        return [
            [
                ("to keep it: ", "quiet"),
                (f'theme = "{theme.short(self.item)}"', "code"),
                (" in [ui] of the config", "quiet"),
            ],
            [
                ("now ", "now"),
                ("moved ", "moved"),
                ("folded ", "fold"),
                ("good ", "good"),
                ("bad ", "bad"),
                ("quiet", "quiet"),
            ],
        ]


class Themes(Typed[str]):
    """See the module. A theme that is chosen is in force at once, and the page stays for comparing."""

    def __init__(self, names: Iterable[str], current: str, marks: Marks = UNICODE) -> None:
        super().__init__()
        self.listing = self.themes = ThemeList(marks, classes="listing")
        self._names = [*ABOUT, *sorted(set(names) - set(ABOUT))]
        self.themes.current = current

    def body(self) -> ComposeResult:
        yield self.themes
        yield Sheet(self.themes.about, classes="about")

    def on_mount(self) -> None:
        super().on_mount()
        self.themes.show(self._names)
        self.themes.rest(self._names.index(self.themes.current))

    def use(self, item: str) -> None:
        self.app.theme = self.themes.current = item
        self.themes.refresh()
        self.frame_changed()

    def title_words(self) -> str:
        return "COLOURS"

    def facts(self, width: int) -> str:
        return plural(len(self._names), "theme")

    def keys(self) -> Sequence[tuple[str, str]]:
        return (("enter", "use"), ("type", "search"), ("esc", "back"))

"""The session picker: this folder's first, others after, kimi-cli's marked, those open elsewhere marked too.

Asks for `ListSessions`, `OpenSession`, `NewSession`, `SetTitle` and `RemoveSession`, listens to `SessionsListed`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from kimi_tui.protocol.commands import ListSessions, NewSession, OpenSession, RemoveSession, SetTitle
from kimi_tui.protocol.events import Event, SessionsListed
from kimi_tui.protocol.views import SessionView
from kimi_tui.ui.cells import ago, cut_start, literal, plural, size
from kimi_tui.ui.listening import ask
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.screens.dialog import Ask
from kimi_tui.ui.screens.line_prompt import LinePrompt
from kimi_tui.ui.screens.page import Page
from kimi_tui.ui.tones import Rows, Span, spread
from kimi_tui.ui.widgets.options import Option
from kimi_tui.ui.widgets.searched import PickList
from kimi_tui.ui.widgets.sheet import Sheet, paragraph

KEYS = (("enter", "open"), ("n", "new"), ("t", "title"), ("x", "delete"), ("/", "search"), ("esc", "back"))


def title_of(session: SessionView) -> str:
    return literal(session.title).strip() or "untitled"


def folder_of(session: SessionView) -> str:
    """The work folder, with the home folder as `~`."""
    home = str(Path.home())
    folder = literal(session.work_dir)
    return "~" + folder.removeprefix(home) if folder == home or folder.startswith(f"{home}/") else folder


class SessionList(PickList[SessionView]):
    """One row a session: title, where from, when."""

    def __init__(self, marks: Marks, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.marks = marks
        self.clock = time.time

    def words(self, item: SessionView) -> str:
        return f"{item.title} {item.id} {item.work_dir} {'kimi-cli' if item.foreign else ''}"

    def same(self, one: SessionView, other: SessionView) -> bool:
        return one.path == other.path

    def spans(self, index: int, width: int) -> list[Span]:
        item = self.shown[index]
        lead: Span = (self.marks.cursor if index == self.cursor else " ", "now")
        left: list[Span] = [(f" {title_of(item)}", "" if item.title.strip() else "quiet")]
        if item.foreign:
            left.append(("  kimi-cli", "moved"))
        if item.locked:
            left.append(("  open elsewhere", "bad"))
        said = f"{ago(item.at, self.clock()):>7}"
        if width >= 70 and item.messages is not None:
            said = plural(item.messages, "message") + said
        return [lead, *spread(left, [(said, "quiet")], width - 2)]

    def about(self, width: int) -> Rows:
        """Everything known about the one under the cursor."""
        item = self.item
        if item is None:
            return [[("nothing found" if self.items else "no sessions yet", "quiet")]]
        facts = [plural(item.messages, "message")] if item.messages is not None else []
        facts += [size(item.size), ago(item.at, self.clock()), literal(item.id)]
        return [
            *paragraph(title_of(item), width, "strong", 2),
            [(cut_start(folder_of(item), width), "")],
            *paragraph(" · ".join(facts), width, "quiet", 2),
        ]


class Sessions(Page):
    """See the module. `current` is the path of the open session."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new", "new"),
        Binding("t", "title", "title"),
        Binding("x,delete", "delete", "delete"),
    ]

    def __init__(self, current: str = "", marks: Marks = UNICODE) -> None:
        super().__init__()
        self.current = current
        self.sessions = SessionList(marks, classes="listing")

    def body(self) -> ComposeResult:
        yield self.sessions
        yield Sheet(self.sessions.about, classes="about")

    def on_mount(self) -> None:
        self.sessions.focus()
        ask(self, ListSessions())

    def take(self, event: Event) -> None:
        if isinstance(event, SessionsListed):
            self.sessions.show(event.sessions)
            self.frame_changed()

    def title_words(self) -> str:
        return "SESSIONS"

    def facts(self, width: int) -> str:
        return plural(len(self.sessions.items), "session")

    def keys(self) -> Sequence[tuple[str, str]]:
        return KEYS

    def searched(self) -> SessionList:
        return self.sessions

    @on(PickList.Highlighted)
    def _aim(self) -> None:
        self.query_one(".about", Sheet).changed()

    @on(PickList.Chosen)
    def _open(self) -> None:
        chosen = self.sessions.item
        if chosen is not None:
            if chosen.path != self.current:
                ask(self, OpenSession(chosen.path))
            self.dismiss()

    def action_new(self) -> None:
        ask(self, NewSession())
        self.dismiss()

    def action_title(self) -> None:
        chosen = self.sessions.item
        if chosen is None:
            return

        def rename(title: str | None) -> None:
            if title:
                ask(self, SetTitle(title, chosen.path))
                ask(self, ListSessions())

        self.app.push_screen(LinePrompt("A title for this session", chosen.title), rename)

    def action_delete(self) -> None:
        chosen = self.sessions.item
        if chosen is None:
            return
        if chosen.path == self.current or chosen.locked:
            where = "this session is open here" if chosen.path == self.current else "it is open elsewhere"
            self.notify(f"It cannot be deleted: {where}.", severity="warning", markup=False)
            return
        about = f"{size(chosen.size)} with all its rotations. This cannot be undone."
        options = (Option("keep", "keep it"), Option("delete", "delete", tone="bad"))

        def remove(answer: str | None) -> None:
            if answer == "delete":
                ask(self, RemoveSession(chosen.path))
                ask(self, ListSessions())

        self.app.push_screen(Ask(f"Delete «{title_of(chosen)}»?", options, about, tone="bad"), remove)

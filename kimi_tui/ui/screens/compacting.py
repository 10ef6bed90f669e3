"""What the user can do about compactions on the main screen: have one now, put it off, pin, read a summary."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.ui.screens.searching import Searching
from kimi_tui.ui.widgets.reader import Reader
from kimi_tui.ui.widgets.soft_warning import SoftWarning, Wish

ABOUT_FOCUS = "What must the summary keep?"


class Compacting(Searching):
    """See the module. The keys mean something only while the row above the prompt offers them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("alt+c", "compaction('now')", "compact now, or read the summary", id="compact_now", priority=True),
        Binding("alt+k", "compaction('focus')", "compact with a focus", id="compact_focus", priority=True),
        Binding("alt+p", "compaction('pin')", "pin messages for compactions", id="pin", priority=True),
        Binding("alt+z", "compaction('snooze')", "warn of a compaction later", id="snooze", priority=True),
    ]

    _by_hand = False
    """The compaction that runs was asked for: its summary may open by itself."""

    def action_compaction(self, wish: Wish) -> None:
        if wish == "now" and self.soft_warning.offers("read"):
            wish = "read"
        if self.soft_warning.offers(wish):
            self._wished(wish)

    @on(SoftWarning.Asked)
    def _asked(self, event: SoftWarning.Asked) -> None:
        self._wished(event.wish)

    def _wished(self, wish: Wish) -> None:
        match wish:
            case "now":
                self.submit(cmd.Compact())
            case "focus":
                self._ask_for_focus()
            case "pin":
                self.transcript.focus()
            case "snooze":
                self.submit(cmd.SnoozeCompaction())
            case "read":
                self._read_proposal()

    def _ask_for_focus(self) -> None:
        from kimi_tui.ui.pages import LinePrompt

        def compact(focus: str | None) -> None:
            if focus is not None:
                self.submit(cmd.Compact(focus))

        self.app.push_screen(LinePrompt(ABOUT_FOCUS, verb="compact"), compact)

    @on(Reader.Pinned)
    def _pin(self, event: Reader.Pinned) -> None:
        self.submit(cmd.PinEntry(event.index, event.on))

    @on(Reader.Opened)
    def _open_rotation(self, event: Reader.Opened) -> None:
        self.sidebar.browse(event.file)

    # --- the proposal --------------------------------------------------------------------------------------------

    def take_compaction(self, event: ev.Event) -> None:
        """A summary that was asked for opens by itself, unless something is being typed."""
        match event:
            case ev.CompactionStarted(reason):
                self._by_hand = reason == "manual"
            case ev.CompactionProposed() if self._by_hand and self.is_current and not self.editor.text:
                self._read_proposal()

    def _read_proposal(self) -> None:
        from kimi_tui.ui.pages import SummaryEditor

        if self.state.proposal is not None:
            self.app.push_screen(SummaryEditor(self.state.proposal, self.marks))

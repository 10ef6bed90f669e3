"""What opens over the chat: pages of slash commands, the help, the command palette, the themes."""

from __future__ import annotations

from collections.abc import Mapping

from textual.screen import Screen

from kimi_tui.ui import keymap, slash, theme
from kimi_tui.ui.leaving import Leaving
from kimi_tui.ui.marks import Marks
from kimi_tui.ui.offers import Offer, offers


class Opening(Leaving):
    """The pages themselves are loaded when the first of them is opened."""

    marks: Marks
    bound: Mapping[str, str]
    """Keys of the config, by the names of their actions."""

    def open_page(self, name: str) -> None:
        from kimi_tui.ui import pages

        opened = pages.page(name, self.chat.state, self.marks)
        if opened is not None:
            self._put_over(opened)

    def _put_over(self, page: Screen[None]) -> None:
        if not isinstance(self.screen, type(page)):
            self.push_screen(page)

    def action_help(self) -> None:
        from kimi_tui.ui.pages import Help

        if isinstance(self.screen, Help):
            self.screen.dismiss()
        else:
            self.push_screen(Help(slash.known(self.chat.state), self.bound))

    def choose_theme(self, name: str) -> None:
        """By its name; without one there is a page to choose from."""
        from kimi_tui.ui.pages import Themes

        wanted = theme.ALIASES.get(name, name)
        if not name:
            self._put_over(Themes(self.available_themes, self.theme, self.marks))
        elif wanted in self.available_themes:
            self.theme = wanted
        else:
            self.notify(f"There is no theme {name}.", severity="warning", markup=False)

    # --- the palette ---------------------------------------------------------------------------------------------

    def action_palette(self) -> None:
        from kimi_tui.ui.pages import CommandPalette

        if self.screen is not self.chat:
            if isinstance(self.screen, CommandPalette):
                self.screen.dismiss()
            return
        bindings = keymap.named((*keymap.bindings_of(self.chat), *type(self).BINDINGS))
        known = slash.known(self.chat.state)
        self.push_screen(CommandPalette(offers(known, bindings, self.bound), self._take_up, self.marks))

    async def _take_up(self, offer: Offer) -> None:
        match offer.kind:
            case "write":
                self.chat.editor.put(offer.does + self.chat.editor.text)
            case "press":
                await self.run_action(offer.does, self.chat) or await self.run_action(offer.does, self)
            case "run" if (meaning := slash.read(offer.does, self.chat.state)) is not None:
                self.chat.mean(meaning)

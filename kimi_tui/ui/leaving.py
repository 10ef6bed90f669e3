"""The ways out of the app. The user is asked first when tasks would end with the session; a signal asks nobody."""

from __future__ import annotations

import asyncio
import errno
import signal
import sys
import threading
from collections.abc import Awaitable, Callable

from textual.app import App

from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol.ports import AgentPort
from kimi_tui.ui.screens.chat import ChatScreen

PATIENCE = 5.0
"""Seconds that the agent gets to close before the screen goes anyway."""


LOOK_EVERY = 2.0
"""Seconds between two looks at whether the terminal is still there; a look is one system call."""


def terminal_is_gone() -> bool:
    """The other end of the terminal that is read from was closed. False where none is read from."""
    try:
        import termios

        termios.tcgetattr(sys.__stdin__.fileno() if sys.__stdin__ else -1)
    except (ImportError, OSError, ValueError):
        return False
    except termios.error as error:
        return bool(error.args[0] == errno.EIO)
    return False


class Leaving(App[None]):
    """See the module."""

    chat: ChatScreen
    farewell: str = ""
    """For the caller to print."""
    _agent: AgentPort | None = None
    _leaving = False

    def heed_signals(self) -> None:
        if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGABRT):
            if signal.getsignal(number) is signal.SIG_DFL:  # else whoever started the app has taken care of it
                asyncio.get_running_loop().add_signal_handler(number, self.told_to_end)

    def heed_terminal(self) -> None:
        """Leave when the terminal is gone and no signal said so; reading from it would find its end for ever."""
        self.set_interval(LOOK_EVERY, self._leave_a_lost_terminal)

    def _leave_a_lost_terminal(self) -> None:
        if not self._leaving and terminal_is_gone():
            self.told_to_end()

    def told_to_end(self) -> None:
        """From outside, e.g. by a closed terminal: files are closed and the terminal is put back."""
        self.call_later(self.action_quit)

    async def action_quit(self) -> None:
        """Let the agent close its files first; a second time does not wait. Asks nothing."""
        self.farewell = self.chat.state.resume_hint
        if self._agent is None or self._leaving or self.chat.state.closed:
            self.exit()
            return
        self._leaving = True
        self._agent.submit(cmd.KeepDraft(self.chat.editor.draft))
        self._agent.submit(cmd.Close())
        self.set_timer(PATIENCE, self.exit)

    async def action_depart(self) -> None:
        """The user wants to leave."""
        await self.part(self.action_quit)

    async def action_leave(self) -> None:
        """Ctrl+D: delete to the right in a prompt with text, else leave."""
        if self.screen is self.chat and self.chat.editor.text:
            self.chat.editor.action_delete_right()
        else:
            await self.action_depart()

    async def action_interrupt(self) -> None:
        """Ctrl+C: what the chat has for it, else leave."""
        if self.screen is self.chat and self.chat.interrupt():
            return
        await self.action_depart()

    async def part(self, go: Callable[[], Awaitable[None]]) -> None:
        """`go` away from the session, unless tasks run that would end with it and the user would rather stay."""
        tasks = self.chat.state.ending
        if not tasks or self._leaving or self.chat.state.failed:
            await go()
            return
        from kimi_tui.ui.pages import Parting

        async def answered(answer: str | None) -> None:
            if answer == "leave":
                await go()

        if not isinstance(self.screen, Parting):
            self.push_screen(Parting(tasks), answered)


def leaves(command: cmd.Command) -> bool:
    """Whether the session is closed by it."""
    return isinstance(command, cmd.NewSession | cmd.OpenSession | cmd.Fork)

"""The app: shows the first frame, then connects to an agent, brings its events to the screen and commands to it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from pathlib import PurePath
from typing import ClassVar

from rich.console import RenderableType
from textual import events, on
from textual.app import SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.screen import Screen

from kimi_tui.options import UiOptions
from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.ports import AgentPort, Connect
from kimi_tui.resources import folder
from kimi_tui.ui import answers, attention, escapes, external, keymap, theme
from kimi_tui.ui.asks import Do, Edit, Submit
from kimi_tui.ui.exhibiting import Exhibiting
from kimi_tui.ui.lasting import LastingOutput
from kimi_tui.ui.leaving import leaves, terminal_is_gone
from kimi_tui.ui.listening import Listens
from kimi_tui.ui.marks import ASCII, UNICODE
from kimi_tui.ui.opening import Opening
from kimi_tui.ui.pump import FRAME, Pump
from kimi_tui.ui.screens.chat import ChatScreen


class KimiApp(Exhibiting, Opening):
    """Composes, starts the workers, routes. After `run`, `farewell` is for the caller to print."""

    TITLE = "kimi-tui"
    ENABLE_COMMAND_PALETTE = False
    CSS_PATH: ClassVar[list[str | PurePath]] = [
        folder("styles") / f"{name}.tcss" for name in ("app", "prompt", "chat", "help")
    ]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", "copy, stop, clear, leave", id="interrupt", priority=True, show=False),
        Binding("ctrl+d", "leave", "leave (empty prompt)", id="leave", priority=True, show=False),
        Binding("ctrl+z", "suspend_process", "suspend", id="suspend", priority=True, show=False),
        Binding("ctrl+g", "editor", "write the prompt in your editor", id="editor", priority=True),
        Binding("f1", "help", "help", id="help", priority=True),
        Binding("ctrl+p", "palette", "all commands, to search and run", id="palette", priority=True),
        Binding("ctrl+q", "depart", "leave", id="quit", show=False),
    ]

    def __init__(self, connect: Connect, options: UiOptions | None = None, *, prompt: str = "") -> None:
        """`prompt` is sent as soon as there is an agent."""
        super().__init__()
        escapes.teach()
        answers.teach()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-thin"), (20, "-narrow"), (100, "-wide"), (160, "-huge")]
        self.VERTICAL_BREAKPOINTS = [(0, "-slip"), (5, "-flat"), (10, "-low"), (14, "-tall")]
        self.options = options or UiOptions()
        self.use_all_colours(self.options.images)
        self._connect = connect
        self._early: list[cmd.Command] = [cmd.SendPrompt(prompt)] if prompt else []
        self._heading = ""
        self._pump: Pump | None = None
        self.marks = ASCII if self.options.ascii else UNICODE
        self.chat = ChatScreen(self.marks)
        for known in theme.THEMES:
            self.register_theme(known)
        wanted = theme.resolve(self.options.theme, self.console.color_system)
        self.theme = wanted if wanted in self.available_themes else theme.DARK
        self.bound = self.options.keys
        self.set_keymap(self.bound)
        self.chat.name_keys(keymap.Names(self.bound))

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme.DEFAULTS

    def _build_driver(self, headless: bool, inline: bool, mouse: bool, size: tuple[int, int] | None) -> Driver:
        driver = super()._build_driver(headless, inline, mouse, size)
        if (file := vars(driver).get("_file")) is not None:
            vars(driver)["_file"] = LastingOutput(file)
        return driver

    @property
    def broke(self) -> Exception | None:
        """The fault of the program's own that ended it, if one did."""
        return self._exception

    def _fatal_error(self) -> None:
        """No page of frames with the values of all variables, keys among them: who started the app tells what broke."""
        self._close_messages_no_wait()

    def panic(self, *renderables: RenderableType) -> None:
        """Nor is one drawn where Textual knows of no fault: its thread that reads the keys has died."""
        if self._exception is not None:
            self._fatal_error()
            return
        if not terminal_is_gone():
            self._exception = OSError(f"the terminal could not be read any more{_reason(renderables)}")
        self.told_to_end()

    def get_default_screen(self) -> Screen[None]:
        return self.chat

    def on_mount(self) -> None:
        for problem in keymap.problems(
            self.options.keys, keymap.defaults((*self.BINDINGS, *keymap.bindings_of(self.chat)))
        ):
            self.notify(problem, severity="warning", markup=False)
        self.call_after_refresh(self._start)

    def _start(self) -> None:
        self.say(attention.PUSH_TITLE)
        self.run_worker(self._serve(), name="agent")
        self.heed_signals()
        self.heed_terminal()
        self.exhibit(self.options.images)

    # --- the agent -----------------------------------------------------------------------------------------------

    async def _serve(self) -> None:
        """From connecting to the end. Nothing that goes wrong here takes the screen down without a word."""
        try:
            agent = await self._connect()
        except Exception as error:
            self.farewell = str(error) or type(error).__name__
            self.exit(return_code=1)
            return
        self._agent = agent
        for command in self._early:
            agent.submit(command)
        running = asyncio.ensure_future(self._run(agent))
        try:
            self._pump = Pump(self.deliver)
            await self._pump.run(agent.events())
        except Exception as error:
            logging.getLogger(__name__).exception("the screen broke")
            self.farewell = f"The screen broke and was closed; what is on disk is safe. ({error})"
            self.exit(return_code=1)
        finally:
            running.cancel()

    async def _run(self, agent: AgentPort) -> None:
        """An agent that ends with an error leaves a screen that says so and can still be read."""
        try:
            await agent.run()
        except Exception as error:
            await asyncio.sleep(3 * FRAME)  # what it told before it broke comes first
            said = str(error) or type(error).__name__
            self.deliver([ev.Failed(said, "What is on disk is safe. Start again to go on.")])

    async def on_event(self, event: events.Event) -> None:
        if self._pump is not None and isinstance(event, events.Key | events.Paste):
            self._pump.key()
        await super().on_event(event)

    def deliver(self, batch: Sequence[ev.Event]) -> None:
        self.chat.deliver(batch)
        for event in batch:
            for screen in self.screen_stack[1:]:
                if isinstance(screen, Listens):
                    screen.take(event)
            match event:
                case ev.Closed(resume_hint):
                    self.farewell = resume_hint
                    self.exit()

            if self.options.notifications and (words := attention.worth_a_bell(event, looking=self.app_focus)):
                self.say(attention.notification(words))
        self._entitle()

    def _entitle(self) -> None:
        """The window tells the state also while it is not looked at."""
        heading = attention.heading(self.chat.state, self.marks)
        if heading != self._heading:
            self._heading = heading
            self.say(attention.title(heading))

    def on_unmount(self) -> None:
        self.say(attention.POP_TITLE)

    @on(Submit)
    async def _submit(self, event: Submit) -> None:
        if leaves(event.command):
            await self.part(partial(self._hand_over, event.command))
        else:
            await self._hand_over(event.command)

    async def _hand_over(self, command: cmd.Command) -> None:
        if self._agent is None:
            self._early.append(command)
        else:
            self._agent.submit(command)

    # --- requests to the app -------------------------------------------------------------------------------------

    @on(Do)
    async def _do(self, event: Do) -> None:
        match event.name:
            case "theme":
                self.choose_theme(event.argument)
            case "help":
                self.action_help()
            case "exit":
                await self.action_depart()
            case name:
                self.open_page(name)

    # --- the editor ----------------------------------------------------------------------------------------------

    def action_editor(self) -> None:
        if self.screen is self.chat:
            self.post_message(Edit(self.chat.editor.whole, keep=True))

    @on(Edit)
    def _edit(self, event: Edit) -> None:
        self.run_worker(self._edit_outside(event.text, event.keep), group="editor", exclusive=True)

    async def _edit_outside(self, text: str, keep: bool) -> None:
        """The agent goes on meanwhile; only painting waits."""
        written = None
        try:
            with self.suspend(), self.batch_update():
                written = await external.edit(text)
        except (OSError, ValueError, SuspendNotSupported) as error:
            self.notify(f"The editor could not be started: {error}. Set $EDITOR.", severity="error", markup=False)
        self.refresh(layout=True)
        if keep and written is not None:
            self.chat.editor.put(written)


def _reason(renderables: Sequence[RenderableType]) -> str:
    """What the page would have said, without its frames."""
    stacks = (stack for page in renderables for stack in getattr(getattr(page, "trace", None), "stacks", ()))
    return next((f": {stack.exc_type}: {stack.exc_value}" for stack in stacks), "")

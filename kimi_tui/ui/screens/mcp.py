"""The servers of tools: which are ready, what they offer, what went wrong with the others and what those said.

Asks for `ListMcp`, `RestartMcp`, `SignInMcp`, `AnswerSignInMcp` and `SignOutMcp`, listens to `McpChanged`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType

from kimi_tui.protocol.commands import AnswerSignInMcp, ListMcp, RestartMcp, SignInMcp, SignOutMcp
from kimi_tui.protocol.events import Event, McpChanged
from kimi_tui.protocol.views import McpServerView
from kimi_tui.ui.cells import lasted, literal, plural
from kimi_tui.ui.listening import ask
from kimi_tui.ui.marks import UNICODE, Marks
from kimi_tui.ui.screens.beside import Beside
from kimi_tui.ui.screens.line_prompt import LinePrompt
from kimi_tui.ui.tones import Rows, Span, spread
from kimi_tui.ui.widgets.readout import printed
from kimi_tui.ui.widgets.searched import PickList
from kimi_tui.ui.widgets.sheet import paragraph

ELSEWHERE = (
    "The browser comes back by itself. If it runs on another machine it ends on a page that cannot be reached: "
    "press p, and paste the address of that page."
)
HOW = "Servers are set up under [mcp.<name>] in the config, or in mcp.json of the data folder."


def mark_of(server: McpServerView, marks: Marks) -> Span:
    match server.state:
        case "ready":
            return marks.ok, "good"
        case "failed":
            return marks.bad, "bad"
        case "starting":
            return marks.running, "now"
        case "locked":
            return marks.refused, "moved"
    return marks.stopped, "moved"


STATES = {"locked": "sign in"}
"""What a state is called, where its name does not say it."""


def state_of(server: McpServerView) -> str:
    return STATES.get(server.state, server.state)


class ServerList(PickList[McpServerView]):
    """One row a server: state, name, how it is reached, how many tools."""

    def __init__(self, marks: Marks = UNICODE, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.marks = marks
        self.clock = time.time
        self.heard = False
        """Whether there has been an answer."""

    def words(self, item: McpServerView) -> str:
        return f"{item.name} {item.state} {item.transport} {item.target} {' '.join(item.tools)}"

    def same(self, one: McpServerView, other: McpServerView) -> bool:
        return one.name == other.name

    def spans(self, index: int, width: int) -> list[Span]:
        item = self.shown[index]
        mark, tone = mark_of(item, self.marks)
        lead: Span = (self.marks.cursor if index == self.cursor and self.has_focus else " ", "now")
        left: list[Span] = [(f"{mark} ", tone), (literal(item.name), ""), (f"  {item.transport}", "quiet")]
        right = plural(len(item.tools), "tool") if item.state == "ready" else state_of(item)
        return [lead, *spread(left, [(right, "quiet")], width - 2)]

    def about(self, width: int) -> Rows:
        """Name, state and address of the one under the cursor."""
        item = self.item
        if item is None:
            return paragraph(self._nothing(), width, "quiet", 4)
        mark, tone = mark_of(item, self.marks)
        again = ""
        if item.retry_at is not None and item.state == "failed":
            again = f"tries again in {lasted(item.retry_at - self.clock() + 0.99)}"
        left: list[Span] = [(f"{mark} ", tone), (literal(item.name), "strong"), (f"  {state_of(item)}", "quiet")]
        target = f"{item.transport} · {literal(item.target)}" if item.target else item.transport
        return [spread(left, [(again, "moved")], width), *paragraph(target, width, "quiet", 2)]

    def _nothing(self) -> str:
        if self.items:
            return "nothing found"
        return f"No server is set up. {HOW}" if self.heard else "asking …"


def report(server: McpServerView, width: int) -> Rows:
    """What is worth reading about a server: its fault, its tools, its own last words."""
    rows: Rows = []
    if server.sign_in_at:
        rows += _signing_in(server.sign_in_at, width)
    elif server.error:
        now = server.state == "failed"
        rows += [
            [("error" if now else "last error", "quiet")],
            *printed(server.error, width, "bad" if now else "", "  "),
        ]
    if server.tools:
        rows += [[]] if rows else []
        rows += [
            [("tools", "quiet")],
            *(_tool(server, name) for name in zip(server.originals, server.tools, strict=True)),
        ]
    if server.prompts:
        rows += [[]] if rows else []
        names = ([(f"  {literal(name)}", "")] for name in server.prompts)
        rows += [[("prompts", "quiet"), (f"  /mcp:{literal(server.name)}:…", "faint")], *names]
    if server.resources:
        rows += [[]] if rows else []
        rows += [[("resources", "quiet"), ("  read by the model's tools", "faint")]]
    if server.said:
        rows += [[]] if rows else []
        rows += [[("what it said", "quiet")], *printed(server.said, width, indent="  ")]
    return rows or [[("nothing to tell yet", "faint")]]


def _tool(server: McpServerView, names: tuple[str, str]) -> list[Span]:
    """As its server calls it; what the model and a rule call it, where that cannot be told from it."""
    original, name = names
    plain = name == f"mcp__{server.name}__{original}"
    return [(f"  {literal(original)}", ""), *([] if plain else [(f"  {name}", "faint")])]


def _signing_in(address: str, width: int) -> Rows:
    """Where the user goes to sign in, and what if the browser runs elsewhere."""
    return [
        [("sign in at this address, with any browser", "quiet")],
        *printed(address, width, "now", "  "),
        [],
        *paragraph(ELSEWHERE, width, "quiet", 6),
    ]


class Mcp(Beside):
    """See the module."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "restart", "restart"),
        Binding("s", "sign_in", "sign in"),
        Binding("p", "paste", "paste where the browser ended"),
        Binding("c", "copy", "copy the address"),
        Binding("o", "sign_out", "sign out"),
    ]

    def __init__(self, marks: Marks = UNICODE) -> None:
        super().__init__()
        self.servers = ServerList(marks)
        self._shown: McpServerView | None = None

    @property
    def listing(self) -> ServerList:
        return self.servers

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(1.0, self.head_changed)  # the next try comes nearer
        ask(self, ListMcp())

    def take(self, event: Event) -> None:
        if isinstance(event, McpChanged):
            self.servers.heard = True
            self.servers.show(event.servers)
            self.frame_changed()

    @on(PickList.Highlighted)
    def _aim(self) -> None:
        self.head_changed()
        server = self.servers.item
        if server != self._shown:
            self._shown = server
            self.frame_changed()
            self.reading.say(lambda width: report(server, width) if server else [])

    def title_words(self) -> str:
        return "MCP SERVERS"

    def facts(self, width: int) -> str:
        ready = [server for server in self.servers.items if server.state == "ready"]
        tools = plural(sum(len(server.tools) for server in ready), "tool")
        return f"{len(ready)} of {len(self.servers.items)} ready · {tools}" if self.servers.items else ""

    def head(self, width: int) -> Rows:
        return self.servers.about(width)

    def list_keys(self) -> Sequence[tuple[str, str]]:
        return (("enter", "read"), *self._own_keys(), ("/", "search"), ("esc", "back"))

    def read_keys(self) -> Sequence[tuple[str, str]]:
        return (("↑↓", "scroll"), *self._own_keys(), ("esc", "list"))

    def _own_keys(self) -> Sequence[tuple[str, str]]:
        """What can be done with the server under the cursor, most wanted first."""
        server = self.servers.item
        if server is None:
            return ()
        if server.sign_in_at:
            return (("c", "copy"), ("p", "paste"), ("o", "stop"))
        if server.state == "locked":
            return (("s", "sign in"), ("r", "restart"))
        return (("r", "restart"), ("o", "sign out")) if server.signed_in else (("r", "restart"),)

    def action_restart(self) -> None:
        if self.servers.item is not None:
            ask(self, RestartMcp(self.servers.item.name))

    def action_sign_in(self) -> None:
        server = self.servers.item
        if server is not None and server.transport != "stdio":
            ask(self, SignInMcp(server.name))

    def action_sign_out(self) -> None:
        server = self.servers.item
        if server is not None and (server.signed_in or server.sign_in_at):
            ask(self, SignOutMcp(server.name))

    def action_copy(self) -> None:
        server = self.servers.item
        if server is not None and server.sign_in_at:
            self.app.copy_to_clipboard(server.sign_in_at)
            self.notify("The address is in the clipboard.", timeout=2)

    def action_paste(self) -> None:
        server = self.servers.item
        if server is None or not server.sign_in_at:
            return

        def answer(address: str | None) -> None:
            if address:
                ask(self, AnswerSignInMcp(server.name, address))

        self.app.push_screen(LinePrompt("The address where the browser ended", verb="sign in"), answer)

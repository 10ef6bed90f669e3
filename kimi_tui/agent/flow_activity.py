"""A flow as the agent walks it: several turns in one activity, told to the screen move by move (MECHANISMS M23)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kimi_tui.agent.desk import Desk, Loop
from kimi_tui.agent.steering import FlowCall, Prompt
from kimi_tui.agent.travel.rows import first_line
from kimi_tui.agent.turn_activity import run_turn
from kimi_tui.flows import Flow, FlowEnd, FlowNode, FlowProgress, FlowRunner, TurnResult, node_text, ralph_flow
from kimi_tui.protocol.events import FlowEnded, FlowMoved, FlowStarted, Noticed, TurnEnded
from kimi_tui.protocol.messages import ContentPart, ImageURLPart, TextPart
from kimi_tui.protocol.views import FlowNodeView, FlowView


async def run_prompt(desk: Desk, prompt: Prompt) -> None:
    """What a prompt asks for: one turn, or the turns of a flow. Never raises."""
    call = prompt.flow or _ralph_for_all(desk.loop, prompt)
    if call is None:
        await run_turn(desk, prompt)
    else:
        await _Walk(desk, prompt, call).run()


def ralph_call(prompt: Prompt, rounds: int | None, loop: Loop) -> FlowCall:
    """The Ralph loop over a prompt; `rounds` counts all of them, None: no limit."""
    message = prompt.message(0)
    return FlowCall(
        "ralph", ralph_flow(message if prompt.images else prompt.text), rounds, max_cost=loop.max_ralph_cost
    )


def _ralph_for_all(loop: Loop, prompt: Prompt) -> FlowCall | None:
    """With `max_ralph_iterations` every prompt is a loop; what a command says is not."""
    more = loop.max_ralph_iterations
    if more == 0 or prompt.typed is not None:
        return None
    return ralph_call(prompt, None if more < 0 else more + 1, loop)


@dataclass(slots=True)
class _Walk:
    """One walk through a flow."""

    desk: Desk
    prompt: Prompt
    call: FlowCall
    _first: bool = True
    _last: FlowProgress | None = None
    _told_unpriced: bool = False

    async def run(self) -> None:
        desk, call = self.desk, self.call
        desk.emit(FlowStarted(flow_view(call)))
        runner = FlowRunner(
            call.flow,
            self._turn,
            name=call.name,
            max_moves=call.max_moves,
            max_cost=call.max_cost,
            on_move=self._reached,
        )
        end: FlowEnd = "stopped"
        message = f"{call.name} stopped: interrupted"
        try:
            outcome = await runner.run()
            end, message = outcome.end, outcome.message
        except asyncio.CancelledError:
            pass  # between two turns; inside of one it has come as the turn's end
        self._ended(end, message)

    def _ended(self, end: FlowEnd, message: str) -> None:
        last = self._last
        figures = (last.iterations, last.tokens, last.cost) if last else (0, 0, None)
        self.desk.telemetry.note("flow", iterations=figures[0], tokens=figures[1], done=end == "done")
        self.desk.emit(FlowEnded(self.call.name, end, message, *figures))

    def _reached(self, at: FlowProgress) -> None:
        """Told before every turn, and once more at the end with the last figures."""
        self._last = at

    def _tell(self, at: FlowProgress) -> None:
        ways = self.call.flow.outgoing.get(at.node.id, ())
        self.desk.emit(
            FlowMoved(
                flow=self.call.name,
                node=at.node.id,
                label=first_line(node_text(at.node)),
                kind=at.node.kind,
                visits=at.visits,
                iterations=at.iterations,
                asks=at.asks,
                choice=at.choice or "",
                choices=tuple(edge.label.strip() for edge in ways if edge.label),
                tokens=at.tokens,
                cost=at.cost,
            )
        )

    async def _turn(self, prompt: str | list[ContentPart], *, label: str) -> TurnResult:
        desk = self.desk
        if self._last is not None:
            self._tell(self._last)
        tokens, cost = desk.used, desk.cost
        turn, ended = await run_turn(desk, self._prompt(prompt, label))
        spent = None if desk.cost is None else desk.cost - (cost or 0.0)
        self._mind_the_cap(desk.used > tokens and spent is None)
        return TurnResult(turn.answer, turn.tool_calls, desk.used - tokens, spent, _stopped(ended))

    def _mind_the_cap(self, unpriced: bool) -> None:
        """A cap on what it may cost says nothing where no price is known: the user must not rely on it."""
        if unpriced and self.call.max_cost is not None and not self._told_unpriced:
            self._told_unpriced = True
            moves = self.call.max_moves
            end = f"it ends after {moves} rounds at the latest" if moves is not None else "it has no other limit"
            cap = f"the cap of ${self.call.max_cost:g} cannot be kept; {end}, Esc stops it"
            self.desk.emit(Noticed(f"No price is known for {self.desk.model.view.name}: {cap}.", "warning"))

    def _prompt(self, prompt: str | list[ContentPart], label: str) -> Prompt:
        """What a node says, as a prompt. The first one is what the user typed."""
        if not self._first:
            return _as_prompt(prompt, "", label)
        self._first = False
        first = _as_prompt(prompt, self.prompt.typed, label)
        return replace(first, text=f"{first.text}\n\n{self.call.request}".strip())


def _stopped(ended: TurnEnded) -> str | None:
    """Why the flow cannot go on after this turn; None when it can. A turn that a rejection ended says so."""
    if ended.reason == "done":
        return ended.message.removeprefix("stopped: ") or None
    return ended.message or ended.reason.replace("_", " ")


def flow_view(call: FlowCall) -> FlowView:
    """The graph in plain values."""
    nodes = tuple(_node_view(node, call.flow) for node in call.flow.nodes.values())
    return FlowView(call.name, nodes, call.max_moves, call.max_cost)


def _node_view(node: FlowNode, flow: Flow) -> FlowNodeView:
    ways = tuple(((edge.label or "").strip(), edge.dst) for edge in flow.outgoing.get(node.id, ()))
    return FlowNodeView(node.id, node.kind, node_text(node), ways)


def _as_prompt(said: str | list[ContentPart], typed: str | None, label: str) -> Prompt:
    if isinstance(said, str):
        return Prompt(said, typed=typed, label=label)
    return Prompt(_words(said), _images(said), typed, label)


def _words(parts: Sequence[ContentPart]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def _images(parts: Sequence[ContentPart]) -> tuple[str, ...]:
    return tuple(part.image_url.url for part in parts if isinstance(part, ImageURLPart))

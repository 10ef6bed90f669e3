"""Walks a flow: one turn a node, and at a decision the way that the model chooses.

The runner knows nothing of agents. It is given `run_turn`, which runs one turn and tells what came of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from kimi_tui.flows.choice import last_choice, match_choice
from kimi_tui.flows.graph import Flow, FlowEdge, FlowNode, node_text
from kimi_tui.flows.ralph import ralph_flow
from kimi_tui.flows.wording import ask_again, choices, decision_question, shorten

if TYPE_CHECKING:
    from kimi_tui.protocol.messages import ContentPart, Message

FlowEnd = Literal["done", "stopped", "max_moves", "no_choice", "empty_rounds", "dead_end", "max_cost"]
"""Why a flow ended. `stopped`: a turn was interrupted, rejected or failed, or `stop` was called."""


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What came of a turn."""

    text: str = ""
    """The final answer without thinking."""
    tool_calls: int = 0
    tokens: int = 0
    """Input and output of all calls of the turn."""
    cost: float | None = None
    """In the currency of the price table; None while unknown."""
    stopped: str | None = None
    """Why the whole flow must end with this turn (`interrupted`, …); None when it may go on."""


class RunTurn(Protocol):
    """Runs one turn. `label` names it for the timeline: `ralph 3`, `release: Run the tests`."""

    async def __call__(self, prompt: str | list[ContentPart], *, label: str) -> TurnResult: ...


@dataclass(frozen=True, slots=True)
class FlowProgress:
    """Where the flow stands: told before every turn, and once more at the end with `node` the last one."""

    node: FlowNode
    visits: int
    """How often the walk has come to this node, this time included."""
    iterations: int
    """Nodes that were given a turn so far, this one included."""
    asks: int
    """0 for the first question of this visit, then the number of the repetition."""
    choice: str | None
    """The label of the way that led here."""
    tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class FlowOutcome:
    end: FlowEnd
    message: str
    """One sentence for the user."""
    iterations: int
    turns: int
    tokens: int
    cost: float | None
    visits: dict[str, int]


@dataclass(slots=True)
class _Tally:
    iterations: int = 0
    turns: int = 0
    empty: int = 0
    tokens: int = 0
    cost: float | None = None
    visits: dict[str, int] = field(default_factory=dict)

    def add(self, result: TurnResult) -> None:
        self.turns += 1
        self.tokens += result.tokens
        if result.cost is not None:
            self.cost = (self.cost or 0.0) + result.cost
        self.empty = 0 if result.text.strip() or result.tool_calls else self.empty + 1


class _Ended(Exception):
    """The walk is over before END."""

    def __init__(self, end: FlowEnd, message: str) -> None:
        super().__init__(message)
        self.end: FlowEnd = end


class FlowRunner:
    """One walk through a flow, within limits. None as a limit means there is none."""

    def __init__(
        self,
        flow: Flow,
        run_turn: RunTurn | None = None,
        *,
        name: str | None = None,
        max_moves: int | None = 1000,
        max_asks: int = 3,
        max_empty_rounds: int = 3,
        max_cost: float | None = None,
        on_move: Callable[[FlowProgress], None] | None = None,
    ) -> None:
        """`max_moves` counts nodes that get a turn, `max_asks` repetitions of one question."""
        self.flow = flow
        self.name = name or "flow"
        self.max_moves = max_moves
        self.max_asks = max_asks
        self.max_empty_rounds = max_empty_rounds
        self.max_cost = max_cost
        self._run_turn = run_turn
        self._on_move = on_move
        self._choice: str | None = None
        self._stop_reason: str | None = None
        self._tally = _Tally()

    @staticmethod
    def ralph_loop(
        message: str | Message,
        n: int,
        run_turn: RunTurn | None = None,
        *,
        max_cost: float | None = None,
        on_move: Callable[[FlowProgress], None] | None = None,
    ) -> FlowRunner:
        """The same task again and again until the model says STOP: once, then at most `n` more rounds (−1: no end)."""
        moves = None if n < 0 else n + 1
        return FlowRunner(
            ralph_flow(message), run_turn, name="ralph", max_moves=moves, max_cost=max_cost, on_move=on_move
        )

    def stop(self, reason: str = "interrupted") -> None:
        """Ends the walk before its next turn. The running turn is its owner's to end."""
        self._stop_reason = reason

    async def run(self, run_turn: RunTurn | None = None) -> FlowOutcome:
        """Walks from BEGIN to END or to a limit. Cancelling it ends the whole flow.

        Raises what `run_turn` raises; ValueError when there is no `run_turn`.
        """
        turn = run_turn or self._run_turn
        if turn is None:
            raise ValueError("a flow needs something that runs its turns")
        self._tally, self._choice = _Tally(), None
        node = self.flow.nodes[self.flow.begin_id]
        try:
            while node.kind != "end":
                node = await self._leave(node, turn)
        except _Ended as ended:
            return self._outcome(node, ended.end, str(ended))
        return self._outcome(node, "done", f"{self.name} reached its end")

    async def _leave(self, node: FlowNode, turn: RunTurn) -> FlowNode:
        """Does what the node says and gives the next one."""
        edges = self.flow.outgoing.get(node.id, [])
        self._tally.visits[node.id] = self._tally.visits.get(node.id, 0) + 1
        if not edges or (node.kind == "begin" and edges[0].dst == node.id):
            raise _Ended("dead_end", f"no way leads on from {_called(node)}")
        if node.kind == "begin" and len(edges) == 1:
            edge = edges[0]
        else:
            self._count_move()
            edge = await (self._ask(node, edges, turn) if len(edges) > 1 else self._do(node, edges[0], turn))
        self._choice = edge.label
        return self.flow.nodes[edge.dst]

    def _count_move(self) -> None:
        if self.max_moves is not None and self._tally.iterations >= self.max_moves:
            raise _Ended("max_moves", f"{self.name} stopped after {self.max_moves} rounds, its limit")
        self._tally.iterations += 1

    async def _do(self, node: FlowNode, edge: FlowEdge, turn: RunTurn) -> FlowEdge:
        await self._turn(turn, node, node.label)
        return edge

    async def _ask(self, node: FlowNode, edges: Sequence[FlowEdge], turn: RunTurn) -> FlowEdge:
        prompt = decision_question(node, edges)
        labels = choices(edges)
        said: str | None = None
        for asks in range(self.max_asks + 1):
            result = await self._turn(turn, node, prompt, asks)
            label = match_choice(result.text, labels)
            if label is not None:
                return next(edge for edge in edges if (edge.label or "").strip() == label)
            said = last_choice(result.text)
            prompt = ask_again(edges, said)
        got = "no choice" if said is None else f"«{shorten(said)}»"
        offered = ", ".join(labels)
        raise _Ended(
            "no_choice",
            f"{self.name} stopped at {_called(node)}: asked {self.max_asks + 1} times for one of {offered}, got {got}",
        )

    async def _turn(self, turn: RunTurn, node: FlowNode, prompt: str | list[ContentPart], asks: int = 0) -> TurnResult:
        self._check_stopped(self._stop_reason)
        self._report(node, asks)
        result = await turn(prompt, label=self._label(node, asks))
        self._tally.add(result)
        self._check_stopped(result.stopped)
        if self._tally.empty >= self.max_empty_rounds:
            raise _Ended(
                "empty_rounds", f"{self.name} stopped: {self._tally.empty} rounds in a row brought no text and no call"
            )
        if self.max_cost is not None and (self._tally.cost or 0.0) >= self.max_cost:
            raise _Ended("max_cost", f"{self.name} stopped: it has cost {self._tally.cost:.2f} of {self.max_cost:.2f}")
        return result

    def _check_stopped(self, reason: str | None) -> None:
        if reason is not None:
            raise _Ended("stopped", f"{self.name} stopped: {reason}")

    def _label(self, node: FlowNode, asks: int) -> str:
        visits = self._tally.visits[node.id]
        if self.name == "ralph":
            label = f"ralph {self._tally.iterations}"
        else:
            label = f"{self.name}: {shorten(node_text(node))}" + (f" ({visits})" if visits > 1 else "")
        return f"{label}, asked again" if asks else label

    def _report(self, node: FlowNode, asks: int) -> None:
        if self._on_move is None:
            return
        tally = self._tally
        self._on_move(
            FlowProgress(
                node=node,
                visits=tally.visits.get(node.id, 1),
                iterations=tally.iterations,
                asks=asks,
                choice=self._choice,
                tokens=tally.tokens,
                cost=tally.cost,
            )
        )

    def _outcome(self, node: FlowNode, end: FlowEnd, message: str) -> FlowOutcome:
        tally = self._tally
        if node.kind == "end":
            tally.visits[node.id] = tally.visits.get(node.id, 0) + 1
        self._report(node, 0)
        return FlowOutcome(end, message, tally.iterations, tally.turns, tally.tokens, tally.cost, tally.visits)


def _called(node: FlowNode) -> str:
    return f"«{shorten(node_text(node)) or node.id}»"

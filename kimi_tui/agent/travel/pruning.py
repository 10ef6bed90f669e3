"""Keeps what switches left behind within the session's budget: a word about it, or, where the user wants, by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kimi_tui.agent.browsing import list_rotated
from kimi_tui.agent.travel.moves import shown_anew
from kimi_tui.context import Proposal, Pruning
from kimi_tui.protocol.commands import ListRotations, ProposePruning, PruneRotations
from kimi_tui.protocol.events import Noticed, PruningProposed
from kimi_tui.protocol.views import PruneStep, PruningView
from kimi_tui.sizes import size_of

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent
    from kimi_tui.agent.desk import Desk


def look_after(agent: Agent) -> None:
    """Look at the budget, beside whatever runs, when another timeline has become the live one."""
    desk = agent.desk
    live = desk.context.timeline.live_id
    if desk.loop.retention.policy == "off" or desk.read_only or desk.looked_at == live:
        return
    desk.looked_at = live
    agent.beside(keep_budget(agent), "keep the budget")


async def keep_budget(agent: Agent) -> None:
    """What the policy says, now."""
    desk = agent.desk
    found = await desk.context.pruning(desk.loop.retention.budget)
    if desk.loop.retention.policy == "auto":
        await _by_itself(agent, found)
    elif found.over and found.proposals and not desk.told_budget:
        desk.told_budget = True
        agent.emit(Noticed(_over(found)))


async def propose(agent: Agent, command: ProposePruning) -> None:
    """The dry run."""
    budget = agent.desk.loop.retention.budget
    found = await agent.desk.context.pruning(budget)
    steps = tuple(_view(each) for each in found.proposals)
    agent.emit(PruningProposed(PruningView(steps, found.rotations, found.size, budget.rotations, budget.size)))


async def prune(agent: Agent, command: PruneRotations) -> None:
    """Carry out what the user has seen, then list what there is."""
    done = await _carried_out(agent.desk, command.steps)
    agent.emit(Noticed(_said(done)))
    await _tell(agent, done)
    await list_rotated(agent, ListRotations())


async def _by_itself(agent: Agent, found: Pruning) -> None:
    """Compress first; what has to be deleted is reckoned anew after that."""
    desk = agent.desk
    done = await _carried_out(desk, (_view(each) for each in found.proposals if each.change == "compress"))
    again = await desk.context.pruning(desk.loop.retention.budget)
    done += await _carried_out(desk, (_view(each) for each in again.proposals if each.change == "delete"))
    if done:
        agent.emit(Noticed(f"To keep the budget of this session: {_said(done)}"))
        await _tell(agent, done)


async def _carried_out(desk: Desk, steps: Iterable[PruneStep]) -> list[tuple[PruneStep, int]]:
    """Each with the bytes that it has freed. One that has become impossible is passed over."""
    done: list[tuple[PruneStep, int]] = []
    for step in steps:
        change = desk.context.compress if step.change == "compress" else desk.context.delete
        try:
            done.append((step, await change(step.file)))
        except ValueError:
            continue  # pinned or removed since it was proposed
    return done


async def _tell(agent: Agent, done: list[tuple[PruneStep, int]]) -> None:
    """Removed timelines go from the screen; not under a running turn, whose open rows would go too."""
    if any(step.change == "delete" for step, _ in done) and not agent.busy:
        await shown_anew(agent.desk)


def _view(proposal: Proposal) -> PruneStep:
    rotation = proposal.rotation
    return PruneStep(
        proposal.file, proposal.change, proposal.size, proposal.frees, rotation.why, rotation.at, proposal.step
    )


def _over(found: Pruning) -> str:
    counted = Counter[str](each.change for each in found.proposals)
    words = {"delete": "removed", "compress": "compressed"}
    could = " and ".join(f"{counted[change]} {word}" for change, word in words.items() if counted[change])
    frees = sum(each.frees for each in found.proposals)
    return (
        f"{found.rotations} rotations ({size_of(found.size)}) are more than this session's budget: {could} "
        f"would free {size_of(frees)}. P in /rotations shows them."
    )


def _said(done: list[tuple[PruneStep, int]]) -> str:
    if not done:
        return "nothing was pruned"
    counted = Counter(step.change for step, _ in done)
    parts = [f"{count} {'compressed' if change == 'compress' else 'removed'}" for change, count in counted.items()]
    lost = Counter(step.step for step, _ in done if step.change == "delete" and step.step)
    reach = "".join(f"; {word} reaches {count} fewer" for word, count in lost.items())
    return f"rotations: {', '.join(parts)}, {size_of(sum(freed for _, freed in done))} freed{reach}"

"""Who may do what: the order is yolo, rules of the config, grants of this session, and then the user is asked.

`Approvals` is what `Call.approve` leads to. It asks one question at a time, looks again at the grants when a question's
turn comes, and refuses at once when nobody is there. Tools use `permit`, which also words the refusal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import Literal

from kimi_tui.protocol.views import ApprovalView
from kimi_tui.tools.base import Call, Decision, ToolResult
from kimi_tui.tools.shell_words import simple_commands

Answer = tuple[Literal["once", "session", "reject"], str]
"""What the user chose, and a word to the model with it."""

_KIN = (
    frozenset({"WriteFile", "StrReplaceFile"}),
    frozenset({"ReadFile", "ReadMediaFile", "Glob", "Grep"}),
)
"""Tools that share the grants of a session: whoever may write a folder may also edit in it."""

_SUBCOMMANDED = """
apt brew bun cargo conda docker dotnet gh git go gradle just kubectl make mvn npm pip pip3 pnpm poetry uv yarn
"""
_TWO_WORDS = frozenset(_SUBCOMMANDED.split())
_POWERFUL = """
ash awk bash busybox chmod chown command curl dash dd doas env eval exec find fish kill ksh mv nc nice node nohup npx
osascript parallel perl php pkexec pkill powershell pwsh python python2 python3 rm rsync ruby scp sed sh source ssh su
sudo time timeout uvx wget xargs zsh .
"""
_EXACT = frozenset(_POWERFUL.split())
"""Programs that run or destroy anything: a grant covers the very same command only."""


@dataclass(frozen=True, slots=True)
class AllowRule:
    """An approval given in advance. `tool` is a name; `pattern` a glob over the command, the real path or the URL."""

    tool: str
    pattern: str = "*"
    literal: bool = False
    """The pattern is meant letter by letter: a whole command, a file, or a folder with all that is in it."""

    def admits(self, view: ApprovalView, work_dir: Path) -> bool:
        if not self._is_for(view.tool):
            return False
        if view.tool == "Shell":
            return self._admits_command(view.detail)
        if self.literal:
            return view.detail == self.pattern or PurePath(view.detail).is_relative_to(self.pattern)
        return any(fnmatchcase(subject, self._full_pattern()) for subject in self._subjects(view, work_dir))

    def _is_for(self, tool: str) -> bool:
        return fnmatchcase(tool, self.tool) or (self.literal and any({tool, self.tool} <= kin for kin in _KIN))

    def _admits_command(self, command: str) -> bool:
        if command == self.pattern or (self.pattern == "*" and not self.literal):
            return True
        parts = simple_commands(command)
        return parts is not None and all(map(self.admits_words, parts))

    def admits_words(self, words: Sequence[str]) -> bool:
        """Whether it covers one simple command."""
        told = " ".join(words)
        fits = fnmatchcase(told, self.pattern) or (self.pattern.endswith(" *") and told == self.pattern[:-2])
        return fits and self._is_for("Shell") and not self.literal

    def _full_pattern(self) -> str:
        return str(Path.home()) + self.pattern[1:] if self.pattern.startswith("~/") else self.pattern

    def _subjects(self, view: ApprovalView, work_dir: Path) -> Iterable[str]:
        """What the pattern is held against. Outside the allowed folders only a pattern that names them counts."""
        if view.outside and not self.pattern.startswith(("/", "~/", "http:", "https:")):
            return
        yield view.detail
        path = PurePath(view.detail)
        if path.is_relative_to(work_dir):
            yield str(path.relative_to(work_dir))


def command_rule(command: str) -> str:
    """What a grant for the session would admit after this command: `pytest *`, `git status *`, or just the command."""
    parts = simple_commands(command)
    if parts is None or len(parts) != 1:
        return command
    words = parts[0]
    if words[0] in _EXACT or words[0].startswith("python") or "=" in words[0]:
        return command
    if words[0] in _TWO_WORDS:
        return f"{words[0]} {words[1]} *" if len(words) > 1 and not words[1].startswith("-") else command
    return f"{words[0]} *" if words[0].replace("-", "").replace("_", "").isalnum() else command


class Approvals:
    """The approvals of one session. `session` is meant to be saved; `yolo` and `attended` may change at any time."""

    def __init__(
        self,
        ask: Callable[[ApprovalView], Awaitable[Answer]],
        work_dir: Path,
        *,
        rules: Iterable[AllowRule] = (),
        session: Iterable[AllowRule] = (),
        yolo: bool = False,
        attended: bool = True,
    ) -> None:
        self._ask, self._work_dir = ask, work_dir
        self.rules, self.session = list(rules), list(session)
        self.yolo, self.attended = yolo, attended
        self._turn = asyncio.Lock()

    async def __call__(self, view: ApprovalView) -> Decision:
        decision = self._at_once(view)
        if decision is not None:
            return decision
        async with self._turn:
            decision = self._at_once(view)
            return decision if decision is not None else await self._asked(view)

    def _at_once(self, view: ApprovalView) -> Decision | None:
        if view.explicit:
            return None if self.attended else Decision(False, by="nobody")
        if self.yolo:
            return Decision(True, by="yolo")
        if self._admitted(self.rules, view):
            return Decision(True, by="rule")
        if self._admitted([*self.rules, *self.session], view):
            return Decision(True, by="session")
        return None if self.attended else Decision(False, by="nobody")

    def _admitted(self, rules: Sequence[AllowRule], view: ApprovalView) -> bool:
        """By one rule; or each command of a list or pipeline by one of its own."""
        if any(rule.admits(view, self._work_dir) for rule in rules):
            return True
        parts = simple_commands(view.detail) if view.tool == "Shell" else None
        return parts is not None and all(any(rule.admits_words(words) for rule in rules) for words in parts)

    async def _asked(self, view: ApprovalView) -> Decision:
        answer, feedback = await self._ask(view)
        if answer == "session" and not view.explicit:
            self.session.append(_granted(view))
        return Decision(answer != "reject", feedback)


def _granted(view: ApprovalView) -> AllowRule:
    if not view.rule:
        return AllowRule(view.tool, "*")
    return AllowRule(view.tool, view.rule, literal=view.tool != "Shell" or view.rule == view.detail)


async def permit(call: Call, view: ApprovalView) -> ToolResult | None:
    """Ask. None when it is allowed, else the result to give back."""
    decision = await call.approve(view)
    return None if decision.allowed else refusal(decision)


def refusal(decision: Decision) -> ToolResult:
    """The result of a call that was not allowed: by nobody, with a word, or without one."""
    if decision.by == "nobody":
        return ToolResult(
            outcome="rejected",
            message="Not allowed, and not run: this needs the user's approval and nobody is there to give it. Do "
            "without it, or say in your answer what must be allowed (`--yolo`, or an `[[allow]]` rule in the config).",
            brief="not allowed",
        )
    if decision.feedback.strip():
        return ToolResult(
            outcome="rejected",
            message=f"Rejected by the user, and not run. The user says: {decision.feedback.strip()}",
            brief="rejected",
        )
    return ToolResult(
        outcome="rejected",
        message="Rejected by the user, and not run. Do not try it in another way; wait for what the user says next.",
        brief="rejected",
        stop_turn=True,
    )

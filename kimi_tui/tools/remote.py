"""A tool that somebody else carries out: a server's, as the toolset wants it.

It is taken for one that changes things, whatever it says of itself: it asks for approval, runs alone, and is not
available in plan mode. A rule `[[allow]] tool = "mcp__docs__*"` admits it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

from pydantic import BaseModel, ConfigDict

from kimi_tui.protocol.messages import ImageURLPart
from kimi_tui.protocol.views import ApprovalView
from kimi_tui.tools.approval import permit
from kimi_tui.tools.base import Call, Params, Tool, ToolResult, failed
from kimi_tui.tools.text import MODEL_LIMIT, clean, clip, one_line, plural


class RemoteResult(Protocol):
    @property
    def text(self) -> str: ...

    @property
    def images(self) -> Sequence[ImageURLPart]: ...

    @property
    def failed(self) -> bool:
        """The tool itself says that it did not work."""


class Remote(Protocol):
    """Where a call goes."""

    @property
    def name(self) -> str:
        """For the model; a word of letters, digits, `_` and `-`."""

    @property
    def shown(self) -> tuple[str, str]:
        """For the user: whose it is, and what it is called there."""

    @property
    def description(self) -> str: ...

    @property
    def schema(self) -> dict[str, Any]:
        """Of its arguments: an object, without references."""

    async def call(self, arguments: dict[str, Any]) -> RemoteResult:
        """Raises one of the faults that `remote_tool` was told of."""


class RemoteParams(Params):
    """Whatever the model gives: the other side knows what it wants."""

    model_config = ConfigDict(extra="allow")


def remote_tool(remote: Remote, faults: tuple[type[Exception], ...]) -> Tool:
    """The tool for the toolset. `faults` are told to the model; their text is all it gets to know."""

    class Arguments(RemoteParams):
        @classmethod
        def model_json_schema(cls, *args: Any, **more: Any) -> dict[str, Any]:
            return dict(remote.schema)

    class _RemoteTool(RemoteTool):
        name: ClassVar[str] = remote.name
        Params: ClassVar[type[BaseModel]] = Arguments

    return _RemoteTool(remote, faults)


class RemoteTool:
    name: ClassVar[str]
    Params: ClassVar[type[BaseModel]] = RemoteParams
    read_only: ClassVar[bool] = False
    plan_safe: ClassVar[bool] = False

    def __init__(self, remote: Remote, faults: tuple[type[Exception], ...]) -> None:
        self._remote, self._faults = remote, faults

    @property
    def description(self) -> str:
        return self._remote.description

    def describe(self, params: BaseModel) -> tuple[str, str]:
        whose, what = self._remote.shown
        given = ", ".join(f"{key}={_short(value)}" for key, value in _arguments(params).items())
        return one_line(whose, 30), f"{what} {given}".strip()

    async def __call__(self, params: BaseModel, call: Call) -> ToolResult:
        arguments = _arguments(params)
        whose, what = self._remote.shown
        detail = json.dumps(arguments, ensure_ascii=False, indent=2) if arguments else ""
        refused = await permit(call, ApprovalView(call.id, self.name, f"let {whose} run {what}", detail))
        if refused is not None:
            return refused
        try:
            result = await self._remote.call(arguments)
        except self._faults as fault:
            return failed(str(fault), brief="failed")
        told = remote_output(result, self.name, call)
        if result.failed:
            return replace(told, outcome="error", message=f"{what} says that it did not work.", brief="failed")
        return told


def remote_output(result: RemoteResult, name: str, call: Call) -> ToolResult:
    """What a server gave, for the model and the screen; of a long text the whole is kept in a file."""
    output = clip(clean(result.text), where=_kept_whole(result.text, name, call))
    return ToolResult(output, brief=_brief(result), parts=tuple(result.images))


def _arguments(params: BaseModel) -> dict[str, Any]:
    return dict(params.model_extra or {})


def _short(value: Any) -> str:
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), 60)


def _brief(result: RemoteResult) -> str:
    if result.images and not result.text:
        return plural(len(result.images), "image")
    return plural(len(result.text.splitlines()), "line")


def _kept_whole(text: str, name: str, call: Call) -> str:
    """The file that holds all of a long text; empty when it is not long, or cannot be kept."""
    if len(text) <= MODEL_LIMIT or call.output_dir is None:
        return ""
    file: Path = call.output_dir / f"{name}-{re.sub(r'[^A-Za-z0-9_.-]', '_', call.id)[:60]}.txt"
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return str(file)

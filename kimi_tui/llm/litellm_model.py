"""Models of providers, spoken to through a process of their own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from kimi_tui.llm.assemble import Assembler
from kimi_tui.llm.child import Child
from kimi_tui.llm.choice import DEFAULT_WINDOW, ModelChoice
from kimi_tui.llm.masking import remember
from kimi_tui.llm.model import ModelFault, Piece, Report, Request
from kimi_tui.llm.provider import tools_to_provider, written
from kimi_tui.llm.providers import adapted, first_dialect, host_of, key_for, key_hint, missing_key, route
from kimi_tui.llm.replay_model import taken_ids
from kimi_tui.llm.written import Memory, Written, as_json
from kimi_tui.protocol.views import ModelView

HOST = "kimi_tui.llm.litellm_host"
_CACHE_POINTS = [{"location": "message", "role": "system"}, {"location": "message", "index": -1}]
"""litellm's own parameter: the system prompt and everything up to the newest message are to be cached."""


class LitellmModel:
    """Any provider's model. What it takes is guessed first and corrected when the provider refuses a request."""

    def __init__(self, choice: ModelChoice) -> None:
        self._choice = choice
        self._route = route(choice.model, choice.api_base)
        self._dialect = first_dialect(self._route)
        self._window = DEFAULT_WINDOW
        self._described = False
        self._memory = Memory()
        self._child = Child(HOST, choice.log_dir / "model.log")
        for secret in (choice.api_key, *choice.headers.values()):
            remember(secret)

    @property
    def view(self) -> ModelView:
        window = self._choice.context_window or self._window
        return ModelView(self._choice.name, window=window, tools=self._dialect.tools, vision=self._dialect.vision)

    async def prepare(self, report: Report) -> None:
        """Starts the process and, where it is needed, loads litellm; nothing goes over the network."""
        self._need_key()
        report("starting", 0, 0)
        await self._describe()
        if not self._route.direct:
            async for _ in self._child.call("load"):
                pass

    async def warm(self, request: Request, report: Report) -> None:
        """A provider is not warmed: that would cost money."""

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        self._need_key()
        await self._describe()
        while True:
            started = False
            try:
                async with aclosing(self._attempt(request)) as pieces:
                    async for piece in pieces:
                        started = True
                        yield piece
                return
            except ModelFault as fault:
                corrected = None if started else adapted(self._dialect, fault)
                if corrected is None:
                    raise
                self._dialect = corrected

    async def close(self) -> None:
        await self._child.close()

    def _need_key(self) -> None:
        if (fault := missing_key(self._choice, self._route)) is not None:
            raise fault

    async def _describe(self) -> None:
        if self._described:
            return
        async for event in self._child.call("describe", model=self._choice.model):
            info = event["info"]
            self._window = info.pop("window", self._window)
            most, cap = info.pop("output", None), self._dialect.output_cap
            self._dialect = replace(self._dialect, **info, output_cap=min(most, cap) if most and cap else cap)
        self._described = True

    async def _attempt(self, request: Request) -> AsyncGenerator[Piece, None]:
        body, said, taken = await asyncio.to_thread(self._body, request)
        assembler = Assembler(taken)
        call = self._child.call("chat", raw=body, direct=self._route.direct, call=self._call())
        async with aclosing(call) as events:
            async for event in events:
                for piece in assembler.feed(event["chunk"]):
                    yield piece
        for piece in assembler.end(0 if assembler.counted else await asyncio.to_thread(_tokens, said)):
            yield piece

    def _call(self) -> dict[str, Any]:
        """What the host needs beside the body."""
        url = self._choice.api_base
        if self._route.direct and url is not None:
            url = url.rstrip("/").removesuffix("/chat/completions") + "/chat/completions"
        return {
            "url": url,
            "key": key_for(self._choice, self._route),
            "headers": dict(self._choice.headers),
            "host": host_of(self._route, self._choice.api_base),
            "key_hint": key_hint(self._route),
        }

    def _body(self, request: Request) -> tuple[bytes, list[Written], list[str]]:
        """The request as JSON, what it is made of, and the ids of calls that are taken. Runs in a thread: the history
        may be one that has not been sent before."""
        tools = self._memory.tools(request.tools if self._dialect.tools else (), tools_to_provider)
        messages = written(request, self._dialect, self._memory)
        body = as_json(self._fields(request), messages=messages, tools=tools)
        return body, [*messages, *tools], list(taken_ids(request))

    def _fields(self, request: Request) -> dict[str, Any]:
        dialect = self._dialect
        body: dict[str, Any] = {"model": self._route.model, "stream": True}
        if dialect.stream_usage:
            body["stream_options"] = {"include_usage": True}
        if limit := request.max_output_tokens or self._choice.max_output_tokens or dialect.output_cap:
            body[dialect.output_limit] = limit
        if dialect.cache_marks:
            body["cache_control_injection_points"] = _CACHE_POINTS
        return body


def _tokens(said: list[Written]) -> int:
    return sum(each.tokens for each in said)

"""Models that run on this machine, in a process of their own."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from kimi_tui import resources
from kimi_tui.llm import weights
from kimi_tui.llm.assemble import Assembler
from kimi_tui.llm.child import Child
from kimi_tui.llm.choice import ModelChoice
from kimi_tui.llm.model import ModelFault, Piece, Report, Request
from kimi_tui.llm.provider import Dialect, to_provider, without_tools
from kimi_tui.llm.text import rough_tokens_of
from kimi_tui.protocol.views import ModelView

HOST = "kimi_tui.llm.embedded_host"
ANSWER_LIMIT = 2048
"""Tokens. Small models do not always find an end."""
SAMPLING = {"temperature": 0.2, "top_k": 20, "top_p": 0.9, "repeat_penalty": 1.08}
_DIALECT = Dialect(vision=False, tools=False)


class EmbeddedModel:
    """One of the models of `weights`."""

    def __init__(self, choice: ModelChoice) -> None:
        self._choice = choice
        self._weights = weights.MODELS[choice.model]
        self._window = min(choice.context_window or self._weights.window, self._weights.window)
        self._child = Child(HOST, choice.log_dir / "local-model.log")
        self._preparing = asyncio.Lock()

    @property
    def view(self) -> ModelView:
        about = resources.prompt(f"llm/about-{self._choice.model}")
        return ModelView(self._choice.name, window=self._window, embedded=True, tools=False, about=about)

    async def prepare(self, report: Report) -> None:
        """Fetches the weights where they are missing, and loads the model."""
        async with self._preparing:
            _need_library()
            await weights.fetch(self._choice.data_dir, self._choice.log_dir, self._choice.model, report)
            report("starting", 0, 0)
            async for _ in self._child.call("load", model=self._model()):
                pass

    async def warm(self, request: Request, report: Report) -> None:
        """Reads the prompt ahead, so that the first answer has only the newest message left to read."""
        body, _ = await asyncio.to_thread(_body, request, 1)
        async with aclosing(self._child.call("chat", raw=body, model=self._model())) as events:
            async for event in events:
                if "read" in event:
                    report("warming", event["read"], event["of"])

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        self._need_weights()
        limit = min(request.max_output_tokens or ANSWER_LIMIT, self._window // 4)
        body, messages = await asyncio.to_thread(_body, request, limit)
        assembler = Assembler()
        async with aclosing(self._child.call("chat", raw=body, model=self._model())) as events:
            async for event in events:
                for piece in assembler.feed(event.get("chunk", {})):
                    yield piece
        for piece in assembler.end(0 if assembler.counted else await asyncio.to_thread(rough_tokens_of, messages)):
            yield piece

    async def close(self) -> None:
        await self._child.close()

    def _model(self) -> dict[str, Any]:
        return {"path": str(weights.path_of(self._choice.data_dir, self._choice.model)), "window": self._window}

    def _need_weights(self) -> None:
        _need_library()
        if not weights.is_present(self._choice.data_dir, self._choice.model):
            hint = f"They are fetched when the program starts, or by: kimi-tui model pull {self._choice.model}"
            raise ModelFault("not_ready", f"The weights of {self._choice.model} are not here yet.", hint=hint)


def _need_library() -> None:
    if importlib.util.find_spec("xllamacpp") is None:
        raise ModelFault(
            "not_ready",
            "The embedded models need the extra `local`, which is not installed.",
            hint="Install it with `pip install 'kimi-tui[local]'`, or connect a provider with --model or --api-base.",
        )


def _body(request: Request, limit: int) -> tuple[bytes, list[dict[str, Any]]]:
    """The request as JSON, for an answer of at most that many tokens; and its messages."""
    messages = without_tools(to_provider(request, _DIALECT))
    body = {
        "messages": messages,
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,
        "cache_prompt": True,
        "max_tokens": limit,
        **SAMPLING,
    }
    return json.dumps(body).encode(), messages

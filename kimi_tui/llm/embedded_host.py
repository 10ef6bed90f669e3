"""The process that runs a model on this machine: `python -m kimi_tui.llm.embedded_host`. The only importer of
xllamacpp (llama.cpp)."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import threading
from functools import lru_cache
from typing import Any

from kimi_tui.llm.faults import from_response
from kimi_tui.llm.host import Emit, serve
from kimi_tui.llm.model import ModelFault

BATCH = 128
"""Tokens read at once; between two batches an answer can be stopped and progress is told."""
CACHE_MB = 512
"""Memory for prompts that were read before, such as the chat's while a compaction runs."""

_loading = threading.Lock()


async def handle(request: dict[str, Any], emit: Emit) -> None:
    """`load` the model of the request, or `chat` with it. A model stays loaded."""
    model = request["model"]
    server = await asyncio.to_thread(_load, model["path"], model["window"])
    if request["do"] == "chat":
        await _chat(server, request["raw"].decode(), emit)


def _load(path: str, window: int) -> Any:
    with _loading:
        return _server(path, window)


@lru_cache(maxsize=1)
def _server(path: str, window: int) -> Any:
    try:
        import xllamacpp
    except ImportError as error:
        raise ModelFault(
            "not_ready", f"xllamacpp cannot be loaded: {error}.", hint="See the README on `local`."
        ) from None
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx, params.n_parallel = window, 1
    params.n_batch = params.n_ubatch = BATCH
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = _threads()
    params.cache_ram_mib = CACHE_MB
    params.warmup, params.verbosity = False, -1
    _lock_up(params)
    try:
        return xllamacpp.Server(params)
    except Exception as error:
        raise ModelFault("not_ready", f"The model {path} cannot be loaded: {error}") from None


def _lock_up(params: Any) -> None:
    """The library opens a port on the loopback that is of no use here: nobody else may use it either."""
    params.api_keys = [secrets.token_urlsafe(32)]
    params.cors_origins = "http://127.0.0.1"
    params.ui = params.endpoint_slots = params.endpoint_props = params.endpoint_metrics = False


def _threads() -> int:
    """All cores but one. llama.cpp's threads wait for one another by spinning: where anything else wants a core, one
    thread too many makes them ten times slower, while one too few costs little."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores - 1)


async def _chat(server: Any, body: str, emit: Emit) -> None:
    stopped = threading.Event()
    faults: list[ModelFault] = []

    def take(text: str) -> bool:
        """One piece; true ends the answer."""
        piece = json.loads(text)
        if error := piece.get("error"):
            faults.append(from_response(error.get("code", 500), {}, text, host="the local model", key_hint=""))
        elif progress := piece.get("prompt_progress"):
            emit({"read": progress["processed"], "of": progress["total"]})
        else:
            emit({"chunk": piece})
        return stopped.is_set()

    try:
        await asyncio.to_thread(server.handle_chat_completions, body, take)
    finally:
        stopped.set()
    if faults:
        raise faults[0]


if __name__ == "__main__":
    serve(handle)

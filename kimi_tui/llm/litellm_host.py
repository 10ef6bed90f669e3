"""The process that speaks to providers: `python -m kimi_tui.llm.litellm_host`.

The only importer of litellm, which takes seconds and 200 MB: it is loaded by the first request that needs it, and
servers that speak the chat-completions protocol are reached without it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import threading
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import cache
from typing import Any

import httpx

from kimi_tui.llm.chat_http import TIMEOUT, chat
from kimi_tui.llm.faults import from_response, readable
from kimi_tui.llm.host import Emit, serve
from kimi_tui.llm.masking import remember
from kimi_tui.llm.model import ModelFault
from kimi_tui.llm.model_table import known

_loading = threading.Lock()
_PREFIX = re.compile(r"^(?:(?:litellm\.)?\w*(?:Error|Exception|Timeout)(?::| -)\s*)+")
"""litellm puts the names of its classes before the provider's words."""


async def handle(request: dict[str, Any], emit: Emit) -> None:
    """`describe` a model, `load` litellm, or `chat`."""
    match request["do"]:
        case "describe":
            emit({"info": known(request["model"])})
        case "load":
            await asyncio.to_thread(_litellm)
        case "chat":
            call, body = request["call"], request["raw"]
            for secret in (call["key"], *call["headers"].values()):
                remember(secret)
            direct = request["direct"]
            answer = chat(_client(), call, body) if direct else _ask_litellm({**call, "body": json.loads(body)})
            async with aclosing(answer) as chunks:
                async for chunk in chunks:
                    emit({"chunk": chunk})


@cache
def _client() -> httpx.AsyncClient:
    """The environment's proxy is used, but not to reach this machine itself."""
    return httpx.AsyncClient(mounts={f"all://{host}": None for host in ("127.0.0.1", "localhost", "[::1]")})


def _litellm() -> Any:
    """litellm, quiet: no price table from the network, no advice on the terminal, no retries of its own."""
    with _loading:
        os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
        os.environ.setdefault("LITELLM_LOG", "ERROR")
        import litellm

        litellm.suppress_debug_info = True
        litellm.drop_params = True
        litellm.modify_params = True
        litellm.num_retries = 0
        return litellm


async def _ask_litellm(call: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
    litellm = await asyncio.to_thread(_litellm)
    answer: Any = None
    try:
        answer = await litellm.acompletion(
            **call["body"],
            api_key=call["key"],
            api_base=call["url"],
            extra_headers=call["headers"] or None,
            timeout=TIMEOUT.read,
            num_retries=0,
            max_retries=0,
        )
        async for chunk in answer:
            yield _plain(chunk, litellm, call["body"]["model"])
    except ModelFault:
        raise
    except Exception as error:
        raise _fault(error, litellm, call) from None
    finally:
        if answer is not None:
            await _hang_up(answer)


def _plain(chunk: Any, litellm: Any, model: str) -> dict[str, Any]:
    shaped: dict[str, Any] = chunk.model_dump(exclude_none=True)
    if (usage := getattr(chunk, "usage", None)) is not None:
        shaped["kt_cost"] = _cost(litellm, model, usage)
    return shaped


def _cost(litellm: Any, model: str, usage: Any) -> float | None:
    """US dollars; None where litellm knows no price."""
    try:
        return sum(litellm.cost_per_token(model=model, usage_object=usage)) or None
    except Exception:
        return None


async def _hang_up(answer: Any) -> None:
    """Ends the provider's stream, so that a cancelled answer is not written (and billed) to its end."""
    stream = getattr(answer, "completion_stream", None)
    for closing in ("aclose", "close"):
        if (close := getattr(stream, closing, None)) is not None:
            ended = close()
            if asyncio.iscoroutine(ended):
                await ended
            return


def _never_arrived(error: BaseException | None) -> bool:
    """The network failed underneath: a status on top of that was made up on the way, nobody answered with it."""
    while error is not None:
        if isinstance(error, ConnectionError | httpx.TransportError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _fault(error: Exception, litellm: Any, call: dict[str, Any]) -> ModelFault:
    error = getattr(error, "original_exception", None) or error
    status = getattr(error, "status_code", None)
    said = readable(_PREFIX.sub("", getattr(error, "message", None) or str(error)))
    reach = f"Check the network and that {call['host']} can be reached."
    if isinstance(error, litellm.ContextWindowExceededError):
        return ModelFault("context_overflow", f"The context is too long for the model: {said}", status=status)
    if isinstance(error, litellm.Timeout | TimeoutError):
        return ModelFault("timeout", f"{call['host']} did not answer in time.", hint=reach)
    if status is None or isinstance(error, litellm.APIConnectionError) or _never_arrived(error):
        return ModelFault("connection", f"No answer from {call['host']}: {said.rstrip('.')}", hint=reach)
    if "LLM Provider NOT provided" in said:
        return ModelFault(
            "bad_request",
            f"Nobody knows which provider {call['body']['model']} belongs to.",
            hint="Write provider/model (moonshot/…, anthropic/…, openai/…), or give --api-base.",
        )
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None) or getattr(error, "litellm_response_headers", None) or {}
    return from_response(status, headers, said, host=call["host"], key_hint=call["key_hint"])


if __name__ == "__main__":
    serve(handle)

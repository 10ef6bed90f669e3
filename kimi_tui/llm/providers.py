"""What is known of the providers without asking them: how to reach each, whose key it wants, what it takes."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from kimi_tui.llm.choice import ModelChoice
from kimi_tui.llm.model import ModelFault
from kimi_tui.llm.provider import Dialect

NO_KEY = "no-key"
"""Sent to a server of the user's own that was given no key: most want the header and do not read it."""

_OWN_PROTOCOL = {
    *(
        "ai21",
        "anthropic",
        "azure",
        "azure_ai",
        "bedrock",
        "cohere",
        "cohere_chat",
        "databricks",
        "gemini",
        "github_copilot",
    ),
    *("huggingface", "ollama", "ollama_chat", "replicate", "sagemaker", "snowflake", "vertex_ai", "watsonx"),
}
"""Providers that do not speak the chat-completions protocol at their `api_base`."""

_COMPATIBLE = {
    *(
        "cerebras",
        "dashscope",
        "deepinfra",
        "deepseek",
        "fireworks_ai",
        "groq",
        "hosted_vllm",
        "litellm_proxy",
        "llamafile",
    ),
    *("lm_studio", "minimax", "mistral", "moonshot", "nvidia_nim", "openai", "openai_like", "openrouter", "perplexity"),
    *("sambanova", "together_ai", "volcengine", "xai", "zai"),
}
"""Prefixes that name a provider speaking it; anything else before a slash belongs to the model's own name."""

_KEY_NAMES = {
    "bedrock": "AWS_ACCESS_KEY_ID",
    "together_ai": "TOGETHERAI_API_KEY",
    "vertex_ai": "GOOGLE_APPLICATION_CREDENTIALS",
    "watsonx": "WATSONX_APIKEY",
}
_KEY_ALONE = {
    *("anthropic", "cerebras", "cohere", "deepseek", "gemini", "groq", "mistral", "moonshot", "openai", "openrouter"),
    *("perplexity", "xai"),
}
"""Providers that can be reached with a key from the environment and with nothing else."""
_OTHER_KEYS = {"gemini": ("GOOGLE_API_KEY",), "perplexity": ("PERPLEXITYAI_API_KEY",)}


OUTPUT_CAP = 32_000
"""Tokens. Less than the reserve that compaction keeps free, so that the two never meet."""


@dataclass(frozen=True, slots=True)
class Route:
    """How a model is reached."""

    provider: str
    """Empty where only litellm knows."""
    model: str
    """The name to send: bare when `direct`, a litellm string otherwise."""
    direct: bool
    """Spoken to over plain HTTP; litellm (seconds to import) is not needed."""

    @property
    def key_name(self) -> str:
        """The environment variable that holds the key."""
        provider = self.provider or "openai"
        return _KEY_NAMES.get(provider, f"{re.sub('[^A-Z0-9]', '_', provider.upper())}_API_KEY")


def route(model: str, api_base: str | None) -> Route:
    """With an `api_base` everything but a provider with a protocol of its own is spoken to directly."""
    prefix, slash, rest = model.partition("/")
    known = bool(slash) and prefix in _OWN_PROTOCOL | _COMPATIBLE
    if api_base is None or (known and prefix in _OWN_PROTOCOL):
        return Route(prefix if slash else "", model, direct=False)
    return Route(prefix if known else "openai", rest if known else model, direct=True)


def host_of(route: Route, api_base: str | None) -> str:
    """Whom a message about the connection names."""
    if not api_base:
        return route.provider or "the provider"
    try:
        return urlsplit(api_base).netloc.rpartition("@")[2] or api_base
    except ValueError:
        return api_base


def key_for(choice: ModelChoice, to: Route) -> str | None:
    """The key to send. None: litellm is to look for it itself."""
    if choice.api_key:
        return choice.api_key
    names = (to.key_name, *_OTHER_KEYS.get(to.provider, ()))
    found = next((value for name in names if (value := os.environ.get(name))), None)
    return found or (NO_KEY if choice.api_base else None)


def key_hint(to: Route) -> str:
    return f"Set the key with `export {to.key_name}=…`, or as `api_key` of the model in the config (kimi-tui config)."


def missing_key(choice: ModelChoice, to: Route) -> ModelFault | None:
    """Says at once, without the network, that a well-known provider was given no key."""
    if to.direct or to.provider not in _KEY_ALONE or key_for(choice, to):
        return None
    return ModelFault("auth", f"There is no key for {to.provider}: {to.key_name} is not set.", hint=key_hint(to))


def first_dialect(to: Route) -> Dialect:
    """What the provider is likely to take; `adapted` corrects it."""
    if to.provider in ("anthropic", "bedrock", "vertex_ai"):
        own = to.provider == "anthropic"
        return Dialect(ids="plain", signatures=own, cache_marks=own, output_cap=OUTPUT_CAP if own else None)
    if to.provider == "mistral":
        return Dialect(ids="nine")
    if to.provider in ("azure", "openai") and not to.direct:
        return Dialect(ids="plain")
    return Dialect(reasoning=to.direct or to.provider in ("moonshot", "deepseek", "openrouter", "dashscope", "zai"))


_COMPLAINTS: Mapping[str, re.Pattern[str]] = {
    "reasoning": re.compile(r"reasoning", re.I),
    "stream_usage": re.compile(r"stream_options|include_usage", re.I),
    "output_limit": re.compile(r"max_completion_tokens", re.I),
    "vision": re.compile(r"image|vision|multimodal|multi-modal", re.I),
    "tools": re.compile(r"tools?\b.{0,60}(not|n't|un)\s?support|(not|n't)\s+support.{0,40}\btools?\b", re.I | re.S),
}


def adapted(dialect: Dialect, fault: ModelFault) -> Dialect | None:
    """The dialect changed in the first point that the refusal names; None when it names none or nothing is left to
    change. Each point changes once, so this ends."""
    if fault.kind != "bad_request":
        return None
    for point, complaint in _COMPLAINTS.items():
        if complaint.search(str(fault)) and (changed := _changed(dialect, point)) is not None:
            return changed
    return None


def _changed(dialect: Dialect, point: str) -> Dialect | None:
    match point:
        case "reasoning":
            return None if dialect.reasoning_settled else _with(dialect, reasoning=not dialect.reasoning)
        case "output_limit":
            other = "max_completion_tokens"
            return None if dialect.output_limit == other else dataclasses.replace(dialect, output_limit=other)
        case "stream_usage" if dialect.stream_usage:
            return dataclasses.replace(dialect, stream_usage=False)
        case "vision" if dialect.vision:
            return dataclasses.replace(dialect, vision=False)
        case "tools" if dialect.tools:
            return dataclasses.replace(dialect, tools=False)
    return None


def _with(dialect: Dialect, *, reasoning: bool) -> Dialect:
    return dataclasses.replace(dialect, reasoning=reasoning, reasoning_settled=True)

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kimi_tui.llm.choice import ModelChoice
from kimi_tui.llm.embedded_model import EmbeddedModel
from kimi_tui.llm.factory import open_model
from kimi_tui.llm.litellm_model import LitellmModel
from kimi_tui.llm.model import ModelFault
from kimi_tui.llm.provider import Dialect
from kimi_tui.llm.providers import NO_KEY, Route, adapted, first_dialect, host_of, key_for, route
from kimi_tui.llm.replay_model import ReplayModel


def choice(model: str, **more: Any) -> ModelChoice:
    return ModelChoice("mine", model, Path("/data"), Path("/logs"), **more)


@pytest.mark.parametrize(
    ("model", "base", "kind"),
    [
        ("", None, EmbeddedModel),
        ("local", None, EmbeddedModel),
        ("local-large", None, EmbeddedModel),
        ("local", "http://127.0.0.1/v1", LitellmModel),
        ("replay:tour.json", None, ReplayModel),
        ("moonshot/kimi-k2.5", None, LitellmModel),
    ],
)
def test_the_name_decides(model: str, base: str | None, kind: type) -> None:
    opened = open_model(choice(model, api_base=base))
    assert isinstance(opened, kind)
    assert opened.view.name == "mine"


BASE = "http://127.0.0.1:1/v1"


@pytest.mark.parametrize(
    ("model", "base", "expected"),
    [
        ("moonshot/kimi-k2.5", None, Route("moonshot", "moonshot/kimi-k2.5", direct=False)),
        ("gpt-4o", None, Route("", "gpt-4o", direct=False)),
        ("scripted", BASE, Route("openai", "scripted", direct=True)),
        ("openai/gpt-4o", BASE, Route("openai", "gpt-4o", direct=True)),
        ("moonshot/kimi-k2.5", BASE, Route("moonshot", "kimi-k2.5", direct=True)),
        ("openrouter/qwen/qwen3", BASE, Route("openrouter", "qwen/qwen3", direct=True)),
        ("Qwen/Qwen3-32B", BASE, Route("openai", "Qwen/Qwen3-32B", direct=True)),
        ("anthropic/claude", BASE, Route("anthropic", "anthropic/claude", direct=False)),
        ("ollama/llama3", BASE, Route("ollama", "ollama/llama3", direct=False)),
    ],
)
def test_a_model_string_becomes_a_route(model: str, base: str | None, expected: Route) -> None:
    assert route(model, base) == expected


def test_the_key_comes_from_the_choice_then_the_environment_then_is_a_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    moonshot = route("moonshot/x", None)
    assert key_for(choice("moonshot/x"), moonshot) is None
    assert key_for(choice("x", api_base=BASE), route("x", BASE)) == NO_KEY
    monkeypatch.setenv("MOONSHOT_API_KEY", "from the environment")
    assert key_for(choice("moonshot/x"), moonshot) == "from the environment"
    assert key_for(choice("moonshot/x", api_key="mine"), moonshot) == "mine"


def test_a_choice_does_not_show_its_key() -> None:
    assert "sk-1" not in repr(choice("x", api_key="sk-1", headers={"Authorization": "sk-1"}))


def test_the_host_is_named_without_a_password() -> None:
    assert host_of(route("x", BASE), "https://me:secret@api.example:8080/v1") == "api.example:8080"
    assert host_of(route("x", BASE), "http://[bad/v1") == "http://[bad/v1"


def test_each_provider_gets_the_ids_that_it_takes() -> None:
    styles = {name: first_dialect(route(f"{name}/x", None)).ids for name in ("anthropic", "mistral", "moonshot")}
    assert styles == {"anthropic": "plain", "mistral": "nine", "moonshot": "kept"}


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ("Unknown parameter: stream_options", {"stream_usage": False}),
        ("image input is not supported", {"vision": False}),
        ("registry/llama does not support tools", {"tools": False}),
        ("tools is not supported with this model", {"tools": False}),
        ("reasoning_content is missing in assistant message", {"reasoning": True, "reasoning_settled": True}),
    ],
)
def test_a_refusal_corrects_one_point(words: str, changed: dict[str, Any]) -> None:
    corrected = adapted(Dialect(), ModelFault("bad_request", words))
    assert corrected == Dialect(**changed)
    assert adapted(corrected, ModelFault("bad_request", words)) is None


def test_other_refusals_correct_nothing() -> None:
    assert adapted(Dialect(), ModelFault("bad_request", "messages: field required")) is None
    assert adapted(Dialect(), ModelFault("auth", "no tools support")) is None

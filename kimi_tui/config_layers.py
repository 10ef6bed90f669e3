"""The configuration in layers, first one wins, so that every value can say where it came from. Loads no pydantic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kimi_tui.config_file import Keys, line_of, parse, read_text
from kimi_tui.options import LaunchOptions

PROJECT_KEYS = frozenset(
    {
        ("default_model",),
        ("loop", "max_steps_per_turn"),
        ("loop", "reserved_context_size"),
        ("loop", "compaction_trigger_ratio"),
        ("compaction", "preview"),
        ("compaction", "max_preserved_messages"),
    }
)
"""What a project's own file may say. Code that was just cloned must not run commands (hooks), approve anything,
send keys elsewhere (api_base) or start a script of its own (`replay:`)."""


@dataclass(frozen=True, slots=True)
class Layer:
    """What one source says."""

    name: str
    values: dict[str, Any]
    file: Path | None = None
    text: str = ""
    labels: Mapping[Keys, str] = field(default_factory=dict)
    """Where single values come from, when the source has words of its own (`--model`)."""

    def where(self, keys: Keys) -> str:
        """Words for the origin of a value that this layer holds."""
        if self.file is None:
            return self.labels.get(keys, self.name)
        line = line_of(self.text, keys)
        return f"{self.file}, line {line}" if line else str(self.file)


def file_layer(file: Path) -> Layer:
    """A configuration file; an absent one says nothing. Raises `ConfigFault`."""
    text = read_text(file)
    return Layer("file", parse(text, file), file, text)


def only_project_keys(layer: Layer, known_models: Sequence[str]) -> tuple[Layer, list[str]]:
    """The layer cut down to what a project may say, and the keys that were left out."""
    kept: dict[str, Any] = {}
    refused: list[str] = []
    for keys, value in leaves(layer.values):
        if keys in PROJECT_KEYS and (keys != ("default_model",) or value in known_models):
            kept = merge(kept, nested(keys, value))
        else:
            refused.append(dotted(keys))
    return Layer(layer.name, kept, layer.file, layer.text), refused


def flags_layer(options: LaunchOptions, model: str) -> Layer:
    """What the command line said. `model` is the one that the flags about a model speak of."""
    said: list[tuple[Keys, Any, str]] = [
        (("default_model",), options.model, "--model"),
        (("models", model, "api_base"), options.api_base, "--api-base"),
        (("models", model, "context_window"), options.context_window, "--context-window"),
        (("loop", "max_ralph_iterations"), options.max_ralph_iterations, "--max-ralph-iterations"),
        (("loop", "max_steps_per_turn"), options.max_steps, "--max-steps"),
    ]
    given = [item for item in said if item[1] is not None]
    values: dict[str, Any] = {}
    for keys, value, _ in given:
        values = merge(values, nested(keys, value))
    return Layer("command line", values, labels={keys: flag for keys, _, flag in given})


def nested(keys: Keys, value: Any) -> dict[str, Any]:
    for key in reversed(keys):
        value = {key: value}
    assert isinstance(value, dict)
    return value


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Tables are merged, anything else of `above` takes the place of what is `below`."""
    result = dict(below)
    for key, value in above.items():
        old = result.get(key)
        result[key] = merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return result


def leaves(values: Mapping[str, Any], prefix: Keys = ()) -> list[tuple[Keys, Any]]:
    """Every value that is no table, with its keys; an empty table counts as a value."""
    found: list[tuple[Keys, Any]] = []
    for key, value in values.items():
        keys = (*prefix, key)
        found += leaves(value, keys) if isinstance(value, dict) and value else [(keys, value)]
    return found


def holds(layer: Layer, keys: Keys) -> bool:
    value: Any = layer.values
    try:
        for key in keys:
            value = value[key]
    except (KeyError, IndexError, TypeError):
        return False
    return True


def dotted(keys: Keys) -> str:
    """`("models", "k.2", "model")` → `models."k.2".model`."""
    shown = ""
    for key in keys:
        if isinstance(key, int):
            shown += f"[{key + 1}]"
        else:
            plain = key.replace("-", "").replace("_", "").isalnum() and key.isascii()
            shown += f".{key}" if plain else f'."{key}"'
    return shown.removeprefix(".")

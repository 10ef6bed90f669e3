"""What litellm's own table says of a model, read as the JSON file it is: importing litellm takes seconds."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import Any

_FILE = "model_prices_and_context_window_backup.json"


def known(model: str) -> dict[str, Any]:
    """`window` and `output` (tokens), `vision` and `tools` of a litellm model string; what is not known is absent."""
    entry = _entry(model)
    info: dict[str, Any] = {}
    for key, limit in (
        ("window", entry.get("max_input_tokens") or entry.get("max_tokens")),
        ("output", entry.get("max_output_tokens")),
    ):
        if isinstance(limit, int | float) and limit > 0:
            info[key] = int(limit)
    if entry:
        info["vision"] = bool(entry.get("supports_vision"))
        info["tools"] = entry.get("supports_function_calling") is not False
    return info


def _entry(model: str) -> dict[str, Any]:
    """By the whole string first, then without prefixes: `anthropic/claude-x` stands there as `claude-x`."""
    table = _table()
    while True:
        if model in table:
            entry: dict[str, Any] = table[model]
            return entry
        _, slash, model = model.partition("/")
        if not slash:
            return {}


@cache
def _table() -> dict[str, Any]:
    found = importlib.util.find_spec("litellm")
    for folder in (found.submodule_search_locations or ()) if found else ():
        path = Path(folder) / _FILE
        if path.is_file():
            table: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return table
    return {}

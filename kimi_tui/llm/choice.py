"""Which model, said in plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

DEFAULT_WINDOW = 128_000
"""Tokens, where nobody says how much the model holds."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """One model as the settings name it."""

    name: str
    """What the user calls it."""
    model: str
    """`local`, `local-large`, `local-tiny`, `replay:FILE`, a litellm model string, or, with `api_base`, a bare name."""
    data_dir: Path
    """Holds `models/`, the weights of the embedded models."""
    log_dir: Path
    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)
    context_window: int | None = None
    """Tokens; overrides what is known of the model."""
    max_output_tokens: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

"""How the model stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kimi_tui.protocol.events.base import Event
from kimi_tui.protocol.views.session import ModelView


@dataclass(frozen=True, slots=True)
class ModelProgressed(Event):
    """The model is being made ready. `done` and `total` are bytes while fetching, tokens while warming."""

    name: str
    phase: Literal["fetching", "checking", "starting", "warming"]
    done: int = 0
    total: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ModelReady(Event):
    """It can be asked. Comes once more when sending the prefix ahead (`warming`) is over."""

    model: ModelView


@dataclass(frozen=True, slots=True)
class ModelUnavailable(Event):
    """The model cannot answer now. One clear line, then what to do."""

    name: str
    reason: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class ModelsListed(Event):
    """Every model that has a name here: those of the config, the embedded ones, the one in use."""

    models: tuple[ModelView, ...]
    current: str = ""
    """The name of the one in use."""

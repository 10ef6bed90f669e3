"""From the name of a model to the model."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from kimi_tui.llm.choice import ModelChoice
from kimi_tui.llm.embedded_model import EmbeddedModel
from kimi_tui.llm.litellm_model import LitellmModel
from kimi_tui.llm.model import ChatModel
from kimi_tui.llm.replay_model import ReplayModel
from kimi_tui.llm.weights import MODELS

DEFAULT = "local"
"""What answers when nobody chose: it needs no key."""


def open_model(choice: ModelChoice) -> ChatModel:
    """The model of a choice. Opens nothing yet: `prepare` does. An empty `model` means the default."""
    if not choice.model:
        choice = dataclasses.replace(choice, model=DEFAULT)
    kind, colon, rest = choice.model.partition(":")
    if colon and kind == "replay":
        return ReplayModel(Path(rest).expanduser(), name=choice.name, window=choice.context_window)
    if choice.api_base is None and choice.model in MODELS:
        return EmbeddedModel(choice)
    return LitellmModel(choice)

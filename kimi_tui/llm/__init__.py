"""Everything between a history and a model's answer.

Loaded on demand: the model processes live in this package and start faster without pydantic.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kimi_tui.llm.factory import open_model
    from kimi_tui.llm.history import normalize_history, prepare_history
    from kimi_tui.llm.retry import Restart, RetryPolicy, stream_with_retry

__all__ = ["Restart", "RetryPolicy", "normalize_history", "open_model", "prepare_history", "stream_with_retry"]

_HOME = {"open_model": "factory", "normalize_history": "history", "prepare_history": "history"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME.get(name, 'retry')}"), name)

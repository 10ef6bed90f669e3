"""Everything between a history and a model's answer."""

from kimi_tui.llm.history import normalize_history, prepare_history

__all__ = ["normalize_history", "prepare_history"]

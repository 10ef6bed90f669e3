"""Everything between a history and a model's answer."""

from kimi_tui.llm.history import normalize_history, prepare_history
from kimi_tui.llm.replay_model import ReplayModel
from kimi_tui.llm.retry import Restart, RetryPolicy, stream_with_retry

__all__ = ["ReplayModel", "Restart", "RetryPolicy", "normalize_history", "prepare_history", "stream_with_retry"]

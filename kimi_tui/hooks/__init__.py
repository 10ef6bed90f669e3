"""The user's own commands, run at fixed moments of the session (MECHANISMS F)."""

from kimi_tui.hooks.hooks import Hooks, Verdict
from kimi_tui.hooks.runner import HOOK_EVENTS, HookDef, HookResult, run_hook
from kimi_tui.settings import HookEvent

__all__ = ["HOOK_EVENTS", "HookDef", "HookEvent", "HookResult", "Hooks", "Verdict", "run_hook"]

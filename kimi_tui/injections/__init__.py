"""Reminders that are added to the conversation before a model call (MECHANISMS M17, M19, M20)."""

from kimi_tui.injections.afk import AfkInjectionProvider
from kimi_tui.injections.newest import Newest
from kimi_tui.injections.plan import PlanInjectionProvider
from kimi_tui.injections.provider import DynamicInjection, DynamicInjectionProvider, Injections, StepView

__all__ = [
    "AfkInjectionProvider",
    "DynamicInjection",
    "DynamicInjectionProvider",
    "Injections",
    "Newest",
    "PlanInjectionProvider",
    "StepView",
]

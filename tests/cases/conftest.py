"""Screens without a clock, see `stillness`."""

from __future__ import annotations

import pytest

from tests.ui.stillness import unhurried

__all__ = ["always_unhurried", "unhurried"]


@pytest.fixture(autouse=True)
def always_unhurried(unhurried: None) -> None:
    """For every test here."""

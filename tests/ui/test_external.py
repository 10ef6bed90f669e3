from __future__ import annotations

import pytest

from kimi_tui.ui.external import edit, editor_command


async def test_what_the_editor_wrote_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", 'sh -c \'printf " and more\\n" >> "$0"\'')
    assert await edit("text") == "text and more"


async def test_an_editor_that_fails_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "false")
    assert await edit("text") is None


def test_the_editor_is_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "code --wait")
    assert editor_command() == ["code", "--wait"]

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.tool_desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    work_dir = tmp_path / "work"
    work_dir.mkdir()
    return Desk(work_dir)

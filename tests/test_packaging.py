"""What a user installs holds the code, the styles and the prompts."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

PROJECT = Path(__file__).parent.parent


def test_the_wheel_holds_every_module_style_and_prompt(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(PROJECT)],
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    expected = {
        str(path.relative_to(PROJECT)) if folder == "kimi_tui" else f"kimi_tui/{path.relative_to(PROJECT)}"
        for folder, pattern in (("kimi_tui", "*.py"), ("styles", "*.tcss"), ("prompts", "*.md"))
        for path in (PROJECT / folder).rglob(pattern)
    }
    assert expected <= inside
    assert {"kimi_tui/styles/app.tcss", "kimi_tui/prompts/system.md"} <= inside

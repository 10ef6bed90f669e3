"""Where skills are looked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kimi_tui.skills.skill import Scope

PROJECT_FOLDERS = (".kimi/skills", ".agents/skills", ".claude/skills")


@dataclass(frozen=True, slots=True)
class SkillRoot:
    path: Path
    scope: Scope


def skill_roots(work_dir: Path, data_dir: Path) -> tuple[SkillRoot, ...]:
    """Folders that may hold skills, the ones that win first; they need not exist.

    First the project's, from the work dir up to the root of its repository, then the user's own.
    """
    folders = _up_to_repository(work_dir)
    project = [SkillRoot(folder / name, "project") for folder in folders for name in PROJECT_FOLDERS]
    return (*project, SkillRoot(data_dir / "skills", "user"))


def _up_to_repository(work_dir: Path) -> list[Path]:
    """The work dir and the folders above it inside its repository; outside of one, the work dir alone."""
    folders = [work_dir, *work_dir.parents]
    for index, folder in enumerate(folders):
        if _exists(folder / ".git"):
            return folders[: index + 1]
    return [work_dir]


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False

"""All skills of a project and its user, kept up to date by looking at file times."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kimi_tui.skills.roots import SkillRoot
from kimi_tui.skills.skill import Skill, one_line, read_skill, read_text

CheckDiagram = Callable[[str, str, int], object]
"""Reads a diagram (language, text, first line) and raises ValueError, naming the line, when it is no flow."""

Stamp = tuple[int, int, int]
_Read = tuple[Stamp, "Skill | SkillProblem | None"]

_COMMAND = re.compile(r"(?:skill|flow)[:-](?P<name>.+)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class SkillProblem:
    """A file that could not become a skill."""

    path: Path
    reason: str

    def __str__(self) -> str:
        return f"{one_line(self.path)}: {self.reason}"


@dataclass(frozen=True, slots=True)
class _Found:
    """A file that should hold a skill."""

    path: Path
    root: SkillRoot
    name: str
    stamp: Stamp
    loose: bool
    """A markdown file of its own, not in a folder: without front matter it is no skill."""


class SkillSet:
    """The skills of some folders. One bad file never hides the others. Does blocking I/O: call it in a thread."""

    def __init__(self, roots: Sequence[SkillRoot], check_diagram: CheckDiagram) -> None:
        """`roots`: the ones that win first. Nothing is read before `refresh`."""
        self._roots = tuple(roots)
        self._check_diagram = check_diagram
        self._files: dict[Path, _Read] = {}
        self._seen: tuple[Skill | SkillProblem, ...] = ()
        self.skills: tuple[Skill, ...] = ()
        """By name. Where two share one, the one of the first root."""
        self.problems: tuple[SkillProblem, ...] = ()

    def refresh(self) -> bool:
        """Reads what is new or changed, forgets what is gone; True when anything differs. Costs one stat a file."""
        files: dict[Path, _Read] = {}
        unreadable: list[SkillProblem] = []
        for root in self._roots:
            try:
                files |= {found.path: self._up_to_date(found) for found in _scan(root)}
            except OSError as error:
                unreadable.append(SkillProblem(root.path, f"cannot be listed: {error.strerror or error}"))
        self._files = files
        seen = (*unreadable, *(read for _, read in files.values() if read is not None))
        changed = seen != self._seen
        self._seen = seen
        self.problems = tuple(item for item in seen if isinstance(item, SkillProblem))
        self.skills = _winners(item for item in seen if isinstance(item, Skill))
        return changed

    def find(self, name: str) -> Skill | None:
        """The skill of that name, or of a slash command without its slash: `flow:x`, `flow-x`, `skill:x`, `x`."""
        by_key = {_key(skill.name): skill for skill in self.skills}
        command = _COMMAND.fullmatch(name)
        return by_key.get(_key(name)) or (by_key.get(_key(command["name"])) if command else None)

    def problem_of(self, name: str) -> str:
        """Why there is no skill of that name or command, where a file of that name is of no use; else empty."""
        command = _COMMAND.fullmatch(name)
        wanted = _key(command["name"] if command else name)
        named = ((problem, problem.path) for problem in self.problems)
        return next((item.reason for item, path in named if wanted in map(_key, (path.parent.name, path.stem))), "")

    def _up_to_date(self, found: _Found) -> _Read:
        known = self._files.get(found.path)
        return known if known is not None and known[0] == found.stamp else (found.stamp, self._read(found))

    def _read(self, found: _Found) -> Skill | SkillProblem | None:
        try:
            if found.loose and not read_text(found.path).startswith("---"):
                return None
            skill = read_skill(found.path, found.root.scope, found.name)
            if skill.diagram is not None:
                self._check_diagram(skill.diagram.language, skill.diagram.text, skill.diagram.line)
        except OSError as error:
            return SkillProblem(found.path, f"cannot be read: {error.strerror or error}")
        except ValueError as error:
            return SkillProblem(found.path, one_line(error))
        return skill


def _scan(root: SkillRoot) -> Iterator[_Found]:
    """Files of a root that may be skills: `<name>/SKILL.md`, then loose `<name>.md`."""
    try:
        with os.scandir(root.path) as listing:
            names = sorted(entry.name for entry in listing)
    except (FileNotFoundError, NotADirectoryError):
        return
    candidates = [(root.path / name / "SKILL.md", name, False) for name in names]
    candidates += [(root.path / name, Path(name).stem, True) for name in names if name.lower().endswith(".md")]
    for path, name, loose in candidates:
        stamp = _stamp(path)
        if stamp is not None:
            yield _Found(path, root, name, stamp, loose)


def _stamp(path: Path) -> Stamp | None:
    """What changes when a file does; None when there is no such file."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return (status.st_mtime_ns, status.st_size, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _winners(skills: Iterable[Skill]) -> tuple[Skill, ...]:
    by_key: dict[str, Skill] = {}
    for skill in skills:
        by_key.setdefault(_key(skill.name), skill)
    return tuple(sorted(by_key.values(), key=lambda skill: skill.name.casefold()))


def _key(name: str) -> str:
    return "-".join(name.casefold().split())

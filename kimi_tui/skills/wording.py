"""How skills are told to the model. The sentences stand in `prompts/`."""

from __future__ import annotations

from collections.abc import Sequence
from string import Template

from kimi_tui.resources import prompt
from kimi_tui.skills.skill import Skill, one_line, read_text, split_front_matter

_SHORT = 120


def skills_prompt(skills: Sequence[Skill], max_chars: int = 12_000) -> str:
    """The part of the system prompt that lists all skills; empty when there are none.

    The list takes at most `max_chars`: descriptions are shortened first, then left out, then skills are only counted.
    """
    if not skills:
        return ""
    for width in (None, _SHORT, 0):
        lines = [_line(skill, width) for skill in skills]
        if sum(map(len, lines)) + len(lines) <= max_chars:
            return _with_heading(lines)
    kept = _that_fit(lines, max_chars)
    return _with_heading([*kept, f"… and {len(lines) - len(kept)} more"])


def skill_request(skill: Skill, request: str = "") -> str:
    """What `/skill:<name> request` sends: the skill's text, read now, and the request. Raises OSError, SkillError."""
    _, body = split_front_matter(read_text(skill.path))
    text = Template(prompt("skill_use")).substitute(
        name=skill.name, path=one_line(skill.path), body=body.strip(), request=request.strip()
    )
    return text.strip()


def _line(skill: Skill, width: int | None) -> str:
    about = skill.description if width is None or len(skill.description) <= width else skill.description[:width]
    about = about.rstrip() + "…" if about and about != skill.description else about
    return f"- {skill.name}{': ' if about else ''}{about} ({one_line(skill.path)})"


def _that_fit(lines: Sequence[str], max_chars: int) -> list[str]:
    kept: list[str] = []
    room = max_chars
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept


def _with_heading(lines: Sequence[str]) -> str:
    return Template(prompt("skills")).substitute(skills="\n".join(lines))

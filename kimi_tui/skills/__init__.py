"""Written instructions for particular kinds of work, found in folders and read when they are needed."""

from kimi_tui.skills.roots import SkillRoot, skill_roots
from kimi_tui.skills.skill import Diagram, Skill, SkillError
from kimi_tui.skills.skill_set import SkillProblem, SkillSet
from kimi_tui.skills.wording import skill_request, skills_prompt

__all__ = [
    "Diagram",
    "Skill",
    "SkillError",
    "SkillProblem",
    "SkillRoot",
    "SkillSet",
    "skill_request",
    "skill_roots",
    "skills_prompt",
]

"""Skills on real folders."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from kimi_tui.flows import parse_flow
from kimi_tui.skills import Diagram, Skill, SkillRoot, SkillSet, skill_request, skill_roots, skills_prompt

FLOW = """\
---
name: release
description: Ship it
type: flow
---
# Release

```mermaid
flowchart TD
BEGIN --> T[Run the tests] --> Q{Green?}
Q -->|yes| END
Q -->|no| T
```
"""


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "skills"


@pytest.fixture
def skills(root: Path) -> SkillSet:
    return SkillSet([SkillRoot(root, "project")], parse_flow)


def problems(skills: SkillSet) -> list[tuple[str, str]]:
    return [(problem.path.parent.name, problem.reason) for problem in skills.problems]


def test_a_skill_is_a_folder_with_a_markdown_file(skills: SkillSet, root: Path) -> None:
    path = write(root / "review" / "SKILL.md", "---\nname: Code Review\ndescription: Reads diffs\n---\nLook closely.\n")
    assert skills.refresh()
    assert skills.skills == (Skill("Code Review", "Reads diffs", "standard", "project", path),)
    assert skills.skills[0].command == "skill:Code-Review"
    assert skills.problems == ()


def test_name_and_description_have_stand_ins(skills: SkillSet, root: Path) -> None:
    write(root / "plain" / "SKILL.md", "\n# Writes plain text\n\nmore\n")
    write(root / "empty" / "SKILL.md", "")
    skills.refresh()
    assert [(skill.name, skill.description) for skill in skills.skills] == [
        ("empty", "no description"),
        ("plain", "Writes plain text"),
    ]


def test_values_of_the_front_matter_stay_the_text_they_are(skills: SkillSet, root: Path) -> None:
    write(root / "x" / "SKILL.md", "---\nname: 1.10\ndescription: yes\nextra: [1, {a: b}]\n---\nbody")
    skills.refresh()
    assert [(skill.name, skill.description) for skill in skills.skills] == [("1.10", "yes")]


def test_a_loose_file_is_a_skill_only_with_front_matter(skills: SkillSet, root: Path) -> None:
    path = write(root / "tidy.md", "---\ndescription: Tidies up\n---\nGo.")
    write(root / "README.md", "# Our skills")
    write(root / "notes.txt", "---\nname: x\n---\n")
    skills.refresh()
    assert skills.skills == (Skill("tidy", "Tidies up", "standard", "project", path),)


def test_a_flow_carries_its_diagram_and_the_line_it_starts_in(skills: SkillSet, root: Path) -> None:
    write(root / "release" / "SKILL.md", FLOW)
    skills.refresh()
    (skill,) = skills.skills
    assert (skill.type, skill.command) == ("flow", "flow:release")
    assert skill.diagram == Diagram(
        "mermaid",
        "flowchart TD\nBEGIN --> T[Run the tests] --> Q{Green?}\nQ -->|yes| END\nQ -->|no| T\n",
        9,
    )
    assert parse_flow(skill.diagram.language, skill.diagram.text).nodes["T"].label == "Run the tests"


@pytest.mark.parametrize("fence", ["```d2", "~~~~ D2", "```{d2}", "   ```d2 title=x"])
def test_a_flow_may_be_drawn_in_d2(skills: SkillSet, root: Path, fence: str) -> None:
    closing = "~~~~" if "~" in fence else "```"
    text = f"---\ntype: flow\n---\n```text\nno\n```\n{fence}\nBEGIN -> a -> END\na: |md\n  do it\n|\n{closing}\n"
    write(root / "x" / "SKILL.md", text)
    skills.refresh()
    assert skills.problems == ()
    assert [skill.diagram and skill.diagram.language for skill in skills.skills] == ["d2"]


def test_bad_skills_are_listed_with_their_reason_and_hide_no_other(skills: SkillSet, root: Path) -> None:
    write(root / "a-yaml" / "SKILL.md", "\n---\nname: x\n- and: what\n---\n")
    write(root / "aa-open" / "SKILL.md", "---\nname: x\n")
    write(root / "b-type" / "SKILL.md", "---\ntype: wizard\n---\n")
    write(root / "c-none" / "SKILL.md", "---\ntype: flow\n---\nno diagram")
    write(root / "d-line" / "SKILL.md", FLOW.replace("Q{Green?}", "Q{Green?"))
    write(root / "e-walk" / "SKILL.md", FLOW.replace("|no|", "|yes|"))
    write(root / "f-list" / "SKILL.md", "---\nname: [a, b]\n---\n")
    write(root / "g-huge" / "SKILL.md", "x" * 1_000_001)
    write(root / "h-deep" / "SKILL.md", "---\nname: " + "[" * 5_000 + "\n---\n")
    write(root / "i-good" / "SKILL.md", "Fine.")
    (root / "j-folder" / "SKILL.md").mkdir(parents=True)
    (root / "k-gone").symlink_to(root / "nowhere")
    skills.refresh()
    assert [skill.name for skill in skills.skills] == ["i-good"]
    assert problems(skills)[:8] == [
        ("a-yaml", "its front matter is no valid YAML: expected <block end>, but found '-' in line 4"),
        ("aa-open", "its front matter is never closed by `---`"),
        ("b-type", "type is `wizard`, which is neither `standard` nor `flow`"),
        ("c-none", "a flow needs a code block in mermaid or d2"),
        ("d-line", 'Line 10: the label of "Q" is never closed: `{Green?`'),
        ("e-walk", '"Q" has more than one way out with the label "yes"'),
        ("f-list", "its name is not a text"),
        ("g-huge", "the file is larger than 1000 kB"),
    ]
    assert problems(skills)[8:] == [("h-deep", "its front matter is too deeply nested")]
    assert str(skills.problems[2]) == f"{root}/b-type/SKILL.md: {skills.problems[2].reason}"


@pytest.mark.parametrize(
    ("written", "description"),
    [
        ("Use when: the user asks", "Use when: the user asks"),
        ("[WIP] does it", "[WIP] does it"),
        ("`code` and @names", "`code` and @names"),
        ("*really* good: yes\n  and more of it", "*really* good: yes and more of it"),
        ('"审查": 找出问题', '"审查": 找出问题'),
        ("'what: it''s", "'what: it''s"),
    ],
)
def test_a_description_need_not_know_yaml(skills: SkillSet, root: Path, written: str, description: str) -> None:
    write(root / "x" / "SKILL.md", f"---\nname: plain\n# a remark\ndescription: {written}\nmetadata:\n  a: 1\n---\nb")
    skills.refresh()
    assert skills.problems == ()
    assert [(skill.name, skill.description) for skill in skills.skills] == [("plain", description)]


def test_aliases_that_multiply_cost_nothing(skills: SkillSet, root: Path) -> None:
    bomb = "\n".join(f"k{i + 1}: &k{i + 1} {{<<: [*k{i}, *k{i}]}}" for i in range(60))
    write(root / "x" / "SKILL.md", f"---\nname: calm\nk0: &k0 {{a: b}}\n{bomb}\n---\nbody")
    skills.refresh()
    assert [skill.name for skill in skills.skills] == ["calm"]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("\ufeff---\r\nname: 审查\r\n---\r\n正文".encode(), "审查"),
        ("---\nname: 审查\n---\n正文".encode("utf-16"), "审查"),
        ("---\nname: caf\xe9\n---\n".encode("latin-1"), "caf\ufffd"),
        (b'---\nname: "a\\x1b[31mb\\nc"\n---\n', "a [31mb c"),
        (b"---\nname: " + b"x" * 500 + b"\n---\n", "x" * 64),
    ],
)
def test_odd_names_and_encodings_survive(skills: SkillSet, root: Path, data: bytes, name: str) -> None:
    write(root / "x" / "SKILL.md", data)
    skills.refresh()
    assert [skill.name for skill in skills.skills] == [name]
    skills_prompt(skills.skills).encode()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a file name be any bytes")
def test_a_folder_whose_name_is_no_text_survives(skills: SkillSet, root: Path) -> None:
    write(Path(os.fsdecode(os.fsencode(root) + b"/bad\xff\x1b")) / "SKILL.md", "Fine.")
    skills.refresh()
    assert [skill.name for skill in skills.skills] == ["bad"]
    skills_prompt(skills.skills).encode()
    skill_request(skills.skills[0]).encode()


def test_the_project_wins_over_the_user_and_the_nearer_folder_over_the_farther(tmp_path: Path) -> None:
    repository, data = tmp_path / "repo", tmp_path / "data"
    work_dir = repository / "packages" / "web"
    work_dir.mkdir(parents=True)
    (repository / ".git").mkdir()
    for folder, name in [
        (work_dir / ".claude/skills", "one"),
        (repository / ".kimi/skills", "one"),
        (repository / ".kimi/skills", "two"),
        (repository / ".agents/skills", "two"),
        (repository / ".agents/skills", "three"),
        (data / "skills", "three"),
        (data / "skills", "Four"),
        (tmp_path / ".kimi/skills", "outside"),
    ]:
        write(folder / name / "SKILL.md", "text")
    skills = SkillSet(skill_roots(work_dir, data), parse_flow)
    skills.refresh()
    assert [(skill.name, skill.scope, skill.path.parent.parent) for skill in skills.skills] == [
        ("Four", "user", data / "skills"),
        ("one", "project", work_dir / ".claude/skills"),
        ("three", "project", repository / ".agents/skills"),
        ("two", "project", repository / ".kimi/skills"),
    ]


def test_outside_of_a_repository_only_the_work_dir_is_searched(tmp_path: Path) -> None:
    work_dir = tmp_path / "a" / "b"
    work_dir.mkdir(parents=True)
    folders = [root.path.relative_to(tmp_path).as_posix() for root in skill_roots(work_dir, tmp_path / "data")]
    assert folders == ["a/b/.kimi/skills", "a/b/.agents/skills", "a/b/.claude/skills", "data/skills"]


def test_a_skill_is_found_by_name_or_command(skills: SkillSet, root: Path) -> None:
    write(root / "a" / "SKILL.md", FLOW)
    write(root / "b" / "SKILL.md", "---\nname: Code Review\n---\n")
    write(root / "c" / "SKILL.md", "---\nname: flow-notes\n---\n")
    skills.refresh()
    assert [skill.name for skill in skills.skills] == ["Code Review", "flow-notes", "release"]
    for wanted in ("release", "flow:release", "flow-Release", "skill:release"):
        assert skills.find(wanted) == skills.skills[2]
    assert skills.find("skill:code-review") == skills.find("code review") == skills.skills[0]
    assert skills.find("flow-notes") == skills.skills[1]
    assert skills.find("flow:nothing") is None


def test_refresh_reads_only_what_changed(root: Path) -> None:
    read: list[str] = []
    skills = SkillSet([SkillRoot(root, "user")], lambda language, text, line: read.append(text))
    assert not skills.refresh()
    path = write(root / "a" / "SKILL.md", FLOW)
    write(root / "b" / "SKILL.md", FLOW.replace("release", "other"))
    assert skills.refresh()
    assert not skills.refresh()
    assert len(read) == 2
    write(path, FLOW.replace("Ship it", "Ship it now"))
    assert skills.refresh()
    assert (len(read), skills.find("release").description if skills.find("release") else "") == (3, "Ship it now")
    path.unlink()
    assert skills.refresh()
    assert [skill.name for skill in skills.skills] == ["other"]
    write(path, "---\ntype: flow\n---\n")
    assert skills.refresh()
    assert problems(skills) == [("a", "a flow needs a code block in mermaid or d2")]


def test_the_system_prompt_lists_name_description_and_path(skills: SkillSet, root: Path) -> None:
    path = write(root / "review" / "SKILL.md", "---\nname: review\ndescription: Reads $diffs\n---\n")
    skills.refresh()
    text = skills_prompt(skills.skills)
    assert text.startswith("# Skills\n")
    assert text.endswith(f"\n- review: Reads $diffs ({path})")
    assert skills_prompt([]) == ""


def test_the_list_in_the_system_prompt_is_bounded(tmp_path: Path) -> None:
    many = [Skill(f"s{i:03}", ("long " * 100).strip(), "standard", "user", Path(f"/s/{i:03}.md")) for i in range(100)]
    heading = len(skills_prompt(many, 0)) - len("… and 100 more")
    sizes = {limit: len(skills_prompt(many, limit)) - heading for limit in (100_000, 20_000, 3_000, 500)}
    assert all(size <= limit + len("… and 100 more") for limit, size in sizes.items())
    assert skills_prompt(many[:1]).endswith("long (/s/000.md)")
    assert "- s099: long long" in skills_prompt(many, 20_000)
    assert "- s099 (/s/099.md)" in skills_prompt(many, 3_000)
    assert skills_prompt(many, 500).endswith("… and 74 more")


def test_a_skill_is_read_when_it_is_used(skills: SkillSet, root: Path) -> None:
    path = write(root / "review" / "SKILL.md", "---\nname: review\n---\nOld.")
    skills.refresh()
    write(path, "---\nname: review\n---\n\nCost: $5.\n")
    assert skill_request(skills.skills[0], " the last commit ") == (
        f'The user asks for the skill "review". Its file is {path}; '
        "paths in it are relative to the folder of that file.\n\n<skill>\nCost: $5.\n</skill>\n\nthe last commit"
    )

"""One `SKILL.md`: front matter, text, and for a flow its diagram."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import frontmatter
import yaml
from markdown_it import MarkdownIt

SkillType = Literal["standard", "flow"]
Scope = Literal["project", "user"]

MAX_BYTES = 1_000_000
_MAX_NAME, _MAX_DESCRIPTION = 64, 1024
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_FIELD = re.compile(r"(?P<name>[A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(?P<value>.*)|(?=\Z))")
_MAX_BRACKETS = 200
"""Beyond that the YAML reader takes seconds; no skill needs them."""
_YAML = frontmatter.YAMLHandler()
_LANGUAGES = ("mermaid", "d2")


class SkillError(ValueError):
    """A skill that cannot be used; the message is one line that says why."""


@dataclass(frozen=True, slots=True)
class Diagram:
    language: str
    """`mermaid` or `d2`."""
    text: str
    line: int
    """The line of the file in which the diagram starts."""


@dataclass(frozen=True, slots=True)
class Skill:
    name: str
    description: str
    type: SkillType
    scope: Scope
    path: Path
    """The markdown file."""
    diagram: Diagram | None = None
    """The graph of a flow."""

    @property
    def command(self) -> str:
        """The slash command without its slash, e.g. `skill:review` or `flow:release`; blanks become dashes."""
        return f"{'flow' if self.type == 'flow' else 'skill'}:{self.name.replace(' ', '-')}"


def read_skill(path: Path, scope: Scope, default_name: str) -> Skill:
    """The skill in a file. Raises SkillError, or OSError when the file cannot be read."""
    text = read_text(path)
    fields, body = split_front_matter(text)
    kind = one_line(fields.get("type") or "standard").lower()
    if kind not in ("standard", "flow"):
        raise SkillError(f"type is `{kind}`, which is neither `standard` nor `flow`")
    name = _scalar(fields, "name")[:_MAX_NAME].strip() or one_line(default_name)
    if not name:
        raise SkillError("it has no name")
    description = _scalar(fields, "description") or _first_line(body)
    return Skill(
        name=name,
        description=description[:_MAX_DESCRIPTION],
        type="flow" if kind == "flow" else "standard",
        scope=scope,
        path=path,
        diagram=_find_diagram(text, body) if kind == "flow" else None,
    )


def read_text(path: Path) -> str:
    """The text of a skill's file, whatever its encoding and line ends."""
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise SkillError(f"the file is larger than {MAX_BYTES // 1000} kB")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", "replace")
    else:
        text = data.decode("utf-8-sig", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The fields of the front matter and the text below it. Raises SkillError when the fields cannot be read.

    Every value stays the text it is written as: a version is no number, and merge keys cannot blow up. What is no YAML
    for a colon or a sign of its own (`description: Use when: asked`) is read line by line.
    """
    if not _YAML.detect(text.lstrip()):
        return {}, text
    try:
        block, body = _YAML.split(text.lstrip())
    except ValueError:
        raise SkillError("its front matter is never closed by `---`") from None
    if block.count("[") + block.count("{") > _MAX_BRACKETS:
        raise SkillError("its front matter is too deeply nested")
    try:
        fields = _YAML.load(block, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if (plain := _by_lines(block)) is not None:
            return plain, str(body)
        above = text[: text.find(block)].count("\n")
        raise SkillError(f"its front matter is no valid YAML: {_yaml_fault(error, above)}") from None
    return (fields if isinstance(fields, dict) else {}), str(body)


def _by_lines(block: str) -> dict[str, Any] | None:
    """Fields as people write them who do not think of YAML: a name, a colon, and the rest of the line with the indented
    ones after it. None when it is not that."""
    fields: dict[str, list[str]] = {}
    texts: list[str] | None = None
    for line in block.splitlines():
        field = _FIELD.fullmatch(line)
        if field:
            texts = fields.setdefault(field["name"], [])
            texts.append(field["value"] or "")
        elif line[:1].isspace() and texts is not None:
            texts.append(line.strip())
        elif line.strip() and not line.startswith("#"):
            return None
    return {name: _unquoted(" ".join(texts).strip()) for name, texts in fields.items()}


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def one_line(value: object) -> str:
    """A value as one line without control characters: it goes to the screen and into the system prompt."""
    return " ".join(_UNPRINTABLE.sub(" ", str(value)).split())


def _scalar(fields: dict[str, Any], key: str) -> str:
    value = fields.get(key)
    if isinstance(value, dict | list):
        raise SkillError(f"its {key} is not a text")
    return "" if value is None else one_line(value)


def _first_line(body: str) -> str:
    lines = (one_line(line).lstrip("# ") for line in body.splitlines())
    return next((line for line in lines if line.strip("-* ")), "no description")


def _find_diagram(text: str, body: str) -> Diagram:
    above = text[: text.rfind(body)].count("\n") if body else 0
    for token in MarkdownIt("commonmark").parse(body):
        language = token.info.strip().strip("{}").split(maxsplit=1)[:1]
        if token.type == "fence" and language and language[0].lower() in _LANGUAGES and token.map:
            return Diagram(language[0].lower(), token.content, above + token.map[0] + 2)
    raise SkillError("a flow needs a code block in mermaid or d2")


def _yaml_fault(error: Exception, lines_above: int) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"{error.problem} in line {lines_above + error.problem_mark.line + 1}"
    return one_line(error) or type(error).__name__

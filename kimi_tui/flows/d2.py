"""Reads a d2 diagram as a flow: shapes and connections count, everything about looks is passed over."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from kimi_tui.flows.d2_text import Word, read_value, read_word
from kimi_tui.flows.draft import Draft, DraftEdge
from kimi_tui.flows.graph import Flow
from kimi_tui.flows.scanner import Scanner

Path = tuple[Word, ...]

_MAX_DEPTH = 100
_BETWEEN = re.compile(r"(?:[\s;]|\\\n)+")
_COMMENT = re.compile(r"#[^\n]*")
_BLOCK_COMMENT = re.compile(r'"""(?:[^"]|"(?!""))*"""')
_IMPORT_OR_FILTER = re.compile(r"(?:\.\.\.|@|!?&)[^\n;]*")
_SOFT_BLANKS = re.compile(r"(?:[^\S\n]|\\\n)+")
_ARROW = re.compile(r"(?P<back><)?-+(?P<forth>>)?")
_INDEX = re.compile(r"\[(?P<index>\d+|\*)\]")

_BOARD_WORDS = frozenset({"classes", "layers", "scenarios", "steps", "style", "vars"})
_SHAPE_WORDS = frozenset(
    {"class", "constraint", "direction", "height", "icon", "label", "left", "link", "near", "shape", "tooltip"}
    | {"grid-columns", "grid-gap", "grid-rows", "horizontal-gap", "source-arrowhead", "target-arrowhead", "top"}
    | {"vertical-gap", "width"}
)
_STYLE_WORDS = frozenset(
    {"3d", "animated", "bold", "border-radius", "double-border", "fill", "fill-pattern", "filled", "font"}
    | {"font-color", "font-family", "font-size", "italic", "multiple", "opacity", "padding", "shadow", "sketch"}
    | {"stroke", "stroke-dash", "stroke-width", "text-transform", "underline"}
)
_KEYWORDS = _BOARD_WORDS | _SHAPE_WORDS | _STYLE_WORDS


def parse_d2_flowchart(text: str, *, first_line: int = 1) -> Flow:
    """The flow that a d2 diagram draws.

    Shapes labelled BEGIN and END (in any case) are the ends of the flow; a shape with several ways out is a
    decision. `first_line` is the line of a file that the diagram starts in. Raises FlowParseError for what cannot be
    read and FlowValidationError for a graph that cannot be walked. Grammar: d2lang.com/tour
    """
    return _Reader(Scanner(text, first_line)).read()


@dataclass(frozen=True, slots=True)
class _Block:
    """A pair of braces being read, and what the keys in it are about."""

    about: Literal["board", "shape", "connections", "looks"]
    start: int = 0
    path: Path = ()
    edges: list[DraftEdge] = field(default_factory=list)


class _Reader:
    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self.draft = Draft()
        self.blocks = [_Block("board")]
        self.set_aside: dict[str, tuple[str, int]] = {}
        """Root keys that are keywords: `direction: right`, unless a connection shows that it is a shape."""

    @property
    def block(self) -> _Block:
        return self.blocks[-1]

    def read(self) -> Flow:
        self._skip_between()
        while not self.scanner.at_end:
            self._statement()
            self._skip_between()
        if len(self.blocks) > 1:
            self.scanner.fail("the `{` that starts in this line is never closed", self.block.start)
        for name, (label, line) in self.set_aside.items():
            if name in self.draft.nodes:
                self.draft.node(name, label, line)
        return self.draft.finish()

    def _skip_between(self) -> None:
        scanner = self.scanner
        while scanner.take(_BETWEEN) or scanner.take(_BLOCK_COMMENT) or scanner.take(_COMMENT):
            pass

    def _statement(self) -> None:
        scanner = self.scanner
        if scanner.accept("}"):
            if len(self.blocks) == 1:
                scanner.fail("this `}` closes nothing", scanner.pos - 1)
            self.blocks.pop()
            return
        if scanner.take(_IMPORT_OR_FILTER):
            return
        depth = len(self.blocks)
        if scanner.accept("("):
            self._connection_reference()
        else:
            self._key()
        scanner.skip_blanks()
        if len(self.blocks) == depth and not (scanner.at_line_end or scanner.sees((";", "}", "#"))):
            scanner.fail(f"expected the end of the statement, found {scanner.here()}")

    def _key(self) -> None:
        line = self.scanner.line
        paths, arrows = self._connection()
        if arrows:
            self._connect(paths, arrows, line)
        else:
            self._describe(paths[0], line)

    def _connection(self, *, in_parens: bool = False) -> tuple[list[Path], list[re.Match[str]]]:
        """A key, or several with arrows between them."""
        paths, arrows = [self._path(in_parens)], []
        self.scanner.take(_SOFT_BLANKS)
        while (arrow := self.scanner.take(_ARROW)) is not None:
            arrows.append(arrow)
            self.scanner.take(_SOFT_BLANKS)
            paths.append(self._path(in_parens))
            self.scanner.take(_SOFT_BLANKS)
        return paths, arrows

    def _path(self, in_parens: bool = False) -> Path:
        words: list[Word] = []
        while True:
            word = read_word(self.scanner, in_parens=in_parens)
            if word is None:
                self.scanner.fail(f"expected the name of a shape, found {self.scanner.here()}")
            words.append(word)
            self.scanner.skip_blanks()
            if not self.scanner.accept("."):
                return tuple(words)
            self.scanner.skip_blanks()

    def _value(self) -> str | None:
        return read_value(self.scanner) if self.scanner.accept(":") else None

    def _open(self, block: _Block) -> None:
        """Enters the braces at the cursor, if there are any."""
        self.scanner.skip_blanks()
        start = self.scanner.pos
        if self.scanner.accept("{"):
            if len(self.blocks) > _MAX_DEPTH:
                self.scanner.fail(f"more than {_MAX_DEPTH} blocks inside each other")
            self.blocks.append(_Block(block.about, start, block.path, block.edges))

    # --- shapes and what is said about them ---

    def _describe(self, path: Path, line: int) -> None:
        value = self._value()
        about, keyword = _split(path, nested=self.block.about != "board")
        if self.block.about == "looks" or _is_glob(path):
            self._open(_Block("looks"))
        elif keyword is not None:
            self._property(about, keyword, value, line)
        elif self.block.about == "connections":
            self._open(_Block("looks"))
        else:
            whole = self._resolve(path)
            self._mention(whole, value, line)
            self._open(_Block("shape", path=whole))

    def _property(self, about: Path, keyword: Path, value: str | None, line: int) -> None:
        if value is not None and len(keyword) == 1:
            if not about and self.block.about == "board":
                self.set_aside[keyword[0].text] = (value, line)
            elif keyword[0].text.lower() == "label":
                self._label(about, value, line)
        self._open(_Block("looks"))

    def _label(self, about: Path, value: str, line: int) -> None:
        if self.block.about == "connections":
            for edge in self.block.edges:
                edge.label = value.strip() or None
        else:
            self._mention(self._resolve(about), value, line)

    def _resolve(self, path: Path) -> Path:
        """The full name of a key in the present block; `_` leads one block out."""
        container = self.block.path
        while container and len(path) > 1 and path[0] == Word("_"):
            container, path = container[:-1], path[1:]
        return container + path

    def _mention(self, path: Path, label: str | None, line: int) -> str:
        node_id = _name(path)
        detail = self.block.about != "board"
        self.draft.node(node_id, label, line, detail=detail, name=path[-1].text if detail else None)
        return node_id

    # --- connections ---

    def _connect(self, paths: list[Path], arrows: list[re.Match[str]], line: int) -> None:
        if self.block.about in ("looks", "connections"):
            self._value()
            self._open(_Block("looks"))
            return
        names = []
        for path in paths:
            if _is_glob(path) or _split(path[1:], nested=True)[1]:
                self.scanner.fail(f"a connection cannot end in `{_name(path)}`")
            names.append(self._mention(self._resolve(path), None, line))
        label = self._value()
        edges: list[DraftEdge] = []
        for source, arrow, target in zip(names, arrows, names[1:], strict=False):
            if arrow["forth"] or not arrow["back"]:
                edges.append(self.draft.edge(source, target, label))
            if arrow["back"]:
                edges.append(self.draft.edge(target, source, label))
        self._open(_Block("connections", edges=edges))

    def _connection_reference(self) -> None:
        """`(a -> b)[0].style.stroke: red`, or `(a -> b)[0]: label`."""
        scanner = self.scanner
        paths, arrows = self._connection(in_parens=True)
        if not arrows or not scanner.accept(")"):
            scanner.fail(f"expected `(a -> b)`, found {scanner.here()}")
        index = scanner.take(_INDEX)
        edges = self._find(paths, arrows, index["index"] if index else "*")
        keyword = self._path() if scanner.accept(".") else ()
        value = self._value()
        if value is not None and (not keyword or [word.text.lower() for word in keyword] == ["label"]):
            for edge in edges:
                edge.label = value.strip() or None
        self._open(_Block("looks") if keyword else _Block("connections", edges=edges))

    def _find(self, paths: list[Path], arrows: list[re.Match[str]], index: str) -> list[DraftEdge]:
        wanted: list[tuple[str, str]] = []
        names = [_name(self._resolve(path)) for path in paths]
        for source, arrow, target in zip(names, arrows, names[1:], strict=False):
            wanted += [(source, target)] if arrow["forth"] or not arrow["back"] else []
            wanted += [(target, source)] if arrow["back"] else []
        found = [edge for edge in self.draft.edges if (edge.src, edge.dst) in wanted]
        return found if index == "*" else found[int(index) : int(index) + 1]


def _name(path: Path) -> str:
    return ".".join(word.text for word in path)


def _is_glob(path: Path) -> bool:
    return any("*" in word.text and not word.quoted for word in path)


def _split(path: Path, *, nested: bool) -> tuple[Path, Path | None]:
    """A key and the keyword that it ends in: `a` and `style.fill`. None when it only names a shape.

    At the root the first word of several is a shape, whatever it is called, unless it speaks of the whole board.
    """
    for index, word in enumerate(path):
        is_shape = index == 0 and len(path) > 1 and not nested and word.text.lower() not in _BOARD_WORDS
        if word.text.lower() in _KEYWORDS and not word.quoted and not is_shape:
            return path[:index], path[index:]
    return path, None

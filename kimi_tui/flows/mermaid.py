"""Reads a mermaid flowchart as a flow: nodes and links count, everything about looks is passed over."""

from __future__ import annotations

import re

from kimi_tui.flows.draft import Draft
from kimi_tui.flows.graph import Flow
from kimi_tui.flows.mermaid_links import Link, edge_id, read_link, starts_link
from kimi_tui.flows.mermaid_text import read_data, read_shape
from kimi_tui.flows.scanner import Scanner

_FRONT_MATTER = re.compile(r"\s*---[^\S\n]*\n(?:.*\n)*?[^\S\n]*---[^\S\n]*(?=\n|\Z)")
_DIRECTIVE = re.compile(r"%%\{(?:[^}]|\}(?!%%))*\}%%")
_COMMENT = re.compile(r"%%[^\n]*")
_BETWEEN = re.compile(r"[\s;]+")
_HEADER = re.compile(r"(?:flowchart|graph)(?:-elk)?\b(?:[^\S\n]+(?:TB|TD|BT|RL|LR|[<>^v])(?=[\s;]|\Z))?", re.IGNORECASE)
_OTHER_DIAGRAM = re.compile(
    r"(?:sequenceDiagram|classDiagram|stateDiagram|erDiagram|gantt|journey|mindmap|pie|gitGraph|timeline"
    r"|quadrantChart|requirementDiagram|sankey|block)(?:-\w+)?(?=[\s;]|\Z)"
)
_ABOUT_LOOKS = re.compile(
    r"(?:classDef|class|style|linkStyle|click|direction|subgraph)(?:[^\S\n]+(?=[^\s;])|(?=[;\n]|\Z))", re.IGNORECASE
)
_ACCESSIBILITY = re.compile(r"acc(?:Title|Descr)[^\S\n]*(?::[^\n]*|\{[^}]*\})")
_END_OF_GROUP = re.compile(r"end(?=[^\S\n]*(?:[;\n]|%%|\Z))")
_REST_OF_STATEMENT = re.compile(r'(?:"[^"\n]*"|\[[^\]\n]*\]|[^;\n])*')
_NODE_ID = re.compile(r"\w(?:[\w/.+*?!$\\]|-(?![-.>])|=(?![=>]))*")
_CLASS = re.compile(r"[^\S\n]*:::[^\S\n]*\w(?:[\w,]|-(?![-.>]))*")


def parse_mermaid_flowchart(text: str, *, first_line: int = 1) -> Flow:
    """The flow that a mermaid flowchart draws.

    Nodes labelled BEGIN and END (in any case) are the ends of the flow; a node with several ways out is a decision.
    `first_line` is the line of a file that the diagram starts in. Raises FlowParseError for what cannot be read and
    FlowValidationError for a graph that cannot be walked. Grammar: mermaid.js.org/syntax/flowchart.html
    """
    return _Reader(Scanner(text, first_line)).read()


class _Reader:
    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self.draft = Draft()
        self.edge_ids: set[str] = set()

    def read(self) -> Flow:
        scanner = self.scanner
        scanner.take(_FRONT_MATTER)
        self._skip_between()
        scanner.take(_HEADER)
        other = scanner.peek(_OTHER_DIAGRAM)
        if other:
            scanner.fail(f"`{other[0]}` is not a flowchart; start with `flowchart TD`")
        self._skip_between()
        while not scanner.at_end:
            self._statement()
            self._skip_between()
        return self.draft.finish()

    def _skip_between(self) -> None:
        scanner = self.scanner
        while scanner.take(_BETWEEN) or scanner.take(_DIRECTIVE) or scanner.take(_COMMENT):
            pass

    def _statement(self) -> None:
        scanner = self.scanner
        if scanner.take(_END_OF_GROUP) or scanner.take(_ACCESSIBILITY):
            return
        if self._about_looks():
            scanner.take(_REST_OF_STATEMENT)
            return
        self._chain()
        scanner.skip_blanks()
        if not (scanner.at_line_end or scanner.sees((";", "%%"))):
            scanner.fail(f"expected a link or the end of the statement, found {scanner.here()}")

    def _about_looks(self) -> bool:
        """`class A red` is about looks; `class --> B` is a node called class."""
        scanner = self.scanner
        start = scanner.pos
        if not scanner.take(_ABOUT_LOOKS):
            return False
        if not (starts_link(scanner) or scanner.sees(":::")):
            return True
        scanner.pos = start
        return False

    def _chain(self) -> None:
        sources = self._group()
        while (link := self._link()) is not None:
            targets = self._group()
            self._connect(sources, link, targets)
            sources = targets

    def _link(self) -> Link | None:
        self.scanner.skip_blanks()
        name = edge_id(self.scanner)
        if name:
            self.edge_ids.add(name)
        return read_link(self.scanner)

    def _connect(self, sources: list[str], link: Link, targets: list[str]) -> None:
        for source in sources:
            for target in targets:
                if link.forth:
                    self.draft.edge(source, target, link.label)
                if link.back:
                    self.draft.edge(target, source, link.label)

    def _group(self) -> list[str]:
        """One node, or several joined by `&`."""
        nodes = [self._node()]
        while True:
            self.scanner.skip_blanks()
            if not self.scanner.accept("&"):
                return nodes
            nodes.append(self._node())

    def _node(self) -> str:
        scanner = self.scanner
        scanner.skip_blanks()
        line = scanner.line
        name = scanner.take(_NODE_ID)
        if name is None:
            scanner.fail(f"expected a node, found {scanner.here()}")
        node_id, label = name[0], None
        if scanner.accept("@"):
            label = read_data(scanner)
            if node_id in self.edge_ids:
                return node_id
        else:
            scanner.skip_blanks()
            label = read_shape(scanner, node_id)
        scanner.take(_CLASS)
        self.draft.node(node_id, label, line)
        return node_id

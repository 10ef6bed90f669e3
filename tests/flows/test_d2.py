"""d2 diagrams as flows."""

from __future__ import annotations

import contextlib
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_tui.flows import Flow, FlowError, FlowParseError, FlowValidationError, parse_d2_flowchart

Ways = list[tuple[str, str | None]]
Drawn = dict[str, tuple[str, str, Ways]]


def drawn(flow: Flow) -> Drawn:
    """Node → kind, label, ways out."""
    return {
        node.id: (node.kind, str(node.label), [(edge.dst, edge.label) for edge in flow.outgoing[node.id]])
        for node in flow.nodes.values()
    }


def between(body: str) -> Drawn:
    """What `body` draws between `BEGIN -> a` and `z -> END`, without those two ends."""
    flow = parse_d2_flowchart(f"BEGIN -> a\n{body}\nz -> END")
    return {name: node for name, node in drawn(flow).items() if name not in ("BEGIN", "END")}


def label_of(value: str) -> str:
    return between(f"a: {value}\na -> z")["a"][1]


def edges_of(body: str) -> dict[str, Ways]:
    return {name: ways for name, (_, _, ways) in between(body).items() if name != "z"}


def test_shapes_connections_and_decisions_are_read() -> None:
    flow = parse_d2_flowchart(
        'a: "append a random line to file test.txt"\n'
        "a.shape: rectangle\n"
        "a.foo.bar\n"
        'b: "does test.txt contain more than 3 lines?" {\n'
        "  sub1 -> sub2\n"
        "  sub2: {\n"
        "    1\n"
        "  }\n"
        "}\n"
        "BEGIN -> a -> b\n"
        "b -> a: no\n"
        "not_used\n"
        "b -> END: yes\n"
        "b -> END: yes2\n"
    )
    assert (flow.begin_id, flow.end_id) == ("BEGIN", "END")
    assert drawn(flow) == {
        "a": ("task", "append a random line to file test.txt", [("b", None)]),
        "a.foo.bar": ("task", "a.foo.bar", []),
        "b": ("decision", "does test.txt contain more than 3 lines?", [("a", "no"), ("END", "yes"), ("END", "yes2")]),
        "BEGIN": ("begin", "BEGIN", [("a", None)]),
        "not_used": ("task", "not_used", []),
        "END": ("end", "END", []),
    }


def test_a_text_block_may_hold_what_looks_like_connections() -> None:
    flow = parse_d2_flowchart(
        "x: BEGIN\n"
        "y: |md\n"
        "  # Do it\n"
        "  - step one -> not an edge\n"
        "  - step: two\n"
        "|\n"
        "z: END\n"
        "x -> y -> z: go\n"
        "y.style.fill: red\n"
        "y <- z: back\n"
        "'q s': \"quoted; id\"\n"
    )
    assert drawn(flow) == {
        "x": ("begin", "BEGIN", [("y", "go")]),
        "y": ("task", "# Do it\n- step one -> not an edge\n- step: two", [("z", "go")]),
        "z": ("end", "END", [("y", "back")]),
        "q s": ("task", "quoted; id", []),
    }


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("plain words", "plain words"),
        ("plain  # and a remark", "plain"),
        ("C# and issue #12 here", "C# and issue"),
        ("convert x -> y", "convert x -> y"),
        ("a: b, c.d & (e) [f]", "a: b, c.d & (e) [f]"),
        ('it\'s "so"', 'it\'s "so"'),
        ("C:\\dir\\new", "C:\\dir\\new"),
        ("one \\; two \\{ three", "one ; two { three"),
        ("one \\\n   two", "one    two"),
        ("use ${name} here", "use ${name} here"),
        ('"in quotes; with {braces} # and -> all"', "in quotes; with {braces} # and -> all"),
        ('"say \\"hi\\" \\\\ twice"', 'say "hi" \\ twice'),
        ('"two\\nlines"', "two\nlines"),
        ('"two\nlines"', "two\nlines"),
        ("'single \"quotes\"'", 'single "quotes"'),
        ("'it''s'", "it's"),
        ("'it\\'s'", "it's"),
        ("|md one line |", "one line"),
        ("|md\n  line one\n    line two\n  line three\n|", "line one\n  line two\nline three"),
        ("|md # a remark\n  A: B\n|", "A: B"),
        ("|md\n  | a | b |\n  |---|---|\n|", "| a | b |\n|---|---|"),
        ("|md\n  # head\n\n  text\n|", "# head\n\ntext"),
        ("|md\n  ends here |", "ends here"),
        ('|md\n  Use "quotes" and \\\\ paths\n|', 'Use "quotes" and \\\\ paths'),
        ("||md\n  a | b\n||", "a | b"),
        ("|||md a || b |||", "a || b"),
        ("|`md\n  a | b || c\n`|", "a | b || c"),
        ("|`js let x = a || b `|", "let x = a || b"),
        ("|\n  no tag\n|", "no tag"),
        ("步骤 🌳", "步骤 🌳"),
        ('"x" {shape: circle}', "x"),
        ("x {\n  shape: circle\n  style.fill: red\n}", "x"),
        ("{label: x; shape: circle}", "x"),
        ("{\n  label: |md\n    x\n  |\n}", "x"),
        ("|md\n  x\n| {near: top-center}", "x"),
    ],
)
def test_every_kind_of_text_is_a_label(value: str, label: str) -> None:
    assert label_of(value) == label


def test_a_label_may_be_given_as_a_property() -> None:
    assert between("a.label: do it\na -> z")["a"] == ("task", "do it", [("z", None)])


@pytest.mark.parametrize("arrow", ["->", "-->", "--", "---", "->\\\n  "])
def test_an_arrow_leads_forward(arrow: str) -> None:
    assert edges_of(f"a {arrow} z") == {"a": [("z", None)]}
    assert edges_of(f"a{arrow}z") == {"a": [("z", None)]}


def test_an_arrow_may_lead_back_or_both_ways() -> None:
    assert edges_of("z <- a") == {"a": [("z", None)]}
    assert edges_of("a <-> b: x\na -> z: y") == {"a": [("b", "x"), ("z", "y")], "b": [("a", "x")]}
    assert edges_of("a -> b <- c; b -> z") == {"a": [("b", None)], "b": [("z", None)], "c": [("b", None)]}


@pytest.mark.parametrize(
    "label", ["go on", '"go on"', "go on {style.stroke: red}", "{label: go on}", "|md go on |", "go on # remark"]
)
def test_a_connection_may_carry_a_label(label: str) -> None:
    assert edges_of(f"a -> z: {label}") == {"a": [("z", "go on")]}


def test_the_label_of_a_chain_belongs_to_each_of_its_connections() -> None:
    assert edges_of("a -> b -> z: next\na -> z: skip") == {"a": [("b", "next"), ("z", "skip")], "b": [("z", "next")]}


def test_a_connection_may_be_labelled_later() -> None:
    assert edges_of(
        "a -> b; a -> b; b -> z\n(a -> b)[0]: one\n(a -> b)[1].label: two\n(b -> z)[0].style.stroke: red"
    ) == {
        "a": [("b", "one"), ("b", "two")],
        "b": [("z", None)],
    }


def test_names_may_hold_blanks_quotes_and_any_letters() -> None:
    assert list(edges_of("a -> High Mem (big) -> 'q -> s' -> \"d; t\" -> 任务-1 -> x/y -> z")) == [
        "a",
        "High Mem (big)",
        "q -> s",
        "d; t",
        "任务-1",
        "x/y",
    ]


def test_shapes_in_a_container_are_part_of_the_flow_when_something_outside_leads_to_them() -> None:
    found = between("group: Build it {\n  one: compile -> two\n  one -> two\n  two -> _.z\n}\na -> group.one")
    assert found == {
        "a": ("task", "a", [("group.one", None)]),
        "group": ("task", "Build it", []),
        "group.one": ("task", "compile -> two", [("group.two", None)]),
        "group.two": ("task", "two", [("z", None)]),
        "z": ("task", "z", [("END", None)]),
    }


def test_a_whole_flow_may_stand_in_a_container() -> None:
    flow = parse_d2_flowchart("flow: {\n  BEGIN -> work -> END\n  inner: { deep: { x -> y } }\n}")
    assert drawn(flow)["flow.work"] == ("task", "work", [("flow.END", None)])
    assert (flow.begin_id, flow.end_id) == ("flow.BEGIN", "flow.END")


def test_looks_comments_and_settings_are_passed_over() -> None:
    flow = parse_d2_flowchart(
        "\ufeff# a remark\r\n"
        '"""\r\n a -> long\r\n remark\r\n"""\r\n'
        "vars: {\r\n  d2-config: {\r\n    theme-id: 4\r\n  }\r\n}\r\n"
        "...@styles\r\n"
        "direction: right; classes: { warn: { style: { fill: red } } }\r\n"
        "*.style.fill: blue\r\n"
        "BEGIN -> a -> END: go {\r\n  source-arrowhead: 1\r\n  style: {animated: true}\r\n}\r\n"
        "a.style.fill: '#fff'\r\n"
        "a.class: [warn; loud]\r\n"
        "a: Work # do\r\n"
        "a: {icon: https://example.com/x.svg; near: top-left}\r\n"
        "layers: {\r\n  deep: { BEGIN -> x }\r\n}\r\n"
    )
    assert drawn(flow) == {
        "BEGIN": ("begin", "BEGIN", [("a", "go")]),
        "a": ("task", "Work", [("END", "go")]),
        "END": ("end", "END", []),
    }


def test_a_keyword_at_the_root_is_a_shape_when_a_connection_uses_it() -> None:
    assert between("link: Follow the link\na -> link -> z\ndirection: right") == {
        "a": ("task", "a", [("link", None)]),
        "link": ("task", "Follow the link", [("z", None)]),
        "z": ("task", "z", [("END", None)]),
    }


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("a -> ", "Line 2: expected the name of a shape, found the end of the line"),
        ("-> z", "Line 2: expected the name of a shape, found `-> z`"),
        ("\na: |md\n  text\n", "Line 3: the text block is never closed by `|`"),
        (
            "a: |`md text |",
            "Line 2: the text block is never closed by ``|`",
        ),
        ('a: "text', 'Line 2: the quote is never closed: `"text`'),
        ('a: "text" more', "Line 2: expected the end of the statement, found `more`"),
        ("a: {\n  b: {\n  }\n", "Line 2: the `{` that starts in this line is never closed"),
        ("a -> z\n}", "Line 3: this `}` closes nothing"),
        ("a: x\na: y", 'Line 3: "a" is described twice: "x" in line 2, now "y"'),
        ('a: ""', 'Line 2: the label of "a" is empty'),
        ("a: |md\n|", 'Line 2: the label of "a" is empty'),
        ("a -> z.style.fill", "Line 2: a connection cannot end in `z.style.fill`"),
        ("a -> *", "Line 2: a connection cannot end in `*`"),
        ("(a -> z", "Line 2: expected `(a -> b)`, found the end of the line"),
        ("a: [x", "Line 2: `[` is never closed: `[x`"),
    ],
)
def test_a_fault_is_told_with_its_line_and_form(body: str, message: str) -> None:
    with pytest.raises(FlowParseError) as caught:
        parse_d2_flowchart(f"BEGIN -> a\n{body}")
    assert str(caught.value) == message


def test_lines_are_counted_from_where_the_diagram_starts_in_its_file() -> None:
    with pytest.raises(FlowParseError, match=r"^Line 41: "):
        parse_d2_flowchart("a\na ->", first_line=40)


def test_a_graph_that_cannot_be_walked_is_refused() -> None:
    with pytest.raises(FlowValidationError, match='"a" has 2 ways out, so each needs a label'):
        between("a -> z\na -> a")
    with pytest.raises(FlowValidationError):
        parse_d2_flowchart("")


def test_containers_are_nested_a_hundred_deep_and_no_deeper() -> None:
    nested = "x: {" * 100 + "}" * 100
    assert list(between(f"a -> z\n{nested}")) == ["a", "z", "x"]
    with pytest.raises(FlowParseError, match="Line 2: more than 100 blocks inside each other"):
        between("x: {" * 20_000)


labels = (
    st.text("abEND 是;|[](){}<>-=.&%:~@#'\"\\\n", min_size=1, max_size=20)
    .map(str.strip)
    .filter(lambda text: text and text.lower() not in ("begin", "end"))
)
names = st.text('ab_9-k 是.;>"', min_size=1, max_size=6).map(lambda text: f"n{text}x")


@st.composite
def flows(draw: st.DrawFn) -> Drawn:
    """A random flow: a spine from BEGIN to END, and labelled jumps anywhere."""
    found = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    spine = ["BEGIN", *found, "END"]
    ways = {src: [dst] for src, dst in itertools.pairwise(spine)} | {"END": []}
    for src, dst in draw(st.lists(st.tuples(st.sampled_from(found), st.sampled_from([*found, "END"])), max_size=6)):
        ways[src].append(dst)
    flow: Drawn = {}
    for name, targets in ways.items():
        words = draw(st.lists(labels, min_size=len(targets), max_size=len(targets), unique=True))
        out = list(zip(targets, words if len(targets) > 1 else [None] * len(targets), strict=True))
        kind = {"BEGIN": "begin", "END": "end"}.get(name) or ("decision" if len(out) > 1 else "task")
        flow[name] = (kind, name if name in ("BEGIN", "END") else draw(labels), [*out])
    return flow


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@settings(max_examples=60)
@given(flows(), st.sampled_from(["\n", "\r\n", "; ", " # remark\n"]))
def test_a_flow_that_is_written_down_is_read_back_the_same(flow: Drawn, separator: str) -> None:
    lines = [f"{quoted(name)}: {quoted(label)}" for name, (_, label, _) in flow.items()]
    for name, (_, _, ways) in flow.items():
        for target, word in ways:
            lines.append(f"{quoted(name)} -> {quoted(target)}{'' if word is None else ': ' + quoted(word)}")
    assert drawn(parse_d2_flowchart(separator.join(lines))) == flow


PIECES = [*"ab \n;|\"'[](){}<>-=.&:~@`*#\\_$", "->", "BEGIN", "END", "|md", "style", '"""', "..."]


@settings(max_examples=150)
@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_any_text_is_a_flow_or_a_flow_error(pieces: list[str]) -> None:
    try:
        parse_d2_flowchart("".join(pieces))
    except FlowError as error:
        assert str(error)


LONG = ["-", "{", "}", "a{", "[", '"', "'", "|", "|md\n", "a: |\n", ".", "a->", "(", "\\", "#", "; "]


@pytest.mark.parametrize("piece", LONG)
def test_long_garbage_is_read_in_no_time(piece: str) -> None:
    with contextlib.suppress(FlowError):
        parse_d2_flowchart("a " + piece * (100_000 // len(piece)))

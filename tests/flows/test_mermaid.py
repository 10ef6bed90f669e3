"""Mermaid flowcharts as flows."""

from __future__ import annotations

import contextlib
import itertools
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_tui.flows import Flow, FlowError, FlowParseError, FlowValidationError, parse_mermaid_flowchart

Drawn = dict[str, tuple[str, str, list[tuple[str, str | None]]]]


def drawn(flow: Flow) -> Drawn:
    """Node → kind, label, ways out."""
    return {
        node.id: (node.kind, str(node.label), [(edge.dst, edge.label) for edge in flow.outgoing[node.id]])
        for node in flow.nodes.values()
    }


def between(body: str) -> Drawn:
    """What `body` draws between `BEGIN --> A` and `Z --> END`, without those two ends."""
    flow = parse_mermaid_flowchart(f"flowchart TD\nBEGIN --> A\n{body}\nZ --> END")
    return {name: node for name, node in drawn(flow).items() if name not in ("BEGIN", "END")}


def label_of(shape: str) -> str:
    return between(f"A{shape} --> Z")["A"][1]


def edges_of(body: str) -> dict[str, list[tuple[str, str | None]]]:
    return {name: ways for name, (_, _, ways) in between(body).items() if name != "Z"}


def test_nodes_edges_and_decisions_are_read() -> None:
    flow = parse_mermaid_flowchart(
        "flowchart TD\nA([BEGIN]) --> B[Search stdrc]\nB --> C{Enough?}\nC -->|yes| D([END])\nC -->|no| B\n"
    )
    assert (flow.begin_id, flow.end_id) == ("A", "D")
    assert drawn(flow) == {
        "A": ("begin", "BEGIN", [("B", None)]),
        "B": ("task", "Search stdrc", [("C", None)]),
        "C": ("decision", "Enough?", [("D", "yes"), ("B", "no")]),
        "D": ("end", "END", []),
    }


def test_nodes_need_no_description_and_the_header_may_be_missing() -> None:
    expected = {
        "begin": ("begin", "begin", [("TASK", None)]),
        "TASK": ("task", "TASK", [("End", None)]),
        "End": ("end", "End", []),
    }
    assert drawn(parse_mermaid_flowchart("begin-->TASK-->End")) == expected
    assert drawn(parse_mermaid_flowchart("graph LR;begin-->TASK;TASK-->End;")) == expected


def test_a_question_with_one_way_out_is_a_task_and_a_box_with_two_is_a_decision() -> None:
    found = between("A{one way} --> B[two ways]\nB -- on --> Z\nB -- back --> A")
    assert [found["A"][0], found["B"][0]] == ["task", "decision"]


@pytest.mark.parametrize(
    "shape",
    [
        "[Do it]",
        "(Do it)",
        "([Do it])",
        "[[Do it]]",
        "[(Do it)]",
        "((Do it))",
        "(((Do it)))",
        "{Do it}",
        "{{Do it}}",
        ">Do it]",
        "[/Do it/]",
        "[\\Do it\\]",
        "[/Do it\\]",
        "[\\Do it/]",
        '["Do it"]',
        '( "Do it" )',
        '(["Do it"])',
        '[["Do it"]]',
        '[("Do it")]',
        '((("Do it")))',
        '{"Do it"}',
        '{{"Do it"}}',
        '>"Do it"]',
        '[/"Do it"/]',
        '["`Do it`"]',
        '@{ shape: diamond, label: "Do it" }',
        "@{ label: 'Do it', shape: rect }",
        "@{ label: Do it }",
        "[Do it]:::loud",
        " [ Do it ]",
    ],
)
def test_every_shape_holds_its_label(shape: str) -> None:
    assert label_of(shape) == "Do it"


@pytest.mark.parametrize(
    ("shape", "label"),
    [
        ('["a | b) c] d} --> e"]', "a | b) c] d} --> e"),
        ('["two\nlines"]', "two\nlines"),
        ('["a; b"]', "a; b"),
        ('["say \\"hi\\""]', 'say "hi"'),
        ('["C:\\dir\\file"]', "C:\\dir\\file"),
        ('["it is #quot;so#quot; #amp; #nope;"]', 'it is "so" & #nope;'),
        ('["#9829; #35;1 &lt;b&gt; &amp; #39;x&#39; &c; #;"]', "♥ #1 <b> & 'x' &c; #;"),
        ('["one<br/>two <BR> three"]', "one\ntwo\nthree"),
        ("[use (this) or {that}]", "use (this) or {that}"),
        ("[take list[0] now]", "take list[0] now"),
        ("[(a) and (b)]", "(a) and (b)"),
        ("[{json}]", "{json}"),
        ("[/usr/bin]", "/usr/bin"),
        ("[100%% sure]", "100%% sure"),
        ("[a ) b]", "a ) b"),
        ("[a [ b]", "a [ b"),
        ("[步骤 树 🌳]", "步骤 树 🌳"),
        ("{Is it -- really --> so?}", "Is it -- really --> so?"),
    ],
)
def test_labels_are_taken_literally(shape: str, label: str) -> None:
    assert label_of(shape) == label


@pytest.mark.parametrize(
    "link",
    [
        "-->",
        "--->",
        "---",
        "----",
        "->",
        "-.->",
        "-..->",
        "-.-",
        "==>",
        "===>",
        "===",
        "--x",
        "--o",
        "==o",
        "-.-x",
        "--o  ",
    ],
)
def test_every_line_leads_forward(link: str) -> None:
    assert edges_of(f"A {link} Z") == {"A": [("Z", None)]}


@pytest.mark.parametrize(
    "link",
    [
        "-->|go on|",
        "--> |go on|",
        '-->|"go on"|',
        '--> | "go on" |',
        "---|go on|",
        "-.->|go on|",
        "==>|go on|",
        "--x|go on|",
        "-- go on -->",
        "--go on-->",
        '-- "go on" -->',
        "-- go on ---",
        "-- go on --x",
        "-. go on .->",
        "-.go on.->",
        "-. go on .-",
        "== go on ==>",
        "==go on==>",
        "== go on ===",
        "e1@-->|go on|",
        "e1@-- go on -->",
    ],
)
def test_every_line_may_carry_a_label(link: str) -> None:
    assert edges_of(f"A {link} Z") == {"A": [("Z", "go on")]}


@pytest.mark.parametrize(
    ("link", "label"),
    [
        ("-- well-known, 2 - 1 -->", "well-known, 2 - 1"),
        ("-- use --option here -->", "use --option here"),
        ("--oops-->", "oops"),
        ("--xml-->", "xml"),
        ("-. v1.2 .->", "v1.2"),
        ("== a = b ==>", "a = b"),
        ('-- "a --> b" -->', "a --> b"),
        ('-->|"a|b"|', "a|b"),
        ("-->|[x] {y}|", "[x] {y}"),
        ("-->||", None),
        ("-->| |", None),
    ],
)
def test_labels_of_lines_are_taken_literally(link: str, label: str | None) -> None:
    assert edges_of(f"A {link} Z") == {"A": [("Z", label)]}


@pytest.mark.parametrize("link", ["<-->", "<==>", "<-.->", "o--o", "x--x", "<---->"])
def test_a_line_with_two_heads_leads_both_ways(link: str) -> None:
    flow = parse_mermaid_flowchart(f"BEGIN --> A\nA {link}|x| B\nA -->|on| Z --> END")
    assert drawn(flow)["A"][2] == [("B", "x"), ("Z", "on")]
    assert drawn(flow)["B"][2] == [("A", "x")]


def test_a_labelled_line_with_two_heads_leads_both_ways() -> None:
    flow = parse_mermaid_flowchart("BEGIN --> A\nA <-- x --> B\nA -->|on| Z --> END")
    assert drawn(flow)["B"][2] == [("A", "x")]


def test_a_line_with_its_head_on_the_left_leads_back() -> None:
    assert edges_of("Z <-- A")["A"] == [("Z", None)]


def test_a_head_without_a_blank_is_still_a_head() -> None:
    assert edges_of("A--oZ") == {"A": [("Z", None)]}


def test_an_invisible_line_only_arranges() -> None:
    assert edges_of("A ~~~ B --> Z\nA --> B") == {"A": [("B", None)], "B": [("Z", None)]}


def test_chains_and_groups_make_every_edge() -> None:
    assert edges_of("A --> B -->|x| C --> Z") == {"A": [("B", None)], "B": [("C", "x")], "C": [("Z", None)]}
    assert edges_of("A -->|x| B[b]\nA -->|y| C\nB & C:::loud & D --> Z") == {
        "A": [("B", "x"), ("C", "y")],
        "B": [("Z", None)],
        "C": [("Z", None)],
        "D": [("Z", None)],
    }


def test_a_group_of_targets_is_a_decision_without_labels() -> None:
    with pytest.raises(FlowValidationError, match='"A" has 2 ways out, so each needs a label'):
        between("A --> B & C --> Z")


def test_looks_comments_and_settings_are_passed_over() -> None:
    flow = parse_mermaid_flowchart(
        "\ufeff---\r\ntitle: Ship it\r\n---\r\n"
        '%%{init: {"theme": "dark",\r\n "x": {"y": 1}}}%%\r\n'
        "%% a remark\r\n"
        "flowchart TB\r\n"
        "accTitle: Ship it\r\n"
        "accDescr {\r\n A --> B\r\n}\r\n"
        "classDef highlight fill:#f9f,stroke:#333,stroke-width:2px;\r\n"
        "A([BEGIN]) --> B[Working tree clean?] %% another\r\n"
        "subgraph one [Some; title]\r\n"
        "  direction LR\r\n"
        "  B -- yes --> C{Prep PR}; B -- no --> D([END])\r\n"
        "end\r\n"
        "C --> D;;\r\n"
        "class B,C highlight\r\n"
        "style C fill:#bbf; linkStyle 0,1 stroke:#f66\r\n"
        'click B href "https://example.com/?a;b" "a tip"\r\n'
        "B@{ shape: diamond }\r\n"
    )
    assert drawn(flow) == {
        "A": ("begin", "BEGIN", [("B", None)]),
        "B": ("decision", "Working tree clean?", [("C", "yes"), ("D", "no")]),
        "C": ("task", "Prep PR", [("D", None)]),
        "D": ("end", "END", []),
    }


def test_a_class_may_stand_right_before_a_line() -> None:
    assert edges_of("A:::big-->B:::my-class,small==>C:::x -.-> Z") == {
        "A": [("B", None)],
        "B": [("C", None)],
        "C": [("Z", None)],
    }


def test_settings_of_a_named_line_make_no_node() -> None:
    assert edges_of("A e1@--> Z\ne1@{ animate: true }") == {"A": [("Z", None)]}


def test_words_of_the_language_may_be_names_of_nodes() -> None:
    assert edges_of("A --> class --> style[x] --> direction --> Z\nclick --> Z") == {
        "A": [("class", None)],
        "class": [("style", None)],
        "style": [("direction", None)],
        "direction": [("Z", None)],
        "click": [("Z", None)],
    }


def test_names_may_hold_dashes_dots_and_any_letters() -> None:
    assert list(edges_of("A-->my-task.v2-->任务_1-->42-->Z")) == ["A", "my-task.v2", "任务_1", "42"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("A --> ", "Line 3: expected a node, found the end of the line"),
        ("\nA --> [x]", "Line 4: expected a node, found `[x]`"),
        ("A[never closed --> Z", 'Line 3: the label of "A" is never closed: `[never closed --> Z`'),
        ('A["never closed] --> Z', "Line 3: the quote before `never closed] --> Z` is never closed"),
        ('A(["x")] --> Z', 'Line 3: the label of "A" should end with `]`, found `)] --> Z`'),
        ("A[] --> Z", 'Line 3: the label of "A" is empty'),
        ("A -- text B", "Line 3: a link that leads nowhere: `-- text B`"),
        ("A B", "Line 3: expected a link or the end of the statement, found `B`"),
        ("A[x] --> Z\nA[y]", 'Line 4: "A" is described twice: "x" in line 3, now "y"'),
        ("A -->|x Z", "Line 3: expected a node, found `|x Z`"),
        ("A@{ label: 'x'", "Line 3: `@{` is never closed: `{ label: 'x'`"),
        ("@@@", "Line 3: expected a node, found `@@@`"),
    ],
)
def test_a_fault_is_told_with_its_line_and_form(body: str, message: str) -> None:
    with pytest.raises(FlowParseError) as caught:
        between(body)
    assert str(caught.value) == message


def test_lines_are_counted_from_where_the_diagram_starts_in_its_file() -> None:
    with pytest.raises(FlowParseError, match=r"^Line 12: "):
        parse_mermaid_flowchart("A -->", first_line=12)


def test_another_kind_of_diagram_is_named() -> None:
    with pytest.raises(FlowParseError, match="Line 1: `sequenceDiagram` is not a flowchart"):
        parse_mermaid_flowchart("sequenceDiagram\nAlice->>Bob: hi")


def test_a_graph_that_cannot_be_walked_is_refused() -> None:
    with pytest.raises(FlowValidationError):
        parse_mermaid_flowchart("flowchart TD\nA([BEGIN]) --> B[Pick]\nB --> C([END])\nB --> D([END])")
    with pytest.raises(FlowValidationError):
        parse_mermaid_flowchart("")


def test_all_faults_of_a_graph_are_told_at_once() -> None:
    chart = "\n".join(
        [
            "flowchart LR",
            "A([BEGIN]) --> B{pick}",
            "B -->|same| C[left]",
            "B -->|same| D[right]",
            "C --> C",
            "D --> D",
            "E([END])",
            "F([BEGIN]) --> E",
        ]
    )
    with pytest.raises(FlowValidationError) as caught:
        parse_mermaid_flowchart(chart)
    assert caught.value.faults == (
        "there must be one BEGIN node, found 2: A, F",
        '"B" has more than one way out with the label "same"',
        "END (E) cannot be reached from BEGIN (A)",
    )


def test_a_chain_of_ten_thousand_steps_is_read() -> None:
    steps = "\n".join(f"n{i}[step {i} 树] --> n{i + 1}" for i in range(10_000))
    flow = parse_mermaid_flowchart(f"flowchart TD\nBEGIN([BEGIN]) --> n0\n{steps}\nn10000 --> END([END])")
    assert len(flow.nodes) == 10_003
    on_one_line = " --> ".join(["BEGIN", *(f"n{i}" for i in range(10_000)), "END"])
    assert len(parse_mermaid_flowchart(on_one_line).nodes) == 10_002


RESERVED = {"begin", "end", "graph", "flowchart"}
ids = st.text("ab_Z9-k", min_size=1, max_size=6).map(lambda text: "n" + text.replace("-", "-m") + "x")
labels = (
    st.text("abEND 是;|[](){}<>-=.&%:~@ox/!,'\u3000🌳", min_size=1, max_size=20)
    .map(lambda text: " ".join(text.split()))
    .filter(lambda text: text and text.lower() not in RESERVED)
)


@st.composite
def flows(draw: st.DrawFn) -> Drawn:
    """A random flow: a spine from BEGIN to END, and labelled jumps anywhere."""
    names = draw(st.lists(ids, min_size=1, max_size=6, unique_by=str.lower))
    jumps = draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from([*names, "END"])), max_size=6))
    spine = ["BEGIN", *names, "END"]
    ways: dict[str, list[str]] = {src: [dst] for src, dst in itertools.pairwise(spine)} | {"END": []}
    for src, dst in jumps:
        ways[src].append(dst)
    found: Drawn = {}
    for name, targets in ways.items():
        words = draw(st.lists(labels, min_size=len(targets), max_size=len(targets), unique=True))
        out = list(zip(targets, words if len(targets) > 1 else [None] * len(targets), strict=True))
        kind = {"BEGIN": "begin", "END": "end"}.get(name) or ("decision" if len(out) > 1 else "task")
        found[name] = (kind, name if name in ("BEGIN", "END") else draw(labels), [*out])
    return found


SHAPES = ['["%s"]', '("%s")', '(["%s"])', '{"%s"}', '{{"%s"}}', '[["%s"]]', '>"%s"]', '@{ label: "%s" }']
LINKS = ['-- "%s" -->', '-->|"%s"|', '== "%s" ==>', '-. "%s" .->', '---|"%s"|']


@settings(max_examples=60)
@given(flows(), st.randoms(use_true_random=False), st.sampled_from(["\n", "\r\n", ";", " ;\n\n  "]))
def test_a_flow_that_is_written_down_is_read_back_the_same(flow: Drawn, chance: Random, separator: str) -> None:
    lines = ["flowchart TD"]
    for name, (_, label, _) in flow.items():
        lines.append(name + chance.choice(SHAPES).replace("%s", label))
    for name, (_, _, ways) in flow.items():
        for target, word in ways:
            link = "-->" if word is None else chance.choice(LINKS).replace("%s", word)
            lines.append(f"{name} {link} {target}")
    assert drawn(parse_mermaid_flowchart(separator.join(lines))) == flow


@settings(max_examples=150)
@given(
    st.lists(
        st.sampled_from([*'AB \n;|"[](){}<>-=.&%:~@`ox#\\/', "-->", "BEGIN", "END", "end", "subgraph ", "%%{", "--- "]),
        max_size=40,
    )
)
def test_any_text_is_a_flow_or_a_flow_error(pieces: list[str]) -> None:
    try:
        parse_mermaid_flowchart("".join(pieces))
    except FlowError as error:
        assert str(error)


@pytest.mark.parametrize(
    "piece", ["-", "=", "[", "A[", '"', "(", "{", "A-->", "%%{", "~", "A & ", ";", "---\n", "-.", "|", "A@{", "<"]
)
def test_long_garbage_is_read_in_no_time(piece: str) -> None:
    with contextlib.suppress(FlowError):
        parse_mermaid_flowchart("A " + piece * (100_000 // len(piece)))

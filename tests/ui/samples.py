"""Views to draw: one session with a revert, a D-Mail and a compaction behind it, told to screens and tests alike."""

from __future__ import annotations

from kimi_tui.protocol.views import (
    ApprovalView,
    DiffView,
    Entry,
    FileTouched,
    ModelView,
    QuestionOption,
    QuestionView,
    RevertPreview,
    RotationView,
    SessionView,
    SwitchView,
    TimelineRow,
    Tokens,
    TokenShare,
    ToolView,
)

NOW = 1_800_000_000.0
MINUTE = 60.0


def point(
    number: int, label: str, tokens: int, *, turn: bool = False, minutes: float = 0, file: str | None = None
) -> TimelineRow:
    return TimelineRow(
        "checkpoint",
        checkpoint=number,
        file=file,
        label=label,
        turn=turn,
        tokens=tokens,
        exact=True,
        messages=2,
        at=NOW - minutes * MINUTE,
        depth=1 if file else 0,
        offset=1000 + number * 500,
    )


MAIL = SwitchView(
    "dmail",
    "context_3.jsonl",
    at=NOW - 2 * MINUTE,
    from_checkpoint=9,
    to_checkpoint=4,
    messages_before=31,
    messages_after=12,
    tokens_before=79_500,
    tokens_after=61_200,
    note="The fixture feeds an empty document. Do not read the whole test suite, parse_items() is where it breaks.",
)
FOLD = SwitchView(
    "compact",
    "context_2.jsonl",
    at=NOW - 60 * MINUTE,
    messages_before=214,
    messages_after=3,
    tokens_before=180_000,
    tokens_after=9_100,
    note="Current task: make the parser accept empty documents.",
)
BACK = SwitchView(
    "revert",
    "context_1.jsonl",
    at=NOW - 120 * MINUTE,
    from_checkpoint=6,
    to_checkpoint=1,
    messages_before=20,
    messages_after=4,
    tokens_before=31_000,
    tokens_after=8_700,
)


def jump(switch: SwitchView) -> tuple[TimelineRow, TimelineRow]:
    """The row of the jump and the one of the file that it left behind."""
    moved = TimelineRow(
        "switch", switch=switch, tokens=switch.tokens_after - switch.tokens_before, at=switch.at, undoable=True
    )
    left = TimelineRow(
        "rotation",
        file=switch.file,
        label=switch.file,
        at=switch.at,
        messages=switch.messages_before,
        size=48_213,
        depth=1,
        switch=switch,
    )
    return moved, left


ROWS: tuple[TimelineRow, ...] = (
    point(6, "ran pytest", 900, minutes=0.5),
    point(5, "edited parser.py", 400, minutes=1),
    point(4, "read the mail", 200, minutes=1.5),
    *jump(MAIL),
    point(9, "ran pytest -x", 1100, minutes=2.5, file="context_3.jsonl"),
    point(8, "read tests/test_everything.py", 12_000, minutes=3, file="context_3.jsonl"),
    point(4, "searched the repository", 6000, minutes=4, file="context_3.jsonl"),
    point(3, "Fix the failing parser test", 700, turn=True, minutes=5),
    *jump(FOLD),
    point(2, "reviewed the API", 5200, minutes=80),
    *jump(BACK),
    point(6, "wrote CHANGELOG.md", 900, minutes=121, file="context_1.jsonl"),
    point(1, "Add a changelog", 800, turn=True, minutes=130, file="context_1.jsonl"),
    point(0, "Review the parser API — 请检查一下解析器接口", 7900, turn=True, minutes=140),
)

PREVIEW = RevertPreview(
    4,
    None,
    steps=3,
    messages=6,
    tokens=1500,
    tool_calls=4,
    files=(FileTouched("src/parser/parser.py", False), FileTouched("tests/test_parser.py", True)),
    tasks=("pytest --watch",),
    prompt="Fix the failing parser test",
)


def long_timeline(number: int) -> list[TimelineRow]:
    """`number` checkpoints, newest first, a turn every eight."""
    return [point(n, f"step {n} of many", 100 + n % 900, turn=n % 8 == 0) for n in reversed(range(number))]


def tool(number: int, verb: str, subject: str, brief: str, *, outcome: str = "ok", output: str = "") -> Entry:
    return Entry(
        "tool",
        tool=ToolView(
            f"call_{number}",
            verb,
            verb,
            subject,
            outcome=outcome,  # type: ignore[arg-type]
            brief=brief,
            output=output,
            seconds=0.1 * number,
        ),
    )


CONVERSATION: tuple[Entry, ...] = (
    Entry("user", "Fix the failing parser test", turn=True, checkpoint=3),
    Entry("assistant", "I will look at the parser first, then run **only** that file's tests."),
    tool(1, "Read", "parser.py", "214 lines"),
    tool(2, "Shell", "pytest -x tests/", "exit 1", outcome="error", output="KeyError: 'items'  parser.py:12"),
    tool(3, "Read", "tests/test_everything.py", "4210 lines"),
    Entry(
        "assistant",
        "That file is far too long. The fixture `empty.json` holds an empty document, [so] the key is missing.",
    ),
)

ROTATIONS: tuple[RotationView, ...] = (
    RotationView("context.jsonl", None, NOW, 31_800, 0, 12, 7, 61_200, live=True),
    RotationView("context_3.jsonl", "dmail", MAIL.at, 48_213, 16_400, 31, 10, 79_500, note=MAIL.note),
    RotationView("context_2.jsonl", "compact", FOLD.at, 1_204_000, 1_204_000, 214, 96, 180_000, True, note=FOLD.note),
    RotationView("context_1.jsonl.gz", "revert", BACK.at, 9_412, 3_200, 20, 7, 31_000, compressed=True),
)


BEFORE = """import json


def parse_items(data):
    return data['items']


def load(path):
    with open(path) as file:
        return parse_items(json.load(file))
"""
AFTER = """import json


def parse_items(data):
    if data is None:
        return []
    return data.get('items', [])


def load(path):
    with open(path) as file:
        return parse_items(json.load(file))
"""
EDIT = ApprovalView(
    "a1",
    "StrReplaceFile",
    "edit parser.py",
    "/home/me/src/parser/parser.py",
    (DiffView("src/parser/parser.py", BEFORE, AFTER),),
    rule="edits inside src/parser",
)
COMMAND = ApprovalView(
    "a2", "Shell", "run a command", "rm -rf build/ && make all 2>&1 | tail -20", rule="Shell: make *"
)
OUTSIDE = ApprovalView(
    "a3",
    "WriteFile",
    "write a file",
    "/etc/hosts",
    (DiffView("/etc/hosts", "", "127.0.0.1 localhost\n"),),
    outside=True,
    explicit=True,
)
QUESTIONS: tuple[QuestionView, ...] = (
    QuestionView(
        "Which database should the service use?",
        "Database",
        (
            QuestionOption("PostgreSQL", "runs everywhere, needs a server"),
            QuestionOption("SQLite", "one file, one writer"),
            QuestionOption("[none]", "keep the JSON files"),
        ),
    ),
    QuestionView(
        "Which checks shall run before a commit?",
        "Checks",
        (QuestionOption("lint"), QuestionOption("types"), QuestionOption("tests", "the fast ones")),
        multi_select=True,
    ),
)


SHARES: tuple[TokenShare, ...] = (
    TokenShare("system prompt", 3_100, True),
    TokenShare(
        "tool results",
        41_000,
        False,
        (("Read tests/test_everything.py", 23_400), ("Shell pytest -x tests/", 9_100), ("Read parser.py 树🌳", 6_400)),
    ),
    TokenShare("your messages", 2_200, False, (("Fix the failing parser test", 900),)),
    TokenShare("answers", 11_400, False, (("I will look at the parser first", 2_000),)),
    TokenShare("reminders", 700, False),
)
GAUGE = Tokens(61_200, 4_100, 128_000, 50_000, 78_000, exact_at=NOW - 40)

SESSIONS: tuple[SessionView, ...] = (
    SessionView("/s/1", "5f3a9c01", "Fix the failing parser test", "/home/me/src/parser", NOW - 30, 1_310_000, 31),
    SessionView(
        "/s/2", "77aa1b02", "[bold]Add[/] a changelog", "/home/me/src/parser", NOW - 7200, 48_000, 12, locked=True
    ),
    SessionView("/k/3", "c0ffee03", "", "/home/me/src/parser", NOW - 86_400 * 3, 9_000, foreign=True),
    SessionView("/s/4", "1234ab04", "请检查一下解析器接口", "/home/me/work/接口", NOW - 86_400 * 9, 5_200_000, 840),
)

MODELS: tuple[ModelView, ...] = (
    ModelView("local", 16_384, embedded=True, tools=False, about="Answers from this machine, without a key."),
    ModelView("local-large", 32_768, embedded=True, about="Good answers, calls single tools."),
    ModelView("kimi", 128_000, about="moonshot/kimi-k2-turbo-preview"),
    ModelView("moonshot/kimi-k2", 128_000, vision=True),
)

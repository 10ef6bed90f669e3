"""A session as the screen is told of it: every kind of entry once, and what stands around them."""

from __future__ import annotations

from collections.abc import Sequence

from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import DiffView, Entry, ModelView, Modes, TimelineRow, Tokens, ToolView
from tests.ui.samples import MAIL, NOW, ROWS

MODEL = ModelView("moonshot/kimi-k2", window=128_000)
TOKENS = Tokens(exact=61_200, pending=4_100, window=128_000, reserve=19_200, trigger=108_800, exact_at=NOW, cost=0.42)

ANSWER = """The guard is in `parse_items`. Here is what I would do:

1. **Return early** for an empty document, so that nothing else has to know.
2. Keep the old error text for *malformed* input.

```python
def parse_items(data: dict[str, object]) -> list[Item]:
    # an empty document has no items
    return [Item(entry) for entry in data.get("items", [])]
```

| case | before | after |
|:-----|:------:|------:|
| empty document | `KeyError` | `[]` |
| 你好 世界 | 1 item | 1 item |

> Nothing else calls it, see [the docs](https://docs.python.org/3/library/json.html).

"""

DIFF = DiffView(
    "src/parser.py",
    "import json\n\n\ndef items(data):\n    return data['items']\n\n\ndef dump(items):\n    return items\n",
    "import json\n\n\ndef items(data):\n    return data.get('items', [])\n\n\ndef dump(items):\n    return items\n",
)

ENTRIES: tuple[Entry, ...] = (
    Entry("user", "Fix the failing parser test", turn=True, checkpoint=3),
    Entry(
        "assistant",
        "The test feeds an empty document; `parse_items` assumes the key is there.\n\n"
        "I will look at the parser first, then run only that file's tests.",
    ),
    Entry(
        "tool", tool=ToolView("a", "ReadFile", "Read", "parser.py", "", "ok", "214 lines", "import json\n" * 20, 0.1)
    ),
    Entry(
        "tool",
        tool=ToolView(
            "b",
            "Shell",
            "Shell",
            "pytest -x tests/test_parser.py",
            "",
            "error",
            "exit 1",
            "...F\nE   KeyError: 'items'\nparser.py:12\n1 failed, 3 passed in 0.12s",
            3.2,
        ),
    ),
    Entry("tool", tool=ToolView("c", "StrReplaceFile", "Edit", "parser.py", "", "ok", "+1 −1", "", 0.0, (DIFF,))),
    Entry("dmail", MAIL.note, switch=MAIL),
    Entry("thinking", "The mail says where it breaks. I should not read the whole suite again.", seconds=4.2),
    Entry(
        "assistant",
        "All 41 tests pass. The guard also covers `null` documents; "
        "I left the error text for malformed input as it was.",
    ),
    Entry("user", "also keep the old error message", turn=False),
    Entry("injection", "Plan mode is on: look, do not touch."),
    Entry("note", "The model was slow to answer."),
    Entry("error", "The provider is not reachable.\nCheck the network, or pick another model with /model."),
    Entry(
        "user",
        "你好，please look at [this/dim] and \x1b[31mthat\x1b[0m",
        turn=True,
        images=("screenshot.png 1280×720",),
    ),
    Entry("assistant", ANSWER),
)


def opened(**changes: object) -> ev.SessionOpened:
    fields: dict[str, object] = {
        "session_id": "0123",
        "path": "/home/me/.local/share/kimi-tui/sessions/ab/0123",
        "work_dir": "/home/me/src/parser",
        "title": "Fix the parser",
        "model": MODEL,
        "modes": Modes(),
        "branch": "main*",
        "history": ("an earlier prompt", "the prompt before"),
        "resume_hint": "kimi-tui -r 0123",
    }
    return ev.SessionOpened(**{**fields, **changes})  # type: ignore[arg-type]


def reset(
    entries: Sequence[Entry] = ENTRIES, total: int | None = None, rows: Sequence[TimelineRow] = ROWS
) -> ev.TranscriptReset:
    return ev.TranscriptReset(len(entries) if total is None else total, tuple(entries), tuple(rows), TOKENS)

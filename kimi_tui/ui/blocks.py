"""One chat entry as rows: what each kind of block looks like, folded and unfolded."""

from __future__ import annotations

from collections.abc import Callable

from kimi_tui.protocol.views import DiffView, Entry, SubagentView, SwitchView, ToolView
from kimi_tui.ui.cells import duration
from kimi_tui.ui.diff import diff_lines, diff_rows
from kimi_tui.ui.drawing import INDENT, OPEN_ROWS, Drawing, literal_rows, more_lines, tail_rows, told_tail_rows
from kimi_tui.ui.helper import helper_head, rail
from kimi_tui.ui.markdown import markdown_rows
from kimi_tui.ui.pictures import image_rows
from kimi_tui.ui.rows import BLANK, Piece, Row, spread, wrap
from kimi_tui.ui.switched import switch_words
from kimi_tui.ui.text import clean, one_line

NOTE_WIDEST = 88
PROMPT_ROWS = 12
LONG = 16_000
"""Characters of an answer that are laid out in some hundredths of a second."""
ROUGH_ROWS = 60
"""Rows of its beginning and of its end that are shown before."""
ROUGH_EVERY = 8
"""Rows between them of which one says why there is nothing."""
ERROR_ROWS = 3
LIVE_ROWS = 4
OWN_ROWS = 12
"""Rows of what a command printed that the user ran: it was run to be read."""
USERS_OWN = "!"
DIFF_ROWS = 14


def entry_rows(entry: Entry, drawing: Drawing) -> list[Row]:
    """The rows of an entry, without the blank row that may part it from the one above."""
    return _KINDS[entry.kind](entry, drawing)


def gap(above: str | None, kind: str) -> int:
    """Blank rows between an entry and the one above it: rows of one kind of quiet work stay together."""
    if above is None:
        return 0
    quiet = {"tool", "injection"}
    return 0 if above in quiet and kind in quiet else 1


def foldable(entry: Entry) -> bool:
    """Whether there is more to see than the folded form shows."""
    if entry.kind == "user":
        return entry.text.count("\n") >= PROMPT_ROWS or len(entry.text) > PROMPT_ROWS * 60 or bool(entry.images)
    if entry.kind == "note":
        return bool(entry.switch and entry.switch.note)
    return entry.kind in ("thinking", "tool", "summary", "dmail", "injection")


def _user(entry: Entry, drawing: Drawing) -> list[Row]:
    marks = drawing.marks
    lead = (Piece(marks.user if entry.turn else marks.steer, "user-bar"), Piece(" "))
    limit = OPEN_ROWS if drawing.unfolded else PROMPT_ROWS
    rows = literal_rows(entry.text, drawing, lead, "user" if entry.turn else "user steer", limit)
    for number, caption in enumerate(entry.images):
        rows += image_rows(caption, drawing.picture(number), drawing.column, drawing.unfolded, lead)
    return rows


def is_long(entry: Entry) -> bool:
    """Whether laying it out would hold the screen up."""
    return entry.kind == "assistant" and len(entry.text) > LONG


def rough_rows(entry: Entry, drawing: Drawing, height: int) -> list[Row]:
    """How a long answer begins and ends, as it was written, and as high as it may be; while it is laid out."""
    lead = (Piece(" " * INDENT),)
    head = literal_rows(entry.text[: ROUGH_ROWS * drawing.column], drawing, lead, "", ROUGH_ROWS)
    between = Row((*lead, Piece(f"{drawing.marks.more} being laid out", "faint")), INDENT)
    tail = tail_rows(entry.text, drawing, lead, "", ROUGH_ROWS)
    room = max(3, height - len(head[:ROUGH_ROWS]) - len(tail))
    filler = [between if number % ROUGH_EVERY == 1 else BLANK for number in range(room)]
    return [*head[:ROUGH_ROWS], *filler, *tail]


def rough_place(row: int, rough: int, rows: int) -> int:
    """Where what stood in a row of so many rough ones is among the rows of the answer."""
    if row < ROUGH_ROWS:
        return min(row, rows - 1)
    return max(0, rows - (rough - row)) if row >= rough - ROUGH_ROWS else row * rows // rough


def _assistant(entry: Entry, drawing: Drawing) -> list[Row]:
    return markdown_rows(clean(entry.text), drawing.column - INDENT, INDENT)


def _thinking(entry: Entry, drawing: Drawing) -> list[Row]:
    took = f" for {duration(entry.seconds)}" if entry.seconds is not None else ""
    head = _fold_row(f"thought{took}", "quiet", drawing)
    if not drawing.unfolded:
        return [head]
    lead = (Piece("  "), Piece(f"{drawing.marks.rail} ", "faint"))
    return [head, *literal_rows(entry.text.strip(), drawing, lead, "thinking", OPEN_ROWS)]


def _injection(entry: Entry, drawing: Drawing) -> list[Row]:
    first = one_line(entry.text.strip().split("\n", 1)[0])
    head = _fold_row("reminder to the model", "faint", drawing, (Piece("  "), Piece(first, "faint")))
    if not drawing.unfolded:
        return [head]
    return [head, *literal_rows(entry.text.strip(), drawing, (Piece("    "),), "quiet", OPEN_ROWS)]


def _summary(entry: Entry, drawing: Drawing) -> list[Row]:
    head = (
        _switch_row(entry.switch, drawing)
        if entry.switch
        else _fold_row("summary of what came before", "fold", drawing)
    )
    if not drawing.unfolded:
        return [head]
    return [head, *indented(markdown_rows(clean(entry.text), drawing.column - INDENT - 2), INDENT + 2)]


def _dmail(entry: Entry, drawing: Drawing) -> list[Row]:
    head = _switch_row(entry.switch, drawing) if entry.switch else _fold_row("D-Mail from the future", "moved", drawing)
    if not drawing.unfolded:
        return [head]
    return [
        head,
        *literal_rows(
            entry.text.strip(), drawing, (Piece("  "), Piece(f"{drawing.marks.rail} ", "moved")), "", OPEN_ROWS
        ),
    ]


def _note(entry: Entry, drawing: Drawing) -> list[Row]:
    if entry.switch is None:
        return _plain_note(entry.text.strip(), drawing)
    head = _switch_row(entry.switch, drawing)
    if not (drawing.unfolded and entry.switch.note):
        return [head]
    return [head, *literal_rows(entry.switch.note, drawing, (Piece("    "),), "quiet", OPEN_ROWS)]


def _plain_note(text: str, drawing: Drawing) -> list[Row]:
    """One line as it is; several lines are prose of the program's own and are set as such."""
    if "\n" not in text:
        lead = (Piece(f"  {drawing.marks.note} ", "faint"),)
        return wrap([Piece(clean(text), "quiet")], drawing.column, lead, (Piece("    "),))
    rows = markdown_rows(clean(text), min(drawing.column, NOTE_WIDEST) - 2 * INDENT)
    quiet = [Row(tuple(_toned(piece) for piece in row.pieces), row.gutter, row.joint) for row in rows]
    return indented(quiet, 2 * INDENT)


def _toned(piece: Piece) -> Piece:
    return piece if "code" in piece.style else piece._replace(style=f"quiet {piece.style}".strip())


def _error(entry: Entry, drawing: Drawing) -> list[Row]:
    head, _, rest = entry.text.partition("\n")
    lead = (Piece("  "), Piece(f"{drawing.marks.bad} ", "bad"))
    rows = wrap([Piece(clean(head), "bad")], drawing.column, lead, (Piece("    "),))
    return rows + (literal_rows(rest, drawing, (Piece("    "),), "quiet", OPEN_ROWS) if rest.strip() else [])


def _tool(entry: Entry, drawing: Drawing) -> list[Row]:
    tool = entry.tool
    if tool is None:
        return _note(entry, drawing)
    rows = [_tool_row(tool, drawing)]
    rows += [row for diff in tool.diffs for row in _diff_rows(diff, drawing)]
    return rows + _helper(drawing) + _tool_output(tool, drawing) + _brought(tool, drawing)


def _brought(tool: ToolView, drawing: Drawing) -> list[Row]:
    """The images that came with a result; folded its brief word has to do."""
    lead, numbers = (Piece("    "),), range(tool.images if drawing.unfolded else 0)
    shown = [image_rows(f"image {n + 1}", drawing.picture(n), drawing.column, True, lead) for n in numbers]
    return [row for rows in shown for row in rows]


_OUTCOMES: dict[str, tuple[str, str]] = {
    "running": ("running", "now"),
    "ok": ("ok", "good"),
    "error": ("bad", "bad"),
    "rejected": ("refused", "bad"),
    "interrupted": ("stopped", "moved"),
    "timeout": ("stopped", "bad"),
}


def _outcome(tool: ToolView, helper: SubagentView | None) -> str:
    """How a call stands; one that has sent a subagent off stands as that one does."""
    if helper is None or tool.outcome != "ok":
        return tool.outcome
    return {"running": "running", "failed": "error", "interrupted": "interrupted"}.get(helper.state, "ok")


def _tool_row(tool: ToolView, drawing: Drawing) -> Row:
    mark, tone = _OUTCOMES[_outcome(tool, drawing.helper)]
    brief = tool.brief or ("" if tool.outcome in ("ok", "running") else tool.outcome)
    left = [Piece("  "), Piece(f"{getattr(drawing.marks, mark)} ", tone), Piece(one_line(tool.verb), "quiet")]
    if tool.subject:
        left += [Piece(" "), Piece(one_line(tool.subject))]
    if brief:
        left += [Piece("  "), Piece(one_line(brief), "quiet" if tool.outcome == "ok" else tone)]
    right = [Piece(duration(tool.seconds), "faint")] if tool.seconds is not None else []
    return Row(spread(left, right, drawing.column), 4)


def _tool_output(tool: ToolView, drawing: Drawing) -> list[Row]:
    lead = (Piece("    "),)
    if drawing.unfolded:
        output = (tool.output or ("" if drawing.helper else drawing.live)).rstrip("\n")
        subject = literal_rows(tool.subject, drawing, lead, "", OPEN_ROWS) if "\n" in tool.subject else []
        return subject + (literal_rows(output, drawing, lead, "quiet", OPEN_ROWS) if output.strip() else [])
    if tool.name == USERS_OWN:
        return told_tail_rows(tool.output or drawing.live, drawing, lead, OWN_ROWS)
    if tool.outcome == "running" and not drawing.helper:
        return tail_rows(drawing.live, drawing, lead, "quiet", LIVE_ROWS)
    if tool.outcome in ("error", "timeout"):
        return tail_rows(tool.output, drawing, lead, "quiet", ERROR_ROWS)
    return []


def _helper(drawing: Drawing) -> list[Row]:
    """The agent that a call started: its gauge, and what it did; folded only the newest of it while it works, which in
    the background it may do longer than the call."""
    if drawing.helper is None:
        return []
    running = drawing.helper.state == "running"
    head = helper_head(drawing.helper, running, drawing.column, drawing.marks)
    lead = rail(drawing.marks)
    if drawing.unfolded and drawing.live:
        return [head, *literal_rows(drawing.live.rstrip(), drawing, lead, "quiet", OPEN_ROWS)]
    return [head, *(tail_rows(drawing.live, drawing, lead, "quiet", LIVE_ROWS) if running else [])]


def _diff_rows(diff: DiffView, drawing: Drawing) -> list[Row]:
    """The change with its line numbers; folded only as much as is read at a glance."""
    lines = diff_lines(diff, 3 if drawing.unfolded else 1)
    shown = lines[: OPEN_ROWS if drawing.unfolded else DIFF_ROWS]
    rows = [Row(tuple(Piece(*span) for span in row)) for row in diff_rows(shown, drawing.column - 2 * INDENT)]
    if len(lines) > len(shown):
        rows.append(Row((Piece(more_lines(len(lines) - len(shown) - 1, drawing.marks), "faint"),)))
    return indented(rows, 2 * INDENT)


_SWITCHES: dict[str, tuple[str, str]] = {
    "dmail": ("dmail", "moved"),
    "revert": ("revert", "moved"),
    "compact": ("compact", "fold"),
    "clear": ("clear", "moved"),
    "restore": ("restore", "moved"),
    "undo": ("restore", "moved"),
    "redo": ("restore", "moved"),
    "prune": ("clear", "moved"),
}


def _switch_row(switch: SwitchView, drawing: Drawing) -> Row:
    mark, tone = _SWITCHES.get(switch.why, ("note", "quiet"))
    marks = drawing.marks
    title, figures = switch_words(switch, marks)
    left = [
        Piece("  "),
        Piece(f"{getattr(marks, mark)} ", tone),
        Piece(title, f"{tone} strong"),
        Piece("  "),
        Piece(figures, tone),
    ]
    if switch.note:
        left += [Piece("  "), Piece(marks.unfolded if drawing.unfolded else marks.folded, "faint")]
    return Row(spread(left, [Piece(switch.file.removesuffix(".jsonl"), "faint")], drawing.column), 4)


def _fold_row(text: str, style: str, drawing: Drawing, more: tuple[Piece, ...] = ()) -> Row:
    mark = drawing.marks.unfolded if drawing.unfolded else drawing.marks.folded
    return Row(spread([Piece("  "), Piece(f"{mark} ", "faint"), Piece(text, style), *more], [], drawing.column), 4)


def indented(rows: list[Row], by: int = INDENT) -> list[Row]:
    """Rows moved to the right."""
    lead = Piece(" " * by)
    return [Row((lead, *row.pieces), row.gutter + by, row.joint) for row in rows]


_KINDS: dict[str, Callable[[Entry, Drawing], list[Row]]] = {
    "user": _user,
    "assistant": _assistant,
    "thinking": _thinking,
    "tool": _tool,
    "summary": _summary,
    "dmail": _dmail,
    "injection": _injection,
    "note": _note,
    "error": _error,
}

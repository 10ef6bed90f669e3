"""Approvals, questions and summaries as numbered lines, and what an answer to them means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

from kimi_tui.literal import one_line
from kimi_tui.protocol.commands import AnswerApproval, AnswerCompaction, AnswerQuestion
from kimi_tui.protocol.events import ApprovalRequested, CompactionProposed, Event, QuestionAsked
from kimi_tui.protocol.views import ApprovalView, DiffView, QuestionView

Ask = Callable[..., str]
"""Shows a prompt, and a draft to be edited when there is one; returns the line. Raises `EOFError` and
`KeyboardInterrupt`."""
Say = Callable[[Sequence[str]], None]
Edit = Callable[[str], str | None]
"""What the user's own editor makes of a text; None when nothing came of it."""

_AROUND = 2
"""Equal lines shown around a change."""


def lines_of(event: Event) -> Iterator[str]:
    """What is asked, without asking; nothing for an event that asks nothing."""
    match event:
        case ApprovalRequested(view):
            yield from approval_lines(view)
        case QuestionAsked():
            for question in event.questions:
                yield from question_lines(question)
        case CompactionProposed():
            yield from proposal_lines(event)


def approve(view: ApprovalView, say: Say, ask: Ask) -> AnswerApproval:
    """Ask until it is answered; a text in place of a number rejects, and tells the model the text."""
    say([*approval_lines(view)])
    while True:
        answer = approval_answer(view, ask("Number, or a word to the model instead: "))
        if answer is not None:
            return answer
        say(["Please answer with a number."])


def approval_lines(view: ApprovalView) -> Iterator[str]:
    asker = f"{view.tool} of the subagent {view.asker}" if view.asker else view.tool
    yield f"May I {one_line(view.action)}? (asked by {one_line(asker)})"
    if view.outside:
        yield "This lies outside the allowed folders."
    yield from (f"    {line}" for line in view.detail.splitlines())
    for diff in view.diffs:
        yield from diff_lines(diff)
    yield "1. yes, this once"
    if not view.explicit:
        yield f"2. yes, and always for this session{f': {one_line(view.rule)}' if view.rule else ''}"
    yield "3. no"


def approval_answer(view: ApprovalView, text: str) -> AnswerApproval | None:
    """None for an answer that says nothing."""
    match text.strip().lower().rstrip("."):
        case "":
            return None
        case "1" | "y" | "yes":
            return AnswerApproval(view.request_id, "once")
        case "2" | "always" if not view.explicit:
            return AnswerApproval(view.request_id, "session")
        case "3" | "n" | "no":
            return AnswerApproval(view.request_id, "reject")
        case word if word.isdecimal():
            return None
    return AnswerApproval(view.request_id, "reject", text.strip())


def diff_lines(diff: DiffView) -> Iterator[str]:
    """What changes in a file, with a few lines around it."""
    old, new = diff.before.split("\n"), diff.after.split("\n")
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_AROUND):
        yield f"{one_line(diff.path)}, line {group[0][3] + diff.first_line}:"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (f"      {line}" for line in old[i1:i2])
                continue
            yield from (f"    - {line}" for line in old[i1:i2])
            yield from (f"    + {line}" for line in new[j1:j2])


def review(event: CompactionProposed, say: Say, ask: Ask, edit: Edit) -> AnswerCompaction:
    """Show the summary; a text in place of a number asks for another one, and says what it shall keep."""
    say([*proposal_lines(event)])
    while True:
        match ask("Number, or what another summary shall keep: ").strip():
            case "1" | "1.":
                return AnswerCompaction("accept")
            case "2" | "2.":
                return AnswerCompaction("redo", focus=event.focus)
            case "3" | "3.":
                return AnswerCompaction("cancel")
            case "4" | "4.":
                if written := edit(event.summary):
                    return AnswerCompaction("accept", written)
                say(["Nothing was written: the summary stands as it is."])
            case text if text and not text.isdecimal():
                return AnswerCompaction("redo", focus=text)
            case _:
                say(["Please answer with a number."])


def proposal_lines(event: CompactionProposed) -> Iterator[str]:
    yield (
        f"This summary would stand for {len(event.replaced)} entries, {event.tokens_before:,} tokens; "
        f"with the {len(event.kept)} that are kept it would be {event.tokens_after:,}:"
    )
    yield from (f"    {line}" for line in event.summary.splitlines())
    yield "1. put it in their place"
    yield "2. write another one"
    yield "3. leave everything as it is"
    yield "4. change it in your editor, then put it in their place"


def answer(event: QuestionAsked, say: Say, ask: Ask) -> AnswerQuestion:
    """Put the questions one after the other. An empty answer to the first one declines them all."""
    chosen: list[tuple[str, ...]] = []
    for question in event.questions:
        say([*question_lines(question)])
        found = picked(question, ask("Number, or your own answer (nothing: decline): "))
        if not found and not chosen:
            return AnswerQuestion(event.request_id, ())
        chosen.append(found)
    return AnswerQuestion(event.request_id, tuple(chosen))


def question_lines(question: QuestionView) -> Iterator[str]:
    head = f"{one_line(question.header)}: " if question.header else ""
    several = " (several may be chosen: 1, 3)" if question.multi_select else ""
    yield f"{head}{one_line(question.question)}{several}"
    for number, option in enumerate(question.options, 1):
        more = f", {one_line(option.description)}" if option.description else ""
        yield f"{number}. {one_line(option.label)}{more}"


def picked(question: QuestionView, text: str) -> tuple[str, ...]:
    """The labels that the numbers mean; anything else is an answer in the user's own words."""
    text = text.strip()
    words = text.replace(",", " ").split() if question.multi_select else [text]
    if words and all(word.isdecimal() and 0 < int(word) <= len(question.options) for word in words):
        return tuple(question.options[int(word) - 1].label for word in words)
    return (text,) if text else ()

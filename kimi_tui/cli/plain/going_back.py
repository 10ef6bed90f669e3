"""Back to a checkpoint or over to a rotation, in lines: first what would go, then the choice, and nothing before it.

The choices are those of the screen: the conversation, its files with it or alone, a copy; a note for the earlier point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from kimi_tui.cli.plain.asking import Ask, Say, diff_lines
from kimi_tui.literal import one_line
from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.protocol.views import FileTouched, RevertPreview

Submit = Callable[[cmd.Command], ev.Event]
"""Hands a command over and tells what comes of it; returns the event that settled it."""

Way = Literal["keep", "restore", "only", "fork", "files", "edited", "note", "draft", "stay"]

DIFFS = 20
"""Files whose differences are shown at once."""


@dataclass(frozen=True, slots=True)
class Point:
    """Right before a checkpoint, of the live timeline or of a rotation; without one, all of the rotation."""

    checkpoint: int | None
    file: str | None = None

    @classmethod
    def named(cls, text: str) -> Point | None:
        """`3`, `context_2.jsonl`, `context_2.jsonl@3`; None for anything else."""
        if text.isdecimal():
            return cls(int(text))
        file, at, checkpoint = text.partition("@")
        if not file or (at and not checkpoint.isdecimal()):
            return None
        file = file if file.endswith(".jsonl") else f"{file}.jsonl"
        return cls(int(checkpoint) if at else None, file)


class GoingBack:
    """The questions about one point."""

    def __init__(self, point: Point, submit: Submit, draft: Submit, say: Say, ask: Ask) -> None:
        self.point = point
        self._submit, self._draft, self._say, self._ask = submit, draft, say, ask
        self._note = ""
        self._overwrite: list[str] = []
        """Files that were edited since and are to be put back all the same."""

    def go(self) -> None:
        """From what would go to the jump, or to nothing."""
        found = self._submit(cmd.PreviewRevert(self.point.checkpoint, self.point.file))
        if not isinstance(found, ev.RevertPreviewed):
            return
        command = self._chosen(found.preview)
        if command is None:
            self._say(["Nothing has changed."])
        else:
            self._submit(command)

    def _chosen(self, preview: RevertPreview) -> cmd.RevertTo | cmd.Fork | None:
        """Ask until time is moved or is not."""
        while True:
            ways = dict(self._ways(preview))
            self._say([f"{number}. {text}" for number, text in enumerate(ways.values(), 1)])
            match self._picked([*ways]):
                case "keep" | "restore" | "only" as files:
                    return self._command(files)
                case "fork":
                    return cmd.Fork(self.point.checkpoint, self.point.file)
                case "files":
                    self._show_files(preview)
                case "edited":
                    self._choose_edited(preview)
                case "note":
                    self._note = self._line("The note (nothing: none): ", self._note)
                case "draft":
                    self._have_drafted()
                case "stay":
                    return None

    def _ways(self, preview: RevertPreview) -> Iterator[tuple[Way, str]]:
        """What can be done, the safe one first."""
        whole = self.point.checkpoint is None
        go = "make it live" if whole else "go back" if self.point.file is None else "go over"
        yield "keep", f"{go}, files on disk stay as they are"
        if preview.restorable:
            yield "restore", f"{go}, and put the files back too"
            yield "only", "put the files back, the conversation stays"
        yield "fork", "go on in a copy from there"
        if preview.restorable and preview.files:
            yield "files", "show what would change in the files"
        if preview.restorable and any(map(_edited, preview.files)):
            yield "edited", f"put back files that were edited since, too ({len(self._overwrite)} now)"
        yield "note", f"change the note for there: {one_line(self._note)}" if self._note else "add a note for there"
        yield "draft", "have the model write that note"
        yield "stay", "stay"

    def _picked(self, ways: list[Way]) -> Way:
        """Anything but a number that is there leaves all as it is."""
        chosen = self._line("Number: ").strip().rstrip(".")
        return ways[int(chosen) - 1] if chosen.isdecimal() and 0 < int(chosen) <= len(ways) else "stay"

    def _line(self, prompt: str, draft: str = "") -> str:
        try:
            return self._ask(prompt, draft)
        except KeyboardInterrupt:
            return draft

    def _command(self, files: Literal["keep", "restore", "only"]) -> cmd.RevertTo:
        return cmd.RevertTo(
            self.point.checkpoint,
            self.point.file,
            note="" if files == "only" else self._note,
            files=files,
            overwrite=() if files == "keep" else tuple(self._overwrite),
        )

    # --- files ---

    def _show_files(self, preview: RevertPreview) -> None:
        able = [file for file in preview.files if file.change and not file.stays]
        for file in able[:DIFFS]:
            found = self._submit(cmd.PreviewFile(file.path, self.point.checkpoint, self.point.file))
            if isinstance(found, ev.FilePreviewed):
                said = [*diff_lines(found.diff)] if found.diff else []
                self._say(said or [f"{one_line(file.path)}: {file.change}, but it is not text"])
        if len(able) > DIFFS:
            self._say([f"and {len(able) - DIFFS} more files"])

    def _choose_edited(self, preview: RevertPreview) -> None:
        edited = [file.path for file in preview.files if _edited(file)]
        self._say([f"{number}. {one_line(path)}" for number, path in enumerate(edited, 1)])
        numbers = self._line("Which of them (1, 3; nothing: none): ").replace(",", " ").split()
        picked = {int(number) for number in numbers if number.isdecimal()}
        self._overwrite = [path for number, path in enumerate(edited, 1) if number in picked]

    # --- the note ---

    def _have_drafted(self) -> None:
        self._say(["The model writes the note. Ctrl+C stops it."])
        found = self._draft(cmd.DraftNote(self.point.checkpoint, self.point.file, begun=self._note))
        match found:
            case ev.NoteDrafted(state="done", text=text):
                self._note = text
                self._say([f"    {line}" for line in text.splitlines()])
            case ev.NoteDrafted(message=message):
                self._say([f"No note was written{f': {message}' if message else '.'}"])


def _edited(file: FileTouched) -> bool:
    return bool(file.change and file.changed_since and not file.stays)

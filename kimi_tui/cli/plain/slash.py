"""Slash commands without a screen: the screen's own reading of them, and lines where that one opens a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kimi_tui.cli.plain import rotations
from kimi_tui.protocol import commands as cmd
from kimi_tui.protocol import events as ev
from kimi_tui.ui import slash
from kimi_tui.ui.state import ScreenState

HERE: dict[str, tuple[str, str]] = {
    "restore": ("FILE[@N]", "say what making a rotation live again would change, and ask"),
    "rotations": (rotations.USAGE, "list the files that jumps left behind, or look after them"),
    "diff": ("LEFT RIGHT", "compare two points: now, now@N, context_2.jsonl, context_2.jsonl@N"),
    "name": ("N [TEXT]", "name a checkpoint"),
    "read": ("FILE", "the conversation in a rotation"),
    "entries": ("[COUNT]", "the last entries of the conversation, with their numbers"),
    "pin": ("N", "compactions keep entry N word for word"),
    "unpin": ("N", "compactions need not keep entry N any more"),
    "drop": ("N", "take the result of the tool call in entry N out of the context"),
    "queue": ("[edit N TEXT | take N | drop N]", "what waits while a turn runs"),
    "snooze": ("", "no more warnings of a compaction until the context has grown"),
    "tasks": ("[ID | stop ID]", "background tasks, the output of one, the end of one"),
    "mcp": (
        "[restart NAME | sign-in NAME | answer NAME ADDRESS | sign-out NAME]",
        "connected tool servers; signing in to one, and where the browser ended up when it cannot come back by itself",
    ),
    "doctor": ("", "check the files of this session"),
}
"""What has keys on the screen, and so no slash command there."""

NOT_HERE = {
    "theme": "Plain mode has no colours.",
    "copy": "Plain mode leaves copying to the terminal.",
}

SETTLED: dict[type[cmd.Command], tuple[type[ev.Event], ...]] = {
    cmd.SendPrompt: (ev.TurnEnded, ev.PromptReturned),
    cmd.RunShell: (ev.ToolCallFinished,),
    cmd.RunSlash: (ev.EntryAdded, ev.TurnEnded, ev.PromptReturned, ev.FlowStarted, ev.AsideEnded),
    cmd.ReadTask: (ev.TaskRead,),
    cmd.StopTask: (ev.TasksChanged,),
    cmd.ListMcp: (ev.McpChanged,),
    cmd.RestartMcp: (ev.McpChanged,),
    cmd.SignInMcp: (ev.McpChanged,),
    cmd.AnswerSignInMcp: (ev.McpChanged,),
    cmd.SignOutMcp: (ev.McpChanged,),
    cmd.PreviewRevert: (ev.RevertPreviewed,),
    cmd.RevertTo: (ev.TranscriptReset,),
    cmd.Undo: (ev.TranscriptReset,),
    cmd.Redo: (ev.TranscriptReset,),
    cmd.RestoreRotation: (ev.TranscriptReset,),
    cmd.ClearContext: (ev.TranscriptReset,),
    cmd.Compact: (ev.CompactionEnded,),
    cmd.PinEntry: (ev.EntriesChanged,),
    cmd.DropResult: (ev.TranscriptReset,),
    cmd.SnoozeCompaction: (ev.CompactionNear,),
    cmd.LoadEntries: (ev.EntriesLoaded,),
    cmd.NameCheckpoint: (ev.TranscriptReset,),
    cmd.ListRotations: (ev.RotationsListed,),
    cmd.ChangeRotation: (ev.RotationsListed,),
    cmd.ProposePruning: (ev.PruningProposed,),
    cmd.PruneRotations: (ev.RotationsListed,),
    cmd.PreviewFile: (ev.FilePreviewed,),
    cmd.ReadRotation: (ev.RotationRead,),
    cmd.CompareTimelines: (ev.TimelinesCompared,),
    cmd.MeasureContext: (ev.ContextMeasured,),
    cmd.NewSession: (ev.TranscriptReset,),
    cmd.OpenSession: (ev.TranscriptReset,),
    cmd.Fork: (ev.TranscriptReset,),
    cmd.ListSessions: (ev.SessionsListed,),
    cmd.ListModels: (ev.ModelsListed,),
    cmd.SwitchModel: (ev.ModesChanged,),
    cmd.SetMode: (ev.ModesChanged,),
    cmd.SetTitle: (ev.TitleChanged,),
}
"""Which event tells what became of a command."""

AT_ONCE = frozenset(
    (cmd.SendPrompt, cmd.RunSlash, cmd.Compact, cmd.SnoozeCompaction, cmd.LoadEntries, cmd.DraftNote, cmd.StopDraft)
)
"""Commands that no `Settled` follows. Of these a `Noticed` says why not, or that."""


@dataclass(frozen=True, slots=True)
class Said:
    """Nothing for the agent to do: these lines are the answer."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The conversation does this itself: `timeline`, `rewind`, `restore`, `sessions`, `exit`."""

    name: str
    argument: str = ""


def read(text: str, state: ScreenState) -> cmd.Command | Said | Wanted:
    """What a line of the user's means."""
    if text.startswith("!") and text[1:].strip():
        return cmd.RunShell(text[1:].strip())
    word, _, argument = text.strip().removeprefix("/").partition(" ")
    if text.startswith("/") and word in HERE:
        return _here(word, argument.strip())
    match slash.read(text, state):
        case None:
            return cmd.SendPrompt(text)
        case slash.Wrong(reason):
            return Said((reason,))
        case slash.ForScreen(name, argument):
            return _instead(name, argument, state)
        case cmd.SetMode(mode, on) if getattr(state.modes, mode) == on:
            return Said((f"{mode} is {'on' if on else 'off'} already.",))
        case command:
            return command


def _here(word: str, argument: str) -> cmd.Command | Said | Wanted:
    words = argument.split()
    match word, words:
        case "queue", _:
            return Wanted(word, argument)
        case (("tasks" | "mcp" | "doctor" | "entries"), []):
            return Wanted(word)
        case "entries", [count] if count.isdecimal():
            return Wanted(word, count)
        case (("pin" | "unpin"), [number]) if number.isdecimal():
            return cmd.PinEntry(int(number), word == "pin")
        case "drop", [number] if number.isdecimal():
            return cmd.DropResult(int(number))
        case "snooze", []:
            return cmd.SnoozeCompaction()
        case "tasks", ["stop", task]:
            return cmd.StopTask(task)
        case "tasks", [task]:
            return cmd.ReadTask(task)
        case "mcp", ["restart", server]:
            return cmd.RestartMcp(server)
        case "mcp", ["sign-in", server]:
            return cmd.SignInMcp(server)
        case "mcp", ["answer", server, address]:
            return cmd.AnswerSignInMcp(server, address)
        case "mcp", ["sign-out", server]:
            return cmd.SignOutMcp(server)
        case "restore", [file]:
            return Wanted(word, file)
        case "rotations", _ if command := rotations.meant(words):
            return command
        case "read", [file]:
            return cmd.ReadRotation(file)
        case "diff", [left, right]:
            return cmd.CompareTimelines(left, right)
        case "name", [number, *rest] if number.isdecimal():
            return cmd.NameCheckpoint(int(number), " ".join(rest))
    return Said((f"It is /{word} {HERE[word][0]}.",))


_ASKED: dict[str, Callable[[], cmd.Command]] = {
    "context": cmd.MeasureContext,
    "model": cmd.ListModels,
}


def _instead(name: str, argument: str, state: ScreenState) -> cmd.Command | Said | Wanted:
    if name in _ASKED:
        return _ASKED[name]()
    if name in NOT_HERE:
        return Said((NOT_HERE[name],))
    if name == "help":
        return Said(tuple(_help(state)))
    return Wanted(name, argument)


def _help(state: ScreenState) -> Iterator[str]:
    yield "Enter sends; a backslash at the end of a line goes on in the next one. !COMMAND runs a shell command."
    yield "What you type while a turn runs joins it between two steps."
    yield "Ctrl+C stops what runs, and pressed twice leaves; so does Ctrl+D."
    for command in slash.known(state):
        if command.name not in NOT_HERE and command.name not in HERE:
            yield f"/{command.name}{f' {command.usage}' if command.usage else ''}: {command.help}"
    for name, (usage, text) in HERE.items():
        yield f"/{name}{f' {usage}' if usage else ''}: {text}"

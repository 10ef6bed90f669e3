"""Screen → agent. Imperatives. `AgentPort.submit` takes them at any time and never blocks.

What cannot be done now is either queued or answered with a `Noticed`; a command is never dropped without a word.
Jumps (`RevertTo`, `Undo`, `Redo`, `RestoreRotation`, `ClearContext`, `DropResult`) are refused while a turn runs;
`Compact` waits for the end of the step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kimi_tui.protocol.views import PruneStep


@dataclass(frozen=True, slots=True)
class Command:
    """Anything the screen asks."""


# --- the turn ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SendPrompt(Command):
    """Starts a turn. While one runs (or the model is not ready yet) it waits in the queue for after it."""

    text: str
    images: tuple[str, ...] = ()
    """Data URLs."""
    place: int | None = None
    """Where in the queue, for one that was taken out of it (`TakeQueued`); None: at its end."""


@dataclass(frozen=True, slots=True)
class Steer(Command):
    """Joins the running turn between two steps; the same as `SendPrompt` when none runs."""

    text: str
    images: tuple[str, ...] = ()
    place: int | None = None
    """As in `SendPrompt`."""


@dataclass(frozen=True, slots=True)
class TakeBackQueued(Command):
    """Empties the queue of steers and prompts; they come back as `PromptReturned`."""


@dataclass(frozen=True, slots=True)
class TakeQueued(Command):
    """Takes one text out of the queue: to be written anew (it comes back as `PromptReturned`), or for good.

    `text` is what stood at that place of `QueueChanged`; when it no longer waits nothing is done but said.
    """

    queue: Literal["steers", "prompts"]
    place: int
    text: str
    drop: bool = False


@dataclass(frozen=True, slots=True)
class Interrupt(Command):
    """Stops whatever runs: the stream, the tools, a waiting retry, a compaction, a download."""


@dataclass(frozen=True, slots=True)
class AnswerApproval(Command):
    request_id: str
    decision: Literal["once", "session", "reject"]
    feedback: str = ""


@dataclass(frozen=True, slots=True)
class AnswerQuestion(Command):
    request_id: str
    answers: tuple[tuple[str, ...], ...]
    """One tuple of chosen (or typed) labels a question; an empty outer tuple declines."""


@dataclass(frozen=True, slots=True)
class RunShell(Command):
    """`!command`: run by the user, shown in the chat and told to the model with the next prompt."""

    command: str


@dataclass(frozen=True, slots=True)
class RunSlash(Command):
    """A slash command that the screen does not handle itself (`/init`, `/btw`, `/skill:x` …)."""

    name: str
    argument: str = ""


# --- time --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PreviewRevert(Command):
    """Answered by `RevertPreviewed`."""

    checkpoint: int | None
    file: str | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class PreviewFile(Command):
    """What going back there would change in one file of `RevertPreview.files`. Answered by `FilePreviewed`."""

    path: str
    checkpoint: int | None
    file: str | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class RevertTo(Command):
    """Goes back to right before this checkpoint; with `file`, to a point inside a rotation."""

    checkpoint: int | None
    file: str | None = None
    offset: int | None = None
    note: str = ""
    """Carried over to the earlier point, as a message from the user."""
    files: Literal["keep", "restore", "only"] = "keep"
    overwrite: tuple[str, ...] = ()
    """Files to put back although somebody else has edited them since; the others of that kind are left alone."""


@dataclass(frozen=True, slots=True)
class DraftNote(Command):
    """Has the model write a note about what `RevertTo` would take back. Nothing is stored. See `NoteDrafted`."""

    checkpoint: int | None
    file: str | None = None
    offset: int | None = None
    begun: str = ""
    """What the user has typed so far."""
    number: int = 0
    """Comes back with every answer. A new draft ends the one before."""


@dataclass(frozen=True, slots=True)
class StopDraft(Command):
    """Ends the `DraftNote` that runs, if one does."""


@dataclass(frozen=True, slots=True)
class Undo(Command):
    """Takes back the last switch of timelines, whatever made it."""


@dataclass(frozen=True, slots=True)
class Redo(Command):
    pass


@dataclass(frozen=True, slots=True)
class Compact(Command):
    """Folds the context: now, or between two steps of the turn that runs."""

    focus: str = ""


@dataclass(frozen=True, slots=True)
class AnswerCompaction(Command):
    """What becomes of a `CompactionProposed`."""

    answer: Literal["accept", "redo", "cancel"]
    text: str = ""
    """The summary as it shall be (`accept`); empty: as it was proposed."""
    focus: str = ""
    """What the next try shall keep (`redo`)."""


@dataclass(frozen=True, slots=True)
class SnoozeCompaction(Command):
    """Takes `CompactionNear` off the screen until the context has grown by some more."""


@dataclass(frozen=True, slots=True)
class PinEntry(Command):
    """Compactions keep the message of this chat entry word for word, or no longer. Answered by `EntriesChanged`."""

    index: int
    on: bool = True


@dataclass(frozen=True, slots=True)
class DropResult(Command):
    """Takes the result of the tool call with this chat entry out of the context; the call stays. Can be undone."""

    index: int


@dataclass(frozen=True, slots=True)
class ClearContext(Command):
    pass


@dataclass(frozen=True, slots=True)
class NameCheckpoint(Command):
    checkpoint: int
    name: str
    file: str | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class ListRotations(Command):
    """Answered by `RotationsListed`."""


@dataclass(frozen=True, slots=True)
class ReadRotation(Command):
    """Answered by `RotationRead`."""

    file: str


@dataclass(frozen=True, slots=True)
class RestoreRotation(Command):
    """Makes that whole file the live timeline; the present one becomes a rotation."""

    file: str


@dataclass(frozen=True, slots=True)
class ChangeRotation(Command):
    file: str
    change: Literal["pin", "unpin", "compress", "delete"]


@dataclass(frozen=True, slots=True)
class ProposePruning(Command):
    """What the session's budget would compress or remove; answered by `PruningProposed`, nothing is done."""


@dataclass(frozen=True, slots=True)
class PruneRotations(Command):
    """Carry out these steps of a proposal; answered by `Noticed` and `RotationsListed`."""

    steps: tuple[PruneStep, ...]


@dataclass(frozen=True, slots=True)
class ExportTimeline(Command):
    """Writes a readable copy; answered by `Noticed` with the path."""

    file: str | None = None
    format: Literal["md", "json", "html"] = "md"
    target: str = ""


@dataclass(frozen=True, slots=True)
class CompareTimelines(Command):
    """Answered by `TimelinesCompared`. A side is a rotation's name, `now`, or `now@N` / `context_2.jsonl@N`."""

    left: str
    right: str


@dataclass(frozen=True, slots=True)
class MeasureContext(Command):
    """Answered by `ContextMeasured`."""


@dataclass(frozen=True, slots=True)
class LoadEntries(Command):
    """Answered by `EntriesLoaded`: chat entries `start … stop`."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class LoadImages(Command):
    """Answered by `ImagesLoaded`: what is attached to the chat entry, or what its tool has brought."""

    index: int


# --- session and settings ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NewSession(Command):
    pass


@dataclass(frozen=True, slots=True)
class OpenSession(Command):
    path: str


@dataclass(frozen=True, slots=True)
class ListSessions(Command):
    """Answered by `SessionsListed`."""


@dataclass(frozen=True, slots=True)
class RemoveSession(Command):
    path: str


@dataclass(frozen=True, slots=True)
class Fork(Command):
    """Continues in a copy of the session; with a checkpoint, from right before it; with a file, in that rotation."""

    checkpoint: int | None = None
    file: str | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class SetTitle(Command):
    title: str
    path: str = ""
    """Another session than the open one (from the picker)."""


@dataclass(frozen=True, slots=True)
class SetMode(Command):
    mode: Literal["plan", "yolo", "afk"]
    on: bool


@dataclass(frozen=True, slots=True)
class ListModels(Command):
    """Answered by `ModelsListed`."""


@dataclass(frozen=True, slots=True)
class SwitchModel(Command):
    name: str


@dataclass(frozen=True, slots=True)
class AddDir(Command):
    path: str


@dataclass(frozen=True, slots=True)
class KeepDraft(Command):
    """The unsent text of the prompt, kept over a restart."""

    text: str


@dataclass(frozen=True, slots=True)
class StopTask(Command):
    """Ends a background task, command or subagent, and all that it started; also one that a killed run left behind."""

    id: str


@dataclass(frozen=True, slots=True)
class ReadTask(Command):
    """Answered by `TaskRead`."""

    id: str


@dataclass(frozen=True, slots=True)
class ReadSubagent(Command):
    """Answered by `SubagentRead`: what the subagent of this call did. For a card that was not there to see it."""

    call_id: str


@dataclass(frozen=True, slots=True)
class ListMcp(Command):
    """Answered by `McpChanged`."""


@dataclass(frozen=True, slots=True)
class RestartMcp(Command):
    """Starts a server anew, whatever state it is in."""

    name: str


@dataclass(frozen=True, slots=True)
class SignInMcp(Command):
    """Has the user sign in to a server with a browser; `McpChanged` tells the address. Begun again, it starts over."""

    name: str


@dataclass(frozen=True, slots=True)
class AnswerSignInMcp(Command):
    """Where the browser ended up, for a browser on another machine that cannot come back by itself."""

    name: str
    address: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SignOutMcp(Command):
    """Stops a sign-in that is under way, and forgets the one that is kept."""

    name: str


@dataclass(frozen=True, slots=True)
class Close(Command):
    """Ends the agent: stops what runs, closes the files, answers with `Closed`."""

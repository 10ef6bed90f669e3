"""Agent → screen. Past tense, or `…Delta` / `…Progressed` while something goes on.

Events carry names and numbers, so they can be logged, replayed and printed: `--output-format stream-json` is
`to_json(event)` a line. The order inside one turn:

    TurnStarted
      CompactionStarted … CompactionEnded          (only when the context is over the limit)
      StepStarted, CheckpointCreated               (one step: one model call and its tools)
        ThinkingDelta* TextDelta* ToolCallStarted* RetryScheduled*
        MessageStored
        ApprovalRequested ApprovalWithdrawn* ToolOutputDelta* ToolCallFinished*   (per call)
      StepEnded, TokensChanged
      ContextSwitched                              (a D-Mail's jump)
      SteerTaken*
    TurnEnded

A flow is several turns in one activity: FlowStarted, then FlowMoved before each of its turns, FlowEnded after the last.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any, Literal

from kimi_tui.protocol.views import (
    ApprovalView,
    DiffView,
    Entry,
    FlowKind,
    FlowView,
    McpServerView,
    ModelView,
    Modes,
    PruningView,
    QuestionView,
    ResourceView,
    RevertPreview,
    RotationView,
    SessionView,
    SlashCommand,
    SubagentView,
    SwitchView,
    TaskView,
    TimelineRow,
    TodoItem,
    Tokens,
    TokenShare,
    ToolView,
)


@dataclass(frozen=True, slots=True)
class Event:
    """Anything the agent tells."""


# --- the session -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SessionOpened(Event):
    """Always the first event; again after `NewSession`, `OpenSession` and `Fork`. Followed by `TranscriptReset`."""

    session_id: str
    path: str
    work_dir: str
    title: str
    model: ModelView
    modes: Modes
    branch: str = ""
    read_only: str = ""
    """Why nothing can be written, naming who holds the session; empty when it is ours."""
    notices: tuple[str, ...] = ()
    """What was noticed while opening: repaired lines, damaged records kept, a recovery after a crash."""
    commands: tuple[SlashCommand, ...] = ()
    history: tuple[str, ...] = ()
    """Earlier prompts of this folder, oldest first."""
    draft: str = ""
    resume_hint: str = ""
    """The command that opens this session again; printed at exit. Empty while nothing is worth resuming."""


@dataclass(frozen=True, slots=True)
class TranscriptReset(Event):
    """The chat is now this. `entries` are the last ones of `total`; earlier ones come by `LoadEntries`."""

    total: int
    entries: tuple[Entry, ...]
    timeline: tuple[TimelineRow, ...]
    """Newest first, the whole tree."""
    tokens: Tokens
    switch: SwitchView | None = None
    """The jump that caused the reset, None when a session was opened."""
    prompt: str | None = None
    """A prompt to put back into the input: the one that a revert took back."""
    undo: str = ""
    """What `Undo` would take back now, in words; empty when nothing."""
    redo: str = ""


@dataclass(frozen=True, slots=True)
class EntriesLoaded(Event):
    start: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class ImagesLoaded(Event):
    """The images of one chat entry, as data URLs; what is only a link is left to the captions."""

    index: int
    images: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EntriesChanged(Event):
    """Stored entries look different now (pinned, unpinned): these take their places from `start` on."""

    start: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class TitleChanged(Event):
    title: str


@dataclass(frozen=True, slots=True)
class ModesChanged(Event):
    modes: Modes
    reason: str = ""


@dataclass(frozen=True, slots=True)
class BranchChanged(Event):
    branch: str


@dataclass(frozen=True, slots=True)
class CommandsChanged(Event):
    """The session's own slash commands are these now: skills and flows came, changed or went."""

    commands: tuple[SlashCommand, ...]


# --- the model ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModelProgressed(Event):
    """The model is being made ready. `done` and `total` are bytes while fetching, tokens while warming."""

    name: str
    phase: Literal["fetching", "checking", "starting", "warming"]
    done: int = 0
    total: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ModelReady(Event):
    """It can be asked. Comes once more when sending the prefix ahead (`warming`) is over."""

    model: ModelView


@dataclass(frozen=True, slots=True)
class ModelUnavailable(Event):
    """The model cannot answer now. One clear line, then what to do."""

    name: str
    reason: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class ModelsListed(Event):
    """Every model that has a name here: those of the config, the embedded ones, the one in use."""

    models: tuple[ModelView, ...]
    current: str = ""
    """The name of the one in use."""


# --- the turn ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TurnStarted(Event):
    entry: Entry
    index: int
    """Position of the user's entry in the chat."""


TurnEnd = Literal["done", "interrupted", "failed", "max_steps", "tool_call_repeat", "blocked"]


@dataclass(frozen=True, slots=True)
class TurnEnded(Event):
    """Always the last event of a turn, whatever happened.

    A prompt that was stopped before it was stored (`blocked` by a hook, interrupted, a full disk) comes without
    `TurnStarted` and is given back by `PromptReturned`."""

    reason: TurnEnd
    message: str = ""
    hint: str = ""
    steps: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class StepStarted(Event):
    number: int


@dataclass(frozen=True, slots=True)
class StepEnded(Event):
    number: int
    row: TimelineRow
    """The checkpoint's row, now that it is known what the step did and what it cost."""


@dataclass(frozen=True, slots=True)
class CheckpointCreated(Event):
    row: TimelineRow


@dataclass(frozen=True, slots=True)
class ThinkingDelta(Event):
    text: str


@dataclass(frozen=True, slots=True)
class TextDelta(Event):
    text: str


@dataclass(frozen=True, slots=True)
class StreamReset(Event):
    """Forget the thinking and text of the step so far: the stream broke and is asked for again."""


@dataclass(frozen=True, slots=True)
class MessageStored(Event):
    """The assistant's message is on disk. `entries` replace what was streamed, tools still running included."""

    start: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class EntryAdded(Event):
    """Something else joined the chat: a note, an injection, an error, a shell command of the user's."""

    index: int | None
    """Position among the stored entries; None for what is only said on the screen and not remembered."""
    entry: Entry


@dataclass(frozen=True, slots=True)
class RetryScheduled(Event):
    reason: str
    attempt: int
    attempts: int
    wait: float


@dataclass(frozen=True, slots=True)
class TokensChanged(Event):
    tokens: Tokens


# --- flows -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FlowStarted(Event):
    """A flow begins: turns follow until `FlowEnded`. Interrupting any of them ends all of it."""

    flow: FlowView


@dataclass(frozen=True, slots=True)
class FlowMoved(Event):
    """The flow stands at a node that is about to get a turn."""

    flow: str
    node: str
    """Its id in the graph."""
    label: str
    """The beginning of what the model is told there."""
    kind: FlowKind
    visits: int
    """How often the walk has come to this node, this time included."""
    iterations: int
    """Nodes that were given a turn so far, this one included."""
    asks: int
    """How often the question of a decision had to be repeated at this visit."""
    choice: str
    """The label of the way that led here; empty where there was no choice."""
    choices: tuple[str, ...]
    """The ways on from here."""
    tokens: int
    """Input and output of all calls so far."""
    cost: float | None
    """US dollars so far, where known."""


FlowEnd = Literal["done", "stopped", "max_moves", "no_choice", "empty_rounds", "dead_end", "max_cost"]
"""`stopped`: one of its turns was interrupted, rejected or failed."""


@dataclass(frozen=True, slots=True)
class FlowEnded(Event):
    """Always the last event of a flow."""

    flow: str
    reason: FlowEnd
    message: str
    """One sentence for the user."""
    iterations: int = 0
    tokens: int = 0
    cost: float | None = None


# --- tools -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ToolCallStarted(Event):
    tool: ToolView


@dataclass(frozen=True, slots=True)
class ToolOutputDelta(Event):
    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallFinished(Event):
    tool: ToolView


@dataclass(frozen=True, slots=True)
class SubagentChanged(Event):
    """A subagent was started, did something, or has ended. Its steps come as `ToolOutputDelta` of its call; those of
    one in the background go on after the call has ended."""

    subagent: SubagentView


@dataclass(frozen=True, slots=True)
class SubagentRead(Event):
    """What a subagent of an earlier time did for a call, read from its own context file."""

    call_id: str
    subagent: SubagentView | None
    """None when there is no such subagent any more."""
    steps: str = ""
    """The newest of them, a line each, as they came as `ToolOutputDelta`."""


@dataclass(frozen=True, slots=True)
class ApprovalRequested(Event):
    approval: ApprovalView


@dataclass(frozen=True, slots=True)
class ApprovalWithdrawn(Event):
    request_id: str


@dataclass(frozen=True, slots=True)
class QuestionAsked(Event):
    request_id: str
    questions: tuple[QuestionView, ...]


@dataclass(frozen=True, slots=True)
class QuestionWithdrawn(Event):
    request_id: str


@dataclass(frozen=True, slots=True)
class TodosChanged(Event):
    todos: tuple[TodoItem, ...]


# --- steering ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SteerTaken(Event):
    """A steer is in the context now."""

    index: int
    entry: Entry


@dataclass(frozen=True, slots=True)
class QueueChanged(Event):
    """What waits: steers for the running turn, prompts for after it."""

    steers: tuple[str, ...]
    prompts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PromptReturned(Event):
    """Text that was not used goes back into the input (a dropped steer, a refused prompt)."""

    text: str
    reason: str = ""
    images: tuple[str, ...] = ()
    """Data URLs of the images that the text's tags stand for, in their order."""


# --- time --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ContextSwitched(Event):
    """Time moved. A `TranscriptReset` with the same switch follows at once."""

    switch: SwitchView


@dataclass(frozen=True, slots=True)
class RevertPreviewed(Event):
    preview: RevertPreview


@dataclass(frozen=True, slots=True)
class FilePreviewed(Event):
    path: str
    diff: DiffView | None
    """From what stands there now to what would be put back; None when that is no text."""


@dataclass(frozen=True, slots=True)
class NoteDrafted(Event):
    """How a `DraftNote` stands. It ends with `done`, `stopped` or `failed`."""

    number: int
    state: Literal["writing", "done", "stopped", "failed"]
    text: str = ""
    """All of the note so far."""
    message: str = ""
    """Why it failed and what to do, or what it waits for."""


CompactionPhase = Literal["hooks", "reading", "summarising", "reviewing", "switching"]


@dataclass(frozen=True, slots=True)
class CompactionNear(Event):
    """The context will soon be compacted by itself. With a `trigger` of 0 that is over, or not to be said now."""

    tokens: int
    trigger: int


@dataclass(frozen=True, slots=True)
class CompactionStarted(Event):
    reason: Literal["auto", "manual"]
    tokens: int
    focus: str = ""


@dataclass(frozen=True, slots=True)
class CompactionProgressed(Event):
    phase: CompactionPhase
    tokens: int = 0
    """Tokens of the summary so far while summarising, else tokens to read."""
    fraction: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class CompactionProposed(Event):
    """With `[compaction] preview`: the summary, before anything has changed. Waits for `AnswerCompaction`;
    `CompactionEnded` says that nothing is asked any more."""

    summary: str
    replaced: tuple[Entry, ...]
    """What the summary would stand for."""
    kept: tuple[Entry, ...]
    """What follows it word for word: pinned messages, the newest request, the last messages."""
    tokens_before: int
    tokens_after: int
    focus: str = ""


@dataclass(frozen=True, slots=True)
class CompactionEnded(Event):
    outcome: Literal["done", "nothing", "cancelled", "failed"]
    tokens_before: int = 0
    tokens_after: int = 0
    message: str = ""


@dataclass(frozen=True, slots=True)
class RotationsListed(Event):
    rotations: tuple[RotationView, ...]


@dataclass(frozen=True, slots=True)
class PruningProposed(Event):
    """A dry run."""

    pruning: PruningView


@dataclass(frozen=True, slots=True)
class RotationRead(Event):
    file: str
    entries: tuple[Entry, ...]
    rows: tuple[TimelineRow, ...] = ()
    """Its steps, newest first, as the timeline draws them."""


@dataclass(frozen=True, slots=True)
class TimelinesCompared(Event):
    """`left` and `right` name a file or a checkpoint; entries that only one side has, and the token difference."""

    left: str
    right: str
    common: int
    only_left: tuple[Entry, ...]
    only_right: tuple[Entry, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class ContextMeasured(Event):
    shares: tuple[TokenShare, ...]
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class SessionsListed(Event):
    sessions: tuple[SessionView, ...]


# --- beside the turn ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AsideStarted(Event):
    """A question is asked beside the conversation; it leaves no trace in it."""

    question: str


@dataclass(frozen=True, slots=True)
class AsideEnded(Event):
    """The answer, or why there is none. Neither is stored."""

    question: str
    answer: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class TasksChanged(Event):
    """A background task was started, found again, or has ended. All that are known, oldest first."""

    tasks: tuple[TaskView, ...]


@dataclass(frozen=True, slots=True)
class TaskRead(Event):
    task: TaskView
    output: str
    """The newest part of it; `task.output_file` has more."""
    entries: tuple[Entry, ...] = ()
    """Of a subagent: the newest part of its conversation."""


@dataclass(frozen=True, slots=True)
class McpChanged(Event):
    """All servers that are configured, as they stand."""

    servers: tuple[McpServerView, ...]


@dataclass(frozen=True, slots=True)
class ResourcesChanged(Event):
    """What the servers that are ready have for reading."""

    resources: tuple[ResourceView, ...]


@dataclass(frozen=True, slots=True)
class ServerAwaited(Event):
    """A command waits for this server, until it is ready or Esc is pressed; empty: no more."""

    server: str


# --- everything else ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Noticed(Event):
    """One line for the user: a toast."""

    text: str
    severity: Literal["information", "warning", "error"] = "information"
    action: Literal["", "undo"] = ""
    """A key offered with the toast."""


@dataclass(frozen=True, slots=True)
class Failed(Event):
    """The agent itself broke. Nothing on disk is lost; the screen stays."""

    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Closed(Event):
    """The last event of all."""

    resume_hint: str = ""


_LINE_ENDS = {number: f"\\u{number:04x}" for number in (0x85, 0x2028, 0x2029)}
"""What some readers take for the end of a line; JSON's own encoder leaves them as they are."""


def to_json(event: Event) -> str:
    """One line of JSON, for every notion of a line: `{"event": "TextDelta", …}`. Lone surrogates are replaced."""
    body: dict[str, Any] = {"event": type(event).__name__, **dataclasses.asdict(event)}
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_LINE_ENDS).encode("utf-8", "replace").decode("utf-8")

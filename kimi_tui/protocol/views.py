"""What the screen shows, as plain values: names and numbers, never classes, widgets or callbacks.

Every text in here is literal. It comes from users, models, tools or files and is never markup.
Times are seconds since the epoch, durations are seconds, sizes are bytes, token figures are counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

EntryKind = Literal["user", "assistant", "thinking", "tool", "summary", "dmail", "injection", "note", "error"]
"""`summary` is what a compaction left, `dmail` a letter from the future, `injection` a reminder that was added
for the model, `note` something about time itself (a jump, a compaction), `error` a fault with what to do."""

SwitchWhy = Literal[
    "revert",
    "dmail",
    "compact",
    "clear",
    "prepend",
    "restore",
    "undo",
    "redo",
    "repair",
    "prune",
    "foreign",
]
"""Why one timeline took the place of another."""

Outcome = Literal["running", "ok", "error", "rejected", "interrupted", "timeout"]


@dataclass(frozen=True, slots=True)
class DiffView:
    """A change to one file, as the approval and the tool card draw it."""

    path: str
    before: str
    after: str
    first_line: int = 1
    """Number of the first line of both sides: equal lines far from the change are left out."""


@dataclass(frozen=True, slots=True)
class ToolView:
    """One tool call and, once there is one, its result."""

    call_id: str
    name: str
    verb: str
    """What the row says in grey: `Read`, `Shell`, `Edit` …"""
    subject: str
    """What the row says in the text colour: a path, a command, a pattern."""
    arguments: str = ""
    """The arguments as JSON text, for the unfolded card."""
    outcome: Outcome = "running"
    brief: str = ""
    """A few words about the result: `214 lines`, `exit 1`."""
    output: str = ""
    seconds: float | None = None
    diffs: tuple[DiffView, ...] = ()
    images: int = 0
    """How many came with the result."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One block of the chat. The chat is a list of these and nothing else."""

    kind: EntryKind
    text: str = ""
    tool: ToolView | None = None
    images: tuple[str, ...] = ()
    """Captions of attached images, e.g. `screenshot.png 1280×720`."""
    checkpoint: int | None = None
    """The checkpoint that stands right before this entry's step; to revert there is to take the entry back."""
    turn: bool = False
    """A user entry that opened a turn (not a steer)."""
    switch: SwitchView | None = None
    """For `note`, `summary` and `dmail`: the jump that the entry tells about."""
    at: float | None = None
    seconds: float | None = None
    """How long thinking or answering took."""
    pinned: bool = False
    """Compactions keep its message word for word."""


@dataclass(frozen=True, slots=True)
class SwitchView:
    """A jump between timelines, as the timeline and the notes in the chat draw it."""

    why: SwitchWhy
    file: str
    """The rotation that the jump left behind: `context_3.jsonl`."""
    at: float | None = None
    from_checkpoint: int | None = None
    to_checkpoint: int | None = None
    messages_before: int = 0
    messages_after: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    note: str = ""
    """The D-Mail's text, the head of the summary, the user's carry-over note."""


RowKind = Literal["checkpoint", "switch", "rotation"]


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One row of the sidebar. `file` is None for the live timeline, else the rotation that holds the row."""

    kind: RowKind
    checkpoint: int | None = None
    file: str | None = None
    label: str = ""
    """What the step did (`ran pytest`), or the prompt for a step that opens a turn."""
    turn: bool = False
    tokens: int | None = None
    """Tokens that the step added (checkpoint) or freed (switch, negative); None while unknown."""
    exact: bool = False
    messages: int = 0
    """Messages of the step, or of the whole file for a rotation."""
    size: int = 0
    at: float | None = None
    depth: int = 0
    """Column of the branch: 0 for the live timeline."""
    name: str = ""
    """The user's own name for the checkpoint."""
    switch: SwitchView | None = None
    offset: int = 0
    """Where the checkpoint record starts in its file: ids can repeat, offsets cannot."""
    undoable: bool = False


@dataclass(frozen=True, slots=True)
class Tokens:
    """The gauge. `exact + pending` is what the next call is expected to send."""

    exact: int = 0
    pending: int = 0
    window: int = 0
    reserve: int = 0
    """Room kept for the reply, already capped for small windows."""
    trigger: int = 0
    """Count at which the context is compacted."""
    exact_at: float | None = None
    """When the exact figure was reported; None when it is an estimate (right after a compaction)."""
    cost: float | None = None
    """US dollars spent in this session, where the provider's price is known."""

    @property
    def total(self) -> int:
        return self.exact + self.pending


@dataclass(frozen=True, slots=True)
class TokenShare:
    """One category of the context breakdown. The shares add up to the gauge."""

    category: str
    tokens: int
    exact: bool
    items: tuple[tuple[str, int], ...] = ()
    """The largest single items: what it is, its tokens."""
    entries: tuple[int | None, ...] = ()
    """For each item the chat entry of a result that can be dropped (`DropResult`), or None."""


@dataclass(frozen=True, slots=True)
class ModelView:
    name: str
    """What the user calls it: `local`, `kimi`, `moonshot/kimi-k2`."""
    window: int = 0
    embedded: bool = False
    tools: bool = True
    vision: bool = False
    about: str = ""
    """For embedded models: what it can and cannot do, and how to connect a provider."""


@dataclass(frozen=True, slots=True)
class RevertPreview:
    """What would go if the user went back to this checkpoint."""

    checkpoint: int | None
    file: str | None
    steps: int = 0
    messages: int = 0
    tokens: int = 0
    """What the gauge would fall by; negative where it would rise, as it can for a rotation."""
    tool_calls: int = 0
    files: tuple[FileTouched, ...] = ()
    tasks: tuple[str, ...] = ()
    """Background tasks that were started after the point and still run."""
    prompt: str = ""
    """The prompt that would come back into the input."""
    restorable: bool = False
    """The files can be put back too: `RevertTo.files`."""
    first_dropped: int | None = None
    """Index of the first chat entry that would go."""


FileFate = Literal["", "rewritten", "deleted", "recreated"]
"""What putting files back would do to one of them; empty when that is not known."""


@dataclass(frozen=True, slots=True)
class FileTouched:
    path: str
    changed_since: bool | None = None
    """Whether the disk differs from what the agent last wrote; None when unknown. Such a file is only put back when
    `RevertTo.overwrite` names it."""
    change: FileFate = ""
    stays: str = ""
    """Why it cannot be put back at all, whatever is chosen."""


@dataclass(frozen=True, slots=True)
class RotationView:
    """A rotated file in the browser."""

    file: str
    why: SwitchWhy | None = None
    at: float | None = None
    size: int = 0
    unique: int = 0
    """Bytes not shared with a neighbouring timeline's prefix."""
    messages: int = 0
    checkpoints: int = 0
    tokens: int = 0
    pinned: bool = False
    compressed: bool = False
    note: str = ""
    live: bool = False


@dataclass(frozen=True, slots=True)
class PruneStep:
    """What a session's budget asks for, for one rotation."""

    file: str
    change: Literal["compress", "delete"]
    size: int = 0
    """Bytes on the disk before it."""
    frees: int = 0
    """Bytes; about, where it is compressed."""
    why: SwitchWhy | None = None
    at: float | None = None
    step: Literal["", "undo", "redo"] = ""
    """Undo or redo could go there, and no more when it is deleted."""


@dataclass(frozen=True, slots=True)
class PruningView:
    """How a session stands against its budget, and what would bring it back into it."""

    steps: tuple[PruneStep, ...]
    """Oldest rotation first."""
    rotations: int
    size: int
    """Bytes on the disk, of all rotations together."""
    max_rotations: int
    max_size: int
    """Bytes."""


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session in the picker."""

    path: str
    id: str
    title: str
    work_dir: str
    at: float
    size: int = 0
    messages: int | None = None
    foreign: bool = False
    """Made by kimi-cli and not opened here yet."""
    locked: bool = False


@dataclass(frozen=True, slots=True)
class Modes:
    plan: bool = False
    yolo: bool = False
    afk: bool = False


@dataclass(frozen=True, slots=True)
class TodoItem:
    title: str
    status: Literal["pending", "in_progress", "done"]


@dataclass(frozen=True, slots=True)
class ApprovalView:
    """A question that a tool waits on."""

    request_id: str
    tool: str
    action: str
    """`run a command`, `edit parser.py` …"""
    detail: str = ""
    """The command, or the real path, in full."""
    diffs: tuple[DiffView, ...] = ()
    outside: bool = False
    """The target lies outside the allowed folders."""
    rule: str = ""
    """What «always for this session» would admit from now on; empty: every call of the tool."""
    explicit: bool = False
    """Only the user in person may allow it, this once: no rule, no earlier grant, no yolo (a write in
    plan mode, the plan itself)."""
    asker: str = ""
    """The subagent that wants it; empty for the session's own agent."""


@dataclass(frozen=True, slots=True)
class QuestionOption:
    label: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class QuestionView:
    question: str
    header: str = ""
    options: tuple[QuestionOption, ...] = ()
    multi_select: bool = False


FlowKind = Literal["begin", "end", "task", "decision"]


@dataclass(frozen=True, slots=True)
class FlowNodeView:
    """A node of a flow and the ways that lead on from it."""

    id: str
    kind: FlowKind
    label: str
    """What the model is told there, in full."""
    ways: tuple[tuple[str, str], ...] = ()
    """(label, id of the next node); the label is empty where there is only one way."""


@dataclass(frozen=True, slots=True)
class FlowView:
    """The graph that an activity walks: a flow of the user's, or the Ralph loop."""

    name: str
    nodes: tuple[FlowNodeView, ...]
    """In the order of the diagram."""
    limit: int | None = None
    """Iterations that it may take; None: no limit."""
    cost_limit: float | None = None
    """US dollars."""


@dataclass(frozen=True, slots=True)
class SubagentView:
    """An agent that a tool call started, as its card shows it."""

    call_id: str
    """The call of `Agent` that it works for."""
    id: str
    type: str
    """`coder`, `explore` or `plan`."""
    description: str
    state: Literal["running", "done", "failed", "interrupted"] = "running"
    doing: str = ""
    """What it is busy with, in a few words."""
    steps: int = 0
    tool_calls: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    """Its own gauge."""


TaskStatus = Literal["running", "done", "failed", "stopped", "lost"]
"""`done` is exit code 0, `failed` any other end of its own or a time-out, `stopped` was ended on request, `lost` ended
while nobody watched and left no word of how."""


@dataclass(frozen=True, slots=True)
class TaskView:
    """A command in the background, or a subagent."""

    id: str
    command: str
    """Of a subagent: its type, its id and what it is to do."""
    status: TaskStatus
    description: str = ""
    pid: int | None = None
    """Leader of its process group."""
    started_at: float = 0.0
    ended_at: float | None = None
    exit_code: int | None = None
    """Negative for a signal; None while it runs and when it is not known."""
    reason: str = ""
    """Why it ended, where the exit code does not say so: `timed out after 60 s`, what it was stopped for."""
    output_file: str = ""
    output_size: int = 0
    orphan: bool = False
    """Started by a run of the program that was killed."""
    session: str = ""
    """Folder of the session that started it, when that is another one than the open one."""
    agent: SubagentView | None = None
    """The subagent that it is, as it stands; None for a command."""


McpState = Literal["starting", "ready", "failed", "stopped", "locked"]
"""`failed` is tried again after a while; `stopped` stays so until it is asked for, `locked` until the user signs in."""


@dataclass(frozen=True, slots=True)
class McpServerView:
    """A server of tools, as `/mcp` lists it. Nothing in here is secret."""

    name: str
    state: McpState
    transport: Literal["stdio", "http", "sse"]
    target: str = ""
    """The program, or the address without what could be a key."""
    tools: tuple[str, ...] = ()
    """As the model knows them: `mcp__<server>__<tool>`."""
    prompts: tuple[str, ...] = ()
    """As the server calls them; the user's commands are `/mcp:<server>:<prompt>`."""
    resources: bool = False
    """It has something to be read."""
    error: str = ""
    """Of the last failure; kept until the next success."""
    retry_at: float | None = None
    """When it is started again by itself."""
    said: str = ""
    """The newest lines that a server over stdio wrote to its standard error, without secrets."""
    sign_in_at: str = ""
    """The address where the user signs in, while that is waited for."""
    signed_in: bool = False
    """A sign-in is kept for it."""


@dataclass(frozen=True, slots=True)
class ResourceView:
    """Something of a server's that can be sent along with a prompt, as `@server:uri`."""

    server: str
    uri: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """One candidate for `/` or `@`."""

    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class SlashCommand:
    name: str
    usage: str = ""
    help: str = ""
    aliases: tuple[str, ...] = field(default=())
    turns: bool = False
    """It starts a turn or a flow, whose end can be waited for."""

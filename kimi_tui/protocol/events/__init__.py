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

from kimi_tui.protocol.events.base import Event
from kimi_tui.protocol.events.beside import (
    AsideEnded,
    AsideStarted,
    McpChanged,
    ResourcesChanged,
    ServerAwaited,
    SubagentChanged,
    SubagentRead,
    TaskRead,
    TasksChanged,
)
from kimi_tui.protocol.events.compaction import (
    CompactionEnded,
    CompactionNear,
    CompactionPhase,
    CompactionProgressed,
    CompactionProposed,
    CompactionStarted,
    ContextMeasured,
)
from kimi_tui.protocol.events.flows import FlowEnd, FlowEnded, FlowMoved, FlowStarted
from kimi_tui.protocol.events.lines import to_json
from kimi_tui.protocol.events.model import ModelProgressed, ModelReady, ModelsListed, ModelUnavailable
from kimi_tui.protocol.events.session import (
    BranchChanged,
    Closed,
    CommandsChanged,
    EntriesChanged,
    EntriesLoaded,
    Failed,
    ImagesLoaded,
    ModesChanged,
    Noticed,
    SessionOpened,
    SessionsListed,
    Settled,
    TitleChanged,
    TranscriptReset,
)
from kimi_tui.protocol.events.timeline import (
    ContextSwitched,
    FilePreviewed,
    NoteDrafted,
    PruningProposed,
    RevertPreviewed,
    RotationRead,
    RotationsListed,
    TimelinesCompared,
)
from kimi_tui.protocol.events.tools import (
    ApprovalRequested,
    ApprovalWithdrawn,
    QuestionAsked,
    QuestionWithdrawn,
    TodosChanged,
    ToolCallFinished,
    ToolCallStarted,
    ToolOutputDelta,
)
from kimi_tui.protocol.events.turn import (
    CheckpointCreated,
    EntryAdded,
    MessageStored,
    PromptReturned,
    QueueChanged,
    RetryScheduled,
    SteerTaken,
    StepEnded,
    StepStarted,
    StreamReset,
    TextDelta,
    ThinkingDelta,
    TokensChanged,
    TurnEnd,
    TurnEnded,
    TurnStarted,
)

__all__ = [
    "ApprovalRequested",
    "ApprovalWithdrawn",
    "AsideEnded",
    "AsideStarted",
    "BranchChanged",
    "CheckpointCreated",
    "Closed",
    "CommandsChanged",
    "CompactionEnded",
    "CompactionNear",
    "CompactionPhase",
    "CompactionProgressed",
    "CompactionProposed",
    "CompactionStarted",
    "ContextMeasured",
    "ContextSwitched",
    "EntriesChanged",
    "EntriesLoaded",
    "EntryAdded",
    "Event",
    "Failed",
    "FilePreviewed",
    "FlowEnd",
    "FlowEnded",
    "FlowMoved",
    "FlowStarted",
    "ImagesLoaded",
    "McpChanged",
    "MessageStored",
    "ModelProgressed",
    "ModelReady",
    "ModelUnavailable",
    "ModelsListed",
    "ModesChanged",
    "NoteDrafted",
    "Noticed",
    "PromptReturned",
    "PruningProposed",
    "QuestionAsked",
    "QuestionWithdrawn",
    "QueueChanged",
    "ResourcesChanged",
    "RetryScheduled",
    "RevertPreviewed",
    "RotationRead",
    "RotationsListed",
    "ServerAwaited",
    "SessionOpened",
    "SessionsListed",
    "Settled",
    "SteerTaken",
    "StepEnded",
    "StepStarted",
    "StreamReset",
    "SubagentChanged",
    "SubagentRead",
    "TaskRead",
    "TasksChanged",
    "TextDelta",
    "ThinkingDelta",
    "TimelinesCompared",
    "TitleChanged",
    "TodosChanged",
    "TokensChanged",
    "ToolCallFinished",
    "ToolCallStarted",
    "ToolOutputDelta",
    "TranscriptReset",
    "TurnEnd",
    "TurnEnded",
    "TurnStarted",
    "to_json",
]

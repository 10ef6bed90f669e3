"""The engine: an append-only log with bookmarks, the tree of its timelines, and what memory knows of them."""

from kimi_tui.context.budget import Budget, Proposal, Pruning
from kimi_tui.context.calibration import Calibration
from kimi_tui.context.context import Context
from kimi_tui.context.learned import Learned
from kimi_tui.context.lock import LockHolder, SessionLocked
from kimi_tui.context.projection import CheckpointMark, CheckpointRef, Problem, Projection
from kimi_tui.context.rotations import Comparison, Rotation, compare, list_rotations, read_timeline_file, rotations_of
from kimi_tui.context.timeline import Node, Switch, Timeline
from kimi_tui.context.tokens import estimate_text_tokens, estimate_tokens, should_auto_compact
from kimi_tui.protocol.messages import (
    AudioURLPart,
    ContentPart,
    ImageURLPart,
    Message,
    TextPart,
    ThinkPart,
    ToolCall,
    VideoURLPart,
)

__all__ = [
    "AudioURLPart",
    "Budget",
    "Calibration",
    "CheckpointMark",
    "CheckpointRef",
    "Comparison",
    "ContentPart",
    "Context",
    "ImageURLPart",
    "Learned",
    "LockHolder",
    "Message",
    "Node",
    "Problem",
    "Projection",
    "Proposal",
    "Pruning",
    "Rotation",
    "SessionLocked",
    "Switch",
    "TextPart",
    "ThinkPart",
    "Timeline",
    "ToolCall",
    "VideoURLPart",
    "compare",
    "estimate_text_tokens",
    "estimate_tokens",
    "list_rotations",
    "read_timeline_file",
    "rotations_of",
    "should_auto_compact",
]

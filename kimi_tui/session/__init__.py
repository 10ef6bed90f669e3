"""Sessions: their folders, their state, and which of them there are. Stands before the first frame: no pydantic."""

from kimi_tui.session.drafts import DraftFile
from kimi_tui.session.listing import find_session, last_session, list_sessions, session_at
from kimi_tui.session.opening import choose_session
from kimi_tui.session.prompts import PromptHistory, prompts_of
from kimi_tui.session.session import Session, SessionFault, fork_session, new_session, remove_session
from kimi_tui.session.state import SessionState, read_state

__all__ = [
    "DraftFile",
    "PromptHistory",
    "Session",
    "SessionFault",
    "SessionState",
    "choose_session",
    "find_session",
    "fork_session",
    "last_session",
    "list_sessions",
    "new_session",
    "prompts_of",
    "read_state",
    "remove_session",
    "session_at",
]

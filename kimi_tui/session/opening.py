"""Which session a start of the program means: one named, the last one, or a new one."""

from __future__ import annotations

from kimi_tui.options import LaunchOptions
from kimi_tui.session.listing import find_session, last_session, session_at
from kimi_tui.session.session import Session, SessionFault, new_session


def choose_session(options: LaunchOptions) -> Session:
    """Touches nothing on disk. The picker (`--resume` without an id) starts from a new session.

    Raises `SessionFault`: no such session, or none yet in this folder.
    """
    work_dir = options.work_dir.absolute()
    if options.session is not None:
        return session_at(options.session, work_dir)
    if options.resume:
        return find_session(options.resume, work_dir)
    if options.continue_last:
        last = last_session(work_dir)
        if last is None:
            raise SessionFault(f"no session yet in {work_dir}.", hint="Start without --continue for a new one.")
        return last
    return new_session(work_dir)

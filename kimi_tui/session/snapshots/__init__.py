"""Files follow time: snapshots of the work tree in a private git repository of the data folder.

What is recorded: every file, link and empty folder of the work dir with its permissions, but for what the user's
ignore files leave out, `.git` folders, and files over the size limit, which are named. Files of nested repositories and
submodules are files like any other. The user's repository, index, hooks and configuration are never written, and
nothing that they name is run. Not recorded: further folders that tools may use; owners, times, hard links, extended
attributes, permissions of folders.
"""

from kimi_tui.session.snapshots.git import GitFault
from kimi_tui.session.snapshots.ground import Refused
from kimi_tui.session.snapshots.log import Passage, SnapshotLog, Why, stretches
from kimi_tui.session.snapshots.restore import Stretch, Wish
from kimi_tui.session.snapshots.snapshots import Snapshots
from kimi_tui.session.snapshots.values import FileChange, Kept, Limits, RestoreResult, Snapshot

__all__ = [
    "FileChange",
    "GitFault",
    "Kept",
    "Limits",
    "Passage",
    "Refused",
    "RestoreResult",
    "Snapshot",
    "SnapshotLog",
    "Snapshots",
    "Stretch",
    "Why",
    "Wish",
    "stretches",
]

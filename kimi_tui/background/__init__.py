"""Commands that run beside the conversation, and outlive the program if it is killed."""

from kimi_tui.background.host import Host
from kimi_tui.background.left_over import left_over
from kimi_tui.background.output import Tail
from kimi_tui.background.tasks import Tasks

__all__ = ["Host", "Tail", "Tasks", "left_over"]

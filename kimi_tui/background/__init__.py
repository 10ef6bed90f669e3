"""Commands and subagents that work beside the conversation; commands outlive the program if it is killed."""

from kimi_tui.background.host import Host
from kimi_tui.background.job import JobEnd, Order
from kimi_tui.background.left_over import left_over
from kimi_tui.background.output import Tail
from kimi_tui.background.tasks import Tasks

__all__ = ["Host", "JobEnd", "Order", "Tail", "Tasks", "left_over"]

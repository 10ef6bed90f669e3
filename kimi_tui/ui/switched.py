"""A jump between timelines in words, for the chat and the toasts."""

from __future__ import annotations

from kimi_tui.protocol.views import SwitchView
from kimi_tui.ui.cells import count, plural
from kimi_tui.ui.marks import UNICODE, Marks


def switch_words(switch: SwitchView, marks: Marks = UNICODE) -> tuple[str, str]:
    """A jump in words: what happened, and its figures."""
    path = ""
    if switch.from_checkpoint is not None and switch.to_checkpoint is not None:
        path = f" {switch.from_checkpoint} {marks.arrow} {switch.to_checkpoint}"
    elif switch.to_checkpoint is not None:
        path = f" to {switch.to_checkpoint}"
    if switch.why == "compact":
        return "compacted", f"{count(switch.tokens_before)} {marks.arrow} {count(switch.tokens_after)} tokens"
    titles = {
        "dmail": f"D-Mail{path}",
        "revert": f"you went back{path}",
        "clear": "cleared",
        "restore": "went to another timeline",
        "undo": "took it back",
        "redo": "did it again",
        "repair": "repaired",
        "prune": "dropped a result",
        "foreign": "changed by kimi-cli",
        "prepend": "system prompt written",
    }
    return titles[switch.why], ", ".join(_freed(switch))


def _freed(switch: SwitchView) -> list[str]:
    messages = switch.messages_before - switch.messages_after
    tokens = switch.tokens_before - switch.tokens_after
    said = []
    if messages:
        said.append(f"{plural(abs(messages), 'message')} {'set aside' if messages > 0 else 'back'}")
    if tokens:
        said.append(f"{count(abs(tokens))} tokens {'freed' if tokens > 0 else 'more'}")
    return said

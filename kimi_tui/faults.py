"""What can foreseeably go wrong: said in one clear line, with what to do next, never as a traceback."""

from __future__ import annotations


class Fault(Exception):
    """`str(fault)` is one line without secrets; `hint` says what to do, or is empty."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(" ".join(message.split()))
        self.hint = hint

    def line(self) -> str:
        """Message and hint as the command line prints them."""
        message = str(self)
        if not self.hint:
            return message
        return f"{message}{'' if message.endswith(('.', '!', '?')) else '.'} {self.hint}"

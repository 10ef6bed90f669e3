"""D-Mail: the model folds what it went through into a letter to its own past (MECHANISMS M14–M16).

The tool only parks the letter. At the end of the step, when every call has its result, the loop takes it and raises
`BackToTheFuture`, which carries what is to be said at the earlier point.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from kimi_tui.agent.marks import system_note
from kimi_tui.protocol.messages import Message
from kimi_tui.resources import prompt

MAX_JUMPS = 8
"""Letters a turn: a model that goes back for ever gets nowhere."""

_SHOWN = 1200
"""Characters of the user's own reading that a letter quotes, at most."""


class DMail(BaseModel):
    message: str = Field(description="What your past self should know.")
    checkpoint_id: int = Field(description="The checkpoint to go back to.", ge=0)


class DenwaRenjiError(Exception):
    """The letter was not accepted; the text is for the model."""


class DenwaRenji:
    """Takes one letter at a time, for checkpoints that exist."""

    def __init__(self) -> None:
        self._pending: DMail | None = None
        self._n_checkpoints = 0
        self._jumps = 0

    def send_dmail(self, dmail: DMail) -> None:
        """Park a letter; raises DenwaRenjiError when it cannot be delivered."""
        if self._pending is not None:
            raise DenwaRenjiError("One D-Mail is already waiting; only one can be sent at a time.")
        if not 0 <= dmail.checkpoint_id < self._n_checkpoints:
            raise DenwaRenjiError(f"There is no checkpoint {dmail.checkpoint_id}. {self._valid()}")
        if self._jumps >= MAX_JUMPS:
            raise DenwaRenjiError(f"This turn has gone back {MAX_JUMPS} times already. Go on from here instead.")
        self._pending = dmail

    def set_n_checkpoints(self, n_checkpoints: int) -> None:
        """How many checkpoints there are now; ids from 0 up to one less are accepted."""
        self._n_checkpoints = n_checkpoints

    def fetch_pending_dmail(self) -> DMail | None:
        """Take the parked letter, if there is one."""
        dmail, self._pending = self._pending, None
        return dmail

    def delivered(self) -> None:
        """A jump was made in this turn."""
        self._jumps += 1

    def new_turn(self) -> None:
        """Forget the letters and the jumps of the turn before."""
        self._pending, self._jumps = None, 0

    def _valid(self) -> str:
        last = self._n_checkpoints - 1
        if last < 0:
            return "No checkpoint has been set yet."
        return "The only one is 0." if last == 0 else f"Valid ids go from 0 to {last}."


class BackToTheFuture(Exception):
    """Ends a step: go back to the checkpoint and say these messages there."""

    def __init__(self, checkpoint_id: int, messages: Sequence[Message], note: str = "") -> None:
        super().__init__(f"back to checkpoint {checkpoint_id}")
        self.checkpoint_id, self.messages, self.note = checkpoint_id, list(messages), note


def delivery(dmail: DMail, erased: Sequence[Message], lost: Sequence[Message]) -> BackToTheFuture:
    """The jump for a letter.

    `erased` is what the jump forgets; `lost` are those of it that the user said in this turn. They are repeated word
    for word: a model must not lose what it is working on.
    """
    return BackToTheFuture(dmail.checkpoint_id, [*lost, letter(dmail.message, shown(erased))], dmail.message.strip())


def letter(text: str, already_shown: str = "") -> Message:
    """The D-Mail as one user message."""
    parts = [prompt("dmail")]
    if already_shown:
        parts += [f"{prompt('dmail_shown')}\n{already_shown}"]
    parts += [f"D-Mail content:\n\n{text.strip()}"]
    return Message(role="user", content=[system_note("\n\n".join(parts))])


def shown(erased: Sequence[Message]) -> str:
    """What the user read from the assistant in that span; the end of it when it is long."""
    texts = [message.text().strip() for message in erased if message.role == "assistant"]
    text = "\n".join(part for part in texts if part)
    return text if len(text) <= _SHOWN else "…" + text[-_SHOWN:]

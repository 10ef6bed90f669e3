"""SendDMail: a letter to one's own past."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import ClassVar

from pydantic import Field

from kimi_tui.resources import prompt
from kimi_tui.tools.base import Call, Params, ToolResult, failed


class SendDMailParams(Params):
    message: str = Field(
        min_length=1, description="What your past self should know: what you found, what is done, what to do now."
    )
    checkpoint_id: int = Field(description="The checkpoint to go back to, as the `CHECKPOINT` notes number them.", ge=0)


class SendDMail:
    """`send(message, checkpoint_id)` parks the letter; it raises one of `refusals` when it cannot be sent."""

    name: ClassVar[str] = "SendDMail"
    Params: ClassVar[type[Params]] = SendDMailParams
    read_only: ClassVar[bool] = False
    plan_safe: ClassVar[bool] = True

    def __init__(self, send: Callable[[str, int], None], refusals: tuple[type[Exception], ...] = (ValueError,)) -> None:
        self._send, self._refusals = send, refusals

    @cached_property
    def description(self) -> str:
        return prompt("tools/send_dmail")

    def describe(self, params: SendDMailParams) -> tuple[str, str]:
        return "D-Mail", f"to checkpoint {params.checkpoint_id}"

    async def __call__(self, params: SendDMailParams, call: Call) -> ToolResult:
        try:
            self._send(params.message, params.checkpoint_id)
        except self._refusals as fault:
            return failed(f"The D-Mail was not sent: {fault}", brief="not sent")
        return ToolResult(
            message="If you can read this, the D-Mail was NOT sent: a later call of this step must have been rejected. "
            "Decide again whether to send it.",
            brief="parked",
        )

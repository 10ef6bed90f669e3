from __future__ import annotations

import httpx

from kimi_tui.llm.litellm_host import _never_arrived


class MadeUp(Exception):
    """What a wrapper raises with a status of its own."""

    status_code = 500


def raised_over(cause: Exception) -> Exception:
    try:
        try:
            raise cause
        except Exception as below:
            raise MadeUp("Connection error.") from below
    except MadeUp as error:
        return error


def test_a_status_made_up_over_a_dead_network_is_no_answer() -> None:
    assert _never_arrived(raised_over(httpx.ConnectError("no route")))
    assert _never_arrived(raised_over(ConnectionResetError()))


def test_a_real_answer_stays_one() -> None:
    assert not _never_arrived(raised_over(ValueError("overloaded")))

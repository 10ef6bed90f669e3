"""Builds the agent for the screen and for print mode, after what must be quick is done."""

from __future__ import annotations

import asyncio
from importlib import import_module

from kimi_tui.cli.logs import log_failure, start_logging
from kimi_tui.cli.pace import keep_pace
from kimi_tui.cli.secrets import masked
from kimi_tui.faults import Fault
from kimi_tui.options import LaunchOptions
from kimi_tui.own_environment import conceal
from kimi_tui.protocol.commands import ListSessions
from kimi_tui.protocol.ports import AgentPort


async def connect(options: LaunchOptions) -> AgentPort:
    """The agent. Raises `Fault`, whose text is one line with what to do; the details of any other fault are logged."""
    start_logging()
    keep_pace()
    conceal()
    try:
        bootstrap = await asyncio.to_thread(import_module, "kimi_tui.bootstrap")
        port: AgentPort = await bootstrap.connect(options)
    except Fault as fault:
        raise Fault(masked(fault.line())) from fault
    except Exception as error:
        log = await asyncio.to_thread(log_failure, error)
        where = f" Details: {log}." if log else ""
        raise Fault(masked(f"the agent could not be started: {error or type(error).__name__}.{where}")) from error
    if options.resume == "":
        port.submit(ListSessions())  # the picker
    return port

"""Servers behind a process of their own."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kimi_tui.mcp import HostedServers, McpFault, ServerConfig
from tests.mcp.benches import Bench, plain


@asynccontextmanager
async def hosting(folder: Path, *configs: ServerConfig) -> AsyncIterator[Bench]:
    bench = Bench(HostedServers(configs, folder, folder, folder / "grants"))
    bench.servers = HostedServers(
        configs, folder, folder, folder / "grants", changed=bench.changed, notice=bench.notices.append
    )
    bench.servers.start()
    try:
        yield bench
    finally:
        await bench.servers.close()


async def test_tools_results_and_faults_come_through(tmp_path: Path) -> None:
    secret = "a-secret-of-mine"
    async with hosting(
        tmp_path,
        plain("my", env={"PLAIN_TOKEN": secret}),
        plain("slow", timeout=1),
        ServerConfig("bad", "stdio", "/nope"),
    ) as it:
        assert it.view("my").state in ("stopped", "starting")
        await it.servers.settled(60)
        assert (it.view("my").state, it.view("bad").error) == ("ready", "there is no program '/nope'")
        assert it.tool("mcp__my__echo").schema["properties"]["text"]["anyOf"]
        assert (await it.call("mcp__my__echo", text="漢字 \ud800")).text.startswith("漢字")
        calling = asyncio.create_task(it.call("mcp__my__sleep"))
        await asyncio.sleep(0)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        with pytest.raises(McpFault, match="no answer within 1 s"):
            await it.call("mcp__slow__sleep")
        with pytest.raises(McpFault, match="ended before it answered"):
            await it.call("mcp__my__die")
        assert secret not in str(it.view("my")) and secret not in "".join(it.notices)
        await it.until("my", lambda view: view.state == "failed")
        assert not any(name.startswith("mcp__my__") for name in it.lent)
        assert await it.servers.restart("my")
        await it.until("my", lambda view: view.state == "ready")
    assert secret not in (tmp_path / "mcp.log").read_text()


async def test_a_server_that_is_switched_off_starts_on_demand(tmp_path: Path) -> None:
    async with hosting(tmp_path, plain("off", disabled=True)) as it:
        assert it.view("off").state == "stopped"
        assert await it.servers.restart("off")
        await it.until("off", lambda view: view.state == "ready")
        assert not await it.servers.restart("nobody")


async def test_when_the_process_is_killed_it_is_said_and_can_be_mended(tmp_path: Path) -> None:
    async with hosting(tmp_path, plain("my")) as it:
        await it.servers.settled(60)
        tool = it.tool("mcp__my__echo")
        os.kill(it.servers._child.pid or 0, signal.SIGKILL)
        view = await it.until("my", lambda view: view.state == "failed")
        assert "has ended" in view.error and len(it.notices) == 1
        with pytest.raises(McpFault):
            await tool.call({"text": "too late"})
        assert await it.servers.restart("my")
        await it.until("my", lambda view: view.state == "ready")


def test_servers_end_with_a_program_that_is_killed(tmp_path: Path) -> None:
    """Even those that do not listen to their input."""
    mark = f"deaf-{os.getpid()}"
    code = (
        "import asyncio, sys; from pathlib import Path\n"
        "from tests.mcp.test_hosted import hosting; from tests.mcp.benches import plain\n"
        "async def main():\n"
        f"    async with hosting(Path(sys.argv[1]), plain('a', '{mark}', 'deaf'), plain('b', '{mark}')) as it:\n"
        "        await it.until('b', lambda view: view.state == 'ready'); print('up', flush=True)\n"
        "        await asyncio.Event().wait()\n"
        "asyncio.run(main())"
    )
    program = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    )
    assert program.stdout is not None
    try:
        with program.stdout as said:
            assert said.readline() == "up\n"
        deadline = time.monotonic() + 60
        while len(_running(mark)) < 2 and time.monotonic() < deadline:  # the deaf one may be a little later
            time.sleep(0.05)
        assert len(_running(mark)) == 2
    finally:
        program.kill()
        program.wait(60)
    deadline = time.monotonic() + 60
    while (left := _running(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def _running(mark: str) -> list[str]:
    listing = subprocess.run(["ps", "-eww", "-o", "pid,args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listing.splitlines() if mark in line and "plain_server" in line]

"""Servers as they come and go: real processes over stdio, a real one over HTTP."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from kimi_tui.mcp import McpFault, ServerConfig
from kimi_tui.mcp import server as server_module
from kimi_tui.mcp.content import TEXT_LIMIT
from tests.mcp.benches import Bench, http_address, plain, sdk, serving


async def test_a_server_over_stdio_lends_its_tools(tmp_path: Path) -> None:
    async with serving(sdk("my")) as bench:
        await bench.servers.settled(60)
        view = bench.view("my")
        assert (view.state, view.error, view.target) == ("ready", "", Path(sys.executable).name)
        assert view.tools == tuple(f"mcp__my__{name}" for name in ("add", "walk", "picture", "breaks", "waits", "much"))
        assert (await bench.call("mcp__my__add", a=2, b=3)).text == "5"
        assert bench.tool("mcp__my__add").description == "Adds two numbers."
        schema = bench.tool("mcp__my__walk").schema
        assert "$ref" not in json.dumps(schema)
        assert schema["properties"]["start"]["properties"]["next"]["properties"]["x"] == {
            "type": "integer",
            "description": "X",
        }
        picture = await bench.call("mcp__my__picture")
        assert picture.images[0].image_url.url.startswith("data:image/png;base64,iVBOR")
        broken = await bench.call("mcp__my__breaks")
        assert broken.failed and "out of paper" in broken.text
        await _cancel_a_call(bench, tmp_path / "note")
        assert (await bench.call("mcp__my__add", a=1)).text == "2"


async def _cancel_a_call(bench: Bench, note: Path) -> None:
    calling = asyncio.create_task(bench.call("mcp__my__waits", seconds=60, note=str(note)))
    async with asyncio.timeout(60):
        while not note.exists() or note.read_text() != "begun":
            await asyncio.sleep(0.01)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        while note.read_text() != "cancelled":
            await asyncio.sleep(0.01)


async def test_a_server_over_http_lends_its_tools_and_is_found_again_after_a_restart() -> None:
    async with http_address() as (url, process):
        config = ServerConfig(
            "web", "http", url=f"{url}?key=sk-FAKE-12345", headers={"Authorization": "Bearer abcdefgh"}
        )
        async with serving(config) as bench:
            await bench.servers.settled(60)
            view = bench.view("web")
            assert (view.state, view.error, view.target) == ("ready", "", url)
            assert (await bench.call("mcp__web__add", a=2, b=3)).text == "5"
            assert len((await bench.call("mcp__web__much", lines=150_000)).text) > 1_500_000

            tool = bench.tool("mcp__web__add")  # the end may be noticed before the call is made
            process.kill()
            await process.wait()
            with pytest.raises(McpFault):
                await tool.call({"a": 2, "b": 3})
            view = await bench.until("web", lambda view: view.state == "failed")
            assert view.tools == () and "sk-FAKE" not in view.error
            assert len(bench.notices) == 1


async def test_a_server_over_http_in_the_old_way_lends_its_tools() -> None:
    async with http_address("sse") as (url, process), serving(ServerConfig("old", "sse", url=url)) as bench:
        await bench.servers.settled(60)
        view = bench.view("old")
        assert (view.state, view.error, view.transport) == ("ready", "", "sse")
        assert (await bench.call("mcp__old__add", a=2, b=3)).text == "5"
        assert len((await bench.call("mcp__old__much", lines=150_000)).text) > 1_500_000
        process.kill()
        await process.wait()
        view = await bench.until("old", lambda view: view.state == "failed")
        assert view.tools == ()


@pytest.mark.parametrize("how", ["http", "sse"])
async def test_a_server_that_wants_a_key_says_so_in_one_line_and_takes_one_from_the_headers(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "WAITS", ())  # what has failed stays so, however long the others take
    async with http_address(how, "locked") as (url, _):
        transport = "sse" if how == "sse" else "http"
        key = {"Authorization": "Bearer open-sesame"}
        wrong = {"Authorization": "Bearer not-this-one"}
        configs = [
            ServerConfig("none", transport, url=url),
            ServerConfig("wrong", transport, url=url, headers=wrong),
            ServerConfig("right", transport, url=url, headers=key),
        ]
        async with serving(*configs) as bench:
            await bench.servers.settled(60)
            assert bench.view("right").state == "ready"
            for name in ("none", "wrong"):
                view = bench.view(name)  # it may be at its next try already; the error stays until one succeeds
                assert view.error.startswith(f"HTTP 401: {url} wants a key. Give it one as headers = ")
                assert "\n" not in view.error and "not-this-one" not in view.error
            assert (await bench.call("mcp__right__add", a=1)).text == "2"


async def test_prompts_are_listed_and_filled_in(tmp_path: Path) -> None:
    async with serving(sdk("my")) as bench:
        await bench.servers.settled(60)
        assert bench.view("my").prompts == ("review", "talk")
        server = bench.plain("my").calls
        assert bench.plain("my").prompts[0].arguments == (("code", True), ("language", False))
        assert (await server.prompt("review", {"code": "x = 1"})).text == "Review this Python: x = 1"
        assert (await server.prompt("talk", {})).text == (
            "User: What is it?\n\nAssistant: A parser.\n\nUser: Since when?"
        )
        with pytest.raises(McpFault, match="my refused"):
            await server.prompt("nothing", {})


async def test_resources_are_listed_and_read() -> None:
    async with serving(sdk("my")) as bench:
        await bench.servers.settled(60)
        assert bench.view("my").resources
        server = bench.plain("my").calls
        found = {resource.uri: resource for resource in await server.resources()}
        assert list(found) == ["notes://today", "pictures://dot", "notes://{day}/page"]
        assert found["notes://today"].about == "text/plain · What was written today"
        assert (await server.read("notes://today")).text == "Rain, 漢字."
        assert (await server.read("notes://monday/page")).text == "# monday"
        assert (await server.read("pictures://dot")).images[0].image_url.url.startswith("data:image/png;base64,iVBOR")
        with pytest.raises(McpFault, match="my refused"):
            await server.read("notes://never")


async def test_what_is_almost_right_is_mended_and_costs_nobody_else(tmp_path: Path) -> None:
    async with serving(plain("odd", "odd")) as bench:
        await bench.servers.settled(60)
        view = bench.view("odd")
        assert (view.state, view.error) == ("ready", "")
        assert view.tools == ("mcp__odd__untyped", "mcp__odd__bare", "mcp__odd__pointing")
        assert all(tool.schema["type"] == "object" and "$ref" not in str(tool.schema) for tool in bench.servers.tools())
        told = await bench.call("mcp__odd__untyped", a=1)
        assert told.text == "[hologram: cannot be shown here]\nafter\n[image: cannot be shown here]\nx"
        assert json.loads((await bench.call("mcp__odd__bare")).text) == {"a": 1}
        with pytest.raises(McpFault, match=r"its answer is not what the protocol asks for \(content: field required\)"):
            await bench.call("mcp__odd__pointing")


async def test_a_server_with_tools_alone_offers_nothing_else() -> None:
    async with serving(plain("bare")) as bench:
        await bench.servers.settled(60)
        view = bench.view("bare")
        assert (view.state, view.prompts, view.resources) == ("ready", (), False)


async def test_a_server_that_cannot_be_started_says_why_and_stops_nobody() -> None:
    async with serving(ServerConfig("gone", "stdio", "/no/such/program"), plain("good")) as bench:
        await bench.servers.settled(60)
        view = bench.view("gone")
        assert (view.state, view.retry_at) == ("failed", None)
        assert view.error == "there is no program '/no/such/program'"
        assert bench.view("good").state == "ready"
        assert bench.notices == [
            "the MCP server gone does not work: there is no program '/no/such/program'; /mcp shows how it stands"
        ]


async def test_a_server_that_crashes_is_tried_again_and_its_last_words_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server_module, "WAITS", (0.0, 0.0))
    async with serving(plain("bad", "crash")) as bench:
        view = await bench.until("bad", lambda view: view.state == "failed" and view.retry_at is None)
        assert "no licence found" in view.error and "no licence found" in view.said
        assert len(bench.notices) == 1


async def test_a_server_that_works_at_the_second_attempt_is_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "WAITS", (0.0,))
    async with serving(plain("late", "once", str(tmp_path / "mark"))) as bench:
        view = await bench.until("late", lambda view: view.state == "ready")
        assert view.error == "" and view.retry_at is None


async def test_a_server_that_never_answers_has_its_time() -> None:
    async with serving(plain("deaf", "deaf", startup_timeout=0.5)) as bench:
        await bench.servers.settled(60)
        assert bench.view("deaf").error.startswith("no answer within 0.5 s")


async def test_waiting_for_servers_has_an_end() -> None:
    async with serving(plain("deaf", "deaf")) as bench:
        await bench.servers.settled(0.05)
        assert bench.view("deaf").state == "starting"


async def test_a_server_that_dies_in_a_call_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "WAITS", (0.0, 0.0))
    async with serving(plain("frail", env={"PLAIN_TOKEN": "secret-of-mine"})) as bench:
        await bench.servers.settled(60)
        with pytest.raises(McpFault, match="ended before it answered"):
            await bench.call("mcp__frail__die")
        await bench.until("frail", lambda view: view.state != "ready")
        view = await bench.until("frail", lambda view: view.state == "ready")
        assert (await bench.call("mcp__frail__echo", text="again")).text == "again"
        assert "secret-of-mine" not in view.said and "dying with •••" in view.said
        assert "secret-of-mine" not in bench.notices[0]


async def answered(bench: Bench, tool: str, text: str) -> str:
    """What the server says, however often its short time was over on a loaded machine."""
    async with asyncio.timeout(60):
        while True:
            with suppress(McpFault):
                return (await bench.call(tool, text=text)).text


async def test_a_call_has_its_time() -> None:
    async with serving(plain("slow", timeout=0.2)) as bench:
        await bench.servers.settled(60)
        with pytest.raises(McpFault, match=r"no answer within 0\.2 s"):
            await bench.call("mcp__slow__sleep")
        assert await answered(bench, "mcp__slow__echo", "still here") == "still here"


async def test_tools_that_appear_later_are_offered() -> None:
    async with serving(plain("grows")) as bench:
        await bench.servers.settled(60)
        await bench.call("mcp__grows__grow")
        view = await bench.until("grows", lambda view: len(view.tools) > 5)
        assert view.tools[-1] == "mcp__grows__more5"


async def test_a_server_gets_its_own_variables_and_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-FAKE-0123456789")
    async with serving(plain("env", env={"MINE": "1"})) as bench:
        await bench.servers.settled(60)
        told = json.loads((await bench.call("mcp__env__env")).text)
        assert told["MINE"] == "1" and "PATH" in told and "OPENAI_API_KEY" not in told


async def test_a_restart_connects_anew_and_closing_ends_the_process() -> None:
    async with serving(plain("one", disabled=True)) as bench:
        assert bench.view("one").state == "stopped"
        assert await bench.servers.restart("one")
        await bench.servers.settled(0)
        view = await bench.until("one", lambda view: view.state == "ready")
        assert await bench.servers.restart("one")
        assert bench.view("one").state == "starting"
        await bench.until("one", lambda view: view.state == "ready")
        assert not await bench.servers.restart("nobody")
    assert bench.view("one").state == "stopped"
    assert view.tools[0] == "mcp__one__echo"


def test_the_sdk_is_not_loaded_before_there_is_a_server() -> None:
    code = (
        "import sys, kimi_tui.mcp, kimi_tui.bootstrap; from pathlib import Path;"
        "kimi_tui.mcp.HostedServers([], Path.cwd(), Path.cwd(), Path.cwd()).start();"
        "print('mcp.client' in sys.modules, 'httpx2' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "False"]


async def test_a_list_that_goes_round_comes_to_an_end() -> None:
    async with serving(plain("my", "lends", "round")) as bench:
        view = await bench.until("my", lambda view: view.state == "ready")
        assert len(view.tools) == 5
        assert [one.name for one in await bench.plain("my").calls.resources()] == ["today"]


async def test_a_result_of_many_megabytes_and_half_a_letter_comes_through() -> None:
    async with serving(plain("my")) as bench:
        await bench.until("my", lambda view: view.state == "ready")
        result = await bench.plain("my").calls.call("long", {"size": 20_000_000})
        assert len(result.text) == TEXT_LIMIT
        assert (await bench.plain("my").calls.call("long", {"size": 3})).text == "xxx\ufffd"

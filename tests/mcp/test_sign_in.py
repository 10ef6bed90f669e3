"""Servers that their users sign in to: with a real authorisation server, and a browser that does as it is told."""

from __future__ import annotations

import asyncio
import json
import socket
import stat
import sys
from pathlib import Path

import httpx2
import pytest

from kimi_tui.mcp import McpFault, ServerConfig
from kimi_tui.mcp.grants import Grants
from tests.mcp.benches import Bench, serving
from tests.mcp.offices import browse, office
from tests.mcp.test_hosted import hosting


async def address_of(it: Bench, known: str = "") -> str:
    view = await it.until("my", lambda view: view.sign_in_at not in ("", known))
    assert view.state == "locked"
    return view.sign_in_at


async def test_a_server_that_wants_a_sign_in_waits_for_it_and_holds_nothing_up(tmp_path: Path) -> None:
    async with office() as there, serving(there.config(), grants=tmp_path) as it:
        await it.servers.settled(60)
        view = it.view("my")
        assert (view.state, view.tools, view.retry_at, view.signed_in) == ("locked", (), None, False)
        assert "kimi-tui mcp auth my" in view.error and len(it.notices) == 1
        signing = asyncio.create_task(it.plain("my").sign_in())
        await browse(await address_of(it))
        await signing
        view = await it.until("my", lambda view: view.state == "ready")
        assert view.signed_in and view.sign_in_at == ""
        assert (await it.call("mcp__my__add", a=1, b=2)).text == "3"
        assert (await there.says("traded")) == "traded" and there.heard[1:] == ["asked", "traded"]
        assert there.heard[0].startswith("registered http://127.0.0.1:")


async def test_what_a_sign_in_gave_is_for_its_owners_eyes_and_lasts(tmp_path: Path) -> None:
    async with office() as there:
        async with serving(there.config(), grants=tmp_path / "g") as it:
            await signed_in(it)
            [file] = (tmp_path / "g").glob("*.json")
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
            kept = json.loads(file.read_text())
            assert kept["access_token"] not in repr(it._told) + "".join(it.notices)
        async with serving(there.config(), grants=tmp_path / "g") as it:
            await it.until("my", lambda view: view.state == "ready")
            assert (await it.call("mcp__my__add", a=2, b=2)).text == "4"


async def test_a_token_that_is_over_is_renewed_without_a_word(tmp_path: Path) -> None:
    async with office() as there, serving(there.config(), grants=tmp_path) as it:
        await signed_in(it)
        [file] = tmp_path.glob("*.json")
        file.write_text(json.dumps({**json.loads(file.read_text()), "expires_at": 1.0}))
        results = await asyncio.gather(*(it.call("mcp__my__add", a=number, b=0) for number in range(5)))
        assert [result.text for result in results] == ["0", "1", "2", "3", "4"]
        await it.call("mcp__my__lock")  # the server forgets it: renewed, too
        assert (await it.call("mcp__my__add", a=7, b=0)).text == "7"
        assert [await there.says("renewed") for _ in range(2)] and there.heard.count("asked") == 1


async def test_of_two_programs_only_one_renews_a_token(tmp_path: Path) -> None:
    async with office() as there, serving(there.config(), grants=tmp_path) as one:
        await signed_in(one)
        async with serving(there.config(), grants=tmp_path) as other:
            await other.until("my", lambda view: view.state == "ready")
            [file] = tmp_path.glob("*.json")
            file.write_text(json.dumps({**json.loads(file.read_text()), "expires_at": 1.0}))
            added = (it.call("mcp__my__add", a=number, b=0) for number in range(4) for it in (one, other))
            assert [result.text for result in await asyncio.gather(*added)] == ["0", "0", "1", "1", "2", "2", "3", "3"]
        assert (await there.all_said()).count("renewed") == 1


async def test_a_place_of_authorisation_that_is_away_costs_no_sign_in(tmp_path: Path) -> None:
    async with office() as there, serving(there.config(), grants=tmp_path) as it:
        await signed_in(it)
        [file] = tmp_path.glob("*.json")
        kept = json.loads(file.read_text())
        file.write_text(json.dumps({**kept, "expires_at": 1.0, "token_endpoint": "http://127.0.0.1:9/token"}))
        with pytest.raises(McpFault):
            await it.call("mcp__my__add", a=1, b=1)
        await it.until("my", lambda view: view.state == "failed")
        file.write_text(json.dumps(kept))
        await it.until("my", lambda view: view.state == "ready")
        assert (await it.call("mcp__my__add", a=1, b=1)).text == "2"


async def test_a_sign_in_that_cannot_be_kept_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    async with office() as there, serving(there.config(), grants=tmp_path / "file" / "x") as it:
        with pytest.RaisesGroup(pytest.RaisesExc(McpFault, match="cannot be kept")):
            await signed_in(it)


async def test_a_sign_in_that_is_no_longer_good_is_asked_for_again(tmp_path: Path) -> None:
    async with office("for good") as there, serving(there.config(), grants=tmp_path) as it:
        await signed_in(it)
        await it.call("mcp__my__lock")
        with pytest.raises(McpFault):
            await it.call("mcp__my__add", a=1, b=1)
        await it.until("my", lambda view: view.state == "locked")
        await signed_in(it)
        assert (await it.call("mcp__my__add", a=1, b=1)).text == "2"


async def test_a_browser_on_another_machine_is_followed_by_hand(tmp_path: Path) -> None:
    async with office() as there, serving(there.config(), grants=tmp_path) as it:
        signing = asyncio.create_task(it.plain("my").sign_in())
        end = await browse(await address_of(it), back=False)
        door = it.plain("my").door
        with pytest.raises(McpFault, match="begins with http://127"):
            door.take("https://elsewhere.example/?code=stolen&state=made-up")
        door.take(f"  {end}\n")
        await signing
        await it.until("my", lambda view: view.state == "ready")
        with pytest.raises(McpFault, match="nobody is signing in"):
            door.take(end)


async def test_only_the_answer_to_this_sign_in_is_taken(tmp_path: Path) -> None:
    async with office() as there, serving(there.config(), grants=tmp_path) as it:
        signing = asyncio.create_task(it.plain("my").sign_in())
        address = await address_of(it)
        back = httpx2.URL(dict(httpx2.URL(address).params)["redirect_uri"])
        async with httpx2.AsyncClient(trust_env=False) as other:
            for query in ({}, {"code": "x"}, {"code": "x", "state": "made-up"}, {"error": "no", "state": "é"}):
                assert (await other.get(back.copy_merge_params(query))).status_code == 400
            assert (await other.post(back)).status_code == 400
            assert (await other.get(back.copy_with(path="/else"))).status_code == 400
        assert not signing.done()
        await browse(address)
        await signing


async def test_a_refusal_is_told_and_can_be_tried_again(tmp_path: Path) -> None:
    async with office("refuse") as there, serving(there.config(), grants=tmp_path) as it:
        signing = asyncio.create_task(it.plain("my").sign_in())
        await browse(await address_of(it))
        with pytest.raises(McpFault, match=r"access_denied · Not you\."):
            await signing
        view = it.view("my")
        assert (view.state, view.sign_in_at) == ("locked", "") and "Not you" in view.error


async def test_begun_anew_a_sign_in_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    async with office() as there, serving(there.config(), grants=tmp_path) as it:
        first = asyncio.create_task(it.plain("my").sign_in())
        address = await address_of(it)
        second = asyncio.create_task(it.plain("my").sign_in())
        newer = await address_of(it, known=address)
        await asyncio.wait({first}, timeout=60)
        assert first.cancelled()
        await browse(newer)
        await second


async def test_an_application_that_is_known_beforehand_registers_nothing(tmp_path: Path) -> None:
    async with office("closed") as there:
        async with serving(there.config(), grants=tmp_path) as it:
            with pytest.raises(McpFault, match="client_id and callback_port"):
                await it.plain("my").sign_in()
        config = there.config(client_id="known-beforehand", client_secret="the-secret-of-the-application")
        async with serving(config, grants=tmp_path) as it:
            await signed_in(it)
            assert (await it.call("mcp__my__add", a=1, b=2)).text == "3"
            await it.call("mcp__my__lock")
            assert (await it.call("mcp__my__add", a=1, b=2)).text == "3"
        assert not any(line.startswith("registered") for line in there.heard)


async def test_the_browser_comes_back_to_the_port_that_is_asked_for(tmp_path: Path) -> None:
    """Which is taken here: so it is known that this one was wanted."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        async with office() as there, serving(there.config(callback_port=port), grants=tmp_path) as it:
            with pytest.raises(McpFault, match="cannot come back to this machine"):
                await it.plain("my").sign_in()


async def test_a_token_is_never_sent_to_another_address(tmp_path: Path) -> None:
    async with office() as there, serving(there.config(), grants=tmp_path) as it:
        await signed_in(it)
        elsewhere = ServerConfig("my", "http", url=f"{there.address}/other", auth="oauth")
        assert Grants(tmp_path).of(there.config()) and Grants(tmp_path).of(elsewhere) is None


async def test_a_server_in_the_old_way_takes_a_sign_in_too(tmp_path: Path) -> None:
    async with office("sse") as there:
        config = ServerConfig("my", "sse", url=f"{there.address}/sse")
        async with serving(config, grants=tmp_path) as it:
            await it.until("my", lambda view: view.state == "locked")
            await signed_in(it)
            assert (await it.call("mcp__my__add", a=1, b=2)).text == "3"


async def test_signing_out_forgets_it(tmp_path: Path) -> None:
    async with office() as there, serving(there.config(), grants=tmp_path) as it:
        await signed_in(it)
        assert await it.plain("my").sign_out()
        await it.until("my", lambda view: view.state == "locked")
        assert list(tmp_path.glob("*.json")) == []
        assert not await it.plain("my").sign_out()


async def test_a_server_that_says_so_by_itself_needs_no_setting(tmp_path: Path) -> None:
    async with office() as there:
        config = ServerConfig("my", "http", url=f"{there.address}/mcp")
        async with serving(config, grants=tmp_path) as it:
            await it.until("my", lambda view: view.state == "locked")
        keyed = ServerConfig("my", "http", url=f"{there.address}/mcp", headers={"Authorization": "Bearer wrong-key"})
        async with serving(keyed, grants=tmp_path) as it:
            assert "wants a key" in (await it.until("my", lambda view: view.state == "failed")).error
            with pytest.raises(McpFault, match="takes no sign-in"):
                await it.plain("my").sign_in()


async def test_a_server_without_a_door_needs_no_sign_in(tmp_path: Path) -> None:
    async with office() as there, serving(grants=tmp_path) as _:
        config = ServerConfig("my", "http", url=f"{there.address}/.well-known/oauth-authorization-server")
        async with serving(config, grants=tmp_path) as it:
            with pytest.raises(McpFault, match="asks for no sign-in"):
                await it.plain("my").sign_in()


async def test_the_browser_is_opened_and_no_secret_reaches_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = tmp_path / "browser.py"
    browser.write_text("import sys, urllib.request as u; u.urlopen(sys.argv[1]).read()")
    monkeypatch.setenv("BROWSER", f"{sys.executable} {browser} %s")
    async with office() as there, hosting(tmp_path, there.config()) as it:
        await it.servers.settled(60)
        assert it.view("my").state == "locked"
        await it.hosted.sign_in("my")
        await it.until("my", lambda view: view.state == "ready")
        assert (await it.call("mcp__my__add", a=1, b=2)).text == "3"
        [file] = (tmp_path / "grants").glob("*.json")
        kept = json.loads(file.read_text())
        assert await it.hosted.sign_out("my")
        await it.until("my", lambda view: view.state == "locked")
        said = (tmp_path / "mcp.log").read_text()
        assert kept["access_token"] not in said and kept["refresh_token"] not in said


async def signed_in(it: Bench) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(it.plain("my").sign_in())
        await browse(await address_of(it))
    await it.until("my", lambda view: view.state == "ready")

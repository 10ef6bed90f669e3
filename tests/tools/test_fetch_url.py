from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from kimi_tui.tools.base import Decision
from kimi_tui.tools.fetch_url import FetchURL
from kimi_tui.tools.network import SIZE_LIMIT, Visitor, is_private
from tests.tools.tool_desk import Desk

PAGE = b"""<!doctype html><html><head><title>t</title><style>p{}</style></head><body><script>alert(1)</script>
<h1>Guide</h1><p>See <a href="/more">more</a> of <b>it</b>.</p><ul><li>one</li></ul></body></html>"""


class Site(BaseHTTPRequestHandler):
    release = threading.Event()

    def do_GET(self) -> None:
        answer = {
            "/": (200, "text/html; charset=utf-8", PAGE),
            "/json": (200, "application/json", '{"a": "世界"}'.encode()),
            "/latin": (200, "text/plain; charset=latin-1", b"caf\xe9"),
            "/odd": (200, "text/plain; charset=no-such", b"plain"),
            "/pdf": (200, "application/pdf", b"%PDF-1.7 ..."),
            "/nul": (200, "text/plain", b"a\0b\x1b[31m"),
            "/big": (200, "text/plain", b"x" * (SIZE_LIMIT + 100_000)),
            "/empty": (200, "text/html", b"<html><body><script>x()</script></body></html>"),
        }.get(self.path)
        if self.path == "/slow":
            self.release.wait(60)
            return
        if self.path in ("/loop", "/out"):
            self.send_response(302)
            self.send_header("Location", "/loop" if self.path == "/loop" else "ftp://example.com/")
            self.end_headers()
            return
        if answer is None:
            self.send_error(404)
            return
        status, kind, body = answer
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, *arguments: object) -> None:
        pass

    def log_error(self, *arguments: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[str]:
    Site.release = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    Site.release.set()
    server.shutdown()
    server.server_close()
    thread.join()


async def test_a_page_comes_as_markdown_without_its_scripts(desk: Desk, site: str) -> None:
    result = await desk.run(FetchURL(), url=f"{site}/")
    assert result.output == "# Guide\n\nSee [more](/more) of **it**.\n\n- one"


async def test_this_machine_is_asked_for_and_a_no_is_a_no(desk: Desk, site: str) -> None:
    desk.decision = Decision(False)
    result = await desk.run(FetchURL(), url=f"{site}/json")
    assert result.outcome == "rejected"
    (view,) = desk.approvals
    assert (view.detail, view.rule) == (f"{site}/json", site)


async def test_a_public_page_that_leads_into_the_local_network_is_asked_for(desk: Desk, site: str) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(302, headers={"Location": "http://169.254.169.254/latest/meta-data"})

    desk.decision = Decision(False)
    tool = FetchURL(Visitor(httpx.MockTransport(answer)))
    result = await desk.run(tool, url="http://93.184.216.34/")
    assert result.outcome == "rejected"
    assert [view.detail for view in desk.approvals] == ["http://169.254.169.254/latest/meta-data"]


@pytest.mark.parametrize(
    ("host", "private"),
    [
        ("127.0.0.1", True),
        ("localhost", True),
        ("2130706433", True),
        ("[::1]", True),
        ("[::ffff:10.0.0.1]", True),
        ("192.168.1.1", True),
        ("0.0.0.0", True),
        ("93.184.216.34", False),
        ("[2606:4700:4700::1111]", False),
    ],
)
async def test_private_addresses_are_known_however_they_are_written(host: str, private: bool) -> None:
    assert await is_private(httpx.URL(f"http://{host}/")) is private


@pytest.mark.parametrize(
    ("path", "text"),
    [("/json", '{"a": "世界"}'), ("/latin", "café"), ("/odd", "plain"), ("/nul", "a␀b")],
)
async def test_text_is_decoded_and_cleaned(desk: Desk, site: str, path: str, text: str) -> None:
    assert (await desk.run(FetchURL(), url=site + path)).output == text


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/pdf", "PDF document"),
        ("/gone", "answered 404"),
        ("/loop", "more than 5 redirections"),
        ("/out", "not an http"),
    ],
)
async def test_what_cannot_be_shown_is_said(desk: Desk, site: str, path: str, reason: str) -> None:
    result = await desk.run(FetchURL(), url=site + path)
    assert result.outcome == "error"
    assert reason in result.message


async def test_a_page_without_text_is_said(desk: Desk, site: str) -> None:
    assert "no text" in (await desk.run(FetchURL(), url=f"{site}/empty")).message


async def test_a_big_page_is_cut(desk: Desk, site: str) -> None:
    result = await desk.run(FetchURL(), url=f"{site}/big")
    assert len(result.output) < 51_000
    assert "Only its beginning" in result.message


async def test_a_server_that_does_not_answer_is_left(desk: Desk, site: str) -> None:
    result = await desk.run(FetchURL(Visitor(seconds=0.2)), url=f"{site}/slow")
    assert result.brief == "timed out"


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://a/b", "nothing", "", "http://", "http://[bad", "http://127.0.0.1:1/"]
)
async def test_other_addresses_are_refused(desk: Desk, url: str) -> None:
    assert (await desk.run(FetchURL(), url=url)).outcome == "error"

"""FetchURL: a page of the web, as text."""

from __future__ import annotations

import asyncio
import re
from functools import cached_property
from typing import ClassVar

import httpx
from pydantic import Field

from kimi_tui.protocol.views import ApprovalView
from kimi_tui.resources import prompt
from kimi_tui.tools.approval import permit
from kimi_tui.tools.base import Call, Params, ToolResult, failed
from kimi_tui.tools.network import NetworkFault, Page, Visitor, is_private, origin
from kimi_tui.tools.text import clean, clip, one_line, plural
from kimi_tui.tools.text_file import binary_kind

_TEXT = re.compile(r"text/|application/(?:[\w.-]+\+)?(?:json|xml|javascript|x-sh|yaml|toml)|application/x-yaml|^$")


class FetchURLParams(Params):
    url: str = Field(description="The address, with http:// or https://.")


class FetchURL:
    """`visitor` goes and gets pages."""

    name: ClassVar[str] = "FetchURL"
    Params: ClassVar[type[Params]] = FetchURLParams
    read_only: ClassVar[bool] = True
    plan_safe: ClassVar[bool] = True

    def __init__(self, visitor: Visitor | None = None) -> None:
        self._visitor = visitor or Visitor()

    @cached_property
    def description(self) -> str:
        return prompt("tools/fetch_url")

    def describe(self, params: FetchURLParams) -> tuple[str, str]:
        return "Fetch", params.url

    async def __call__(self, params: FetchURLParams, call: Call) -> ToolResult:
        refused: ToolResult | None = None

        async def may_visit(url: httpx.URL) -> bool:
            """Public addresses are free; this machine and its network are asked for, at every redirection."""
            nonlocal refused
            if await is_private(url):
                action = "fetch from this machine or the local network"
                view = ApprovalView(call.id, self.name, action, str(url), rule=origin(url))
                refused = await permit(call, view)
            return refused is None

        try:
            page = await self._visitor.fetch(params.url, may_visit)
        except NetworkFault as fault:
            return failed(str(fault), brief=fault.brief)
        if page is None:
            return refused or failed("The address may not be visited.")
        return await asyncio.to_thread(_told, page)


def _told(page: Page) -> ToolResult:
    if not _TEXT.match(page.kind) or (binary_kind(page.body[:4096]) and "text/" not in page.kind):
        what = binary_kind(page.body[:4096]) or page.kind or "data of an unknown kind"
        return failed(
            f"{page.url} is {one_line(what)}, {len(page.body):,} bytes; only text is shown.", brief="not text"
        )
    text = page.text
    if "html" in page.kind or text[:200].lstrip().lower().startswith(("<!doctype html", "<html")):
        text = _from_html(text)
    text = clean(text).strip()
    if not text:
        return ToolResult(message=f"{page.url} has no text; it may be made by scripts in the browser.", brief="no text")
    notes = [f"From {page.url}."] + (["Only its beginning was loaded."] if page.cut else [])
    return ToolResult(clip(text), message=" ".join(notes), brief=plural(len(text), "character"))


def _from_html(html: str) -> str:
    """Markdown, without what is not read. Imported here: it is slow to load and seldom needed."""
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    soup = BeautifulSoup(html, "html.parser")
    for element in soup(["script", "style", "noscript", "template", "svg", "iframe", "head"]):
        element.decompose()
    markdown: str = MarkdownConverter(heading_style="atx", bullets="-").convert_soup(soup)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", markdown))

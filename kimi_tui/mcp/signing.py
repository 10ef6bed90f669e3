"""One sign-in of the user to a server: the SDK finds out where, registers this program and trades the code for tokens;
the browser does the rest. Loads the SDK.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Callable
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from mcp.types import LATEST_PROTOCOL_VERSION
from pydantic import AnyUrl, ValidationError

from kimi_tui.mcp.callback import Callback
from kimi_tui.mcp.config import ServerConfig
from kimi_tui.mcp.faults import McpFault, told
from kimi_tui.mcp.grants import Grant

CLIENT = "kimi-tui"
PATIENCE = 30.0
"""Seconds for each answer of a server; the user has all the time that the caller gives."""
_HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": LATEST_PROTOCOL_VERSION,
        "capabilities": {},
        "clientInfo": {"name": CLIENT, "version": "0"},
    },
}


async def sign_in(config: ServerConfig, callback: Callback, tell: Callable[[str], None]) -> Grant:
    """Have the user sign in; `tell` gets the address that the browser must be led to. Raises McpFault."""
    provider = _provider(config, callback, tell)
    try:
        await _knock(config, provider)
    except McpFault:
        raise
    except OAuthRegistrationError as fault:
        raise McpFault(
            f"{_said(config, fault)}. An application that was registered beforehand is named by client_id and "
            "callback_port in the server's configuration"
        ) from None
    except (OAuthFlowError, ValidationError, httpx2.HTTPError, OSError) as fault:
        raise McpFault(_said(config, fault)) from None
    return _grant(provider)


def _said(config: ServerConfig, fault: Exception) -> str:
    return told(fault, target=config.target, seconds=PATIENCE)


async def _knock(config: ServerConfig, provider: OAuthClientProvider) -> None:
    """Ask for anything at all: the server's refusal is what sets the sign-in going."""
    client = httpx2.AsyncClient(auth=provider, timeout=PATIENCE, headers=dict(config.headers))
    accept = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": LATEST_PROTOCOL_VERSION}
    async with client:
        asking = (
            client.stream("GET", config.url, headers=accept)
            if config.transport == "sse"
            else client.stream("POST", config.url, headers=accept, json=_HELLO)
        )
        async with asking as response:
            if provider.context.current_tokens is None:
                raise McpFault(f"{config.target} asks for no sign-in (HTTP {response.status_code})")


def _provider(config: ServerConfig, callback: Callback, tell: Callable[[str], None]) -> OAuthClientProvider:
    async def lead_there(address: str) -> None:
        callback.expect(parse_qs(urlsplit(address).query)["state"][0])
        await open_browser(address)
        tell(address)

    async def come_back() -> AuthorizationCodeResult:
        answer = await callback.answer()
        return AuthorizationCodeResult(code=answer["code"], state=answer.get("state"), iss=answer.get("iss"))

    metadata = OAuthClientMetadata(
        client_name=CLIENT, redirect_uris=[AnyUrl(callback.address)], token_endpoint_auth_method="none"
    )
    return OAuthClientProvider(config.url, metadata, _Memory(_registered(config)), lead_there, come_back)


def _registered(config: ServerConfig) -> OAuthClientInformationFull | None:
    """The application that the configuration names. Without one a new one is registered every time, since the address
    that the browser comes back to is another one every time."""
    if not config.client_id:
        return None
    method = "client_secret_post" if config.client_secret else "none"
    return OAuthClientInformationFull(
        client_id=config.client_id, client_secret=config.client_secret or None, token_endpoint_auth_method=method
    )


def _grant(provider: OAuthClientProvider) -> Grant:
    """What is kept of it."""
    context = provider.context
    tokens, client, metadata = context.current_tokens, context.client_info, context.oauth_metadata
    assert tokens is not None and client is not None
    by_hand = urljoin(context.get_authorization_base_url(context.server_url), "/token")
    return Grant(
        access_token=tokens.access_token,
        token_endpoint=str(metadata.token_endpoint) if metadata else by_hand,
        client_id=client.client_id,
        refresh_token=tokens.refresh_token or "",
        client_secret=client.client_secret or "",
        auth_method=client.token_endpoint_auth_method or "none",
        resource=context.get_resource_url() if context.should_include_resource_param(LATEST_PROTOCOL_VERSION) else "",
        expires_at=None if tokens.expires_in is None else time.time() + tokens.expires_in,
    )


class _Memory:
    """What the SDK keeps during one sign-in."""

    def __init__(self, client: OAuthClientInformationFull | None) -> None:
        self._client = client

    async def get_tokens(self) -> OAuthToken | None:
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """The provider has them itself."""

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info


async def open_browser(address: str) -> None:
    """Where there is a screen for one: in a terminal a browser would be drawn over everything. Never raises."""
    wanted = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    if sys.platform not in ("darwin", "win32") and not any(os.environ.get(name) for name in wanted):
        return
    nothing = asyncio.subprocess.DEVNULL
    with contextlib.suppress(OSError):
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "webbrowser", address),
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            start_new_session=True,
        )

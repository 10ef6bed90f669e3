"""Sends what a sign-in gave along with each request, and renews it when it is over or no longer taken.

Loads the HTTP library of the SDK. Nobody is asked anything here: what cannot be renewed waits for a sign-in.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from urllib.parse import quote

import httpx2
import msgspec

from kimi_tui.mcp.config import ServerConfig
from kimi_tui.mcp.grants import Grant, Grants

PATIENCE = 30.0
"""Seconds for the answer to a renewal."""


class Bearer(httpx2.Auth):
    """`refused` is called when the server has let nobody in, with what it asks for (`WWW-Authenticate`)."""

    def __init__(self, config: ServerConfig, grants: Grants, refused: Callable[[str], None]) -> None:
        self._config, self._grants, self._refused = config, grants, refused
        self._renewing = asyncio.Lock()
        """In front of the one between processes: of many requests that find a token over, only one waits for that."""

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        grant = self._grants.of(self._config)
        if grant is not None and grant.is_over(time.time()):
            grant = await self._renewed(grant)
        response = yield _signed(request, grant)
        if response.status_code == 401 and grant is not None:
            grant = await self._renewed(grant)
            if grant is not None:
                response = yield _signed(request, grant)
        if response.status_code == 401:
            self._refused(response.headers.get("www-authenticate", ""))

    async def _renewed(self, old: Grant) -> Grant | None:
        """What takes its place; None when only the user can help. Raises what the HTTP library raises."""
        async with self._renewing, self._grants.renewing(self._config):
            newest = self._grants.of(self._config)
            if newest != old:
                return newest
            if not old.refresh_token:
                return None
            async with httpx2.AsyncClient(timeout=PATIENCE) as client:
                response = await client.send(_renewal(old))
            if response.is_server_error or response.status_code == 429:
                raise httpx2.ConnectError(f"the sign-in could not be renewed: HTTP {response.status_code}")
            renewed = _granted(old, response)
            if renewed is not None:
                self._grants.keep(self._config, renewed)
            return renewed


def _signed(request: httpx2.Request, grant: Grant | None) -> httpx2.Request:
    if grant is not None:
        request.headers["Authorization"] = f"Bearer {grant.access_token}"
    return request


def _renewal(grant: Grant) -> httpx2.Request:
    """See RFC 6749, section 6, and RFC 8707 for the resource."""
    form = {"grant_type": "refresh_token", "refresh_token": grant.refresh_token}
    if grant.resource:
        form["resource"] = grant.resource
    if grant.auth_method != "client_secret_basic":
        form["client_id"] = grant.client_id
        if grant.auth_method == "client_secret_post":
            form["client_secret"] = grant.client_secret
        return httpx2.Request("POST", grant.token_endpoint, data=form)
    proof = httpx2.BasicAuth(quote(grant.client_id, safe=""), quote(grant.client_secret, safe=""))
    return next(proof.auth_flow(httpx2.Request("POST", grant.token_endpoint, data=form)))


def _granted(old: Grant, response: httpx2.Response) -> Grant | None:
    """What the answer grants; what it does not mention stays as it was."""
    try:
        answer = msgspec.json.decode(response.content, type=_Answer)
    except msgspec.MsgspecError:
        return None
    if not response.is_success:
        return None
    expires_at = None if answer.expires_in is None else time.time() + answer.expires_in
    refresh_token = answer.refresh_token or old.refresh_token
    return msgspec.structs.replace(
        old, access_token=answer.access_token, refresh_token=refresh_token, expires_at=expires_at
    )


class _Answer(msgspec.Struct):
    access_token: str
    expires_in: float | None = None
    refresh_token: str | None = None

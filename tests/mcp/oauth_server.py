"""A server that wants its users to sign in, and the place where they do: both on one port here, with the SDK.

Prints its address, then a line for each thing that happens: `registered`, `asked`, `traded`, `renewed`. Arguments:
`sse` (the old way over HTTP), `refuse` (nobody may), `closed` (no program may register itself), `for good` (`lock`
forgets what renews tokens, too).
"""

from __future__ import annotations

import secrets
import socket
import sys
import time

import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl, AnyUrl


class AnyPort(OAuthClientInformationFull):
    """Its browser may come back to any port of this machine, see RFC 8252."""

    def validate_redirect_uri(self, redirect_uri: AnyUrl | None) -> AnyUrl:
        assert redirect_uri is not None and redirect_uri.host == "127.0.0.1"
        return redirect_uri


KNOWN = AnyPort(
    client_id="known-beforehand",
    client_secret="the-secret-of-the-application",
    redirect_uris=[AnyUrl("http://127.0.0.1/callback")],
    token_endpoint_auth_method="client_secret_post",
)


def say(*words: str) -> None:
    print(*words, flush=True)


class Office(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Keeps everything in memory, and lets everybody in without asking."""

    def __init__(self, how: list[str]) -> None:
        self._how = how
        self._clients = {KNOWN.client_id: KNOWN}
        self._codes: dict[str, AuthorizationCode] = {}
        self._access: dict[str, AccessToken] = {}
        self._refresh: dict[str, RefreshToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self._clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        say("registered", *(str(uri) for uri in client_info.redirect_uris or ()))
        self._clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        say("asked")
        back = str(params.redirect_uri)
        if "refuse" in self._how:
            return construct_redirect_uri(back, error="access_denied", error_description="Not you.", state=params.state)
        code = AuthorizationCode(
            code=secrets.token_urlsafe(),
            client_id=client.client_id,
            scopes=params.scopes or [],
            expires_at=time.time() + 600,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self._codes[code.code] = code
        return construct_redirect_uri(back, code=code.code, state=params.state)

    async def load_authorization_code(self, client: OAuthClientInformationFull, code: str) -> AuthorizationCode | None:
        return self._codes.get(code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, code: AuthorizationCode
    ) -> OAuthToken:
        say("traded")
        del self._codes[code.code]
        return self._tokens(client, code.scopes, code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, token: str) -> RefreshToken | None:
        return self._refresh.get(token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        say("renewed")
        del self._refresh[token.token]  # good for once
        return self._tokens(client, scopes, None)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self._access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self._access.pop(token.token, None)
        self._refresh.pop(token.token, None)

    def _tokens(self, client: OAuthClientInformationFull, scopes: list[str], resource: str | None) -> OAuthToken:
        access, refresh = secrets.token_urlsafe(), secrets.token_urlsafe()
        self._access[access] = AccessToken(
            token=access, client_id=client.client_id, scopes=scopes, resource=resource, expires_at=None
        )
        self._refresh[refresh] = RefreshToken(token=refresh, client_id=client.client_id, scopes=scopes)
        return OAuthToken(access_token=access, refresh_token=refresh, expires_in=3600, scope=" ".join(scopes) or None)


def main(how: list[str]) -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    office = Office(how)
    server = MCPServer(
        "behind a door",
        auth_server_provider=office,
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(address),
            resource_server_url=AnyHttpUrl(f"{address}/{'sse' if 'sse' in how else 'mcp'}"),
            client_registration_options=ClientRegistrationOptions(enabled="closed" not in how),
            validate_token_resource=False,
        ),
    )

    @server.tool()
    def add(a: int, b: int) -> str:
        """Adds two numbers."""
        return str(a + b)

    @server.tool()
    def lock() -> str:
        """From now on nobody who is known so far is let in."""
        office._access.clear()
        if "for good" in how:
            office._refresh.clear()
        return "locked"

    say(address)
    app = server.sse_app() if "sse" in how else server.streamable_http_app()
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listening])


if __name__ == "__main__":
    main(sys.argv[1:])

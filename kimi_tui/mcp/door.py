"""The sign-in to one server: whether it is wanted, where it takes place, and what is kept of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kimi_tui.faults import Fault
from kimi_tui.mcp.callback import Callback
from kimi_tui.mcp.config import ServerConfig
from kimi_tui.mcp.faults import McpFault
from kimi_tui.mcp.grants import Grants
from kimi_tui.mcp.wire import load

LONGEST = 900.0
"""Seconds that the user has."""


class Door:
    """`changed` is called when the address is known, and when it is no longer of use."""

    def __init__(self, config: ServerConfig, grants: Grants, changed: Callable[[], None]) -> None:
        self._config, self._grants, self._changed = config, grants, changed
        self.address = ""
        """Where the user signs in, while that is waited for."""
        self._callback: Callback | None = None
        self._waiting: asyncio.Task[object] | None = None

    @property
    def signed_in(self) -> bool:
        return self._config.takes_sign_in and self._grants.of(self._config) is not None

    @property
    def secrets(self) -> tuple[str, ...]:
        """Texts that must not be shown."""
        grant = self._grants.of(self._config) if self._config.takes_sign_in else None
        return (*self._config.secrets, *(grant.secrets if grant else ()))

    def opens_for(self, asked_for: str | None) -> bool:
        """Whether a sign-in is what helps when a server has let nobody in, and asked for this."""
        if asked_for is None or not self._config.takes_sign_in:
            return False
        return self._config.auth == "oauth" or "resource_metadata" in asked_for or self.signed_in

    async def sign_in(self) -> None:
        """Returns when the user has. Raises McpFault."""
        if not self._config.takes_sign_in:
            raise McpFault(f"{self._config.name} takes no sign-in: it is a program, or a key is given for it")
        await self.give_up()
        self._waiting = asyncio.current_task()
        try:
            async with asyncio.timeout(LONGEST), Callback(self._config.callback_port) as self._callback:
                await self._signed(self._callback)
        except TimeoutError:
            raise McpFault(f"nobody signed in within {LONGEST / 60:g} minutes") from None
        except OSError as fault:
            raise McpFault(f"the browser cannot come back to this machine: {fault.strerror or fault}") from None
        finally:
            self._waiting = self._callback = None
            self._tell("")

    async def _signed(self, callback: Callback) -> None:
        await asyncio.to_thread(load, "kimi_tui.mcp.signing")
        from kimi_tui.mcp.signing import sign_in

        grant = await sign_in(self._config, callback, self._tell)
        try:
            self._grants.keep(self._config, grant)
        except (OSError, Fault) as fault:
            raise McpFault(f"the sign-in cannot be kept: {fault}") from None

    def take(self, address: str) -> None:
        """Where the browser ended up, when it could not come back by itself. Raises McpFault."""
        if self._callback is None:
            raise McpFault(f"nobody is signing in to {self._config.name}")
        self._callback.take(address)

    async def give_up(self) -> None:
        """Stop a sign-in that is under way."""
        if self._waiting is not None:
            self._waiting.cancel()
            await asyncio.wait({self._waiting})

    async def sign_out(self) -> bool:
        """Forget the sign-in. False when none was kept."""
        await self.give_up()
        return self._grants.forget(self._config)

    def _tell(self, address: str) -> None:
        self.address = address
        self._changed()

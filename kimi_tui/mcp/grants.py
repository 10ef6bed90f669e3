"""What the user's sign-in to a server gave, on the disk: a file of its own for each address, for its owner alone.

Loads no SDK. Every process reads the newest: one that finds its token refused may find that another has renewed it.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from kimi_tui.mcp.config import ServerConfig
from kimi_tui.places import make_private

LEEWAY = 5.0
"""Seconds before its end at which a token is renewed."""
BREATH = 0.05
"""Seconds between two looks whether another process is done with renewing."""


class Grant(msgspec.Struct, frozen=True, omit_defaults=True):
    """The right to speak to a server, and how it is renewed. Never shown and never logged."""

    access_token: str
    token_endpoint: str
    client_id: str
    refresh_token: str = ""
    client_secret: str = ""
    auth_method: str = "none"
    """How the client proves itself where tokens are given out: `none`, `client_secret_post`, `client_secret_basic`."""
    resource: str = ""
    """What the token is for, where that has to be said."""
    expires_at: float | None = None
    """Seconds since the epoch; None: not known."""

    def is_over(self, now: float) -> bool:
        return self.expires_at is not None and now > self.expires_at - LEEWAY

    @property
    def secrets(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.access_token, self.refresh_token, self.client_secret)))


class Grants:
    """The folder of them. A server is known by name and address: a token is never sent to another address."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, config: ServerConfig) -> Grant | None:
        """None when there is none, or none that can be read."""
        try:
            return msgspec.json.decode(self._file(config).read_bytes(), type=Grant)
        except (OSError, msgspec.MsgspecError, ValueError):
            return None

    def keep(self, config: ServerConfig, grant: Grant) -> None:
        """Raises OSError."""
        file = self._file(config)
        make_private(file.parent)
        new = file.with_suffix(f".{os.getpid()}.new")
        with contextlib.suppress(FileNotFoundError):
            new.unlink()
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as written:
            written.write(msgspec.json.encode(grant))
        new.replace(file)

    def forget(self, config: ServerConfig) -> bool:
        """False when there was none."""
        try:
            self._file(config).unlink()
        except FileNotFoundError:
            return False
        return True

    @asynccontextmanager
    async def renewing(self, config: ServerConfig) -> AsyncGenerator[None, None]:
        """While this is held no other process renews it: a refresh token is often good for once only."""
        file = self._file(config)
        make_private(file.parent)
        lock = FileLock(file.with_suffix(".lock"))
        while True:  # in this very thread: the lock belongs to the thread that has taken it
            try:
                lock.acquire(blocking=False)
                break
            except Timeout:
                await asyncio.sleep(BREATH)
        try:
            yield
        finally:
            lock.release()

    def _file(self, config: ServerConfig) -> Path:
        word = re.sub(r"[^A-Za-z0-9_-]", "_", config.name)[:40]
        digest = hashlib.sha256(f"{config.name}\0{config.url}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return self._folder / f"{word}-{digest}.json"

"""Which servers there are: from `[mcp.<name>]` of the config, and from `mcp.json` as other programs write it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import SecretStr, ValidationError

from kimi_tui.mcp.faults import masked
from kimi_tui.settings import McpSettings

Transport = Literal["stdio", "http", "sse"]

_SPELLINGS = {"streamable-http": "http", "streamable_http": "http", "streamablehttp": "http"}
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """A server, ready to be connected to. `env`, `headers`, `args` and `url` may hold secrets."""

    name: str
    transport: Transport
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str = ""
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    auth: str = ""
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    callback_port: int = 0
    timeout: float = 120.0
    startup_timeout: float = 60.0
    disabled: bool = False

    @property
    def target(self) -> str:
        """Where it is: the program's name, or the address without what stands around it."""
        if self.command:
            return Path(self.command).name
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"

    @property
    def shown_target(self) -> str:
        """The same, without anything that is a secret elsewhere."""
        return masked(self.target, self.secrets)

    @property
    def takes_sign_in(self) -> bool:
        """The user may sign in: it is reached over HTTP, and no key is given for it."""
        return self.transport != "stdio" and not any(name.lower() == "authorization" for name in self.headers)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Texts that must not be shown: long enough to be a secret at all."""
        values = [
            *self.env.values(),
            *self.headers.values(),
            self.client_secret,
            *(word for value in self.headers.values() for word in value.split()),
        ]
        values += [value for pair in urlsplit(self.url).query.split("&") for value in pair.split("=")[1:]]
        return tuple(sorted({value for value in values if len(value) >= 6}, key=len, reverse=True))


def read_servers(settings: Mapping[str, McpSettings], file: Path) -> tuple[list[ServerConfig], list[str]]:
    """All servers, those of the config first, and what was wrong with the file: one line each."""
    listed, notices = _file(file)
    servers = {**listed, **settings}
    notices += [line for name, server in servers.items() if not server.disabled for line in _missing(name, server)]
    return [_resolved(name, server) for name, server in servers.items()], notices


def _missing(name: str, server: McpSettings) -> list[str]:
    """A line for variables that are asked for and not set: an empty key is refused in words that do not help."""
    secrets = [*server.env.values(), *server.headers.values(), server.client_secret]
    texts = [
        server.command,
        server.url,
        server.client_id,
        *server.args,
        *(secret.get_secret_value() for secret in secrets),
    ]
    wanted = (match for text in texts for match in _VARIABLE.finditer(text))
    unset = dict.fromkeys(match[1] for match in wanted if match[2] is None and match[1] not in os.environ)
    return [f"the MCP server {name} wants the variable {', '.join(unset)}, which is not set"] if unset else []


def _file(file: Path) -> tuple[dict[str, McpSettings], list[str]]:
    try:
        content = json.loads(file.read_text("utf-8-sig"))
    except FileNotFoundError:
        return {}, []
    except (OSError, ValueError, RecursionError) as fault:
        return {}, [f"{file} cannot be read and is left out: {fault}"]
    servers = content.get("mcpServers") if isinstance(content, dict) else None
    if not isinstance(servers, dict):
        return {}, [f"{file} is left out: it has no table mcpServers"]
    found: dict[str, McpSettings] = {}
    notices = []
    for name, entry in servers.items():
        try:
            found[name] = McpSettings.model_validate(_known(entry))
        except ValidationError as fault:
            notices.append(f"{file}: the server {name} is left out: {_told(fault)}")
    return found, notices


def _known(entry: Any) -> Any:
    """`type` and its spellings, as other programs write them."""
    if not isinstance(entry, dict):
        return entry
    kind = entry.get("transport", entry.get("type", ""))
    spelled = _SPELLINGS.get(kind.lower(), kind.lower()) if isinstance(kind, str) else kind
    return {**entry, "transport": spelled}


def _told(fault: ValidationError) -> str:
    """What is wrong, without the value: it may be a secret."""
    first = fault.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"].removeprefix("Value error, ")


def _resolved(name: str, server: McpSettings) -> ServerConfig:
    transport: Transport = server.transport or ("stdio" if server.command else "http")
    return ServerConfig(
        name=name,
        transport=transport,
        command=_home(_filled(server.command)),
        args=tuple(map(_filled, server.args)),
        env=_opened(server.env),
        cwd=_home(server.cwd),
        url=_filled(server.url),
        headers=_opened(server.headers),
        auth=server.auth,
        client_id=_filled(server.client_id),
        client_secret=_filled(server.client_secret.get_secret_value()),
        callback_port=server.callback_port,
        timeout=server.timeout,
        startup_timeout=server.startup_timeout,
        disabled=server.disabled,
    )


def _home(path: str) -> str:
    return str(Path(path).expanduser()) if path.startswith("~") else path


def _opened(secrets: Mapping[str, SecretStr]) -> dict[str, str]:
    return {name: _filled(value.get_secret_value()) for name, value in secrets.items()}


def _filled(text: str) -> str:
    """`${NAME}` and `${NAME:-otherwise}` replaced from the environment."""
    return _VARIABLE.sub(lambda match: os.environ.get(match[1], match[2] or ""), text)

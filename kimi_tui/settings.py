"""The effective configuration: flags, then the environment, the project, the user's file, the defaults.

The names are those of the configuration file and stay stable. `load_settings` is the only way in; the result knows of
every value where it came from. This loads pydantic: nothing that must be quick imports it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from kimi_tui import places
from kimi_tui.config_file import ConfigFault, Keys, fault_in, line_of
from kimi_tui.config_layers import Layer, dotted, file_layer, flags_layer, holds, merge, only_project_keys
from kimi_tui.options import LaunchOptions
from kimi_tui.sizes import bytes_in
from kimi_tui.unknown_keys import unknown_keys

HookEvent = Literal[
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "Stop",
    "StopFailure",
    "SessionStart",
    "SessionEnd",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "Notification",
]

EMBEDDED = "local"
"""The model that needs neither key nor network."""

BY_KEY = {
    "MOONSHOT_API_KEY": "moonshot/kimi-k2-turbo-preview",
    "ANTHROPIC_API_KEY": "anthropic/claude-sonnet-4-5",
    "OPENAI_API_KEY": "openai/gpt-5",
}
"""With a key in the environment and no model named anywhere: the first provider of these that has one."""


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return text


Pattern = Annotated[str, AfterValidator(_pattern)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ModelSettings(_Table):
    """A model under a name of the user's."""

    model: str = ""
    """A litellm model string, or an embedded model's name; the table's own name when left out."""
    api_base: str | None = None
    api_key: SecretStr | None = None
    """Better kept in the environment, as litellm names it."""
    context_window: int | None = Field(default=None, gt=0)
    """Tokens; asked from the provider's data when left out."""
    max_output_tokens: int | None = Field(default=None, gt=0)
    headers: dict[str, SecretStr] = {}


class LoopSettings(_Table):
    max_steps_per_turn: int = Field(default=1000, gt=0)
    max_retries_per_step: int = Field(default=3, ge=0)
    max_ralph_iterations: int = Field(default=0, ge=-1)
    """-1: no limit."""
    max_ralph_cost: float | None = Field(default=None, gt=0)
    """US dollars that one Ralph loop may spend, where the provider's price is known."""
    reserved_context_size: int = Field(default=50_000, ge=0)
    """Tokens kept free for the reply; capped for small windows."""
    compaction_trigger_ratio: float = Field(default=0.85, gt=0, le=1)
    dmail_restores_files: bool = False
    """A D-Mail also puts the files back to what they were at its checkpoint."""


class CompactionSettings(_Table):
    model: str = ""
    """Who writes the summary; empty: the model of the chat."""
    preview: bool = False
    """Show the summary for editing before anything changes."""
    warn_ratio: float = Field(default=0.85, gt=0, le=1)
    """Share of the trigger at which a coming compaction is announced; 1: never."""
    max_preserved_messages: int = Field(default=2, ge=1)


class HookSettings(_Table):
    """A shell command that gets the event as JSON on its standard input."""

    event: HookEvent
    command: str = Field(min_length=1)
    matcher: Pattern = ""
    """A regular expression on the tool's name (or the event's own subject); empty: always."""
    timeout: float = Field(default=30.0, gt=0, le=3600)
    """Seconds."""


class AllowRule(_Table):
    """An approval given in advance."""

    tool: str = Field(min_length=1)
    pattern: str = ""
    """What the call's subject must match; empty: anything."""


class McpSettings(_Table):
    """A server of tools: a program that is started, or an address."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, SecretStr] = {}
    """Added to a few harmless variables; `${NAME}` stands for one of this program's own."""
    cwd: str = ""
    """Where the program is started; the work folder when left out."""
    url: str = ""
    headers: dict[str, SecretStr] = {}
    transport: Literal["", "stdio", "http", "sse"] = ""
    """How to speak to it; found out from what is given when left out. `sse` is the old way over HTTP."""
    auth: Literal["", "oauth"] = ""
    """`oauth`: the user signs in with a browser. Left out, a server over HTTP that asks for that gets it, too."""
    client_id: str = ""
    """Of an application that was registered with the server beforehand; most need none."""
    client_secret: SecretStr = SecretStr("")
    callback_port: int = Field(default=0, ge=0, le=65535)
    """Where on this machine the browser comes back to, for such an application; 0: any free port."""
    timeout: float = Field(default=120.0, gt=0, le=3600)
    """Seconds that one call may take."""
    startup_timeout: float = Field(default=60.0, gt=0, le=3600)
    """Seconds until it must have told its tools."""
    disabled: bool = False

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError("either a command or a url is needed, and not both")
        if self.transport and (self.transport == "stdio") != bool(self.command):
            raise ValueError(f"transport {self.transport!r} does not go with what is given")
        if self.auth and not self.url:
            raise ValueError(f"auth {self.auth!r} is for servers with a url")
        return self


class UiSettings(_Table):
    theme: str = ""
    keys: dict[str, str] = {}
    notifications: bool = True
    plain: bool = False
    ascii: bool = False
    images: Literal["auto", "kitty", "blocks", "off"] = "auto"


class StorageSettings(_Table):
    durability: Literal["step", "always", "off"] = "step"
    """When records are forced to the disk: before tools that change things and at the end of a step; always; never."""


def _size(text: str) -> str:
    bytes_in(text)
    return text


class RetentionSettings(_Table):
    """Budget of one session's rotated files. The newest and the pinned ones always stay."""

    policy: Literal["ask", "auto", "off"] = "ask"
    """What happens when there are more: a word about it; old ones are compressed and removed; nothing."""
    max_rotations: int = Field(default=20, ge=1)
    max_size: Annotated[str, AfterValidator(_size)] = "200MB"
    """Of all of them together."""
    keep_last: int = Field(default=3, ge=3)
    """So many of the newest are never touched."""
    compress_after: int = Field(default=5, ge=0)
    """So many of the newest stay uncompressed."""


class SnapshotSettings(_Table):
    enabled: bool = True
    """Record the work dir's files around each step, so that they can be put back."""
    keep_days: int = Field(default=30, ge=1)
    max_file_megabytes: int = Field(default=5, ge=1)
    """Larger files are left out."""
    max_files: int = Field(default=100_000, ge=1)
    """In folders with more, nothing is recorded."""


class Settings(BaseSettings):
    """Everything that can be configured. Made by `load_settings`."""

    model_config = SettingsConfigDict(
        env_prefix="KIMI_TUI_", env_nested_delimiter="__", extra="ignore", frozen=True, env_ignore_empty=True
    )

    default_model: str = ""
    """A name from `models`, a litellm model string, or an embedded model. Empty: see `chosen_model`."""
    models: dict[str, ModelSettings] = {}
    loop: LoopSettings = LoopSettings()
    compaction: CompactionSettings = CompactionSettings()
    hooks: tuple[HookSettings, ...] = ()
    allow: tuple[AllowRule, ...] = ()
    mcp: dict[str, McpSettings] = {}
    """Servers of tools, by name; further ones may stand in `mcp.json` of the data folder."""
    ui: UiSettings = UiSettings()
    storage: StorageSettings = StorageSettings()
    retention: RetentionSettings = RetentionSettings()
    snapshots: SnapshotSettings = SnapshotSettings()

    _layers: tuple[Layer, ...] = PrivateAttr(default=())
    _notices: tuple[str, ...] = PrivateAttr(default=())

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *_: Any, **__: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """`load_settings` has merged the layers already; nothing is read a second time."""
        return (init_settings,)

    @property
    def notices(self) -> tuple[str, ...]:
        """What the user should know: keys that mean nothing, or that a project may not set. One line each."""
        return self._notices

    @property
    def chosen_model(self) -> str:
        """The model to start with: the configured one, else by a key in the environment, else the embedded one."""
        if self.default_model:
            return self.default_model
        return next((model for key, model in BY_KEY.items() if os.environ.get(key)), EMBEDDED)

    def model_named(self, name: str) -> ModelSettings:
        """The settings of a model: configured under that name, or the name is a model string itself."""
        found = self.models.get(name, ModelSettings())
        return found if found.model else found.model_copy(update={"model": name})

    def origin(self, keys: Keys) -> str:
        """Where a value came from: `--model`, `KIMI_TUI_…`, `…/config.toml, line 4`, or `default`."""
        return next((layer.where(keys) for layer in self._layers if holds(layer, keys)), "default")


def load_settings(options: LaunchOptions) -> Settings:
    """Read and check everything. Raises `ConfigFault`: one line with file, line and key."""
    user = file_layer(_user_file(options))
    project, notices = _project_layer(options, tuple(_checked((user,)).models))
    rest = (_environment(), project, user)
    model = options.model or _checked(rest).chosen_model
    if options.api_base and model == EMBEDDED:
        raise ConfigFault("--api-base needs to know the model.", hint="Name it: -m MODEL.")
    settings = _checked((flags_layer(options, model), *rest))
    settings._notices = (*notices, *unknown_keys(user, Settings))
    return settings


def _user_file(options: LaunchOptions) -> Path:
    file = options.config_file
    if file is not None and not file.is_file():
        raise ConfigFault(f"no configuration file {file}")
    return file or places.config_file()


def _project_layer(options: LaunchOptions, known_models: tuple[str, ...]) -> tuple[Layer, list[str]]:
    """The project's file, harmless keys only. A broken one is told and left out: it is not the user's own."""
    file = places.project_config_file(options.work_dir)
    try:
        layer, refused = only_project_keys(file_layer(file), known_models)
        _checked((layer,))
    except ConfigFault as fault:
        return Layer("project", {}), [f"left out: {fault}"]
    return layer, [f"{file}: a project may not set {key}; left out" for key in refused]


def _environment() -> Layer:
    try:
        return Layer("environment", EnvSettingsSource(Settings)(), labels=_variables())
    except SettingsError as error:
        raise ConfigFault(f"environment: {error}") from error


def _variables() -> dict[Keys, str]:
    names = [name for name in os.environ if name.upper().startswith("KIMI_TUI_")]
    return {tuple(name.lower().removeprefix("kimi_tui_").split("__")): f"${name}" for name in names}


def _checked(layers: tuple[Layer, ...]) -> Settings:
    merged: dict[str, Any] = {}
    for layer in reversed(layers):
        merged = merge(merged, layer.values)
    try:
        settings = Settings(**merged)
    except ValidationError as error:
        raise _fault(layers, error) from error
    settings._layers = layers
    return settings


def _fault(layers: tuple[Layer, ...], error: ValidationError) -> ConfigFault:
    """The first thing that is wrong. The value itself is not repeated: it may be a key."""
    first = error.errors(include_url=False, include_input=False)[0]
    keys: Keys = tuple(first["loc"])
    what = first["msg"].removeprefix("Value error, ")
    said = f"{dotted(keys)}: {what[:1].lower()}{what[1:]}"
    layer = _source(layers, keys)
    if layer.file is not None:
        return fault_in(layer.file, line_of(layer.text, keys), said)
    return ConfigFault(f"{layer.where(keys)}: {said}")


def _source(layers: tuple[Layer, ...], keys: Keys) -> Layer:
    """The layer that holds the value, or (a key is missing) the table around it."""
    for length in range(len(keys), 0, -1):
        for layer in layers:
            if holds(layer, keys[:length]):
                return layer
    return layers[-1]

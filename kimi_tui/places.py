"""Where things live: `$KIMI_TUI_HOME` for all of them when it is set, else the platform's own folders."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from kimi_tui.faults import Fault

APP = "kimi-tui"


def _home() -> Path | None:
    value = os.environ.get("KIMI_TUI_HOME", "")
    return Path(value).expanduser().absolute() if value.strip() else None


def data_folder() -> Path:
    """Sessions, skills, models, logs. Not created here."""
    if home := _home():
        return home
    from platformdirs import user_data_path

    return user_data_path(APP, appauthor=False)


def config_file() -> Path:
    """The user's own `config.toml`; it need not exist."""
    if home := _home():
        return home / "config.toml"
    from platformdirs import user_config_path

    return user_config_path(APP, appauthor=False) / "config.toml"


def project_config_file(work_dir: Path) -> Path:
    """The folder's `config.toml`: comes with the code, so only a few harmless keys of it count."""
    return work_dir / ".kimi" / "config.toml"


def sessions_folder() -> Path:
    return data_folder() / "sessions"


def logs_folder() -> Path:
    return data_folder() / "logs"


def models_folder() -> Path:
    return data_folder() / "models"


def grants_folder() -> Path:
    """What signing in to servers of tools gave; secret."""
    return data_folder() / "mcp"


def mcp_file() -> Path:
    return data_folder() / "mcp.json"


def make_private(folder: Path) -> Path:
    """Create the folder, readable by its owner alone. Raises `Fault` with the path when that cannot be done."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    return folder


def require_writable(folder: Path) -> None:
    """Raise `Fault` unless files can be made in the folder: better said at the start than at the first message."""
    make_private(folder)
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise unwritable(folder, error) from error


def unwritable(folder: Path, error: OSError) -> Fault:
    return Fault(
        f"cannot write to {folder}: {error.strerror or error}",
        hint="Make it writable, or set KIMI_TUI_HOME to a folder that is.",
    )

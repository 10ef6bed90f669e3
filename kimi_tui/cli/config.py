"""`kimi-tui config`: the effective configuration as TOML, each value with its origin, keys struck out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel, SecretStr

from kimi_tui.config_file import Keys
from kimi_tui.config_layers import dotted
from kimi_tui.literal import literal
from kimi_tui.options import LaunchOptions
from kimi_tui.places import config_file, data_folder, logs_folder, project_config_file
from kimi_tui.settings import Settings, load_settings

MASK = "********"


@click.command("config")
@click.option("-w", "--work-dir", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Default: here.")
@click.option("--config-file", "file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def command(work_dir: Path | None, file: Path | None) -> None:
    """Show the effective configuration (keys struck out) and where each value comes from."""
    options = LaunchOptions(work_dir=(work_dir or Path.cwd()).absolute(), config_file=file)
    settings = load_settings(options)
    for line in (*_places(options), *_notices(settings), "", *_values(settings)):
        print(literal(line))


def _places(options: LaunchOptions) -> Iterator[str]:
    user, project = options.config_file or config_file(), project_config_file(options.work_dir)
    yield f"# configuration  {user}{'' if user.is_file() else '  (none)'}"
    yield f"# project        {project}{'' if project.is_file() else '  (none)'}"
    yield f"# data           {data_folder()}"
    yield f"# logs           {logs_folder()}"


def _notices(settings: Settings) -> Iterator[str]:
    yield from (f"# note: {notice}" for notice in settings.notices)
    if not settings.default_model:
        yield f"# no model is configured: {settings.chosen_model} is used"
    yield from (f"# {name} is set in the environment" for name in sorted(os.environ) if name.endswith("_API_KEY"))


def _values(settings: Settings) -> Iterator[str]:
    for keys, value in _leaves(settings, ()):
        yield f"{dotted(keys)} = {_shown(value)}  # {settings.origin(keys)}"


def _leaves(value: Any, keys: Keys) -> Iterator[tuple[Keys, Any]]:
    """Every single value with its keys, in the order of the shapes; values that are not set are left out."""
    if isinstance(value, BaseModel):
        value = {name: getattr(value, name) for name in type(value).model_fields}
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, (*keys, key))
    elif isinstance(value, tuple) and value:
        for index, inner in enumerate(value):
            yield from _leaves(inner, (*keys, index))
    elif value is not None:
        yield keys, value


def _shown(value: Any) -> str:
    if isinstance(value, SecretStr):
        value = MASK
    if isinstance(value, dict):
        return "{}"
    return json.dumps(value, ensure_ascii=False)

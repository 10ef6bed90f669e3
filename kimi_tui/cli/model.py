"""`kimi-tui model`: the embedded models and their weights."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import click

from kimi_tui.cli.progress import Progress, size
from kimi_tui.faults import Fault
from kimi_tui.literal import padded
from kimi_tui.llm import weights
from kimi_tui.llm.model import ModelFault
from kimi_tui.places import data_folder, logs_folder, models_folder, require_writable


@click.group("model", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """The embedded models, which need neither key nor network, and their weights on this machine."""


@command.command("list")
def list_them() -> None:
    """Show which there are, and what of them is on the disk."""
    for item in weights.list_models(data_folder()):
        print(f"{padded(item.name, 12)} {size(item.size):>8}  {_presence(item)}")


@command.command("pull")
@click.argument("name", default="local")
def pull(name: str) -> int:
    """Fetch the weights of NAME (local when left out); goes on where an earlier try stopped."""
    with _faults_in_a_line():
        if weights.is_present(data_folder(), name):
            print(f"{name} is here: {weights.path_of(data_folder(), name)}")
            return 0
        require_writable(models_folder())
        progress = Progress()
        try:
            path = asyncio.run(weights.fetch(data_folder(), logs_folder(), name, partial(progress.show, name)))
        except KeyboardInterrupt:
            progress.end()
            print(f"kimi-tui: stopped; what has arrived is kept: kimi-tui model pull {name}", file=sys.stderr)
            return 130
        finally:
            progress.end()
    print(path)
    return 0


@command.command("remove")
@click.argument("name")
def remove(name: str) -> None:
    """Delete the weights of NAME from the disk."""
    with _faults_in_a_line():
        freed = weights.remove(data_folder(), name)
    print(f"{name}: {size(freed)} freed" if freed else f"{name} was not on the disk")


@contextmanager
def _faults_in_a_line() -> Iterator[None]:
    try:
        yield
    except ModelFault as fault:
        raise Fault(str(fault), hint=fault.hint) from fault
    except OSError as error:
        raise Fault(f"{error.filename or models_folder()}: {error.strerror or error}") from error


def _presence(item: weights.WeightsOnDisk) -> str:
    if item.present:
        return f"here: {item.path}"
    return f"{size(item.arrived)} of it here" if item.arrived else "not here"

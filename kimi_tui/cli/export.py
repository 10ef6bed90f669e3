"""`kimi-tui export`: a conversation to read, to keep, or to work on with other programs."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from kimi_tui.cli.reading import named, read_projection
from kimi_tui.faults import Fault
from kimi_tui.session.export import ExportFormat, conversation_of, render
from kimi_tui.session.state import write_atomically


@click.command("export")
@click.argument("path")
@click.option("--format", "form", type=click.Choice(["md", "json", "html"]), default=None, help="Default: md.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Default: standard output.")
def command(path: str, form: ExportFormat | None, output: Path | None) -> None:
    """Write out the conversation of PATH: a session folder, one of its context files, or a session id."""
    source = named(path)
    projection = read_projection(source.session.folder, source.file)
    conversation = conversation_of(
        projection.history,
        title=source.title,
        source=str(source.session.folder / source.file),
        work_dir=source.work_dir,
        tokens=projection.tokens,
    )
    text = render(conversation, form or _form_of(output))
    if output is None:
        sys.stdout.write(text)
    else:
        _write(output, text)


def _form_of(output: Path | None) -> ExportFormat:
    match output.suffix.lower() if output else "":
        case ".html" | ".htm":
            return "html"
        case ".json":
            return "json"
    return "md"


def _write(output: Path, text: str) -> None:
    try:
        write_atomically(output, text)
    except OSError as error:
        raise Fault(f"cannot write {output}: {error.strerror or error}") from error

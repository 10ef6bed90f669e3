"""The command without a name: the screen, or with `-p` one turn without it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from kimi_tui import __version__
from kimi_tui.cli.main import SUBCOMMANDS
from kimi_tui.config_file import read_ui_options
from kimi_tui.options import LaunchOptions
from kimi_tui.places import config_file, require_writable, sessions_folder

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_PATH = click.Path(path_type=Path)


class _WithSubcommands(click.Command):
    """Its help names the subcommands too."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Subcommands (the first word decides; after -- it is a PROMPT)"):
            formatter.write_dl([(name, text) for name, text in SUBCOMMANDS.items()])


@dataclass(frozen=True, slots=True)
class _Said:
    """What was said beside the options that the agent gets."""

    words: tuple[str, ...]
    print_prompt: str | None
    output_format: str
    plain: bool


@click.command("kimi-tui", cls=_WithSubcommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("words", metavar="[PROMPT]", nargs=-1)
@click.option("-C", "--continue", "continue_last", is_flag=True, help="Go on with this folder's last session.")
@click.option("-r", "--resume", metavar="[ID]", is_flag=False, flag_value="", help="Pick a session, or name one.")
@click.option("-S", "--session", metavar="PATH", type=_PATH, help="Work in place on a folder with a context.jsonl.")
@click.option("-w", "--work-dir", metavar="DIR", type=_FOLDER, help="Where the agent works. Default: here.")
@click.option("--add-dir", "add_dirs", metavar="DIR", type=_FOLDER, multiple=True, help="A further allowed folder.")
@click.option("-m", "--model", metavar="NAME", help="A litellm model string, a configured name, local, replay:FILE.")
@click.option("--api-base", metavar="URL", help="The endpoint, in place of the provider's own.")
@click.option("--context-window", metavar="N", type=click.IntRange(min=1), help="The model's window, in tokens.")
@click.option("-p", "--print", "print_prompt", metavar="[PROMPT]", is_flag=False, flag_value="", help="No screen.")
@click.option("--output-format", type=click.Choice(["text", "json", "stream-json"]), default=None, help="With -p.")
@click.option("--plain", is_flag=True, help="Lines instead of a screen: for screen readers and simple terminals.")
@click.option("--yolo", is_flag=True, help="Approve everything.")
@click.option("--afk", is_flag=True, help="Nobody is there to be asked.")
@click.option("--plan", is_flag=True, help="Start in plan mode.")
@click.option("--max-ralph-iterations", metavar="N", type=click.IntRange(min=-1), help="-1: no limit.")
@click.option("--max-steps", metavar="N", type=click.IntRange(min=1), help="Steps in one turn.")
@click.option("--config-file", metavar="FILE", type=_FILE, help="In place of the default configuration.")
@click.version_option(__version__, "--version", prog_name="kimi-tui", message="%(prog)s %(version)s")
def command(
    words: tuple[str, ...], print_prompt: str | None, output_format: str | None, plain: bool, **flags: Any
) -> int:
    """A terminal coding agent whose memory you can see, rewind and repair."""
    if output_format and print_prompt is None:
        raise click.UsageError("--output-format goes with --print.")
    if plain and print_prompt is not None:
        raise click.UsageError("--plain talks, --print does not: only one of them can be meant.")
    said = _Said(words, print_prompt, output_format or "text", plain)
    return _print(said, flags) if print_prompt is not None else _talk(said, flags)


def _talk(said: _Said, flags: dict[str, Any]) -> int:
    """On the screen; in lines where that is wanted, or all that the terminal can do."""
    dumb = os.environ.get("TERM") == "dumb"
    prompt = " ".join(said.words) or None
    if said.plain or dumb or read_ui_options(flags["config_file"] or config_file()).plain:
        from kimi_tui.cli import plain_mode
        from kimi_tui.cli.plain.console import require_keyboard

        require_keyboard()
        return plain_mode.run(_options(flags, prompt), hello=plain_mode.DUMB if dumb else plain_mode.HELLO)
    from kimi_tui.cli import screen

    screen.require_terminal()
    return screen.run(_options(flags, prompt))


def _print(said: _Said, flags: dict[str, Any]) -> int:
    if flags["resume"] == "":
        raise click.UsageError("--print cannot show the picker: name the session, --resume ID.")
    prompt = _printed_prompt(said)
    from kimi_tui.cli import print_mode

    options = replace(_options(flags, prompt), headless=True)
    return print_mode.run(options, prompt, said.output_format)


def _printed_prompt(said: _Said) -> str:
    """The prompt of `-p`: its own value, the words, or standard input."""
    given = " ".join(filter(None, (said.print_prompt, *said.words)))
    if given not in ("", "-"):
        return given
    if sys.stdin is None or sys.stdin.isatty():
        raise click.UsageError("--print needs a prompt: as its value, or on standard input.")
    text = sys.stdin.buffer.read().decode("utf-8", "replace").strip()
    if not text:
        raise click.UsageError("--print got an empty prompt on standard input.")
    return text


def _options(flags: dict[str, Any], prompt: str | None) -> LaunchOptions:
    """Checks what can be checked before anything heavy is loaded: a session that is not there is told at once."""
    from kimi_tui.session import choose_session

    named = [name for name in ("continue_last", "resume", "session") if flags[name] not in (None, False)]
    if len(named) > 1:
        raise click.UsageError("only one of --continue, --resume and --session can be meant.")
    work_dir = (flags.pop("work_dir") or Path.cwd()).absolute()
    options = LaunchOptions(prompt=prompt, work_dir=work_dir, **flags)
    session = choose_session(options)
    if not session.exists:
        require_writable(sessions_folder())
    if not named or options.resume == "":
        return options
    return replace(options, continue_last=False, resume=None, session=session.folder, work_dir=session.work_dir)

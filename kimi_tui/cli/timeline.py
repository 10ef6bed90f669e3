"""`kimi-tui timeline`: a session's tree of timelines, and the verbs with which scripts move in it."""

from __future__ import annotations

from pathlib import Path

import click

from kimi_tui.cli import timeline_verbs as verbs
from kimi_tui.cli.timeline_tree import show

SHOW = "show"
"""What is meant when the first word is no verb."""


class _Verbs(click.Group):
    """The first word decides, unless it can only be a PATH: `kimi-tui timeline revert` with a folder of that name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if self._begins_with_a_verb(ctx, args) else [SHOW, *args])

    def _begins_with_a_verb(self, ctx: click.Context, args: list[str]) -> bool:
        if not args or args[0] in ctx.help_option_names:
            return bool(args)
        return args[0] in self.commands and not _names_a_path(args)


def _names_a_path(args: list[str]) -> bool:
    rest = args[1:]
    return all(word == "--json" for word in rest) and Path(args[0]).exists()


@click.group("timeline", cls=_Verbs, subcommand_metavar="PATH [--json] | VERB PATH …", options_metavar="")
def command() -> None:
    """Show the timelines of PATH as a tree, or move in it.

    PATH is a session folder, one of its context files, or a session id. Every verb takes --json, and exits with 0
    when it is done and 1 when it is not. A PATH that is called like a verb is written ./VERB.
    """


for _verb in (show, *verbs.ALL):
    command.add_command(_verb)

"""What the verbs of `kimi-tui timeline` have in common: a PATH, and an answer in lines or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from kimi_tui.literal import literal, one_line

path_argument = click.argument("path")
json_option = click.option("--json", "as_json", is_flag=True, help="As one JSON object.")


def say(as_json: bool, body: dict[str, Any], lines: Sequence[str], *, spaced: bool = False) -> None:
    """`spaced`: the blanks in the lines mean something."""
    if as_json:
        print(json.dumps(body, indent=2))
    else:
        for line in lines:
            print(literal(line) if spaced else one_line(line))

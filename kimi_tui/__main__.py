"""`python -m kimi_tui`, and what the `kimi-tui` script starts."""

from __future__ import annotations

import sys


def main() -> None:
    from kimi_tui.cli.main import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()

"""The names of a session's files, all beside the live one."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PACKED_SUFFIXES = (".zst", ".gz")
_NUMBER = re.compile("[0-9]{1,12}")


@dataclass(frozen=True, slots=True)
class Paths:
    """`live` is the real file, symbolic links resolved: rotations stand beside the target."""

    live: Path

    @classmethod
    def of(cls, file: Path) -> Paths:
        return cls(Path(os.path.realpath(file)))

    @property
    def folder(self) -> Path:
        return self.live.parent

    def _side(self, name: str, suffix: str) -> Path:
        stem = self.live.stem
        return self.folder / (f"{name}{suffix}" if stem == "context" else f"{stem}.{name}{suffix}")

    @property
    def lock(self) -> Path:
        return self.folder / f"{self.live.stem}.lock"

    @property
    def timeline(self) -> Path:
        return self._side("timeline", ".jsonl")

    @property
    def index(self) -> Path:
        return self.folder / f"{self.live.stem}.idx"

    def new(self, process: int) -> Path:
        """The file that a switch builds before it takes the live one's place."""
        return self.folder / f".{self.live.stem}.new.{process}"

    def rotation(self, number: int) -> Path:
        return self.folder / f"{self.live.stem}_{number}{self.live.suffix}"

    def number(self, name: str) -> int | None:
        """N for `context_N.jsonl`, also when compressed; None for any other name."""
        for suffix in PACKED_SUFFIXES:
            name = name.removesuffix(suffix)
        start, end = f"{self.live.stem}_", self.live.suffix
        if not (name.startswith(start) and name.endswith(end)):
            return None
        found = _NUMBER.fullmatch(name[len(start) : len(name) - len(end)])
        return int(found[0]) if found else None

    def listed(self) -> Listing:
        """What lies in the folder now; nothing when there is no folder. Raises `OSError`."""
        try:
            with os.scandir(self.folder) as entries:
                return Listing(self, sorted(entry.name for entry in entries))
        except (FileNotFoundError, NotADirectoryError):
            return Listing(self, [])

    def numbers(self) -> list[int]:
        """The numbers in use now, rising."""
        return self.listed().numbers()


@dataclass(frozen=True, slots=True)
class Listing:
    """The names in a session's folder, at one moment."""

    paths: Paths
    names: Sequence[str]

    def stray(self) -> list[Path]:
        """Files that switches left unfinished."""
        start = f".{self.paths.live.stem}.new."
        return [self.paths.folder / name for name in self.names if name.startswith(start)]

    def packed(self) -> list[Path]:
        """Compressed forms of rotations."""
        names = [name for name in self.names if name.endswith(PACKED_SUFFIXES)]
        return [self.paths.folder / name for name in names if self.paths.number(name) is not None]

    def numbers(self) -> list[int]:
        """The numbers in use, rising."""
        found = {self.paths.number(name) for name in self.names}
        return sorted(number for number in found if number is not None)

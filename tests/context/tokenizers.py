"""The tokenizers that are installed with the product, read from the files that litellm brings along: no network."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import tiktoken
from tokenizers import Tokenizer

Count = Callable[[str], int]

_ENCODINGS = {
    "openai/gpt-4o": ("o200k_base", "fb374d419588a4632f3f557e76b4b70aebbca790"),
    "openai/gpt-4-turbo": ("cl100k_base", "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"),
    "text-davinci-003": ("p50k_base", "ec7223a39ce59f226a68acc30dc1af2788490e15"),
}
"""Model → its encoding, and the file that holds it."""

_VOCABULARIES = {
    "anthropic/claude-2.1": "anthropic_tokenizer.json",
    "deepseek/deepseek-chat": "deepseek_tokenizer.json",
}


def _folder() -> Path:
    found = importlib.util.find_spec("litellm")
    assert found is not None and found.submodule_search_locations
    return Path(found.submodule_search_locations[0]) / "litellm_core_utils" / "tokenizers"


def at_hand() -> list[str]:
    """Models whose tokenizers are installed."""
    files = {model: file for model, (_, file) in _ENCODINGS.items()} | _VOCABULARIES
    return [model for model, file in files.items() if (_folder() / file).exists()]


@cache
def counter(model: str) -> Count:
    """How that model counts a text."""
    if model in _VOCABULARIES:
        vocabulary = Tokenizer.from_file(str(_folder() / _VOCABULARIES[model]))
        return lambda text: len(vocabulary.encode(text, add_special_tokens=False).ids)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(_folder()))
        encoding = tiktoken.get_encoding(_ENCODINGS[model][0])
    return lambda text: len(encoding.encode_ordinary(text))

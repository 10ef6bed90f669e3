"""Fuzzy matching of what is typed against many names: letters in order, the best places first."""

from __future__ import annotations

import asyncio
import heapq
import re
from collections.abc import Sequence
from time import perf_counter

SLICE = 0.004
"""Seconds of matching before the screen gets its turn again."""


def pattern(query: str) -> re.Pattern[str]:
    """Matches names that hold the letters of the query in order, in either case."""
    return re.compile(".*?".join(map(re.escape, query)), re.IGNORECASE | re.DOTALL)


def cost(query: str, name: str) -> tuple[int, int, str]:
    """Lower is better: the whole query at the start of the last part, then inside it, then anywhere, then scattered."""
    low, wanted = name.lower(), query.lower()
    last = low.rstrip("/").rfind("/") + 1
    at = low.find(wanted, last)
    if at == last:
        rank = 0
    elif at > 0:
        rank = 1 if not low[at - 1].isalnum() else 2
    elif wanted in low:
        rank = 3
    else:
        rank = 4 if pattern(query).search(name, last) else 5
    return rank, len(name), name


def best(query: str, names: Sequence[str], limit: int = 50) -> list[str]:
    """The best matches, best first; all of the first ones when nothing is asked."""
    if not query:
        return list(names[:limit])
    found = filter(pattern(query).search, names)
    return heapq.nsmallest(limit, found, key=lambda name: cost(query, name))


async def matching(query: str, names: Sequence[str]) -> list[str]:
    """All names that match, without holding up the screen, however many there are."""
    search, found, began = pattern(query).search, list[str](), perf_counter()
    for start in range(0, len(names), 500):
        found.extend(filter(search, names[start : start + 500]))
        if perf_counter() - began > SLICE:
            await asyncio.sleep(0)
            began = perf_counter()
    return found

"""Reads key = value lines."""


def parse(text: str) -> dict[str, str]:
    pairs = {}
    for line in text.splitlines():
        key, value = line.split("=")
        pairs[key.strip()] = value.strip()
    return pairs

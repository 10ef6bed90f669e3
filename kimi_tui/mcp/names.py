"""What a server's tool is called for the model."""

from __future__ import annotations

import hashlib
import re

LONGEST = 64
"""Characters: the shortest limit of a provider."""

_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


def tool_name(server: str, tool: str) -> str:
    """`mcp__<server>__<tool>`, in letters that every provider takes.

    Different tools get different names: where anything had to be changed, or the parts could be told apart in another
    way, a few digits of a hash are added.
    """
    plain_server, plain_tool = _FOREIGN.sub("_", server), _FOREIGN.sub("_", tool)
    name = f"mcp__{plain_server}__{plain_tool}"
    clear = "__" not in server and not server.startswith("_") and not server.endswith("_")
    if clear and server and tool and len(name) <= LONGEST and (plain_server, plain_tool) == (server, tool):
        return name
    digest = hashlib.sha256(f"{server}\0{tool}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: LONGEST - 9]}_{digest}"

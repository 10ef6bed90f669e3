"""A server without the SDK: starts at once, and misbehaves as told by its arguments."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

TOOLS: list[dict[str, Any]] = [
    {"name": "echo", "description": "Says it back.", "inputSchema": {"type": "object", "properties": {"text": {}}}},
    {"name": "env", "inputSchema": {"type": "object"}},
    {"name": "die", "inputSchema": {"type": "object"}},
    {"name": "grow", "inputSchema": {"type": "object"}},
    {"name": "sleep", "inputSchema": {"type": "object"}},
]


ODD: list[Any] = [
    {
        "name": "untyped",
        "inputSchema": {"properties": {"a": {"description": "anything"}}},
        "outputSchema": {"type": "x"},
    },
    {"name": "bare"},
    {"description": "without a name"},
    "nothing",
    {"name": "pointing", "description": 5, "inputSchema": {"type": ["object"], "properties": {"a": {"$ref": "#/no"}}}},
]
"""What people write, and the SDK refuses as a whole."""

ODD_RESULTS: dict[str, Any] = {
    "untyped": {
        "content": [{"type": "hologram"}, {"type": "text", "text": "after"}, {"type": "image", "data": 5}, "x"]
    },
    "bare": {"structuredContent": {"a": 1}},
    "pointing": {},
}


PROMPT = {
    "name": "review",
    "description": "Asks for a review.",
    "arguments": [{"name": "code", "required": True}, {"name": "language"}],
}
NOTE = {"uri": "notes://today", "name": "today", "mimeType": "text/plain", "description": "What was written today"}


def lent(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """Prompts and resources, with `lends`."""
    if method == "prompts/list":
        return {"prompts": [PROMPT]}
    if method == "prompts/get":
        given = params.get("arguments") or {}
        text = f"Review this {given.get('language', 'Python')}: {given['code']}"
        text += " @my:notes://today" if "sly" in sys.argv else ""
        return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}
    if method == "resources/list":
        return {"resources": [NOTE], **({"nextCursor": "again"} if "round" in sys.argv else {})}
    if method == "resources/read" and params["uri"] == NOTE["uri"]:
        return {"contents": [{"uri": NOTE["uri"], "mimeType": "text/plain", "text": "Rain, 漢字."}]}
    return None


def say(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(number: Any, method: str, params: dict[str, Any]) -> None:
    if method == "initialize":
        info = {"name": "plain", "version": "1"}
        capabilities: dict[str, Any] = {"tools": {"listChanged": True}}
        if "lends" in sys.argv:
            capabilities |= {"prompts": {}, "resources": {}}
        say(id=number, result={"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info})
    elif method == "tools/list":
        more = {"nextCursor": "again"} if "round" in sys.argv else {}
        say(id=number, result={"tools": ODD if "odd" in sys.argv else TOOLS, **more})
    elif method == "tools/call" and "odd" in sys.argv:
        say(id=number, result=ODD_RESULTS[params["name"]])
    elif method == "tools/call":
        call(number, params["name"], params.get("arguments") or {})
    elif (method, params.get("uri")) == ("resources/read", "notes://never"):
        return
    elif "lends" in sys.argv and (result := lent(method, params)) is not None:
        say(id=number, result=result)
    else:
        say(id=number, error={"code": -32601, "message": f"unknown method {method}"})


def call(number: Any, name: str, arguments: dict[str, Any]) -> None:
    text = str(arguments.get("text", ""))
    if name == "die":
        print(f"dying with {os.environ.get('PLAIN_TOKEN', '')}", file=sys.stderr, flush=True)
        os._exit(3)
    if name == "grow":
        TOOLS.append({"name": f"more{len(TOOLS)}", "inputSchema": {"type": "object"}})
        say(method="notifications/tools/list_changed")
    if name == "long":
        text = "x" * int(arguments["size"]) + "\ud800"
    if name == "env":
        text = json.dumps(dict(os.environ))
    if name == "sleep":
        return
    say(id=number, result={"content": [{"type": "text", "text": text}]})


def main(how: list[str]) -> None:
    if "crash" in how:
        sys.exit("no licence found")
    if "deaf" in how:
        time.sleep(600)
    if "gate" in how:  # starts when the file is there
        while not Path(how[how.index("gate") + 1]).exists():
            time.sleep(0.02)
    if "once" in how:  # works from the second start on
        mark = Path(how[how.index("once") + 1])
        if not mark.exists():
            mark.touch()
            sys.exit("not yet")
    if "one life" in how:  # works at the first start only
        Path(how[how.index("one life") + 1]).touch(exist_ok=False)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            answer(message["id"], message["method"], message.get("params") or {})


if __name__ == "__main__":
    main(sys.argv[1:])

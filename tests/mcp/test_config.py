"""Where servers are named, and what is shown of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from kimi_tui.mcp import ServerConfig, read_servers
from kimi_tui.mcp.names import LONGEST, tool_name
from kimi_tui.options import LaunchOptions
from kimi_tui.settings import McpSettings, load_settings


def written(folder: Path, servers: Any) -> Path:
    file = folder / "mcp.json"
    file.write_text(servers if isinstance(servers, str) else json.dumps({"mcpServers": servers}))
    return file


def test_the_shapes_of_other_programs_are_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "t0ken-value")
    servers = {
        "files": {"command": "npx", "args": ["-y", "server", "${HOME_OF_IT:-/srv}"], "env": {"TOKEN": "${MY_TOKEN}"}},
        "web": {"type": "streamable-http", "url": "https://a.example/mcp", "headers": {"X-Key": "k"}},
        "old": {"url": "https://b.example/sse", "transport": "sse", "disabled": True},
    }
    found, notices = read_servers({}, written(tmp_path, servers))
    assert notices == []
    assert found == [
        ServerConfig("files", "stdio", "npx", ("-y", "server", "/srv"), {"TOKEN": "t0ken-value"}),
        ServerConfig("web", "http", url="https://a.example/mcp", headers={"X-Key": "k"}),
        ServerConfig("old", "sse", url="https://b.example/sse", disabled=True),
    ]


def test_the_config_wins_over_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, {"a": {"command": "from-file"}, "b": {"command": "b"}})
    found, _ = read_servers({"a": McpSettings(command="from-config")}, file)
    assert [(server.name, server.command) for server in found] == [("a", "from-config"), ("b", "b")]


def test_no_file_is_no_server(tmp_path: Path) -> None:
    assert read_servers({}, tmp_path / "mcp.json") == ([], [])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "cannot be read"),
        ("[]", "no table mcpServers"),
        ({"a": {"command": "x", "url": "y"}}, "either a command or a url"),
        ({"a": {"command": "x", "env": {"KEY": ["sk-FAKE"]}}}, "env.KEY"),
        ({"a": 5}, "the server a is left out"),
    ],
)
def test_what_is_wrong_is_said_without_the_value_and_costs_only_itself(tmp_path: Path, content: Any, said: str) -> None:
    servers = {**content, "good": {"command": "x"}} if isinstance(content, dict) else content
    found, (notice,) = read_servers({}, written(tmp_path, servers))
    assert said in notice and "sk-FAKE" not in notice
    assert [server.name for server in found] == (["good"] if isinstance(content, dict) else [])


def test_a_transport_must_go_with_what_is_given() -> None:
    with pytest.raises(ValidationError, match="does not go with"):
        McpSettings(command="x", transport="http")


def test_what_is_shown_of_a_server_holds_no_secret() -> None:
    web = ServerConfig(
        "w", "http", url="https://me:pass@a.example:8443/mcp?key=sk-FAKE-1", headers={"A": "Bearer abcdef"}
    )
    assert web.target == "https://a.example:8443/mcp"
    assert {"sk-FAKE-1", "abcdef", "Bearer abcdef"} <= set(web.secrets)
    assert "sk-FAKE" not in repr(web) and "abcdef" not in repr(web)
    program = ServerConfig("p", "stdio", "/usr/bin/npx", ("--token", "sk-FAKE-2"))
    assert program.target == "npx" and "sk-FAKE" not in repr(program)


def test_tools_are_named_after_their_server() -> None:
    assert tool_name("github", "create-issue") == "mcp__github__create-issue"


@pytest.mark.parametrize(
    ("server", "tool"),
    [("my server", "a.b/c"), ("名", "工具"), ("s" * 40, "t" * 40), ("a__b", "c"), ("a_", "b"), ("", "")],
)
def test_any_name_becomes_one_that_providers_take(server: str, tool: str) -> None:
    name = tool_name(server, tool)
    assert re.fullmatch(rf"mcp__[A-Za-z0-9_-]{{1,{LONGEST - 5}}}", name)


def test_different_tools_have_different_names() -> None:
    pairs = [
        ("a", "b__c"),
        ("a__b", "c"),
        ("a", "_b"),
        ("a_", "b"),
        ("a", "b c"),
        ("a", "b.c"),
        ("a", "b_c"),
        ("名", "c"),
    ]
    assert len({tool_name(*pair) for pair in pairs}) == len(pairs)
    long = "x" * 100
    assert tool_name("a", f"{long}1") != tool_name("a", f"{long}2")


def test_servers_of_the_config_are_read_and_a_project_may_not_name_any(tmp_path: Path, home: Path) -> None:
    (home / "config.toml").write_text('[mcp.docs]\nurl = "https://a.example/mcp"\nheaders = { X = "a-secret" }\n')
    (tmp_path / ".kimi").mkdir()
    (tmp_path / ".kimi" / "config.toml").write_text('[mcp.evil]\ncommand = "rm"\n')
    settings = load_settings(LaunchOptions(work_dir=tmp_path))
    assert list(settings.mcp) == ["docs"]
    assert "a-secret" not in repr(settings.mcp)
    assert any("mcp.evil.command" in notice for notice in settings.notices)


def test_a_variable_that_is_not_set_is_named_and_its_neighbours_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERE", "sk-FAKE-1234")
    monkeypatch.delenv("GONE", raising=False)
    wanted = {
        "docs": McpSettings(url="https://d.example/${GONE}", headers={"A": SecretStr("Bearer ${GONE}")}),
        "fine": McpSettings(command="x", env={"A": SecretStr("${HERE}"), "B": SecretStr("${GONE:-otherwise}")}),
        "off": McpSettings(command="${GONE}", disabled=True),
    }
    _, notices = read_servers(wanted, tmp_path / "none.json")
    assert notices == ["the MCP server docs wants the variable GONE, which is not set"]

"""Tools, prompts and resources of MCP servers. A process of its own speaks to them: this does not load the SDK."""

from kimi_tui.mcp.config import ServerConfig, read_servers
from kimi_tui.mcp.content import McpResult
from kimi_tui.mcp.faults import McpFault
from kimi_tui.mcp.hosted import HostedServers, HostedTool
from kimi_tui.mcp.offers import McpPrompt, McpResource

__all__ = [
    "HostedServers",
    "HostedTool",
    "McpFault",
    "McpPrompt",
    "McpResource",
    "McpResult",
    "ServerConfig",
    "read_servers",
]

"""Tools of MCP servers, which a process of their own speaks to. Importing this does not load the SDK."""

from kimi_tui.mcp.config import ServerConfig, read_servers
from kimi_tui.mcp.content import McpResult
from kimi_tui.mcp.faults import McpFault
from kimi_tui.mcp.hosted import HostedServers, HostedTool

__all__ = ["HostedServers", "HostedTool", "McpFault", "McpResult", "ServerConfig", "read_servers"]

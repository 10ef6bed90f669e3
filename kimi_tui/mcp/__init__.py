"""Tools of MCP servers. Importing this does not load the SDK."""

from kimi_tui.mcp.config import ServerConfig, read_servers
from kimi_tui.mcp.content import McpResult
from kimi_tui.mcp.faults import McpFault
from kimi_tui.mcp.server import McpTool
from kimi_tui.mcp.servers import Servers

__all__ = ["McpFault", "McpResult", "McpTool", "ServerConfig", "Servers", "read_servers"]

"""Subagents: a tool call that is an agent, on a desk of its own."""

"""A conversation in a form that people and other programs read: Markdown, a page, JSON."""

from kimi_tui.session.export.render import Conversation, ExportFormat, conversation_of, render

__all__ = ["Conversation", "ExportFormat", "conversation_of", "render"]

"""kimi-tui: a terminal coding agent whose memory is a file you can see, rewind and repair."""

__version__ = "0.1.0"

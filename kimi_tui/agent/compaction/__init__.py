"""Compaction: when, what is kept, how the rest is told in a summary, and the one switch (MECHANISMS M10–M13)."""

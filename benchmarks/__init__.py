"""Ratios between this engine and kimi-cli's, measured in one run: `python -m benchmarks`."""

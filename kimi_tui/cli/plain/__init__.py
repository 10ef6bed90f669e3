"""The parts of plain mode: lines in and lines out, for screen readers and terminals that can do no more."""

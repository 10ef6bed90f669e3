"""The command line: arguments in, one clear line or a screen out. `--help` loads click and nothing heavier."""

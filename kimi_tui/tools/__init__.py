"""What the model can do: one small module a tool, its prompt text in `prompts/tools/`."""

"""The language that the agent and the screen both speak. Imports nothing of ours.

`messages` is pydantic and belongs to the engine's side; `events`, `commands`, `views` and `ports` are slotted
dataclasses, so that the screen can paint its first frame without loading pydantic.
"""

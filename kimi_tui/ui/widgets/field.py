"""Fields in which keys mean what they do in the order in which they were pressed.

Textual inserts a letter at once, but a key with a binding (Backspace, Left, Ctrl+U) climbs up to the app before it does
anything. Letters that come in the same moment, as they do from a fast typist or over a slow line, overtake it.
"""

from __future__ import annotations

from textual import events
from textual.widget import Widget
from textual.widgets import Input


async def at_once(field: Widget, event: events.Key) -> None:
    """Do what the field's own bindings say about the key, before the next one comes."""
    for binding in field._bindings.key_to_bindings.get(event.key, ()):
        if not binding.priority and await field.app.run_action(binding.action, field):
            event.stop()
            event.prevent_default()
            return


class Field(Input):
    """One line."""

    async def _on_key(self, event: events.Key) -> None:
        await at_once(self, event)

"""Everything between a history and a model's answer."""

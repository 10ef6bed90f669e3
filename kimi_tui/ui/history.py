"""Earlier prompts, walked with Up and Down; what was being written is not lost on the way."""

from __future__ import annotations

from collections.abc import Iterable


class History:
    """Oldest first. The place after the last one is the draft."""

    def __init__(self, prompts: Iterable[str] = ()) -> None:
        self.prompts = list(prompts)
        self._at = len(self.prompts)
        self._draft = ""

    def add(self, text: str) -> None:
        """Remember a prompt as the newest; the same one is not kept twice in a row."""
        if text.strip() and (not self.prompts or self.prompts[-1] != text):
            self.prompts.append(text)
        self.leave()

    def leave(self) -> None:
        """Stop walking."""
        self._at, self._draft = len(self.prompts), ""

    def older(self, shown: str) -> str | None:
        """The prompt before; None at the oldest."""
        if self._at == 0:
            return None
        if self._at == len(self.prompts):
            self._draft = shown
        self._at -= 1
        return self.prompts[self._at]

    def newer(self) -> str | None:
        """The prompt after, at last the draft; None when not walking."""
        if self._at >= len(self.prompts):
            return None
        self._at += 1
        return self._draft if self._at == len(self.prompts) else self.prompts[self._at]

    def search(self, words: str) -> list[str]:
        """Prompts that hold all the words, newest first, each once."""
        wanted = words.lower().split()
        found = dict.fromkeys(
            prompt for prompt in reversed(self.prompts) if all(word in prompt.lower() for word in wanted)
        )
        return list(found)

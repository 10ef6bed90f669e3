"""Big pastes and images are shown as one short tag in the prompt and sent whole."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kimi_tui.protocol.views import Draft
from kimi_tui.ui.text import OBEYED, one_line

LINES = 15
CHARACTERS = 2_000

_IMAGE = re.compile(r"\[image #(\d+): ([^\]]*)\]")
_TAG = re.compile(r"\[pasted #(\d+): \d+ lines?\]")


class Pastes:
    """The texts behind the tags of one prompt."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._images: list[str] = []

    def fold(self, text: str) -> str:
        """The text as it goes into the prompt: itself when it is small and can be shown as it is, else a tag for it."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.count("\n") + 1
        if lines <= LINES and len(text) <= CHARACTERS and not OBEYED.search(text):
            return text
        self._texts.append(text)
        return f"[pasted #{len(self._texts)}: {lines} line{'s' if lines > 1 else ''}]"

    def unfold(self, text: str) -> str:
        """The prompt with every tag of ours replaced by what was pasted."""
        return _TAG.sub(self._whole, text)

    def _whole(self, match: re.Match[str]) -> str:
        number = int(match[1])
        return self._texts[number - 1] if 0 < number <= len(self._texts) else match[0]

    def attach(self, url: str, name: str) -> str:
        """The tag for an image (a data URL)."""
        self._images.append(url)
        return f"[image #{len(self._images)}: {one_line(name).replace(']', ')')}]"

    def again(self, text: str, images: Sequence[str]) -> str:
        """A prompt that has come back: its tags stand for its images as before."""
        tags = [match[0] for match in _IMAGE.finditer(text)]
        one_each = len(tags) == len(images)
        left, known = iter(images), dict[str, str]()

        def renewed(match: re.Match[str]) -> str:
            tag = match[0]
            if one_each or tag not in known:
                url = next(left, None)
                known[tag] = tag if url is None else self.attach(url, match[2])
            return known[tag]

        return _IMAGE.sub(renewed, text)

    @classmethod
    def of(cls, draft: Draft) -> Pastes:
        """Those of a prompt that was kept."""
        pastes = cls()
        pastes.restore(draft)
        return pastes

    def draft(self, text: str) -> Draft:
        """The prompt as it is kept: what its tags stand for goes with it."""
        return Draft(text, tuple(self._texts), tuple(self._images))

    def restore(self, draft: Draft) -> str:
        """The text of a prompt that was kept; its tags mean what they meant."""
        self._texts, self._images = list(draft.pastes), list(draft.images)
        return draft.text

    def images(self, text: str) -> tuple[str, ...]:
        """The images whose tags still stand in the prompt."""
        numbers = dict.fromkeys(int(match[1]) - 1 for match in _IMAGE.finditer(text))
        return tuple(self._images[number] for number in numbers if 0 <= number < len(self._images))

    def forget(self) -> None:
        self._texts.clear()
        self._images.clear()

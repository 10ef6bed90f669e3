from __future__ import annotations

from pathlib import Path

import pytest

from kimi_tui.ui.images import clipboard_image, data_url, dropped_image
from kimi_tui.ui.paste import Pastes


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "a b.png"
    path.write_bytes(b"\x89PNG....")
    return path


@pytest.mark.parametrize("form", ["{0}", "'{0}'", '"{0}"', " {0}\n", "file://{1}", "{2}"])
def test_a_dropped_image_is_recognised(picture: Path, form: str) -> None:
    text = str(picture)
    assert dropped_image(form.format(text, text.replace(" ", "%20"), text.replace(" ", "\\ "))) == picture


@pytest.mark.parametrize(
    "text", ["", "look at /a.png please", "/nowhere/a.png", "relative.png", "/etc/passwd", "a\nb.png"]
)
def test_other_texts_are_texts(text: str) -> None:
    assert dropped_image(text) is None


def test_only_images_whose_tags_are_still_there_are_sent() -> None:
    pastes = Pastes()
    first, second = pastes.attach("data:1", "a.png"), pastes.attach("data:2", "b].png")
    assert (first, second) == ("[image #1: a.png]", "[image #2: b).png]")
    assert pastes.images(f"{second} {first} {first}") == ("data:2", "data:1")
    assert pastes.images(first) == ("data:1",)


def test_an_image_travels_as_a_data_url() -> None:
    assert data_url(b"abc", ".JPG") == "data:image/jpeg;base64,YWJj"


async def test_the_clipboard_is_asked_through_the_usual_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "wl-paste"
    program.write_text("#!/bin/sh\nprintf '\\211PNG data'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert await clipboard_image() == b"\x89PNG data"
    program.write_text("#!/bin/sh\nexit 1\n")
    assert await clipboard_image() is None

"""Images of the conversation for the screen."""

from __future__ import annotations

import base64
from pathlib import Path

from kimi_tui.protocol.commands import LoadImages, SendPrompt
from kimi_tui.protocol.events import ImagesLoaded, ToolCallFinished, TurnEnded
from kimi_tui.tools.read_media import ReadMediaFile
from tests.agent.fakes import ScriptedModel, bench, calls, says

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
URL = f"data:image/png;base64,{base64.b64encode(PIXEL).decode()}"


async def test_what_was_attached_and_what_a_tool_brought_can_be_asked_for(tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_bytes(PIXEL)
    model = ScriptedModel(calls(("ReadMediaFile", {"path": str(tmp_path / "shot.png")})), says("I see a pixel."))
    async with bench(tmp_path, model, tools=[ReadMediaFile()]) as it:
        it.tell(SendPrompt("look", ("data:image/png;base64,QQ==", "data:image/png;base64,Qg==")))
        await it.until(TurnEnded)
        assert it.last(ToolCallFinished).tool.images == 1
        assert [entry.kind for entry in it.desk.transcript.entries] == ["user", "tool", "assistant"]
        it.tell(*(LoadImages(index) for index in (0, 1, 2, 99)))
        await it.until(ImagesLoaded, 4)
        assert it.all(ImagesLoaded) == [
            ImagesLoaded(0, ("data:image/png;base64,QQ==", "data:image/png;base64,Qg==")),
            ImagesLoaded(1, (URL,)),
            ImagesLoaded(2, ()),
            ImagesLoaded(99, ()),
        ]


async def test_entries_are_told_from_the_checkpoints_that_the_model_sees(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("SendDMail", {"message": "x", "checkpoint_id": 99})), says("No."), says("Again."))
    async with bench(tmp_path, model, dmail=True) as it:
        await it.turn("first")
        it.tell(SendPrompt("look", ("data:image/png;base64,QQ==",)))
        await it.until(TurnEnded, 2)
        entries, history = it.desk.transcript.entries, it.desk.context.history
        assert any(message.text().startswith("<system>CHECKPOINT") for message in history)
        for index, entry in enumerate(entries):
            found = it.desk.transcript.message_of(index)
            assert found is not None and entry.text in history[found].text()
        it.tell(LoadImages(len(entries) - 2))
        assert (await it.until(ImagesLoaded)).images == ("data:image/png;base64,QQ==",)


async def test_a_card_that_was_read_back_knows_of_its_images(tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_bytes(PIXEL)
    model = ScriptedModel(calls(("ReadMediaFile", {"path": str(tmp_path / "shot.png")})), says("I see a pixel."))
    async with bench(tmp_path, model, tools=[ReadMediaFile()]) as it:
        it.tell(SendPrompt("look"))
        await it.until(TurnEnded)
        it.desk.transcript.load(it.desk.context.history, it.desk.context.checkpoints)
        tools = [entry.tool for entry in it.desk.transcript.entries if entry.tool]
        assert [tool.images for tool in tools] == [1]

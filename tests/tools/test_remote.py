"""Tools that somebody else carries out."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kimi_tui.protocol.messages import ImageURLPart
from kimi_tui.tools.approval import AllowRule, Answer, Approvals
from kimi_tui.tools.base import Call, Decision
from kimi_tui.tools.remote import remote_tool
from kimi_tui.tools.text import MODEL_LIMIT
from kimi_tui.tools.toolset import Toolset
from tests.tools.tool_desk import Desk, tool_call

IMAGE = ImageURLPart(image_url=ImageURLPart.ImageURL(url="data:image/png;base64,aGk="))


class Lost(Exception):
    pass


@dataclass
class Answering:
    text: str = ""
    images: tuple[ImageURLPart, ...] = ()
    failed: bool = False


@dataclass
class Elsewhere:
    """Answers as told, and remembers what it was asked."""

    answer: Answering | Exception = field(default_factory=lambda: Answering("done"))
    asked: list[dict[str, Any]] = field(default_factory=list)
    name: str = "mcp__far__do"
    description: str = "Does it."
    shown: tuple[str, str] = ("far", "do")
    schema: dict[str, Any] = field(
        default_factory=lambda: {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
    )

    async def call(self, arguments: dict[str, Any]) -> Answering:
        self.asked.append(arguments)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def test_the_call_goes_out_after_approval_as_the_model_wrote_it(tmp_path: Path) -> None:
    far, desk = Elsewhere(), Desk(tmp_path)
    arguments = {"title": "a", "copy": [1, {"_x": None}], "model_config": "b"}
    result = await desk.run(remote_tool(far, (Lost,)), **arguments)
    assert (result.output, result.outcome, result.brief) == ("done", "ok", "1 line")
    assert far.asked == [arguments]
    (view,) = desk.approvals
    assert (view.tool, view.action) == ("mcp__far__do", "let far run do")
    assert '"title": "a"' in view.detail


async def test_without_approval_nothing_goes_out(tmp_path: Path) -> None:
    far, desk = Elsewhere(), Desk(tmp_path, decision=Decision(False))
    assert (await desk.run(remote_tool(far, (Lost,)), title="a")).outcome == "rejected"
    assert far.asked == []


async def test_a_rule_admits_a_whole_server(tmp_path: Path) -> None:
    async def never(view: object) -> Answer:
        raise AssertionError("asked")

    far = Elsewhere()
    approvals = Approvals(never, tmp_path, rules=[AllowRule("mcp__far__*")])
    call = Call("c", tmp_path, lambda text: None, approvals, Desk(tmp_path).ask)
    tool = remote_tool(far, (Lost,))
    await tool(tool.Params.model_validate({"title": "a"}), call)
    assert far.asked == [{"title": "a"}]


async def test_the_toolset_offers_the_schema_as_it_is_and_keeps_it_out_of_plan_mode(tmp_path: Path) -> None:
    far, desk = Elsewhere(), Desk(tmp_path, plan_file=tmp_path / "plan.md")
    toolset = Toolset([remote_tool(far, (Lost,))])
    (spec,) = toolset.specs()
    assert (spec.name, spec.description, spec.parameters) == (far.name, far.description, far.schema)
    results = await toolset.run([tool_call(far.name, {"title": "a"})], desk.call)
    assert "Plan mode is on" in results.messages[0].text()
    assert toolset.view(tool_call(far.name, {"title": "a"})).subject == "do title=a"


async def test_a_fault_of_the_other_side_is_told_to_the_model(tmp_path: Path) -> None:
    result = await Desk(tmp_path).run(remote_tool(Elsewhere(Lost("gone away")), (Lost,)), title="a")
    assert (result.outcome, result.message) == ("error", "gone away")


async def test_a_failure_keeps_what_was_said(tmp_path: Path) -> None:
    result = await Desk(tmp_path).run(remote_tool(Elsewhere(Answering("no paper", failed=True)), (Lost,)), title="a")
    assert (result.outcome, result.output) == ("error", "no paper")


async def test_images_are_passed_on(tmp_path: Path) -> None:
    result = await Desk(tmp_path).run(remote_tool(Elsewhere(Answering(images=(IMAGE,))), (Lost,)), title="a")
    assert (result.parts, result.brief) == ((IMAGE,), "1 image")


async def test_long_text_is_cut_and_kept_whole_in_a_file(tmp_path: Path) -> None:
    text = "word\n" * MODEL_LIMIT
    desk = Desk(tmp_path, output_dir=tmp_path / "outputs")
    result = await desk.run(remote_tool(Elsewhere(Answering(text)), (Lost,)), title="a")
    (file,) = (tmp_path / "outputs").iterdir()
    assert file.read_text() == text
    assert len(result.output) < MODEL_LIMIT + 300 and str(file) in result.output


async def test_control_codes_do_not_get_through(tmp_path: Path) -> None:
    result = await Desk(tmp_path).run(remote_tool(Elsewhere(Answering("\x1b[31mred\x1b[0m\x07")), (Lost,)), title="a")
    assert result.output == "red␇"

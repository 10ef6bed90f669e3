"""Which command does what, and when it may."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from kimi_tui.agent import browsing, control, pictures, session_servers, session_skills, sessions, slash
from kimi_tui.agent.compaction import compacting
from kimi_tui.agent.compaction.nearness import snooze
from kimi_tui.agent.compaction.pins import pin_entry
from kimi_tui.agent.compaction.proposal import answer_compaction
from kimi_tui.agent.subagents.past import read_subagent
from kimi_tui.agent.tasks import commands as task_commands
from kimi_tui.agent.travel import drafting, dropping, pruning, time_travel
from kimi_tui.protocol import commands as say
from kimi_tui.protocol.events import Noticed, Settled

if TYPE_CHECKING:
    from kimi_tui.agent.agent import Agent

When = Literal["now", "beside", "idle", "alone"]
"""`now`: in the inbox itself, must not wait. `beside`: as a task beside whatever runs. `idle`: as the one activity,
refused while another runs. `alone`: the same, and also needs the session to be ours to write."""


@dataclass(frozen=True, slots=True)
class Handler:
    when: When
    run: Callable[[Agent, Any], Any]

    def take(self, agent: Agent, command: say.Command) -> None:
        """Run the command as its kind may be run, or say why not."""
        name = type(command).__name__
        if self.when == "now":
            self.run(agent, command)
        elif self.when == "beside":
            agent.beside(_carried_out(agent, self.run(agent, command), name), name)
        elif agent.busy:
            _refused(agent, name, "not while something runs: Esc stops it")
        elif self.when == "alone" and (why := agent.desk.read_only):
            _refused(agent, name, why)
        else:
            agent.start(_carried_out(agent, self.run(agent, command), name), name)


async def _carried_out(agent: Agent, work: Coroutine[Any, Any, None], name: str) -> None:
    try:
        await agent.guarded(work, name)
    finally:
        agent.emit(Settled(name))


def _refused(agent: Agent, name: str, why: str) -> None:
    agent.emit(Noticed(why, "warning"))
    agent.emit(Settled(name))


HANDLERS: dict[type[say.Command], Handler] = {
    say.SendPrompt: Handler("now", control.send_prompt),
    say.Steer: Handler("now", control.steer),
    say.TakeBackQueued: Handler("now", control.take_back_queued),
    say.TakeQueued: Handler("now", control.take_queued),
    say.Interrupt: Handler("now", control.interrupt),
    say.AnswerApproval: Handler("now", control.answer_approval),
    say.AnswerQuestion: Handler("now", control.answer_question),
    say.RunShell: Handler("alone", sessions.run_shell),
    say.RunSlash: Handler("now", slash.run_slash),
    say.SetMode: Handler("beside", control.set_mode),
    say.SetTitle: Handler("beside", control.set_title),
    say.AddDir: Handler("beside", control.add_dir),
    say.KeepDraft: Handler("now", control.keep_draft),
    say.PreviewRevert: Handler("beside", time_travel.preview_revert),
    say.PreviewFile: Handler("beside", time_travel.preview_file),
    say.DraftNote: Handler("now", drafting.draft_note),
    say.StopDraft: Handler("now", drafting.stop_draft),
    say.RevertTo: Handler("alone", time_travel.revert_to),
    say.Undo: Handler("alone", time_travel.undo),
    say.Redo: Handler("alone", time_travel.redo),
    say.RestoreRotation: Handler("alone", time_travel.restore_rotation),
    say.ClearContext: Handler("alone", time_travel.clear_context),
    say.Compact: Handler("now", compacting.compact),
    say.AnswerCompaction: Handler("now", answer_compaction),
    say.SnoozeCompaction: Handler("now", snooze),
    say.PinEntry: Handler("beside", pin_entry),
    say.DropResult: Handler("alone", dropping.drop_result),
    say.ListRotations: Handler("beside", browsing.list_rotated),
    say.ReadRotation: Handler("beside", browsing.read_rotation),
    say.CompareTimelines: Handler("beside", browsing.compare_timelines),
    say.ExportTimeline: Handler("beside", browsing.export_timeline),
    say.ChangeRotation: Handler("beside", browsing.change_rotation),
    say.ProposePruning: Handler("beside", pruning.propose),
    say.PruneRotations: Handler("beside", pruning.prune),
    say.NameCheckpoint: Handler("beside", browsing.name_checkpoint),
    say.MeasureContext: Handler("beside", browsing.measure_context),
    say.LoadEntries: Handler("now", browsing.load_entries),
    say.LoadImages: Handler("now", pictures.load_images),
    say.NewSession: Handler("idle", sessions.new),
    say.OpenSession: Handler("idle", sessions.open_session),
    say.Fork: Handler("idle", sessions.fork),
    say.ListSessions: Handler("beside", sessions.list_them),
    say.RemoveSession: Handler("beside", sessions.remove),
    say.ListModels: Handler("beside", sessions.list_models),
    say.StopTask: Handler("beside", task_commands.stop_task),
    say.ReadTask: Handler("beside", task_commands.read_task),
    say.ReadSubagent: Handler("beside", read_subagent),
    say.ListCommands: Handler("beside", session_skills.list_commands),
    say.ListMcp: Handler("beside", session_servers.list_servers),
    say.RestartMcp: Handler("beside", session_servers.restart_server),
    say.SignInMcp: Handler("beside", session_servers.sign_in),
    say.AnswerSignInMcp: Handler("beside", session_servers.answer_sign_in),
    say.SignOutMcp: Handler("beside", session_servers.sign_out),
    say.SwitchModel: Handler("idle", sessions.switch_model),
}

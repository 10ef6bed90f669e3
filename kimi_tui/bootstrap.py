"""The one place that knows every room: builds an agent from the settings.

`connect` is called after the first frame; what it imports is heavy, so the command line imports it in a worker thread.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from kimi_tui.agent import grants
from kimi_tui.agent.agent import Agent
from kimi_tui.agent.desk import Desk, Loop, Retention
from kimi_tui.agent.dmail import DenwaRenji
from kimi_tui.agent.gauge import Limits
from kimi_tui.agent.outbox import Outbox
from kimi_tui.agent.questions import Questions
from kimi_tui.agent.saving import StateFile, UnsentDraft
from kimi_tui.agent.session_commands import keep_told
from kimi_tui.agent.session_servers import SessionServers
from kimi_tui.agent.session_skills import SessionSkills, SkillsInjectionProvider
from kimi_tui.agent.session_tools import session_tools
from kimi_tui.agent.steering import Steering
from kimi_tui.agent.surroundings import system_prompt
from kimi_tui.agent.tasks.news import TaskInjectionProvider
from kimi_tui.agent.tasks.session_tasks import SessionTasks
from kimi_tui.agent.telemetry import Telemetry
from kimi_tui.agent.transcript import Transcript
from kimi_tui.agent.travel.files import Files, files_of
from kimi_tui.context import Budget, Context, Learned
from kimi_tui.hooks import HookDef, Hooks
from kimi_tui.injections import AfkInjectionProvider, Injections, PlanInjectionProvider
from kimi_tui.llm.choice import ModelChoice
from kimi_tui.llm.factory import open_model
from kimi_tui.llm.model import ChatModel
from kimi_tui.llm.retry import RetryPolicy
from kimi_tui.llm.weights import MODELS
from kimi_tui.options import LaunchOptions
from kimi_tui.places import data_folder, grants_folder, logs_folder, mcp_file, require_writable, sessions_folder
from kimi_tui.protocol.events import Event, Noticed
from kimi_tui.protocol.ports import AgentPort
from kimi_tui.protocol.views import ApprovalView, ModelView, Modes
from kimi_tui.session import Session, SessionState, choose_session, read_state
from kimi_tui.settings import Settings, load_settings
from kimi_tui.sizes import bytes_in
from kimi_tui.skills import skill_roots
from kimi_tui.tools.approval import AllowRule, Answer, Approvals
from kimi_tui.tools.toolset import Toolset


async def connect(options: LaunchOptions) -> AgentPort:
    """The agent for these options, its session open. Raises Fault: one clear line, with what to do."""
    session = await asyncio.to_thread(choose_session, options)
    meant = remembered(options, session, await asyncio.to_thread(read_state, session.folder))
    settings = await asyncio.to_thread(load_settings, meant)
    await asyncio.to_thread(require_writable, data_folder())
    await asyncio.to_thread(import_module, "kimi_tui.agent.dispatch")  # else the first command has to
    outbox = Outbox()
    opener = StandardOpener(settings, meant, outbox.emit)
    desk = await opener.desk(session, opener.model(meant.model or settings.chosen_model))
    if options.model:
        remember(desk, options)
    return Agent(desk, opener, outbox)


def remembered(options: LaunchOptions, session: Session, state: SessionState) -> LaunchOptions:
    """The options with the model that the session talked to last, unless another one is named.

    An endpoint is only believed of a session in the data folder: one from elsewhere must not say where keys go."""
    if options.model or not state.model:
        return options
    base = state.api_base if session.is_ours else ""
    return replace(
        options,
        model=state.model,
        api_base=options.api_base or base or None,
        context_window=options.context_window or state.context_window,
    )


def remember(desk: Desk, options: LaunchOptions) -> None:
    """What `--model` named is the session's model from now on; a session in which nothing was said stays unwritten."""
    state = desk.state
    state.model, state.api_base = options.model or "", options.api_base or ""
    state.context_window = options.context_window
    if desk.context.history:
        desk.keep_state()


class StandardOpener:
    """Opens sessions and models as the settings say."""

    def __init__(self, settings: Settings, options: LaunchOptions, emit: Callable[[Event], None]) -> None:
        self._settings, self._options, self._emit = settings, options, emit
        self._learned = Learned(data_folder() / "calibration.json")

    def model(self, name: str) -> ChatModel:
        """The model of that name: configured, embedded, or a provider's."""
        found = self._settings.model_named(name)
        return open_model(
            ModelChoice(
                name=name,
                model=found.model,
                data_dir=data_folder(),
                log_dir=logs_folder(),
                api_base=found.api_base,
                api_key=found.api_key.get_secret_value() if found.api_key else None,
                context_window=found.context_window,
                max_output_tokens=found.max_output_tokens,
                headers={key: value.get_secret_value() for key, value in found.headers.items()},
            )
        )

    def known_models(self) -> tuple[ModelView, ...]:
        """The embedded models, then what the config names."""
        configured = tuple(
            ModelView(name, window=found.context_window or 0, about=found.model)
            for name, found in self._settings.models.items()
            if name not in MODELS
        )
        return (*(self.model(name).view for name in MODELS), *configured)

    async def desk(self, session: Session, model: ChatModel) -> Desk:
        """A session with all that its turns need."""
        state, damaged = await asyncio.to_thread(session.load_state)
        context = await self._memory(session, model)
        skills = SessionSkills(skill_roots(session.work_dir, data_folder()), self._emit)
        unusable = await skills.load()
        prompt = await asyncio.to_thread(
            system_prompt, session.work_dir, small=not model.view.tools, skills=skills.listing()
        )
        questions, emit = Questions(self._emit), self._emit
        hooks = self._hooks(session)
        denwa_renji, tasks = DenwaRenji(), SessionTasks(session, emit, hooks)
        left = await tasks.find(sessions_folder()) if context.holder is None else ()
        toolset = Toolset(())
        servers = await asyncio.to_thread(self._servers, session, toolset)
        desk = Desk(
            emit=emit,
            session=session,
            state=state,
            state_file=StateFile(session, state, lambda text: emit(Noticed(text, "warning"))),
            unsent=UnsentDraft(session, lambda text: emit(Noticed(text, "warning"))),
            context=context,
            model=model,
            summariser=self.model(self._settings.compaction.model) if self._settings.compaction.model else None,
            first_prompt=prompt,
            toolset=toolset,
            approvals=self._approvals(session, state, questions, hooks),
            hooks=hooks,
            injections=Injections([PlanInjectionProvider(), AfkInjectionProvider(), TaskInjectionProvider(tasks.own)]),
            skills=skills,
            telemetry=Telemetry(data_folder() / "telemetry.jsonl"),
            steering=Steering(emit),
            denwa_renji=denwa_renji,
            questions=questions,
            transcript=Transcript(toolset.view),
            loop=self._loop(),
            beside=state.beside[1] if state.beside and state.beside[0] == model.view.name else None,
            learned=self._learned,
            files=await asyncio.to_thread(self._files, session),
            modes=self._modes(state),
            dirs=self._dirs(session, state),
            notices=tuple(
                line for line in (damaged, *self._settings.notices, *servers.notices, *left, *unusable) if line
            ),
            tasks=tasks,
            servers=servers,
            headless=self._options.headless,
        )
        await _furnish(desk)
        return desk

    async def _memory(self, session: Session, model: ChatModel) -> Context:
        """The session's context, read; what killed writes left is swept when it is ours to write."""
        context = Context(
            session.context_file,
            durability=self._settings.storage.durability,
            clock=time.time,
            calibration=await asyncio.to_thread(self._learned.of, model.view.name),
        )
        await context.restore()
        if context.holder is None:
            await asyncio.to_thread(session.sweep)
        return context

    def _servers(self, session: Session, toolset: Toolset) -> SessionServers:
        return SessionServers(
            self._settings.mcp, mcp_file(), session.work_dir, logs_folder(), grants_folder(), toolset, self._emit
        )

    def _modes(self, state: SessionState) -> Modes:
        """Plan mode is the session's; what `--yolo` and `--afk` allow holds for this run only."""
        state.plan = state.plan or self._options.plan
        return Modes(state.plan, state.yolo or self._options.yolo, state.afk or self._options.afk)

    def _approvals(self, session: Session, state: SessionState, questions: Questions, hooks: Hooks) -> Approvals:
        async def ask(view: ApprovalView) -> Answer:
            about = {"notification_type": "approval", "title": view.action, "body": view.detail}
            hooks.fire("Notification", "approval", **about)
            answer = await questions.approval(view)
            return answer.decision, answer.feedback

        granted = [rule for rule in map(grants.read, state.approvals) if rule is not None]
        rules = [AllowRule(rule.tool, rule.pattern or "*") for rule in self._settings.allow]
        return Approvals(ask, session.work_dir, rules=rules, session=granted)

    def _hooks(self, session: Session) -> Hooks:
        defined = [HookDef(hook.event, hook.command, hook.matcher, hook.timeout) for hook in self._settings.hooks]
        return Hooks(defined, session_id=session.id, work_dir=session.work_dir)

    def _loop(self) -> Loop:
        loop = self._settings.loop
        return Loop(
            max_steps=loop.max_steps_per_turn,
            retry=RetryPolicy(attempts=max(1, loop.max_retries_per_step)),
            limits=Limits(
                loop.compaction_trigger_ratio, loop.reserved_context_size, self._settings.compaction.warn_ratio
            ),
            preview=self._settings.compaction.preview,
            max_ralph_iterations=loop.max_ralph_iterations,
            max_ralph_cost=loop.max_ralph_cost,
            max_preserved_messages=self._settings.compaction.max_preserved_messages,
            dmail_restores_files=loop.dmail_restores_files,
            retention=self._retention(),
        )

    def _retention(self) -> Retention:
        wanted = self._settings.retention
        budget = Budget(wanted.max_rotations, bytes_in(wanted.max_size), wanted.compress_after, wanted.keep_last)
        return Retention(wanted.policy, budget)

    def _files(self, session: Session) -> Files:
        return files_of(session, self._settings.snapshots, lambda text: self._emit(Noticed(text, "warning")))

    def _dirs(self, session: Session, state: SessionState) -> tuple[Path, ...]:
        named = [*self._options.add_dirs, *(Path(text) for text in state.additional_dirs)]
        return tuple(dict.fromkeys((session.work_dir / path).resolve() for path in named))


async def _furnish(desk: Desk) -> None:
    """What needs the desk itself: its tools, the listing of skills, and the hooks that hear of its start."""
    roots = [root.path.resolve() for root in desk.skills.roots]
    desk.approvals.rules += [AllowRule("ReadFile", str(root), literal=True) for root in roots]
    if desk.model.view.tools:
        desk.injections.providers.append(SkillsInjectionProvider(desk.skills, lambda: desk.system_prompt))
    keep_told(desk)
    for tool in session_tools(desk):
        desk.toolset.add(tool)
    desk.steering.changed = desk.keep_queue
    await asyncio.to_thread(desk.toolset.specs)  # reads what the tools say of themselves: not in the first step
    desk.apply_modes()
    source = "resume" if desk.context.history else "startup"
    desk.hooks.fire("SessionStart", source, source=source)

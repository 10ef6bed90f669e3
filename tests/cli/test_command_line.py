"""What the command line says, and how fast: help, usage, faults in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from kimi_tui import __version__
from kimi_tui.cli.main import run
from kimi_tui.options import LaunchOptions
from kimi_tui.session import SessionState, new_session

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


def kimi(*arguments: str, cwd: Path | None = None, stdin: str | None = None, **env: str) -> Ran:
    """The real program in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "kimi_tui", *arguments],
        cwd=cwd,
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        timeout=20,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def test_help_names_every_option_and_subcommand() -> None:
    ran = kimi("--help")
    assert (ran.code, ran.err) == (0, "")
    options = (
        "--continue --resume --session --work-dir --add-dir --model --api-base --context-window --print --output-format"
        " --yolo --afk --plan --plain --max-ralph-iterations --max-steps --config-file --version --help"
    )
    for word in (*options.split(), "sessions", "config"):
        assert word in ran.out


def test_version_is_the_packages() -> None:
    assert kimi("--version") == Ran(0, f"kimi-tui {__version__}\n", "")


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_and_version_load_nothing_heavy(argument: str) -> None:
    code = (
        "import sys; from kimi_tui.cli.main import run; "
        f"run([{argument!r}]); heavy = {{'pydantic', 'textual', 'rich', 'litellm', 'httpx', 'asyncio'}}; "
        "print(*(heavy & set(sys.modules)), file=sys.stderr)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert found.stderr.split() == []


@pytest.mark.parametrize("stdin", [None, "hi"])
def test_without_a_terminal_the_screen_is_refused_in_one_line(stdin: str | None) -> None:
    ran = kimi(stdin=stdin)
    assert ran.code == 1
    assert ran.out == ""
    assert ran.err == "kimi-tui: standard input is not a terminal. Without a screen: kimi-tui -p PROMPT.\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--nope"], "No such option"),
        (["--context-window", "0"], "--context-window"),
        (["--output-format", "json"], "--output-format goes with --print"),
        (["-p"], "--print needs a prompt"),
        (["-p", "hi", "-r"], "name the session"),
        (["-C", "-S", "x"], "only one of"),
        (["-w", "/nowhere/at/all"], "/nowhere/at/all"),
        (["sessions", "--nope"], "No such option"),
    ],
)
def test_wrong_usage_is_one_line_and_exits_with_two(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kimi_tui.cli.screen.require_terminal", lambda: None)
    monkeypatch.setattr("sys.stdin", None)
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1


def test_an_empty_standard_input_is_no_prompt() -> None:
    ran = kimi("-p", stdin="  \n")
    assert (ran.code, ran.err.count("\n")) == (2, 1)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[LaunchOptions, str, str]]:
    """What print mode was started with."""
    calls: list[tuple[LaunchOptions, str, str]] = []

    def record(options: LaunchOptions, prompt: str, output_format: str) -> int:
        calls.append((options, prompt, output_format))
        return 0

    monkeypatch.setattr("kimi_tui.cli.print_mode.run", record)
    return calls


def test_every_flag_reaches_the_agent(
    started: list[tuple[LaunchOptions, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "more").mkdir()
    (tmp_path / "c.toml").write_text("")
    line = (
        "-p hello --output-format json -w more --add-dir . --add-dir more -m openai/x --api-base http://h --plan --yolo"
        " --context-window 9000 --max-ralph-iterations -1 --max-steps 7 --config-file c.toml"
    )
    assert run(line.split()) == 0
    assert started == [
        (
            LaunchOptions(
                prompt="hello",
                work_dir=tmp_path / "more",
                add_dirs=(Path(), Path("more")),
                model="openai/x",
                api_base="http://h",
                context_window=9000,
                yolo=True,
                plan=True,
                max_ralph_iterations=-1,
                max_steps=7,
                config_file=Path("c.toml"),
                headless=True,
            ),
            "hello",
            "json",
        )
    ]


@pytest.mark.parametrize(
    ("arguments", "prompt"),
    [
        (["-p", "fix it"], "fix it"),
        (["fix", "it", "-p"], "fix it"),
        (["--yolo", "-p", "--", "sessions"], "sessions"),
        (["-p", "--", "-5 is wrong"], "-5 is wrong"),
        (["--print=[b]"], "[b]"),
    ],
)
def test_the_prompt_is_taken_as_it_is(
    arguments: list[str], prompt: str, started: list[tuple[LaunchOptions, str, str]]
) -> None:
    assert run(arguments) == 0
    assert started[0][1] == prompt


def test_continuing_and_naming_resolve_to_the_same_folder(
    started: list[tuple[LaunchOptions, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    session = new_session(tmp_path)
    session.save_state(SessionState())
    session.context_file.write_text('{"role":"user","content":"x"}\n')
    for arguments in (["-C"], ["-r", session.id], ["-S", str(session.folder)]):
        assert run([*arguments, "-p", "go on"]) == 0
    assert [options.session for options, _, _ in started] == [session.folder] * 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-C", "-p", "x"], "no session yet in"),
        (["-r", "nope", "-p", "x"], "`kimi-tui sessions` lists them."),
        (["-S", "/nowhere", "-p", "x"], "no session folder /nowhere"),
    ],
)
def test_a_session_that_is_not_there_is_told_at_once(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 1
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_an_internal_fault_leaves_its_traceback_in_the_log_without_keys(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv("MOONSHOT_API_KEY", "very-secret-value")

    def broken(*_: object) -> int:
        raise RuntimeError("unexpected very-secret-value\nsk-FAKE00000000")

    monkeypatch.setattr("kimi_tui.cli.print_mode.run", broken)
    assert run(["-p", "x"]) == 1
    err = capsys.readouterr().err
    log = home / "logs" / "kimi-tui.log"
    assert err.count("\n") == 1
    assert str(log) in err
    assert "Traceback" in log.read_text()
    for secret in ("very-secret-value", "sk-FAKE"):
        assert secret not in log.read_text()
        assert secret not in err


def test_a_reader_that_goes_away_is_no_fault(tmp_path: Path) -> None:
    command = f"{sys.executable} -m kimi_tui config | head -n 1"
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
    )
    assert done.stderr == ""

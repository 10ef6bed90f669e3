from __future__ import annotations

import pytest

from kimi_tui.tools.readonly import is_read_only, stays_inside
from kimi_tui.tools.shell_words import simple_commands


@pytest.mark.parametrize(
    "command",
    [
        "ls -la src",
        "cat a.txt b.txt | grep -n 'x y' | head -5",
        "cd src && ls *.py; pwd",
        "git status --short",
        "git -C sub log --oneline -5 -- a.py",
        "git diff HEAD~1 --stat 2>/dev/null",
        "git branch -a",
        "git config --get user.name",
        "find . -name '*.py' -type f",
        "rg -n 'def main' kimi",
        "sort a.txt | uniq -c",
        "sed -n 10,20p a.txt",
        "wc -l a.txt 2>&1",
        "date +%F",
        "grep -r 'a > b' .",
    ],
)
def test_commands_that_only_read_are_known(command: str) -> None:
    assert is_read_only(command)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "touch x",
        "echo a > b",
        "echo a >> b",
        "cat a >b",
        "ls; rm a",
        "ls && python -c 'open(1)'",
        "ls | tee b",
        "ls & rm a",
        "cat $(touch x)",
        "cat `touch x`",
        "cat <(touch x)",
        "echo $HOME",
        "(ls)",
        "{ ls; }",
        "ls\nrm a",
        "cat <<EOF\nEOF",
        "X=1 ls",
        "./ls",
        "/tmp/ls",
        "sudo ls",
        "env ls",
        "xargs rm",
        "bash -c ls",
        "find . -delete",
        "find . -name x -exec rm {} +",
        "find . -fprintf out x",
        "find *",
        "sort -o a a",
        "sort -uo a a",
        "sort --out=a a",
        "sort *",
        "uniq a b",
        "rg --pre ./x y",
        "fd -x rm",
        "tree -o out",
        "sed -i s/a/b/ a",
        "sed -n 1,2p -i a",
        "sed 's/a/b/w out' a",
        "awk '{print > \"b\"}' a",
        "date 0101000026",
        "date -us 12:00",
        "hostname evil",
        "git checkout .",
        "git branch new",
        "git branch -D old",
        "git tag v1",
        "git stash",
        "git remote add a b",
        "git config user.name x",
        "git config --get-colorbool x -f y",
        "git diff --output=a",
        "git diff --outp=a",
        "git -c core.pager=touch log",
        "git grep -Otouch x",
        "git log --ext-diff",
        "git",
        "ls 'unclosed",
        "file -C -m x",
        "xxd a b",
        "ls |& tee b",
        "ls 2> b",
        "ls &> b",
    ],
)
def test_anything_else_counts_as_changing_something(command: str) -> None:
    assert not is_read_only(command)


def test_a_redirection_inside_quotes_is_text() -> None:
    assert simple_commands("grep 'a > b; c' f") == [["grep", "a > b; c", "f"]]


def test_leaving_the_folder_is_noticed() -> None:
    assert stays_inside("cat a/b.txt | head -3")
    for command in ("cat /etc/passwd", "cat ../x", "cat ~/x", "cd / ; cat x", "grep --file=/etc/x a"):
        assert not stays_inside(command)

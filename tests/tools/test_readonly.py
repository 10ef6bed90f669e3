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
        r"grep -nE 'def \w+\($' a.py",
        "git log --format='%h $x `y`'",
        r"printf '%s\n' a",
        "[ -f a ] && test -d b",
        "uniq -c a",
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
        "uniq - b",
        "uniq -- -a b",
        "uniq +1 b",
        "tree -R -L 1",
        "test -v 'a[$(touch x)]'",
        "[ -v 'a[$(touch x)]' ]",
        "[ -R 'a[$(touch x)]' ]",
        "printf -v 'a[$(touch x)]' y",
        """echo "'$(touch x)'" """,
        """echo "it's $(touch x)" 'y'""",
        r"""echo \'$(touch x)\'""",
        r"""echo "\"'$(touch x)'" """,
        "echo $'x' $(touch x)",
        "cat 'a\nb'",
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
        "git cat-file --filters HEAD:a",
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


@pytest.mark.parametrize(
    "command",
    [
        "cat a/b.txt | head -3",
        "cd src && ls",
        "git diff main..HEAD -- src/a.py",
        "rg --glob=src/** x",
        "cat .gitignore",
    ],
)
def test_what_names_only_places_below_stays_inside(command: str) -> None:
    assert stays_inside(command)


@pytest.mark.parametrize(
    "command",
    [
        "cat /etc/passwd",
        "cat ../x",
        "cat sub/../../x",
        "cat ~/x",
        "cat ~-/x",
        "cd / ; cat x",
        "cd; cat .netrc",
        "cd - && cat x",
        "cd -P && cat x",
        "grep --file=/etc/x a",
        "date -f/etc/shadow",
        "strings @/etc/passwd",
        "cat {/etc/passwd,x}",
        "cat {.,}./x",
        "cat .*/x",
        "cat sub/.[.]/../x",
        'cat .""./x',
    ],
)
def test_leaving_the_folder_is_noticed(command: str) -> None:
    assert not stays_inside(command)

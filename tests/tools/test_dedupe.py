from __future__ import annotations

from collections.abc import Iterator

from kimi_tui.tools.dedupe import CallKey, Repeats, Verdict

LS = CallKey.of("Shell", '{"command": "ls"}')
CAT = CallKey.of("Shell", '{"command": "cat a"}')
PWD = CallKey.of("Shell", '{"command": "pwd"}')


def levels(repeats: Repeats, steps: list[list[tuple[CallKey, str]]]) -> Iterator[int]:
    for step in steps:
        yield max(verdict.level for verdict in repeats.record(step))


def test_key_order_and_blanks_do_not_make_a_call_a_new_one() -> None:
    assert CallKey.of("Grep", '{"pattern": "x", "path": "a"}') == CallKey.of("Grep", '{ "path":"a",\n"pattern":"x"}')
    assert CallKey.of("Grep", None) == CallKey.of("Grep", "{}") == CallKey.of("Grep", "null")
    assert CallKey.of("Grep", '{"pattern": "x"}') != CallKey.of("Grep", '{"pattern": "X"}')


def test_a_streak_is_reminded_of_at_three_five_and_eight_and_stopped_at_twelve() -> None:
    seen = list(levels(Repeats(), [[(LS, "same")]] * 12))
    assert seen == [0, 0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4]


def test_reminders_grow_stronger_and_name_the_call() -> None:
    repeats = Repeats()
    verdicts = [repeats.record([(LS, "same")])[0] for _ in range(12)]
    texts = {verdict.level: verdict.reminder for verdict in verdicts}
    assert len(set(texts.values())) == 5
    assert all("Shell" in texts[level] for level in (1, 2, 3, 4))
    assert '"command":"ls"' in texts[3]
    assert verdicts[-1].stop


def test_another_call_in_between_ends_the_streak() -> None:
    steps = [[(LS, "same")]] * 2 + [[(CAT, "x")]] + [[(LS, "same")]] * 2
    assert list(levels(Repeats(), steps)) == [0, 0, 0, 0, 0]


def test_the_streak_goes_on_beside_other_calls_of_the_step() -> None:
    steps = [[(LS, "same"), (CallKey.of("Think", f'{{"thought": "{n}"}}'), "ok")] for n in range(3)]
    repeats = Repeats()
    verdicts = [repeats.record(step) for step in steps]
    assert [verdict.level for verdict in verdicts[-1]] == [1, 0]


def test_reset_forgets_the_streak() -> None:
    repeats = Repeats()
    list(levels(repeats, [[(LS, "same")]] * 11))
    repeats.reset()
    assert list(levels(repeats, [[(LS, "same")]] * 2)) == [0, 0]


def test_polling_with_changing_results_is_reminded_of_but_never_stopped() -> None:
    repeats = Repeats()
    verdicts: list[Verdict] = [repeats.record([(CAT, str(n))])[0] for n in range(60)]
    assert {verdict.level for verdict in verdicts} == {0, 1}
    assert "taken for waiting" in verdicts[-1].reminder


def test_a_poll_whose_result_stops_changing_becomes_a_loop() -> None:
    results = [str(n) for n in range(5)] + ["done"] * 12
    assert next(reversed(list(levels(Repeats(), [[(CAT, result)] for result in results])))) == 4


def test_a_cycle_of_two_steps_with_equal_results_is_noticed_and_stopped() -> None:
    seen = list(levels(Repeats(), [[(LS, "1")], [(CAT, "2")]] * 8))
    assert seen[:5] == [0] * 5
    assert seen[5] == 1
    assert seen[-1] == 4


def test_a_cycle_of_three_steps_with_equal_results_is_noticed_and_stopped() -> None:
    repeats = Repeats()
    verdicts = [repeats.record(step)[0] for step in [[(LS, "1")], [(CAT, "2")], [(PWD, "3")]] * 8]
    assert verdicts[8].period == 3
    assert verdicts[8].level == 1
    assert verdicts[-1].stop


def test_a_cycle_that_makes_progress_is_left_alone() -> None:
    steps = [[(key, str(n))] for n in range(20) for key in (LS, CAT)]
    assert set(levels(Repeats(), steps)) == {0}

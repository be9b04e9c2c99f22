from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.believe.admission import Case, admitted, bounds_of, case_of, lost_together, next_to_prove
from scrapy_dust.believe.validation import Pair
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.visits.outcomes import Outcome


def case(name: str, *, saves: int, proved: int = 0, left: int = 0) -> Case:
    pairs = [Pair(f"{name}/same/{n}", f"{name}/{n}", Outcome.SAME) for n in range(proved)]
    pairs += [Pair(f"{name}/open/{n}", f"{name}/{n}") for n in range(left)]
    return case_of(Rule.of(Substitute(name, "")), saves, pairs)


def answer(one: Case, outcome: Outcome, times: int = 1) -> None:
    for _ in range(times):
        one.record(one.hand_out(), outcome)


def test_what_the_log_proves_is_taken_in_whatever_is_allowed():
    assert admitted([case("a", saves=9, proved=9)], 0, tried=50) != []


def test_what_nobody_looked_at_may_all_be_wrong():
    open_case = case("a", saves=50, proved=40, left=10)
    assert admitted([open_case], 9, tried=1) == []
    assert admitted([open_case], 10, tried=1) == [open_case]
    assert bounds_of(open_case, 1.0, 1, 1).wrong == 10


def test_the_best_saving_per_risk_goes_first():
    good, poor = case("a", saves=100, left=10), case("b", saves=11, left=10)
    assert admitted([poor, good], 10, tried=2) == [good]


def test_a_pair_shown_different_counts_for_good():
    one = case("a", saves=20, left=20)
    answer(one, Outcome.DIFFERENT)
    answer(one, Outcome.SAME, 19)
    assert lost_together([one], 0.05) == 1
    assert admitted([one], 0, tried=1) == []


def test_a_few_pairs_that_never_say_are_judged_by_the_others():
    one = case("a", saves=137, proved=134, left=3)
    while one.can_be_asked:
        answer(one, Outcome.UNKNOWN)
    assert one.unproved == 3
    assert bounds_of(one, 1.0, 1, 1).wrong <= 1
    silent = case("b", saves=10, proved=3, left=7)
    while silent.can_be_asked:
        answer(silent, Outcome.UNKNOWN)
    assert bounds_of(silent, 1.0, 1, 1).wrong >= 5


def test_what_did_not_say_is_asked_again_twice_and_no_more():
    one, asked = case("a", saves=1, left=1), 0
    while one.can_be_asked:
        answer(one, Outcome.UNKNOWN)
        asked += 1
    assert asked == 3


def test_an_answer_to_what_was_not_asked_changes_nothing():
    one = case("a", saves=5, left=5)
    one.record(one.left[0], Outcome.DIFFERENT)
    assert (one.looked, one.wrong, one.unproved) == (0, 0, 5)


def test_the_more_rules_were_tried_for_one_taken_the_wider_its_bound():
    def bound(tried: int) -> int:
        one = case("a", saves=100, left=100)
        answer(one, Outcome.SAME, 60)
        return bounds_of(one, 1.0, 1, tried).wrong

    assert bound(1) < bound(20) < bound(1000)


cases = st.lists(
    st.tuples(st.integers(1, 60), st.integers(0, 30), st.integers(0, 25)), min_size=1, max_size=6
)


@given(cases, st.integers(0, 12), st.integers(0, 20))
def test_asking_where_it_decides_most_takes_everything_in_that_turns_out_well(given_cases, allowed, refuted):
    several = [
        case(str(n), saves=saves, proved=proved, left=left)
        for n, (saves, proved, left) in enumerate(given_cases)
    ]
    tried = len(several) + refuted
    asked = 0
    while (one := next_to_prove(several, allowed, tried)) is not None:
        answer(one, Outcome.SAME)
        asked += 1
    assert len(admitted(several, allowed, tried)) == len(several)
    assert asked <= sum(left for _, _, left in given_cases)


@given(cases, st.integers(0, 12), st.data())
def test_what_is_taken_in_keeps_to_what_is_allowed(given_cases, allowed, data):
    several = [
        case(str(n), saves=saves, proved=proved, left=left)
        for n, (saves, proved, left) in enumerate(given_cases)
    ]
    for _ in range(60):
        one = next_to_prove(several, allowed, len(several))
        if one is None:
            break
        answer(one, data.draw(st.sampled_from(Outcome)))
    taken = admitted(several, allowed, len(several))
    assert not taken or lost_together(taken, 0.05 * len(taken) / len(several)) <= allowed

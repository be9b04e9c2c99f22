"""A rule in force is watched: when it is doubted, suspended and cleared."""

from __future__ import annotations

import random
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.drift import expected_suppressed
from scrapy_dust.believe.watch import Standing, Watch
from scrapy_dust.visits.outcomes import Outcome

SAME, DIFFERENT, UNKNOWN, UNFETCHABLE = Outcome.SAME, Outcome.DIFFERENT, Outcome.UNKNOWN, Outcome.UNFETCHABLE


def literal(outcomes, loss):
    """The Shiryaev-Roberts sums, a product for each moment at which the change may have been."""
    told = [outcome for outcome in outcomes if outcome in (SAME, DIFFERENT)]
    sums = []
    for share in (loss ** (2 / 3), loss ** (1 / 3), 1.0):
        ratio = {SAME: (1 - share) / (1 - loss), DIFFERENT: share / loss}
        before = ratio[SAME] / (1 - ratio[SAME]) * prod(ratio[one] for one in told)
        sums.append(before + sum(prod(ratio[one] for one in told[at:]) for at in range(len(told))))
    return sum(sums) / 3


@given(st.lists(st.sampled_from(Outcome), max_size=30), st.sampled_from([0.001, 0.01, 0.02]))
def test_the_evidence_is_what_the_sums_written_out_are(outcomes, loss):
    watch = Watch(loss)
    for outcome in outcomes:
        watch.record(outcome)
    assert watch.evidence == pytest.approx(literal(outcomes, loss))


def standing_after(*outcomes, loss=0.001):
    watch = Watch(loss)
    for outcome in outcomes:
        watch.record(outcome)
    return watch.standing


@pytest.mark.parametrize(("loss", "more"), [(0, [DIFFERENT]), (0.001, [DIFFERENT]), (1, [DIFFERENT] * 2)])
def test_one_difference_puts_a_rule_in_doubt_and_another_suspends_it(loss, more):
    assert standing_after(*[SAME] * 50, DIFFERENT, loss=loss) is Standing.DOUBTED
    assert standing_after(*[SAME] * 50, DIFFERENT, SAME, *more, loss=loss) is Standing.REFUTED


@pytest.mark.parametrize(("loss", "same"), [(0, 3000), (0.001, 320), (0.01, 100), (1, 100)])
def test_doubt_is_over_after_many_that_are_the_same(loss, same):
    assert standing_after(DIFFERENT, *[SAME] * 20, loss=loss) is Standing.DOUBTED
    assert standing_after(DIFFERENT, *[SAME] * same, loss=loss) is Standing.TRUSTED


def test_a_doubt_that_nothing_settles_ends_the_rule():
    assert standing_after(DIFFERENT, *[UNKNOWN] * 19) is Standing.DOUBTED
    assert standing_after(DIFFERENT, *[UNKNOWN] * 20) is Standing.REFUTED


@given(st.lists(st.sampled_from([SAME, UNKNOWN, UNFETCHABLE]), max_size=200))
def test_without_a_difference_nothing_is_doubted(outcomes):
    assert standing_after(*outcomes) is Standing.TRUSTED


@given(st.lists(st.sampled_from(Outcome), max_size=20))
def test_a_refuted_rule_stays_so(outcomes):
    assert standing_after(DIFFERENT, DIFFERENT, *outcomes) is Standing.REFUTED


def test_a_rule_within_its_budget_is_seldom_suspended():
    """10 / loss outcomes at least, on average, by the theory; the starting sums take one 'difference' off."""
    chance, loss, lengths = random.Random(7), 0.02, []
    for _ in range(100):
        watch = Watch(loss)
        while watch.evidence < 10 / loss:
            watch.record(DIFFERENT if chance.random() < loss else SAME)
        lengths.append(watch.same + watch.different)
    assert sum(lengths) / len(lengths) > 9 / loss


@pytest.mark.parametrize(("rate", "share"), [(0.01, 1), (0.1, 0.3), (1, 1)])
def test_the_expectation_is_what_a_long_series_of_draws_gives(rate, share):
    chance, suppressed = random.Random(3), []
    for _ in range(4000):
        count = 0
        while True:
            is_canary = chance.random() < rate
            if is_canary and chance.random() < share:
                break
            count += not is_canary
        suppressed.append(count)
    assert sum(suppressed) / 4000 == pytest.approx(expected_suppressed(rate, share), rel=0.06, abs=0.01)

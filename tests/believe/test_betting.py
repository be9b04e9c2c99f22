from __future__ import annotations

import math
from itertools import accumulate, combinations
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.believe.betting import Sample, evidence_against, looks_needed, most_wrong_together

DOUBTS = (0.3, 0.1, 0.05, 0.01)


def most_wrong(sample: Sample, doubt: float) -> int:
    """The greatest number of wrong things that *sample* does not refute."""
    numbers = range(sample.wrong, sample.most + 1)
    return max(number for number in numbers if evidence_against(sample, number) < -math.log(doubt))


def draws(population: int, wrong: int) -> list[list[Sample]]:
    """All ways in which *wrong* of a population can turn up when it is looked at one by one, equally likely."""
    ways = []
    for places in combinations(range(population), wrong):
        found = accumulate(int(place in places) for place in range(population))
        ways.append([Sample(population), *(Sample(population, n, k) for n, k in enumerate(found, start=1))])
    return ways


@pytest.mark.parametrize("doubt", DOUBTS)
@pytest.mark.parametrize("population", [1, 2, 5, 8, 11])
def test_whenever_one_stops_the_bound_is_seldom_too_small(population, doubt):
    for wrong in range(population + 1):
        ways = draws(population, wrong)
        assert mean(any(most_wrong(one, doubt) < wrong for one in way) for way in ways) <= doubt


@pytest.mark.parametrize("population", [1, 4, 7, 10])
def test_a_bet_against_what_is_true_does_not_grow_on_average(population):
    for wrong in range(1, population + 1):
        ways = draws(population, wrong)
        for looked in range(population):
            stakes = [math.exp(evidence_against(way[looked], wrong)) for way in ways]
            assert mean(stakes) <= 1 + 1e-9


@pytest.mark.parametrize("doubt", DOUBTS)
def test_the_bound_of_a_sum_is_seldom_too_small(doubt):
    for wrong in [(0, 3), (1, 2), (3, 3), (5, 0), (2, 0)]:
        ways = [(a, b) for a in draws(6, wrong[0]) for b in draws(5, wrong[1])]
        for looked in [(3, 3), (6, 2), (1, 4), (5, 5), (0, 4)]:
            misses = [most_wrong_together((a[looked[0]], b[looked[1]]), doubt) < sum(wrong) for a, b in ways]
            assert mean(misses) <= doubt


samples = st.integers(0, 60).flatmap(
    lambda population: st.integers(0, population).flatmap(
        lambda looked: st.builds(Sample, st.just(population), st.just(looked), st.integers(0, min(looked, 3)))
    )
)


@given(samples, st.sampled_from(DOUBTS))
def test_a_bound_is_possible_and_what_was_seen_is_within_it(sample, doubt):
    assert sample.wrong <= most_wrong(sample, doubt) <= sample.most
    assert evidence_against(sample, sample.most + 1) == math.inf


@given(st.lists(samples, max_size=4), st.sampled_from(DOUBTS))
def test_the_bound_of_a_sum_is_at_most_the_sum_of_what_is_possible(several, doubt):
    bound = most_wrong_together(several, doubt)
    assert sum(one.wrong for one in several) <= bound <= sum(one.most for one in several)


@given(samples, st.sampled_from(DOUBTS))
def test_one_population_together_is_bounded_as_alone_or_a_little_more(sample, doubt):
    """A little, since the cheapest way to be wrong is straightened."""
    assert most_wrong_together([sample], doubt) >= most_wrong(sample, doubt)
    if not sample.wrong:
        assert most_wrong_together([sample], doubt) <= most_wrong(sample, doubt) + 1


def test_what_was_looked_at_in_full_is_known():
    assert most_wrong(Sample(50, 50), 0.05) == 0
    assert most_wrong(Sample(50, 50, 3), 0.05) == 3
    assert most_wrong_together([Sample(50, 50)] * 9, 0.05) == 0


def test_many_populations_half_seen_may_lose_no_more_than_one_of_them():
    assert (
        most_wrong_together([Sample(100, 50)] * 20, 0.05) == most_wrong_together([Sample(100, 50)], 0.05) == 4
    )


@given(st.integers(1, 300), st.floats(0.01, 1), st.sampled_from(DOUBTS))
def test_looks_needed_are_enough_and_one_less_is_not(population, share, doubt):
    suspected = max(1, math.ceil(share * population))
    needed = looks_needed(population, suspected, doubt)
    assert evidence_against(Sample(population, needed), suspected) >= -math.log(doubt)
    assert evidence_against(Sample(population, needed - 1), suspected) < -math.log(doubt)


def test_of_an_endless_population_ninety_two_looks_refute_one_in_twenty_at_one_percent():
    """Without the tenth of the stakes that is laid elsewhere it would be 90."""
    assert looks_needed(10**5, 5000, 0.01) == 92
    assert looks_needed(100, 5, 0.01) == 60

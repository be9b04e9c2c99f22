from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_dust.propose.dustbuster.detection import DetectionParams, detect_likely_rules
from scrapy_dust.propose.dustbuster.elimination import (
    EliminationParams,
    eliminate_in_sites,
    eliminate_redundant,
)
from scrapy_dust.propose.dustbuster.likely_rules import LikelyRule
from scrapy_dust.propose.dustbuster.sketches import Similar
from scrapy_dust.rules.substitution import Substitute, pair_refines, shrinking
from tests import oracle
from tests.propose.dustbuster.test_detection import detection_params, likely_similar, printed, some_log, urls
from tests.rules.test_substitution import sides
from tests.strategies import pages_of, substitutions

elimination_params = st.builds(
    EliminationParams,
    max_relative_deficiency=st.sampled_from((0.0, 0.05, 0.1, 0.3, 0.5, 1.0)),
    max_absolute_deficiency=st.integers(0, 3),
    max_window=st.sampled_from((0, 1, 2, 3, 5, 20, 1100)),
)


@given(some_log, detection_params(), elimination_params)
@example(
    urls("^a/1", "^b/1", "^a/2", "^b/2"),
    DetectionParams(min_support=1, similar=Similar.NONE),
    EliminationParams(),
)
def test_what_is_kept_of_a_log_is_what_figures_1_and_2_keep(log, detection, elimination):
    expected = oracle.kept_rules(
        oracle.unique_records(log),
        detection.max_substring,
        detection.bucket_low,
        detection.bucket_high,
        detection.min_support,
        elimination.max_relative_deficiency,
        elimination.max_absolute_deficiency,
        elimination.max_window,
        likely_similar(detection),
    )
    kept = eliminate_redundant(detect_likely_rules(pages_of(log), detection), elimination).kept
    assert [printed(rule) for rule in kept] == [pair.printed() for pair in expected]


@st.composite
def likely_rules(draw: st.DrawFn) -> list[LikelyRule]:
    """Pairs as phase 1 never makes them: any supports, close to each other, and many refinements."""
    core = draw(st.lists(substitutions("ab/", 2), min_size=1, max_size=3))
    context = st.sampled_from(("", "", "/", "a/", "/b", ".", "a"))
    of: dict[Substitute, LikelyRule] = {}
    for _ in range(draw(st.integers(1, 14))):
        rule, head, tail = draw(st.sampled_from(core)), draw(context), draw(context)
        start, end = draw(st.booleans()), draw(st.booleans())
        wide = draw(st.integers(3, 60))
        rule = shrinking(Substitute(head + rule.alpha + tail, head + rule.beta + tail, start, end))
        of.setdefault(rule, LikelyRule(rule, draw(st.integers(3, wide)), wide))
    return list(of.values())


@given(likely_rules(), elimination_params)
def test_what_is_kept_of_any_list_is_what_figure_2_keeps(likely, params):
    R = sorted((oracle.Pair(*sides(one.rule), one.wide_support) for one in likely), key=oracle.by_support)
    expected = oracle.eliminate_redundancies(
        R, params.max_relative_deficiency, params.max_absolute_deficiency, params.max_window
    )
    kept = eliminate_redundant(likely, params).kept
    assert {sides(one.rule) for one in kept} == {(pair.alpha, pair.beta) for pair in expected}
    shown = [oracle.Pair(*sides(one.rule), one.support) for one in kept]
    assert shown == sorted(shown, key=oracle.by_support)


@given(st.lists(likely_rules(), max_size=4), elimination_params, st.sampled_from((0, 3, 2**64 - 1)))
def test_sites_together_with_any_hashes_are_split_as_each_is_alone(sites, params, hash_mask):
    together = eliminate_in_sites(sites, params, hash_mask=hash_mask)
    assert together == [eliminate_redundant(likely, params) for likely in sites]


@given(likely_rules(), elimination_params)
def test_every_rule_is_kept_or_dropped_once(likely, params):
    split = eliminate_redundant(likely, params)
    every = [*split.kept, *(dropped.rule for dropped in split.dropped)]
    assert len(every) == len(likely)
    assert set(every) == set(likely)


@given(likely_rules(), elimination_params)
def test_a_rule_is_dropped_for_one_of_close_support_that_refines_it(likely, params):
    for dropped in eliminate_redundant(likely, params).dropped:
        rule, because = dropped.rule, dropped.because
        assert pair_refines(because.rule, rule.rule)
        more, less = sorted((rule.wide_support, because.wide_support), reverse=True)
        assert more - less <= max(params.max_relative_deficiency * more, params.max_absolute_deficiency)


@given(likely_rules(), elimination_params)
def test_a_chain_of_reasons_ends_in_a_rule_that_is_kept(likely, params):
    split = eliminate_redundant(likely, params)
    because = {dropped.rule: dropped.because for dropped in split.dropped}
    for one in because:
        rule, seen = one, set()
        while rule in because:
            assert rule not in seen
            seen.add(rule)
            rule = because[rule]
        assert rule in split.kept


@given(likely_rules(), elimination_params, st.randoms())
def test_the_order_of_the_list_does_not_matter(likely, params, random):
    shuffled = random.sample(likely, len(likely))
    assert eliminate_redundant(shuffled, params) == eliminate_redundant(likely, params)


def test_the_defaults_are_the_papers():
    params = EliminationParams()
    assert (params.max_relative_deficiency, params.max_absolute_deficiency, params.max_window) == (
        0.05,
        1,
        1100,
    )


# --- figure 2 by hand ---------------------------------------------------------------------------------------------

WIDE = Substitute("story?id=", "story_")
NARROW = Substitute("/story?id=", "/story_")
NARROWEST = Substitute("a/story?id=", "a/story_")


def kept(*likely: tuple[Substitute, int], **params: float) -> list[Substitute]:
    rules = [LikelyRule(rule, support, support) for rule, support in likely]
    return [one.rule for one in eliminate_redundant(rules, EliminationParams(**params)).kept]  # type: ignore[arg-type]


def test_of_two_rules_with_the_same_support_the_narrower_is_kept():
    assert kept((WIDE, 10), (NARROW, 10)) == [NARROW]


@pytest.mark.parametrize(("support", "stay"), [(11, [NARROW]), (12, [WIDE, NARROW])])
def test_a_wider_rule_with_more_support_than_the_deficiency_stays(support, stay):
    assert kept((WIDE, support), (NARROW, 10)) == stay


def test_the_relative_deficiency_counts_from_the_larger_support():
    assert kept((WIDE, 100), (NARROW, 95)) == [NARROW]
    assert kept((WIDE, 100), (NARROW, 94)) == [WIDE, NARROW]


def test_a_rule_in_the_other_direction_refines_the_same_pair():
    assert kept((Substitute("b", "a"), 5), (Substitute("a/x", "b/x"), 5)) == [Substitute("a/x", "b/x")]


def test_the_window_counts_rules_of_any_kind():
    between = Substitute("x", "y")
    assert kept((WIDE, 10), (between, 10), (NARROW, 9), max_window=2) == [between, NARROW]
    assert kept((WIDE, 10), (between, 10), (NARROW, 9), max_window=1) == [WIDE, between, NARROW]


def test_a_rule_that_is_eliminated_looks_for_no_others():
    """The second would eliminate the third; but the first eliminates it, and is too far from the third."""
    assert kept((NARROWEST, 11), (NARROW, 10), (WIDE, 9)) == [NARROWEST, WIDE]

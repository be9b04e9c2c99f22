from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_dust.propose.dustbuster import envelopes, overlong_envelopes, substring_hashes, token_arrays
from scrapy_dust.propose.dustbuster.detection import DetectionParams, detect_in_sites, detect_likely_rules
from scrapy_dust.propose.dustbuster.likely_rules import LikelyRule
from scrapy_dust.propose.dustbuster.sketches import Similar
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.visits.pages import Page
from tests import oracle
from tests.strategies import dusty_sites, logs, pages_of


def printed(rule: LikelyRule) -> tuple[str, str, bool, bool, int]:
    of = rule.rule
    return of.alpha, of.beta, of.start, of.end, rule.support


def likely_similar(params: DetectionParams) -> oracle.LikelySimilar:
    """The oracle's judge for these parameters."""
    return {
        Similar.SKETCH: oracle.likely_similar_by_sketch(params.sketch_matches),
        Similar.SIZE: oracle.likely_similar_by_size,
        Similar.NONE: oracle.likely_similar_always,
    }[params.similar]


@st.composite
def detection_params(draw: st.DrawFn) -> DetectionParams:
    low = draw(st.integers(2, 6))
    return DetectionParams(
        max_substring=draw(st.sampled_from((0, 1, 2, 3, 5, 8, 35))),
        bucket_low=low,
        bucket_high=low + draw(st.integers(0, 5)),
        min_support=draw(st.integers(1, 3)),
        similar=draw(st.sampled_from((Similar.SKETCH, Similar.SIZE, Similar.NONE))),
        sketch_matches=draw(st.integers(1, 4)),
    )


some_log = logs() | dusty_sites().map(lambda site: site.log)


def check(log, params: DetectionParams, **options: int) -> None:
    """Rule for rule, in order, with the supports under both bucket limits."""
    L = oracle.unique_records(log)
    judge = likely_similar(params)
    expected = oracle.detect_likely_rules(
        L, params.max_substring, params.bucket_low, params.min_support, judge
    )
    found = detect_likely_rules(pages_of(log), params, **options)
    assert [printed(rule) for rule in found] == [pair.printed() for pair in expected]
    wide = {
        pair.printed()[:4]: pair.support
        for pair in oracle.detect_likely_rules(L, params.max_substring, params.bucket_high, 1, judge)
    }
    assert {printed(rule)[:4]: rule.wide_support for rule in found} == {
        pair.printed()[:4]: wide[pair.printed()[:4]] for pair in expected
    }


def urls(*texts: str) -> list[dict[str, object]]:
    return [{"url": text} for text in texts]


EVERYTHING = DetectionParams(min_support=1, similar=Similar.NONE)


@given(some_log, detection_params())
@example(urls("a.a.a/", "a.a/", "a/"), EVERYTHING)
@example(urls("/////", "////", "///"), EVERYTHING)
@example(urls("^a", "a", "^b", "b"), EVERYTHING)
@example(urls("a$", "b$", "a", "b"), EVERYTHING)
@example(urls("^a/^a", "^b/^a", "^a/^b"), EVERYTHING)
@example(urls("", "a"), EVERYTHING)
@example(urls("a"), EVERYTHING)
@example([], EVERYTHING)
def test_likely_rules_are_those_of_figure_1(log, params):
    check(log, params)


@given(some_log, detection_params(), st.sampled_from((0, 1, 0xF, 0xFF)))
@example(urls("a/1", "b/1", "a/2", "b/2", "c/1", "c/2"), EVERYTHING, 0)
def test_colliding_hashes_change_nothing(log, params, hash_mask):
    check(log, params, hash_mask=hash_mask)


@pytest.mark.once
@given(some_log, detection_params())
def test_layers_that_are_not_held_are_made_again(log, params):
    check(log, params, held=0)


@given(some_log, detection_params(), st.integers(1, 5))
def test_how_much_is_done_at_a_time_changes_nothing(log, params, together):
    with pytest.MonkeyPatch.context() as patch:
        for module, name in (
            (envelopes, "URLS"),
            (overlong_envelopes, "ENVELOPES"),
            (substring_hashes, "_COMPARED"),
            (token_arrays, "_TOGETHER"),
        ):
            patch.setattr(module, name, together)
        check(log, params)


@given(some_log, detection_params(), st.randoms())
def test_the_order_of_pages_does_not_matter(log, params, random):
    pages = pages_of(log)
    assert detect_likely_rules(random.sample(pages, len(pages)), params) == detect_likely_rules(pages, params)


@given(
    st.lists(some_log, min_size=1, max_size=4),
    detection_params(),
    st.sampled_from((Similar.AUTO, None)),
    st.booleans(),
)
@example([urls("a/1", "a/2"), urls("a/1", "b/1"), urls("b/2", "a/2")], EVERYTHING, None, True)
def test_sites_that_are_gone_through_together_have_the_rules_that_each_has_by_itself(
    sites, params, similar, collide
):
    params = replace(params, similar=similar or params.similar)
    pages = [pages_of(log) for log in sites]
    found = detect_in_sites(pages, params, hash_mask=0 if collide else 2**64 - 1)
    assert found == [detect_likely_rules(of_site, params) for of_site in pages]


@given(some_log)
def test_raising_the_least_support_only_takes_rules_away(log):
    pages = pages_of(log)
    of = [
        detect_likely_rules(pages, DetectionParams(min_support=support, similar=Similar.NONE))
        for support in (1, 2, 3)
    ]
    assert [rule for rule in of[0] if rule.support >= 2] == of[1]
    assert [rule for rule in of[1] if rule.support >= 3] == of[2]


@given(some_log)
def test_auto_is_sketches_where_the_log_has_them_else_sizes(log):
    pages = pages_of(log)
    judged_by = Similar.SKETCH if any(page.sketch for page in pages) else Similar.SIZE
    auto = detect_likely_rules(pages, DetectionParams(min_support=1, similar=Similar.AUTO))
    assert auto == detect_likely_rules(pages, DetectionParams(min_support=1, similar=judged_by))


def test_the_defaults_are_the_papers():
    params = DetectionParams()
    assert (params.max_substring, params.bucket_low, params.bucket_high) == (35, 6, 11)
    assert (params.min_support, params.sketch_matches) == (3, 4)


# --- examples that a reader can check by hand ----------------------------------------------------------------------


def rules_of(pages: list[Page], **params: object) -> dict[Substitute, int]:
    found = detect_likely_rules(pages, DetectionParams(**{"similar": Similar.NONE, **params}))  # type: ignore[arg-type]
    return {likely.rule: likely.support for likely in found}


def test_every_page_seen_with_and_without_index_html_supports_the_rule():
    pages = [Page(f"http://a/{d}/{name}") for d in "pqrs" for name in ("", "index.html")]
    rules = rules_of(pages)
    assert rules[Substitute("index.html", "", end=True)] == 4
    assert rules[Substitute("/index.html", "/", end=True)] == 4
    assert Substitute("q/index.html", "q/", end=True) not in rules


def test_the_anchors_count_as_tokens_of_a_substring():
    pages = [Page(f"{d}/{name}") for d in "pqr" for name in ("", "i")]
    assert Substitute("i", "", end=True) in rules_of(pages, max_substring=2)
    assert Substitute("i", "", end=True) not in rules_of(pages, max_substring=1)
    assert Substitute("i", "") in rules_of(pages, max_substring=1)


def test_an_overflowing_bucket_supports_nothing():
    def support(numbers: int) -> int:
        pages = [Page(f"{d}/{n}") for d in "pqr" for n in range(numbers)]
        return rules_of(pages).get(Substitute("1", "0"), 0)

    assert support(6) == 3
    assert support(7) == 0


@pytest.mark.parametrize(
    ("agreeing", "matches", "likely"), [(4, 4, 1), (3, 4, 0), (3, 3, 1), (2, 3, 0), (1, 1, 1)]
)
def test_sketches_agree_by_place(agreeing, matches, likely):
    one, other = (1, 2, 3, 4), (1, 2, 3, 4)[:agreeing] + (9, 8, 7, 6)[agreeing:]
    pages = [Page("a/1", sketch=one), Page("b/1", sketch=other)]
    rules = rules_of(pages, similar=Similar.SKETCH, sketch_matches=matches, min_support=1)
    assert rules.get(Substitute("b", "a", start=True), 0) == likely


def test_the_same_hashes_in_other_places_do_not_agree():
    pages = [Page("a/1", sketch=(1, 2, 3, 4)), Page("b/1", sketch=(4, 3, 2, 1))]
    assert not rules_of(pages, similar=Similar.SKETCH, min_support=1)


def test_short_sketches_agree_where_all_their_hashes_do():
    """The papers have four; where a log has fewer, equal sketches must not look different."""

    def likely(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
        pages = [Page("a/1", sketch=one), Page("b/1", sketch=other)]
        return bool(rules_of(pages, similar=Similar.SKETCH, min_support=1))

    assert likely((1, 2), (1, 2))
    assert not likely((1, 2), (1, 3))
    assert not likely((1, 2), (1, 2, 3))


@pytest.mark.parametrize(
    ("one", "other", "likely"),
    [((1, 2), (2, 3), 1), ((1, 2), (3, 4), 0), ((1, 9), (3, 4), 1), ((0, 0), (0, 0), 1), (None, (3, 4), 1)],
)
def test_sizes_match_where_their_ranges_overlap(one, other, likely):
    pages = [Page("a/1", size=one), Page("b/1", size=other)]
    rules = rules_of(pages, similar=Similar.SIZE, min_support=1)
    assert rules.get(Substitute("b", "a", start=True), 0) == likely

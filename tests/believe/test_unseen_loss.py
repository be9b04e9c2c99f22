from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.believe.unseen_loss import DOUBT, Witnesses, contents_to_prove, law_share, unseen_bound
from scrapy_dust.rules.paths import DropSlash
from scrapy_dust.rules.substitution import Substitute

shares = st.floats(0, 0.6)


def test_without_a_family_so_many_contents_prove_two_percent_as_counting_says():
    assert abs(contents_to_prove(0.02, 0.0) - math.log(DOUBT) / math.log(0.98)) < 2


def test_families_of_laws_need_fewer_and_none_needs_less_than_a_handful():
    needed = [
        contents_to_prove(0.02, law_share((family,)))
        for family in ("path substring", "substring", "parameter", "slash")
    ]
    assert needed == sorted(needed, reverse=True)
    assert needed[-1] >= 10
    assert law_share(("slash", "path substring")) == law_share(("path substring",))


def test_many_urls_of_one_page_bear_out_a_rule_about_it():
    assert unseen_bound(Witnesses(contents=1, pairs=500), 0.5) < 0.02 < unseen_bound(Witnesses(1, 20), 0.5)


@given(st.integers(1, 300), st.integers(0, 300), shares)
def test_more_contents_never_widen_a_bound_and_a_wrong_pair_never_narrows_it(contents, more, laws):
    bound = unseen_bound(Witnesses(contents, contents), laws)
    assert 0 <= unseen_bound(Witnesses(contents + more, contents + more), laws) <= bound <= 1
    assert bound <= unseen_bound(Witnesses(contents, contents, wrong=1), laws)


@given(st.integers(1, 100), shares, shares)
def test_a_family_of_more_laws_is_never_believed_less(contents, one, other):
    less, more = sorted((one, other))
    assert unseen_bound(Witnesses(contents, contents), more) <= unseen_bound(
        Witnesses(contents, contents), less
    )


def test_a_family_is_what_a_rule_does_whoever_proposed_it():
    as_text = (Substitute("/", "", end=True), Substitute("", "/", end=True))
    assert {one.family for one in as_text} == {DropSlash().family}
    assert Substitute("/", "").family == "path substring"

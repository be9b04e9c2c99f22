from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.pages import Page, SiteLog
from scrapy_dust.visits.template_hashes import template_hashes


def site(*sketches):
    return [Page(f"u{i}", sketch=sketch, text_digest=f"t{i}") for i, sketch in enumerate(sketches)]


def own(i):
    return tuple(range(1000 + 4 * i, 1004 + 4 * i))


def test_hashes_that_many_different_pages_have_are_template():
    assert template_hashes(site(*[(7, 8, *own(i)[2:]) for i in range(10)])) == {7, 8}


def test_copies_of_one_page_are_one_page():
    copies = [Page(f"c{i}", sketch=(7, 7, 7, 7), text_digest="t0") for i in range(100)]
    assert template_hashes(copies + site(*map(own, range(20)))) == frozenset()


def test_a_few_pages_tell_nothing_of_a_template():
    assert template_hashes(site(*[(7, 8, 9, i) for i in range(7)])) == frozenset()
    assert template_hashes([Page("u"), Page("v", text_digest="t"), Page("w", sketch=(1,))]) == frozenset()


def test_what_few_of_many_pages_have_is_no_template():
    assert template_hashes(site(*[(7, 8, 9, 6)] * 4, *map(own, range(96)))) == frozenset()
    assert template_hashes(site(*[(7, 8, 9, 6)] * 5, *map(own, range(95)))) == {6, 7, 8, 9}


def test_pages_with_nothing_but_the_template_in_common_are_suspected_to_differ():
    empty, full = (1, 2, 3, 4), (1, 2, 3, 9)
    evidence = LogEvidence(SiteLog(site(empty, empty, full, full, empty, *map(own, range(10)))), [])
    assert evidence.pair("u0", "u1").known is Outcome.DIFFERENT
    assert evidence.pair("u2", "u3").known is None


def test_equal_text_is_proof_whatever_it_is_made_of():
    twin = Page("twin", sketch=(1, 2, 3, 4), text_digest="t0")
    evidence = LogEvidence(SiteLog([*site(*[(1, 2, 3, 4)] * 10), twin]), [])
    assert evidence.pair("u0", "twin").known is Outcome.SAME


pages = st.lists(
    st.builds(
        lambda values, text: (tuple(values), text),
        st.lists(st.integers(0, 3), min_size=4, max_size=4),
        st.none() | st.sampled_from("abcdefghijkl"),
    ),
    min_size=2,
    max_size=40,
)


@given(pages)
def test_the_template_only_adds_suspicions(found):
    log = SiteLog([Page(f"u{i}", sketch=sketch, text_digest=text) for i, (sketch, text) in enumerate(found)])
    evidence, plain = LogEvidence(log, []), LogEvidence(log, [])
    plain.template = frozenset()
    before, after = plain.pair("u0", "u1").known, evidence.pair("u0", "u1").known
    assert after is before or (before is None and after is Outcome.DIFFERENT)

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.report.pairs import Pairs, side_by_side
from scrapy_dust.visits.pages import Page, SiteLog

A, B = "http://a.example/1?sid=1", "http://a.example/1"
WORDS = st.lists(st.sampled_from("abc"), max_size=300)


class Mined:
    """What the page looks at of a site's mining."""

    def __init__(self, *pages, redirects=None):
        self.log = SiteLog(pages, redirects or {})


def said(*pages, texts=None, **more):
    return Pairs([Mined(*pages, **more)], texts or {}).look(A, B)


@given(WORDS, WORDS)
def test_the_first_words_that_differ_are_on_both_sides(here, there):
    a, b = (text.split() for text in side_by_side(here, there))
    if here and there and here != there:
        place = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
        assert place <= 21
        assert a != b
        assert len(a) <= 122
        assert len(b) <= 122
    elif here == there:
        assert a == b


def test_of_a_text_that_one_page_alone_has_the_beginning_is_shown():
    assert said(texts={B: ["word"] * 100}).texts == ("", "word " * 50 + "…")


def test_the_log_says_how_far_its_hashes_agree_and_no_more():
    one = Page(A, sketch=(1, 2, 3, 4), text_digest="x", size=(1000, 1000), title="T")
    other = Page(B, sketch=(1, 2, 3, 5), text_digest="y", size=(1000, 1200))
    found = said(one, other)
    assert found.titles == ("T", "")
    assert found.texts == ("", "")
    assert found.said == (
        "Their texts are not equal word for word.",
        "3 of 4 hashes of their texts agree.",
        "1,000 and 1,000–1,200 bytes.",
    )


def test_what_the_log_has_not_is_said_to_be_lacking():
    assert said(Page(A)).said == ("The log has no page at the second URL.",)
    assert said(Page(A), texts={B: ["word"]}).said == (
        "The log has no page at the second URL; validation fetched it.",
    )
    assert said(Page(A), Page(B)).said == ("The log says nothing of their texts.",)
    assert said(Page(B, title="T"), redirects={A: B}).said == (f"The first URL redirects to {B}.",)

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.learners.leftovers import Left
from scrapy_dust.report.savings import remaining_of, savings_of
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.sites import site_of
from scrapy_dust.visits.pages import Page

SITE = "a.example"
SID, WWW = Rule.of(DropParameter("sid")), Rule.of(Substitute("http://www.", "http://", start=True))
CANONIZER = Canonizer({SITE: [SID, WWW]}, site_of)

URLS = st.builds(
    "http://{}a.example/{}{}".format,
    st.sampled_from(("", "www.")),
    st.sampled_from("pq"),
    st.sampled_from(("", "?sid=1", "?sid=2", "?id=1")),
)


@given(st.lists(URLS, unique=True))
def test_what_is_saved_is_what_a_crawl_would_not_have_fetched(urls):
    found = savings_of([Page(url, size=(10, 20)) for url in urls], CANONIZER)
    keys = {CANONIZER.canonize(url) for url in urls}
    assert (found.urls, found.keys, found.saved) == (len(urls), len(keys), len(urls) - len(keys))
    assert (found.bytes, found.bytes_saved) == (15 * len(urls), 15 * found.saved)
    # Each URL that is spared is so by at least one rule, and by no more than there are.
    assert found.saved <= sum(found.by_rule.values()) <= 2 * found.saved


def test_a_url_that_is_its_own_key_is_spared_by_the_rule_of_the_other():
    found = savings_of([Page("http://a.example/?sid=1"), Page("http://a.example/")], CANONIZER)
    assert found.by_rule == {SID: 1}


def test_what_remains_has_the_same_text_and_another_key():
    pages = [
        *(Page(f"http://a.example/{n}?ref={n}", text_digest=f"{n}") for n in range(4)),
        *(Page(f"http://a.example/{n}", text_digest=f"{n}") for n in range(4)),
        *(Page(f"http://a.example/{n}?sid=1", text_digest=f"{n}") for n in range(4)),
        *(Page(f"http://a.example/x{n * n}y{n}", text_digest="sorry") for n in range(9)),
        Page("http://a.example/volatile", text_digest="0", volatile=True),
    ]
    found = remaining_of(pages, CANONIZER)
    assert (found.urls, found.why[Left.ERROR]) == (4 + 8, 8)
    assert len(found.pairs) == 5

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.believe.validation import Pair
from scrapy_dust.visits.strata import in_strata, template_of

urls = st.builds(
    "http://a.example/{}/{}{}".format,
    st.sampled_from(("shop", "blog", "x/y")),
    st.integers(0, 99),
    st.sampled_from(("", ".html", "?id=1", "?id=1&s=2")),
)


@given(st.lists(urls, max_size=60), st.text(max_size=3))
def test_every_pair_is_drawn_once_and_in_the_order_given_within_its_template(of, salt):
    pairs = [Pair(url, str(n)) for n, url in enumerate(of)]
    drawn = in_strata(pairs, salt)
    assert Counter(drawn) == Counter(pairs)
    for template in {template_of(url) for url in of}:
        numbers = [int(pair.target) for pair in drawn if template_of(pair.url) == template]
        assert numbers == sorted(numbers)


@given(st.lists(urls, max_size=60), st.integers(0, 60))
def test_any_beginning_has_of_each_template_its_share(of, size):
    drawn = in_strata([Pair(url, str(n)) for n, url in enumerate(of)])
    every = Counter(template_of(url) for url in of)
    seen = Counter(template_of(pair.url) for pair in drawn[:size])
    shares = [(seen[template] - 1) / count for template, count in every.items()]
    most = max((share for share in shares), default=0)
    assert all((seen[template] + 1) / count >= most for template, count in every.items())


def test_each_pair_is_as_likely_to_be_in_the_first_half_as_any_other():
    pairs = [Pair(f"http://a.example/p/{n}", "") for n in range(9)] + [Pair("http://a.example/q/r/0", "")]
    half = Counter(pair.url for salt in range(1000) for pair in in_strata(pairs, str(salt))[:5])
    assert 440 < half["http://a.example/q/r/0"] < 560

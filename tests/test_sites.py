"""What a site is, and that a quick look at a URL finds the same as parsing it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.sites import parsed_site_of, site_of
from tests.strategies import any_urls

NETLOCS = st.text("aB1.-_:@[]?#\\ \t\né%", max_size=9) | st.sampled_from(
    (
        "A.example",
        "a.example:80",
        "u@a.example",
        "[::1]",
        "127.0.0.1:8080",
        "a.co.uk",
        "co.uk",
        "x",
        ".",
        "..",
    )
)
FORMS = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(("http://", "https://", "HTTP://", " http://", "http:/", "ftp://", "//", "http:///", "")),
    NETLOCS,
    st.sampled_from(("", "/", "?", "#", ":")),
    st.text("a/?#@: \t", max_size=4),
)


@given(FORMS | any_urls())
def test_a_quick_look_finds_the_site_that_parsing_finds(url):
    assert site_of(url) == parsed_site_of(url)


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("http://www.a.example/x", "a.example"),
        ("https://WWW.A.Co.UK?x", "a.co.uk"),
        ("http://me.github.io/", "me.github.io"),
        ("http://127.0.0.1:8080/", "127.0.0.1:8080"),
        ("http://intranet:81", "intranet:81"),
        ("ftp://a.example/", None),
        # No port.
        ("http://a.example:99999/", None),
        ("http://a.example:8o8o/", None),
        ("http://127.0.0.1:0/", None),
        ("http://", None),
    ],
)
def test_a_site_is_the_registrable_domain(url, site):
    assert site_of(url) == site

"""What a judge is given of an answer."""

from __future__ import annotations

from scrapy.http import HtmlResponse

from scrapy_dust.crawl.inquiries import read_fetched
from scrapy_dust.judge.answers import Fetched
from scrapy_dust.trials.answers import fetched

_URL = "http://s.example/tea"
_IGNORE = ("#related",)


def _page(related: str) -> HtmlResponse:
    body = f"<h1>Tea</h1><div id=related>{related}</div>"
    return HtmlResponse(_URL, body=body, encoding="utf-8")


def _total(page: Fetched) -> int:
    assert page.shown is not None
    return page.shown.units.total


def test_elements_that_a_user_ignores_do_not_count_in_validation_or_canaries():
    for reading in (fetched, read_fetched):
        one, other = (reading(_page(said), _URL, ignore=_IGNORE) for said in ("a pot", "two cups"))
        assert _total(one) == _total(other)
        assert _total(reading(_page("a pot"), _URL)) != _total(one)

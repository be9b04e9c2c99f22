"""Turns a Scrapy response into the small form that judges compare: units and hashes, no body."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy.http import HtmlResponse, TextResponse, XmlResponse

from scrapy_dust.judge.answers import Fetched
from scrapy_dust.page.compare import Answer
from scrapy_dust.page.marks import Mark, marks_of
from scrapy_dust.page.reading import first_words, read_words
from scrapy_dust.page.sketch import PageText, describe
from scrapy_dust.page.wording import wording_of
from scrapy_dust.trials.actions import ActionWords

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.http import Response

#: Words in the address of what stands in front of pages.
_IN_FRONT = ActionWords(
    (
        *("login", "signin", "logon", "auth", "sso", "captcha", "challenge", "consent", "gdpr"),
        *("verify", "blocked", "denied", "forbidden", "splashui", "cookiewall", "paywall", "agegate"),
    )
)


def fetched(response: Response, asked: str, *, rendered: bool = False, ignore: Sequence[str] = ()) -> Fetched:
    """The *response* to the URL *asked* in the form that a judge compares. *rendered*: a browser wrote it, in its own
    encoding.

    *ignore*: CSS selectors of elements that do not count.
    """
    encoding = _browser_encoding(response, rendered=rendered)
    page = describe(response.body, _content_type(response), encoding, response.url, ignore=ignore)
    is_markup = isinstance(response, HtmlResponse) and not isinstance(response, XmlResponse)
    marks = marks_of(response.body, page.words, is_markup=is_markup)
    if is_in_front(asked, response.url):
        marks |= {Mark.MOVED}
    return Fetched(
        url=asked,
        final_url=response.url,
        status=response.status,
        shown=_page_in_units(response, page, encoding, ignore),
        text_digest=page.text_digest,
        sketch=tuple(page.sketch),
        marks=frozenset(map(str, marks)),
        at=time.time(),
    )


def _page_in_units(response: Response, page: PageText, encoding: str | None, ignore: Sequence[str]) -> Answer:
    """The page of *response* in units. *page*: its description; *ignore*: CSS selectors of elements that do not count."""
    assert page.units is not None
    said = read_words(response.body, _content_type(response), encoding, response.url, ignore)
    wording = None if said is None else wording_of(said)
    wordings = () if wording is None else (wording,)
    return Answer(response.url, page.units, page.names, page.canonical, links=page.links, wordings=wordings)


def words_of(response: Response, *, rendered: bool = False) -> list[str]:
    """The first words of the page in *response*, for people to read; empty for a PDF and for bodies without text."""
    return first_words(
        response.body, _content_type(response), _browser_encoding(response, rendered=rendered), response.url
    )


def unanswered(asked: str, status: int | None = None) -> Fetched:
    """The form for *asked* where no answer came, or one without a page."""
    return Fetched(asked, asked, status, at=time.time())


def _content_type(response: Response) -> str:
    return (response.headers.get("Content-Type") or b"").decode("latin-1")


def _browser_encoding(response: Response, *, rendered: bool) -> str | None:
    """The encoding in which a browser wrote *response*; None if no browser did, and the page says its encoding itself."""
    return response.encoding if rendered and isinstance(response, TextResponse) else None


def is_in_front(asked: str, final_url: str) -> bool:
    """Whether redirects from *asked* ended at a login, a consent or a check, and *asked* is none of these itself."""
    if asked == final_url or asked in _IN_FRONT:
        return False
    parts = urlsplit(final_url)
    return f"//{parts.netloc}/{parts.hostname or ''}{parts.path}" in _IN_FRONT

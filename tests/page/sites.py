"""Small sites in units: products with a frame around them, and a few kinds of pages beside these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from scrapy_dust.page.site_log import site_log
from scrapy_dust.page.units import pack
from scrapy_dust.page.volatile import NOTHING_VOLATILE, Volatile
from scrapy_dust.visits.pages import Page, SiteLog, Visit
from tests.page.building import page

HOST = "http://shop.example"
FRAME = ("text nav a: Home", "text nav a: Cart", f"link nav a: {HOST}/cart", "media header img: logo.png")
Said = Sequence[str]


def product(number: int | str, *more: str) -> list[str]:
    return [
        f"text title: Product {number}",
        f"text h1: Product {number}",
        f"text #price: {number}.99",
        f"media #main img: {number}.jpg",
        f"text p: A fine thing of kind {number}",
        *more,
    ]


def article(number: int | str, *more: str) -> list[str]:
    return [
        f"text title: Article {number}",
        f"text article p: Once upon a time {number}",
        f"text article p: And they lived happily {number}",
        *more,
    ]


def visit(url: str, *said: str, canonical: str | None = None) -> Visit:
    return Visit(
        HOST + url,
        status=200,
        text_digest="words",
        sketch=(1, 2, 3, 4),
        canonical=canonical and HOST + canonical,
        units=pack(page(*said)),
    )


def framed(pages: Mapping[str, Said] | Iterable[tuple[str, Said]]) -> list[Visit]:
    items = pages.items() if isinstance(pages, Mapping) else pages
    return [visit(url, *FRAME, *said) for url, said in items]


#: Pages of other kinds, so that the frame is known as the site's template.
OTHERS = [(f"/articles/{number}", article(number)) for number in range(10)]


def shop(pages: Mapping[str, Said], volatile: Volatile = NOTHING_VOLATILE) -> SiteLog:
    return site_log(framed([*pages.items(), *OTHERS]), volatile)


def shown(log: SiteLog, url: str) -> Page:
    return next(page for page in log.pages if page.url == HOST + url)


def label(log: SiteLog, url: str) -> str | None:
    found = shown(log, url)
    return None if found.volatile else found.text_digest

"""Generated sites as the logs of crawls that asked for each page once; nothing is served, so that thousands can be looked at."""

from __future__ import annotations

import random
from collections.abc import Iterator

from scrapy_dust.online.replaying import Arrivals
from scrapy_dust.page.sketch import describe
from scrapy_dust.page.units import pack
from scrapy_dust.visits.pages import Visit
from tests.families.drafting import Draft, Fetch, Page, Web
from tests.families.running import FAMILIES

HOST = "http://s.test"
#: Fetches of a page before the one that is logged: walls in front of it are gone by then.
_BEFORE = 9


def drawn(family: str, seed: int = 0) -> Web:
    return FAMILIES[family](Draft(f"{family} {seed}"))


def visits_of(web: Web) -> Iterator[Visit]:
    for number, (path, page) in enumerate(web.pages.items()):
        yield visit_of(path, page, random.Random(number))


def visit_of(path: str, page: Page, chance: random.Random) -> Visit:
    answer = page.show(Fetch(chance, _BEFORE))
    if 300 <= answer.status < 400:
        return Visit(HOST + path, answer.status, redirect_to=HOST + answer.headers["Location"])
    said = describe(answer.body, answer.headers.get("Content-Type"), None, HOST + path)
    return Visit(
        HOST + path,
        answer.status,
        text_digest=said.text_digest,
        sketch=said.sketch,
        canonical=said.canonical,
        units=None if said.units is None else pack(said.units),
    )


def arrivals_of(web: Web, seed: int) -> Arrivals:
    """The URLs of the site, as they come to a crawl in an order that *seed* draws."""
    visits = {visit.url: [visit] for visit in visits_of(web)}
    urls = list(visits)
    random.Random(seed).shuffle(urls)
    truth = {HOST + path: page.shows for path, page in web.pages.items()}
    return Arrivals(HOST.partition("://")[2], urls, visits, truth)

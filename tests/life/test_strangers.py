"""Promise 4: strangers do not choose the keeper. A link on another site alone makes no alias stand for a class."""

from __future__ import annotations

import pytest
from scrapy import Request

from tests.life.both import Both, Reader
from tests.life.web import Answer, Asked, index, notice, page, redirect, words

PAGES = range(12)


class OfTwoSites(Reader):
    """Reads the stranger's pages, and what they link, before it comes to the victim's."""

    async def start(self):
        for home in reversed(self.homes):
            yield Request(f"{home}/", priority=-10 if home == self.homes[0] else 10)


def victim(asked: Asked) -> Answer:
    """Knows the sessions that it has given itself, and answers 200 to all others."""
    if asked.path == "/":
        return Answer(index(*(f"/p{n}?sid=own" for n in PAGES)).body, seconds=0.2)
    return page(asked.path) if asked.sid in ("own", "own2") else expired(asked)


def expired(asked: Asked) -> Answer:
    """Another text for each page, so that nothing but the page itself could tell."""
    return notice(f"The session of this page has ended. {words('ended ' + asked.url)}")


def made_up(home: str, sid: str = "made-up") -> list[str]:
    return [f"{home}/p{n}?sid={sid}" for n in PAGES]


def evil(asked: Asked) -> Answer:
    return index(*made_up(asked.homes[0]))


def hiding(asked: Asked) -> Answer:
    """Has the crawler say nowhere where it found the links."""
    return index(*made_up(asked.homes[0]), Referrer_Policy="no-referrer")


def sending(asked: Asked) -> Answer:
    """Sends on to the victim, page by page."""
    if asked.path == "/":
        return index(*(f"/r{n}" for n in PAGES))
    return redirect(f"{asked.homes[0]}{asked.path.replace('/r', '/p')}?sid=made-up")


@pytest.mark.parametrize("stranger", [evil, hiding, sending])
@pytest.mark.parametrize("concurrency", [1, 8])
def test_made_up_aliases_on_another_site_cost_the_victim_nothing(both, stranger, concurrency):
    both(OfTwoSites, victim, stranger, CONCURRENT_REQUESTS=concurrency).check(wanted=12)


def test_nor_do_they_when_no_referer_is_sent(both):
    both(OfTwoSites, victim, evil, REFERER_ENABLED=False).check(wanted=12)


def test_two_strangers_together_are_strangers_still(both):
    both(OfTwoSites, victim, evil, evil).check(wanted=12)


def test_what_only_strangers_link_is_got_under_the_alias_that_works(both):
    def site(asked: Asked) -> Answer:
        return index() if asked.path == "/" else victim(asked)

    def stranger(asked: Asked) -> Answer:
        return index(*made_up(asked.homes[0]), *made_up(asked.homes[0], "own"))

    both(OfTwoSites, site, stranger).check(wanted=12)


def test_the_victims_own_duplicates_are_suppressed_all_the_same(both):
    def site(asked: Asked) -> Answer:
        if asked.path == "/":
            own = (f"/p{n}?sid={sid}" for sid in ("own", "own2") for n in PAGES)
            return Answer(index(*own).body, seconds=0.2)
        return victim(asked)

    found: Both = both(OfTwoSites, site, evil)
    found.check(wanted=12, saved=12)


def test_a_made_up_alias_that_comes_after_the_page_costs_nothing(both):
    class VictimFirst(OfTwoSites):
        async def start(self):
            for home in self.homes:
                yield Request(f"{home}/", priority=10 if home == self.homes[0] else -10)

    both(VictimFirst, victim, evil).check(wanted=12)


def test_a_spider_that_follows_with_its_own_requests_is_led_astray_no_more_than_others(both):
    """It makes requests of its own, outside of a callback, as extensions and `spider_idle` do."""

    class ByHand(OfTwoSites):
        def parse(self, response):
            yield from self.items(response)
            for link in response.css("a::attr(href)").getall():
                yield Request(
                    response.urljoin(link), priority=10 if response.url.startswith(self.homes[1]) else 0
                )

    both(ByHand, victim, evil).check(wanted=12)

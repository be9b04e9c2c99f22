"""The generated sites are what they say, before anybody crawls them."""

from __future__ import annotations

import random
from functools import lru_cache

import pytest
from parsel import Selector

from tests.crawl.site import Answer
from tests.families.drafting import Draft, Fetch, Page, Take, Web
from tests.families.one import ONE
from tests.families.running import FAMILIES

pytestmark = pytest.mark.once

every_family = pytest.mark.parametrize("family", FAMILIES)


@lru_cache(maxsize=4)
def drawn(family: str, seed: int = 0) -> Web:
    return FAMILIES[family](Draft(f"{family} {seed}"))


def answered(page: Page, chance: int = 0, times: int = 9) -> Answer:
    return page.show(Fetch(random.Random(chance), times))


def shown(page: Page, chance: int = 0) -> bytes:
    return answered(page, chance).body


@every_family
def test_a_family_draws_the_same_site_from_the_same_seed(family):
    one, other = drawn(family), drawn.__wrapped__(family)
    assert {path: shown(page) for path, page in one.pages.items()} == {
        path: shown(page) for path, page in other.pages.items()
    }


@every_family
def test_sites_of_two_seeds_have_no_word_of_their_addresses_in_common(family):
    one, other = drawn(family, 1), drawn(family, 2)
    common = (set(one.pages) & set(other.pages)) - {"/"}
    assert common == set()


@every_family
def test_what_the_spider_takes_of_a_page_is_its_item(family):
    web = drawn(family)
    for path, page in web.pages.items():
        answer = answered(page)
        body = answer.body
        if body.startswith(b"%PDF"):
            continue
        take = next((take for take in web.takes if path.startswith(take.begins)), Take("", ()))
        encoding = answer.headers.get("Content-Type", "").partition("charset=")[2] or "utf-8"
        selector = Selector(body.decode(encoding), type="xml" if body.startswith(b"<?xml") else "html")
        taken = tuple(
            " | ".join(text.strip() for text in selector.xpath(field).getall()) for field in take.fields
        )
        assert (taken if taken and all(taken) else None) == page.item


@every_family
def test_a_page_has_one_item_whatever_its_url(family):
    web = drawn(family)
    items: dict[str, object] = {}
    for page in web.pages.values():
        assert items.setdefault(page.name, page.item) == page.item


@pytest.mark.parametrize("family", ONE)
def test_a_page_that_must_be_seen_to_be_one_has_several_urls(family):
    web = drawn(family)
    aliases = sum(len(paths) - 1 for paths in web.aliases())
    assert aliases >= 18


@pytest.mark.parametrize("family", [name for name in ONE if name.startswith("changing_")])
def test_what_is_volatile_differs_at_each_fetch(family):
    web = drawn(family)
    pages = [page for page in web.pages.values() if page.item]
    assert all(shown(page, 1) != shown(page, 2) for page in pages)


@every_family
def test_a_site_is_small_enough_to_be_crawled_six_times(family):
    assert 40 <= len(drawn(family).pages) <= 230

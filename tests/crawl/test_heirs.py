"""Aliases of a class that has no page: none is forgotten, however many there are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request, Spider

from scrapy_dust.crawl import classes
from scrapy_dust.crawl.classes import WaitingClasses
from scrapy_dust.crawl.heirs import TEMPORARY, HeirsOnDisk
from scrapy_dust.dust.rules import ParameterRule
from tests.crawl.crawling import Visitor, crawl
from tests.crawl.site import error, page, serving

SID = ParameterRule("sid")


def only_the_last_answers(path):
    return page() if path.endswith("sid=39") else error(404)


@pytest.mark.once
@pytest.mark.parametrize(("per_class", "in_all"), [(8, 100_000), (8, 3), (0, 0)])
def test_forty_aliases_of_which_only_the_last_has_the_page(with_rules, monkeypatch, per_class, in_all):
    monkeypatch.setattr(classes, "HEIRS_PER_CLASS", per_class)
    monkeypatch.setattr(classes, "HEIRS_IN_ALL", in_all)
    with serving(only_the_last_answers) as site:
        urls = [site.url(f"/p?id={n}&sid={sid}") for sid in range(40) for n in range(2)]
        result = crawl(urls, with_rules(site, SID) | {"CONCURRENT_REQUESTS": 8})
    assert sorted(result.got) == sorted(urls[-2:])
    assert "dust/aliases_without_room" not in result.stats


class NotOfTheSpider(Visitor):
    """Its callbacks cannot be put on a disk."""

    async def start(self):
        async for request in super().start():
            yield request.replace(callback=lambda response: self.crawl.got.append(response.url), errback=None)


def test_aliases_that_cannot_be_put_on_a_disk_are_let_through_where_there_is_no_room(with_rules, monkeypatch):
    monkeypatch.setattr(classes, "HEIRS_IN_ALL", 3)
    with serving(only_the_last_answers) as site:
        urls = [site.url(f"/p?id={n}&sid={sid}") for sid in range(40) for n in range(2)]
        result = crawl(urls, with_rules(site, SID) | {"CONCURRENT_REQUESTS": 8}, spider=NotOfTheSpider)
    assert sorted(set(result.got)) == sorted(urls[-2:])
    assert result.stats["dust/aliases_without_room"] > 0


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["keep", "fail", "settle"]), st.integers(0, 9)),
        max_size=60,
    ),
    st.integers(0, 3),
    st.integers(0, 4),
)
def test_where_heirs_are_kept_makes_no_difference(steps, per_class, in_all):
    """The same answers as with all the room there is."""

    def told(per_class, in_all):
        spider = Spider("heirs")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(classes, "HEIRS_PER_CLASS", per_class)
            patch.setattr(classes, "HEIRS_IN_ALL", in_all)
            on_disk = HeirsOnDisk(TEMPORARY, lambda: spider)
            waiting = WaitingClasses(on_disk)
            for name, step, number in steps:
                key, url = name.encode(), f"http://site.test/{name}{number}"
                if step == "keep":
                    if not waiting.is_waiting(key):
                        waiting.stand(key, f"{url}/first")
                    yield waiting.keep(key, url, Request(url))
                elif step == "fail":
                    heir = waiting.fail(key, f"{url}/first")
                    yield heir and heir.url
                else:
                    yield waiting.settle(key)
            yield [heir.url for heir in waiting.orphans()]
            on_disk.close()

    assert list(told(per_class, in_all)) == list(told(1000, 1000))

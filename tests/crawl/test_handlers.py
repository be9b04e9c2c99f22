"""Callbacks that may do different things have different names."""

from __future__ import annotations

from functools import partial

from scrapy_dust.crawl.content_dedup import Handlers


class Spider:
    def parse(self, response):
        pass

    def other(self, response):
        pass


def making(field):
    def parse(response):
        return field

    return parse


def test_a_method_has_its_own_name_in_every_crawl():
    names = [Handlers().name(callback) for callback in (None, Spider().parse, Spider().parse)]
    assert set(names) == {"parse"}
    assert Handlers().name(Spider().other) == "other"


def test_what_is_made_on_the_way_is_like_nothing_else():
    handlers = Handlers()
    made = [making("a"), making("b"), partial(making, "a"), partial(making, "b"), lambda response: response]
    names = [handlers.name(one) for one in made]
    assert len({*names, "parse"}) == len(made) + 1
    assert [handlers.name(one) for one in made] == names
    assert Handlers().name(made[0]) != names[0]

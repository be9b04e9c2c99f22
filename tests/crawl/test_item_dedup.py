"""Items that were seen before: dropped or marked, near ones if asked for, and none that only looks so."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import pytest
from scrapy import Field, Item
from scrapy.exceptions import DropItem
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.test import get_crawler

from scrapy_dust import ContentDedupPipeline
from scrapy_dust.crawl.item_dedup import JOB_FILE
from tests.crawl.crawling import Visitor, crawl
from tests.crawl.site import page, serving


@pytest.fixture
def pipeline(settings):
    """What a new crawl makes of items: which of them come out."""

    def run(items, **more):
        crawler = get_crawler(settings_dict={"TWISTED_REACTOR_ENABLED": False, **settings, **more})
        crawler.spider = crawler._create_spider("test")
        made = build_from_crawler(ContentDedupPipeline, crawler)
        out = []
        for item in items:
            try:
                out.append(made.process_item(item))
            except DropItem as dropped:
                assert "Seen before" in str(dropped)  # noqa: PT017
        made.close_spider()
        run.stats = crawler.stats.get_stats()
        return out

    return run


@dataclass
class Product:
    url: str
    name: str
    price: Decimal


class Marked(Item):
    name = Field()
    dust_duplicate_of = Field()


def test_an_item_that_is_equal_but_for_its_url_comes_out_once(pipeline):
    items = [Product(f"http://a/{n}", f"thing {n % 3}", Decimal("1.50")) for n in range(9)]
    assert pipeline(items) == items[:3]
    assert pipeline.stats["dust/content/item_copies"] == 6


def test_the_fields_that_count_can_be_chosen(pipeline):
    items = [{"name": "x", "views": n, "url": "u"} for n in range(3)]
    assert pipeline(items) == items
    assert pipeline(items, DUST_CONTENT_FIELDS=["name"]) == items[:1]


def test_items_of_other_classes_and_empty_ones_are_not_compared(pipeline):
    items = [{"name": "x"}, Marked(name="x"), {"name": None, "url": "a"}, {"name": "", "url": "b"}, {}]
    assert pipeline(items) == items


def test_marked_items_say_where_they_were_seen(pipeline):
    items = [{"name": "x", "url": "a"}, {"name": "x", "url": "b"}, Marked(name="y"), Marked(name="y")]
    out = pipeline(items, DUST_CONTENT_DEDUP="mark")
    assert [item.get("dust_duplicate_of") for item in out] == [None, "a", None, "an item without a URL"]


def test_what_has_no_field_to_be_marked_in_comes_out_as_it_is(pipeline, caplog):
    items = [Product("u", "x", Decimal(1)) for _ in range(3)]
    assert pipeline(items, DUST_CONTENT_DEDUP="mark") == items
    assert len([record for record in caplog.records if "dust_duplicate_of" in record.getMessage()]) == 1


def test_items_of_earlier_crawls_count_but_for_those_of_the_same_url(pipeline):
    shared = {"DUST_CONTENT_STORE": "items.sqlite"}
    first = [{"name": f"x{n}", "url": "http://a/list"} for n in range(3)]
    assert pipeline(first, **shared) == first
    again = [*first, {"name": "x1", "url": "http://a/other"}, {"name": "x4", "url": "http://a/other"}]
    assert pipeline(again, **shared) == [*first, again[-1]]


def test_a_paused_crawl_goes_on_with_its_items(pipeline, tmp_path):
    assert len(pipeline([{"name": "x"}], JOBDIR=str(tmp_path))) == 1
    assert (tmp_path / JOB_FILE).is_file()
    assert pipeline([{"name": "x"}], JOBDIR=str(tmp_path)) == []


def test_what_cannot_be_compared_comes_out(pipeline):
    assert pipeline(["no item", {1: "x"}, {1: "x"}]) != []


def test_in_a_crawl(settings):
    class Same(Visitor):
        def parse(self, response):
            yield {"said": "the same", "url": response.url}

    pipelines = {"ITEM_PIPELINES": {"scrapy_dust.ContentDedupPipeline": 100}}
    with serving(lambda path: page()) as site:
        result = crawl([site.url(f"/{n}") for n in range(3)], settings | pipelines, spider=Same)
    assert result.stats["item_scraped_count"] == 1
    assert result.stats["item_dropped_count"] == 2

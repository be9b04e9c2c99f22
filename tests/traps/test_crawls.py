"""``DUST_TRAPS`` in whole crawls, with an engine and answers over loopback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scrapy import Request

from scrapy_dust.crawl.kept_forms import FILE
from scrapy_dust.crawl.trapping import trap_id
from scrapy_dust.journal.events import What
from scrapy_dust.journal.journal_places import journals
from scrapy_dust.journal.reader import read
from scrapy_dust.journal.requeue import suppressed_by
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import Visitor, write_rules
from tests.crawl.crawling import crawl as visit
from tests.crawl.site import page, serving
from tests.traps.crawling import Shopper, crawl
from tests.traps.simulating import simulate
from tests.traps.sites import HOST, Site, calendar_by_path, chain

pytestmark = pytest.mark.once

#: Fewer pages in a row end a form.
SOON = {"DUST_TRAPS": "cap", "DUST_MAX_RISK": 0.1}
DAYS, MONTHS = f"{HOST}/cal/0/0/0", f"{HOST}/cal/0/0"


def shop(items: int = 60) -> Site:
    return Site(calendar_by_path, ("/cal/2026/11",), items)


def test_a_budget_goes_to_real_pages_first_and_what_waits_is_named(tmp_path, caplog):
    caplog.set_level("INFO")
    crawled = crawl(shop(), tmp_path, CLOSESPIDER_PAGECOUNT=250)
    assert crawled.items.keys() == shop().names
    said = " ".join(record.getMessage() for record in caplog.records)
    assert f"{MONTHS} ({trap_id(MONTHS)})" in said
    assert 'DUST_TRAPS = "cap"' in said
    assert crawled.stats["dust/traps/last"] > crawled.stats["dust/traps/fetched"] > 0


def test_what_waits_is_in_the_journal_and_can_be_asked_for(tmp_path):
    crawl(shop(), tmp_path, CLOSESPIDER_PAGECOUNT=250)
    events = [event for _, event in read(journals(tmp_path / "journal"))]
    assert {event.what for event in events} == {What.PUT_LAST, What.RETURNED}
    waits = suppressed_by(tmp_path / "journal", [trap_id(DAYS)])
    assert [len(of) > 0 for of in waits.values()] == [True]
    assert all("/cal/" in url for of in waits.values() for url in of)


def test_with_cap_a_calendar_without_end_comes_to_an_end_and_all_items_are_found(tmp_path, caplog):
    crawled = crawl(shop(), tmp_path, CLOSESPIDER_PAGECOUNT=2000, **SOON)
    assert crawled.stats["finish_reason"] == "finished"
    assert crawled.items.keys() == shop().names
    assert crawled.stats["dust/traps/capped"] >= 1
    said = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert any("A trap" in one and MONTHS in one and "DUST_TRAPS_WANTED" in one for one in said)


def test_a_form_that_is_wanted_is_fetched_as_any_other(tmp_path):
    wanted = {"DUST_TRAPS_WANTED": [MONTHS, trap_id(DAYS)]}
    crawled = simulate(shop(), tmp_path, 400, **SOON, **wanted)
    assert "dust/traps/last" not in crawled.stats
    assert len(crawled.pages) == 400


def test_off_is_plain(tmp_path):
    crawled = simulate(shop(), tmp_path, 200, DUST_TRAPS="off")
    assert crawled.pages == simulate(shop(), None, 200).pages


def missing(path, query):
    """A page with links to pages that are not there."""
    return ("Once", [f"/missing/{n}" for n in range(200)], "") if path == "/index" else None


class Handling(Shopper):
    """Gets pages that are not there as any other."""

    handle_httpstatus_list = (404,)


class Caring(Shopper):
    """Hears of pages that are not there."""

    def parse(self, response):
        for one in super().parse(response):
            yield one.replace(errback=lambda failure: None) if isinstance(one, Request) else one


@pytest.mark.parametrize("spider", [Shopper, Handling, Caring])
def test_pages_that_are_not_there_come_last(tmp_path, spider):
    site = Site(missing, ("/index",), 60)
    crawled = crawl(site, tmp_path, spider)
    assert crawled.items.keys() == site.names
    assert sum("/missing/" in url for url in site.asked) == 200
    assert crawled.stats["dust/traps/last"] > 100


def finite(path, query):
    shown = calendar_by_path(path, query)
    year = int(path.split("/")[2]) if shown else 0
    return shown if 2024 <= year <= 2028 else None


def test_without_a_budget_last_fetches_exactly_what_plain_does(tmp_path):
    site, plain = Site(finite, ("/cal/2026/11",), 60), Site(finite, ("/cal/2026/11",), 60)
    crawled = simulate(site, tmp_path, 5000)
    assert set(crawled.pages) == set(simulate(plain, None, 5000).pages)
    assert len(site.asked) == len(plain.asked)
    assert crawled.stats["dust/traps/last"] == crawled.stats["dust/traps/fetched"] > 0


def with_sessions(path, query):
    """A year of a calendar. Each page is linked under three URLs."""
    shown = calendar_by_path(path, query)
    if shown is None or path.split("/")[2] != "2026":
        return None
    text, links, item = shown
    return text, [f"{link}?sid={n}" for link in links for n in range(3)], item


def test_what_is_put_last_is_fetched_once_though_a_rule_knows_it_by_several_urls(tmp_path):
    book = write_rules(tmp_path / "rules.json", {"s.test": [Rule.of(DropParameter("sid"))]})
    rules = {"DUST_RULES": [book], "DUST_CANARY_RATE": 0}
    site = Site(with_sessions, ("/cal/2026/11?sid=0",), 20)
    crawled = crawl(site, tmp_path / "dust", CONCURRENT_REQUESTS=1, **rules)
    pages = {url.partition("?")[0] for url in crawled.pages if "/cal/" in url}
    assert crawled.stats["dust/traps/last"] > len(pages) / 2 > 100
    # One URL of 32 may be fetched early, to see whether its form brings something again; and of pages without an item or a
    # new link a second URL may be, since some spiders make items of one form of a URL alone.
    assert len([url for url in crawled.pages if "/cal/" in url]) < 1.25 * len(pages)


def test_a_job_that_is_paused_goes_on_in_the_same_order_and_loses_nothing(tmp_path):
    job = {"JOBDIR": str(tmp_path / "job")}
    site, plain = Site(finite, ("/cal/2026/11",), 60), Site(finite, ("/cal/2026/11",), 60)
    runs = [crawl(site, tmp_path / "dust", CLOSESPIDER_PAGECOUNT=120, **job) for _ in range(2)]
    runs.append(crawl(site, tmp_path / "dust", **job))
    assert {url for run in runs for url in run.pages} == set(crawl(plain).pages)
    assert set().union(*(run.items for run in runs[:2])) == site.names


def test_the_next_crawl_knows_from_the_first_page_on(tmp_path):
    first = simulate(shop(), tmp_path, 400)
    kept = json.loads((tmp_path / FILE).read_text())["sites"]["s.test"]
    assert {MONTHS, DAYS} <= kept["forms"].keys()
    again = simulate(shop(), tmp_path, 400)
    assert max(again.items.values()) <= 110 < max(first.items.values())


@pytest.mark.parametrize(
    "damaged", [b"", b"{", b"[]", b'{"sites": {"s.test": 1}}', b'{"sites": {"s.test": {"forms": 1}}}']
)
def test_a_damaged_file_of_forms_is_begun_anew(tmp_path, damaged):
    (tmp_path / FILE).write_bytes(damaged)
    assert simulate(shop(), tmp_path, 250).items
    assert "s.test" in json.loads((tmp_path / FILE).read_text())["sites"]


def late(path, query):
    """A calendar with one event after many empty months, and what only that leads to."""
    if path.startswith("/event/"):
        return f"The great event {path}", ["/event/2"] if path == "/event/1" else [], path
    if not path.startswith("/cal/"):
        return None
    number = int(path.rpartition("/")[2])
    links = [f"/cal/{number + 1}"] if number < 200 else []
    return "Mo Tu We Th Fr Sa Su", [*links, *(["/event/1"] if number == 150 else [])], ""


def test_what_comes_after_many_empty_pages_is_fetched_too(tmp_path):
    crawled = simulate(Site(late, ("/cal/1",), 20), tmp_path, 1000)
    assert {"/event/1", "/event/2"} <= crawled.items.keys()


def chosen(path, query):
    """Many pages of one form that say nothing, then as many that have an item each."""
    if not path.startswith("/entry/"):
        return None
    number = int(path.rpartition("/")[2])
    links = [f"/entry/{n}" for n in range(1, 301)] if number == 0 else []
    return "An entry", links, f"entry {number}" if 0 < number <= 100 else ""


def test_a_form_that_brings_something_again_is_taken_up_again(tmp_path):
    crawled = simulate(Site(chosen, ("/entry/0",), 20), tmp_path, 1000, **SOON)
    assert sum(name.startswith("entry") for name in crawled.items) == 100


def test_picture_chains_are_not_capped(tmp_path):
    for kind in ("pictures", "album", "names"):
        crawled = simulate(chain(kind, 150), tmp_path / kind, 1000, **SOON)
        assert sum("/chain/" in url for url in crawled.pages) == 150, kind


class Failing(Visitor):
    """Items and metas that nobody can look at."""

    name = "failing"

    def parse(self, response):
        yield from super().parse(response)

        class Evil(dict):
            def __iter__(self):
                raise RuntimeError("no")

        yield Evil(a=1)
        yield Request(response.urljoin(f"/x/{len(self.crawl.got)}"), callback=self.parse, meta={"a": Evil()})


def test_items_that_nobody_can_look_at_hinder_nothing(settings):
    with serving(lambda path: page(words="the same words")) as site:
        done = visit([site.url("/")], settings | {"CLOSESPIDER_PAGECOUNT": 40}, spider=Failing)
    assert len(done.got) >= 40


def test_state_is_kept_beside_the_logs(tmp_path):
    simulate(shop(), tmp_path / "dust", 250)
    assert [path.name for path in Path(tmp_path / "dust").glob("traps*")] == [FILE]

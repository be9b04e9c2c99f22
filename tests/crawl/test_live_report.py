"""The live report of a crawl: what the page says, and that it never costs the crawl anything."""

from __future__ import annotations

import asyncio
import logging
import re
from html import unescape
from pathlib import Path

import pytest
from scrapy.crawler import AsyncCrawlerRunner

from scrapy_dust.crawl.periodic_file import PeriodicFile
from scrapy_dust.crawl.trapping import trap_id
from scrapy_dust.rule_book import Entry, RuleBook, Status
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import QUIET, Crawl, Visitor, crawl
from tests.crawl.site import page, serving
from tests.traps.crawling import crawl as trap_crawl
from tests.traps.sites import HOST, Site, calendar_by_path

SID, REF = Rule.of(DropParameter("sid")), Rule.of(DropParameter("ref"))


def said_by(file: Path) -> str:
    """The text of the page, without its style and script, on one line."""
    html = re.sub(r"(?s)<(style|script)>.*?</\1>", "", file.read_text("utf-8"))
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def words_of(path: str):
    return page(words=" ".join(f"{path.partition('sid=')[0]} {number}" for number in range(40)))


@pytest.fixture
def live(tmp_path):
    return tmp_path / "live.html"


def test_it_says_what_rules_saved_and_how_the_crawl_ended(with_rules, live, caplog):
    caplog.set_level(logging.INFO, "scrapy_dust.extension")
    there = []

    class Looking(Visitor):
        def parse(self, response):
            there.append(said_by(live))
            return super().parse(response)

    with serving(words_of) as site:
        urls = [site.url(f"/p?id=1&sid={sid}") for sid in "abcd"]
        crawl(urls, with_rules(site, SID) | {"DUST_LIVE_REPORT": str(live)}, spider=Looking)
    assert "Running for" in there[0]
    said = said_by(live)
    assert re.search(r"Ended at \S+ after \d+ s \(finished\)", said)
    assert "75 % of the requests known so far are saved" in said
    assert "1 rule in force on 1 site" in said
    assert "Parameters that do not matter sid 3" in said
    assert "rules duplicates of a page that is fetched, or on its way 3" in said
    assert f"Live report: {live.as_uri()}" in caplog.messages
    assert [one.name for one in live.parent.iterdir() if "live" in one.name] == ["live.html"]


def test_in_shadow_mode_it_says_what_would_be_saved(with_rules, live):
    with serving(words_of) as site:
        urls = [site.url(f"/p?id=1&sid={sid}") for sid in "abcd"]
        crawl(urls, with_rules(site, SID) | {"DUST_LIVE_REPORT": str(live), "DUST_MODE": "shadow"})
    said = said_by(live)
    assert "75 % of the requests known so far would be saved" in said
    assert "Before 4 requests With rules 1 request" in said
    assert "3 pages compared: 3 the same, 0 would have been lost" in said


@pytest.mark.parametrize("mode", ["enforce", "shadow"])
def test_what_is_saved_is_never_more_than_all_while_many_requests_wait(with_rules, live, mode):
    links = [f"/p?id={number}&sid={sid}" for number in range(8) for sid in "abcd"]
    with serving(lambda path: page(*links) if path == "/" else words_of(path)) as site:
        settings = with_rules(site, SID) | {"DUST_LIVE_REPORT": str(live), "DUST_MODE": mode}
        crawl([site.url("/")], settings | {"CLOSESPIDER_PAGECOUNT": 3}, follow=True)
    (percent,) = re.findall(r"(\d+) % of the requests known so far", said_by(live))
    assert 70 <= int(percent) <= 75


@pytest.mark.parametrize(
    ("more", "told"),
    [({}, "No rule is in force yet."), ({"DUST_MODE": "off"}, "Rules are off")],
    ids=["no rules", "rules switched off"],
)
def test_without_rules_it_shows_the_crawl_all_the_same(settings, live, more, told):
    with serving(words_of) as site:
        crawl([site.url("/p")], settings | more | {"DUST_LIVE_REPORT": str(live)})
    said = said_by(live)
    assert told in said
    assert "0 % of the requests known so far are saved" in said
    assert "1 answer and 1 item so far" in said


def test_rules_on_probation_stand_there_with_what_they_lack(settings, live, tmp_path):
    with serving(words_of) as site:
        entries = [Entry(SID, Status.PROBATION), Entry(REF, Status.PROBATION)]
        RuleBook().with_site(site.name, entries).save(tmp_path / "dust-rules.json")
        urls = [site.url(f"/p?id={page}&sid={sid}") for page in range(3) for sid in "ab"]
        crawl(urls, settings | {"DUST_LIVE_REPORT": str(live)})
    said = said_by(live)
    assert re.search(r"Held on 3 pages\. For other URLs, up to \d+% of its merges may be wrong", said)
    assert "This crawl has not yet seen one page under two of its URLs." in said


def test_a_rule_that_proves_false_stands_there_with_the_reason(with_rules, live):
    with serving(lambda path: page(words=" ".join(f"{path} {n}" for n in range(40)))) as site:
        urls = [site.url(f"/p?sid={n}") for n in range(9)]
        crawl(urls, with_rules(site, SID) | {"DUST_CANARY_RATE": 1, "DUST_LIVE_REPORT": str(live)})
    said = said_by(live)
    assert "suspended" in said
    assert re.search(r"It suppresses nothing now: \S+ and \S+ show different pages\.", said)
    assert "No rule is in force yet." in said


@pytest.mark.once
def test_forms_that_bring_nothing_new_stand_there_with_the_reason(tmp_path, live):
    shop = Site(calendar_by_path, ("/cal/2026/11",), 60)
    trap_crawl(shop, tmp_path, CLOSESPIDER_PAGECOUNT=250, DUST_LIVE_REPORT=str(live))
    said = said_by(live)
    assert re.search(r"put last all others are fetched; they are part of the queue [1-9]", said)
    assert re.search(rf"{re.escape(HOST)}/cal/0/0 {trap_id(f'{HOST}/cal/0/0')} [^.]+\. [1-9]", said)


def test_where_it_cannot_be_written_the_crawl_goes_on_and_says_so_once(settings, tmp_path, caplog):
    caplog.set_level(logging.WARNING, "scrapy_dust.crawl.periodic_file")
    file = tmp_path / "no" / "live.html"
    with serving(words_of) as site:
        result = crawl([site.url("/p")], settings | {"DUST_LIVE_REPORT": str(file)})
    assert result.got
    said = [one.getMessage() for one in caplog.records if one.name == "scrapy_dust.crawl.periodic_file"]
    assert said == [
        f"{file}: DUST_LIVE_REPORT cannot be written (No such file or directory). Check the path and its permissions."
    ]


def test_several_spiders_of_one_process_each_have_their_page(settings, tmp_path):
    class Other(Visitor):
        name = "other"

    async def both(urls):
        runner = AsyncCrawlerRunner(
            {**QUIET, **settings, "DUST_LIVE_REPORT": str(tmp_path / "%(spider)s.html")}
        )
        crawlers = [runner.create_crawler(spider) for spider in (Visitor, Other)]
        await asyncio.gather(
            *(runner.crawl(one, requests=urls, crawl=Crawl(one), follow=False) for one in crawlers)
        )

    with serving(words_of) as site:
        asyncio.run(both([site.url("/p")]))
    assert [
        said_by(tmp_path / f"{name}.html").startswith(f"{name}, live") for name in ("visitor", "other")
    ] == [True, True]


def test_two_crawls_never_write_one_page_in_turn(tmp_path):
    names = (tmp_path / f"live-{number}.html" for number in range(9))
    first = PeriodicFile(tmp_path / "live.html", "DUST_LIVE_REPORT", lambda: b"first", 60, names)
    second = PeriodicFile(tmp_path / "live.html", "DUST_LIVE_REPORT", lambda: b"second", 60, names)
    for one in (first, second, first, second, first):
        one.write()
    assert first.path != second.path
    assert (first.path.read_bytes(), second.path.read_bytes()) == (b"first", b"second")


def test_a_page_that_somebody_removes_comes_back_under_its_name(tmp_path):
    file = PeriodicFile(tmp_path / "live.html", "DUST_LIVE_REPORT", lambda: b"it", 60, iter([tmp_path / "x"]))
    file.write()
    file.path.unlink()
    file.write()
    assert (tmp_path / "live.html").read_bytes() == b"it"

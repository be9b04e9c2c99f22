"""Rules that stop being true while a crawl goes by them: found out, suspended, and nothing is lost by them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from scrapy import Request

from scrapy_dust.journal.events import What
from scrapy_dust.journal.journal_places import journals
from scrapy_dust.journal.reader import read
from scrapy_dust.rule_book import Entry, Evidence, RuleBook, Status, rule_id
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import Visitor, crawl
from tests.crawl.site import Answer, error, page, redirect, serving

SID, REF = Rule.of(DropParameter("sid")), Rule.of(DropParameter("ref"))


def text(subject: str) -> Answer:
    return page(words=" ".join(f"{subject} {number}" for number in range(40)))


class Changing:
    """Shows one page for each ``id`` until so many requests have come, and then one for each URL."""

    def __init__(self, after: int) -> None:
        self.after, self.requests = after, count(1)

    def __call__(self, path: str) -> Answer:
        if "nonsense" in path or "?" not in path:
            return error(404)
        return text(path if next(self.requests) > self.after else path.partition("&")[0])


#: One link after the other, as they stand on the pages.
IN_ORDER = {"SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue"}


def one_by_one(web, *paths: str):
    """*web*, and index pages that each link to one of *paths* and to the next index page."""

    def with_indices(path: str) -> Answer:
        if not path.startswith("/index/"):
            return web(path)
        number = int(path.rpartition("/")[2])
        return page(*paths[number : number + 1], *([f"/index/{number + 1}"] if number < len(paths) else []))

    return with_indices


def urls_of(site, ids: int, aliases: int) -> list[str]:
    """Alias by alias, so that every class has its keeper first."""
    return [site.url(f"/p?id={n}&sid=s{alias}") for alias in range(aliases) for n in range(ids)]


def status_in_book(settings, site, rule):
    ((_, entry),) = RuleBook.load(settings["DUST_RULES"]).find(rule_id(site.name, rule))
    return entry


@pytest.mark.parametrize("rate", [0.2, 1])
@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_rule_made_false_in_mid_crawl_is_suspended_and_every_victim_comes(with_rules, rate, concurrency):
    with serving(Changing(after=5)) as site:
        urls = urls_of(site, 5, 12)
        settings = with_rules(site, SID) | {
            "DUST_CANARY_RATE": rate,
            "CONCURRENT_REQUESTS": concurrency,
        }
        result = crawl(urls, settings)
        entry = status_in_book(settings, site, SID)
    assert sorted(set(result.got)) == sorted(urls)
    assert len(result.got) == len(urls)
    assert result.stats["dust/suspended"] == 1
    assert result.stats.get("dust/filtered", 0) == 0
    assert (entry.status, entry.evidence.contradictions) == (Status.REFUTED, 2)
    assert "show different pages" in entry.reason


def test_victims_come_with_their_own_callback_errback_meta_and_priority(with_rules):
    got, failed = {}, []

    class Own(Visitor):
        def parse(self, response, answer=None):
            got[response.url] = (response.meta["n"], answer, response.request.priority)

        def failed(self, failure):
            failed.append(failure.request.url)

        async def start(self):
            for request in self.requests:
                yield request.replace(callback=self.parse, errback=self.failed)

    web = Changing(after=1)
    with serving(lambda path: error(404) if path.endswith("sid=gone") else web(path)) as site:
        urls = [site.url(f"/p?id=1&sid={n}") for n in range(20)] + [site.url("/p?id=1&sid=gone")]
        requests = [
            Request(url, meta={"n": n}, cb_kwargs={"answer": (n,)}, priority=-n) for n, url in enumerate(urls)
        ]
        # Which URLs are canaries depends on the port: of one run in a thousand at 0.3, none.
        settings = with_rules(site, SID) | {"DUST_CANARY_RATE": 0.5}
        result = crawl(requests, settings, spider=Own)
    assert result.stats["dust/suspended"] == 1
    assert {(n, answer[0]) for n, answer, _ in got.values()} == {(n, n) for n in range(20)}
    assert failed == urls[-1:]
    assert {priority - -n for n, _, priority in got.values()} <= {0, 1}


@pytest.mark.once
def test_callbacks_that_have_no_name_are_kept_too(with_rules):
    got = []

    class Nameless(Visitor):
        async def start(self):
            for n, request in enumerate(self.requests):
                yield Request(request, callback=lambda response, n=n: got.append((n, response.url)))

    with serving(Changing(after=1)) as site:
        urls = [site.url(f"/p?id=1&sid={n}") for n in range(30)]
        crawl(urls, with_rules(site, SID) | {"DUST_CANARY_RATE": 0.5}, spider=Nameless)
    assert sorted(got) == list(enumerate(urls))


@pytest.mark.once
def test_a_rule_that_stays_true_is_not_suspended(with_rules):
    with serving(lambda path: text(path.partition("&")[0])) as site:
        settings = with_rules(site, SID) | {"DUST_CANARY_RATE": 1}
        result = crawl(urls_of(site, 3, 10), settings)
    assert result.stats["dust/canaries/same"] == 27
    assert "dust/controls" not in result.stats
    assert "dust/suspended" not in result.stats


@pytest.mark.once
def test_a_page_that_changes_is_no_other_page(with_rules):
    numbers = count()

    def web(path: str) -> Answer:
        return text(f"{path.partition('&')[0]} {next(numbers)}")

    with serving(web) as site:
        settings = with_rules(site, SID) | {"DUST_CANARY_RATE": 1}
        result = crawl(urls_of(site, 3, 6), settings)
    # What changes is set aside, since both pages were seen to change there; the rest is equal.
    assert result.stats["dust/canaries/same"] == 15
    assert "dust/canaries/different" not in result.stats
    assert "dust/suspended" not in result.stats


@pytest.mark.once
def test_what_is_shown_for_anything_is_no_other_page(with_rules):
    """A site that has lost the sessions of its old URLs, and says so with status 200."""

    def web(path: str) -> Answer:
        return text(path.partition("&")[0]) if "sid=s0" in path else text("gone")

    with serving(web) as site:
        settings = with_rules(site, SID) | {"DUST_CANARY_RATE": 1}
        result = crawl(urls_of(site, 3, 6), settings)
    assert "dust/canaries/different" not in result.stats
    assert "dust/suspended" not in result.stats


def test_a_login_that_canaries_are_sent_to_suspends_nothing(with_rules):
    def web(path: str) -> Answer:
        if "sid=s0" in path:
            return text(path.partition("&")[0])
        return text("login") if path == "/login" else redirect("/login")

    with serving(web) as site:
        settings = with_rules(site, SID) | {"DUST_CANARY_RATE": 1, "HTTPERROR_ALLOW_ALL": True}
        result = crawl(urls_of(site, 6, 4), settings)
    assert "dust/suspended" not in result.stats


@pytest.mark.once
def test_one_page_that_differs_suspends_nothing_and_costs_no_page(with_rules):
    def web(path: str) -> Answer:
        return text(path if path == "/p?id=0&sid=s1" else path.partition("&")[0])

    with serving(web) as site:
        settings = with_rules(site, SID) | {"DUST_CANARY_RATE": 1}
        result = crawl(urls_of(site, 5, 20), settings)
        entry = status_in_book(settings, site, SID)
    assert result.stats["dust/doubted"] == 1
    assert "dust/suspended" not in result.stats
    assert site.url("/p?id=0&sid=s1") in result.got
    # One in a hundred is more than DUST_MAX_LOSS; the next crawl does not go by it.
    assert (entry.status, entry.reason.partition(" on ")[0]) == (
        Status.REFUTED,
        "in doubt at the end of a crawl",
    )


@pytest.mark.once
def test_other_rules_stay_in_force(with_rules):
    with serving(Changing(after=5)) as site:
        urls = urls_of(site, 5, 8)
        again = [f"{url}&ref=r{n}" for url in urls for n in range(2)]
        settings = with_rules(site, SID, REF) | {"DUST_CANARY_RATE": 0.5}
        result = crawl([*urls, *again], settings)
        asked = site.times()
        books = {rule: status_in_book(settings, site, rule).status for rule in (SID, REF)}
    assert {url.partition("&ref")[0] for url in result.got} == set(urls)
    assert books[SID] is Status.REFUTED
    assert books[REF] is Status.VALID or result.stats["dust/suspended"] == 2
    assert asked


@pytest.mark.once
def test_a_key_that_was_another_pages_hides_none(with_rules):
    """The bare URL has the key of the first alias as long as the rule is in force, and is a page of its own after."""
    with serving(Changing(after=1)) as site:
        aliases = [site.url(f"/p?id=1&sid={n}") for n in range(20)]
        bare = site.url("/p?id=1")
        requests = [*aliases, Request(bare, priority=-10)]
        result = crawl(requests, with_rules(site, SID) | {"DUST_CANARY_RATE": 1})
    assert result.stats["dust/suspended"] == 1
    assert sorted(result.got) == sorted([*aliases, bare])


@pytest.mark.once
def test_what_was_fetched_is_not_fetched_again_after_a_suspension(with_rules):
    with serving(Changing(after=1)) as site:
        aliases = [site.url(f"/p?id=1&sid={n}") for n in range(20)]
        again = [Request(url, priority=-10) for url in aliases]
        result = crawl([*aliases, *again], with_rules(site, SID) | {"DUST_CANARY_RATE": 0.5})
    assert result.stats["dust/suspended"] == 1
    assert sorted(result.got) == sorted(aliases)


def stale(site, settings, days=400):
    tested = (datetime.now(UTC).date() - timedelta(days=days)).isoformat()
    entry = Entry(SID, evidence=Evidence(positive=50, last_validated=tested))
    RuleBook().with_site(site.name, [entry]).save(settings["DUST_RULES"][0])


@pytest.mark.once
def test_a_rule_that_nothing_has_tested_for_long_is_tested_before_it_is_used(settings):
    paths = [f"/p?id=0&sid=s{n}" for n in range(20)]
    with serving(one_by_one(lambda path: text(path.partition("&")[0]), *paths)) as site:
        stale(site, settings)
        result = crawl([site.url("/index/0")], settings | IN_ORDER, follow=True)
        entry = status_in_book(settings, site, SID)
    tested = result.stats["dust/canaries/same"]
    assert 3 <= tested <= 6
    assert result.stats["dust/filtered"] == 19 - tested
    assert (entry.status, entry.evidence.last_validated) == (
        Status.VALID,
        datetime.now(UTC).date().isoformat(),
    )
    assert entry.evidence.positive == 50 + tested


@pytest.mark.once
def test_a_stale_rule_that_has_become_false_suppresses_nothing(settings):
    with serving(text) as site:
        stale(site, settings)
        urls = urls_of(site, 2, 10)
        result = crawl(urls, settings)
    assert sorted(result.got) == sorted(urls)
    assert result.stats["dust/suspended"] == 1
    assert "dust/returned" not in result.stats


def test_the_journal_tells_all_of_it(with_rules, tmp_path):
    with serving(Changing(after=5)) as site:
        urls = urls_of(site, 5, 10)
        crawl(urls, with_rules(site, SID) | {"DUST_CANARY_RATE": 0.2, "DUST_TRAPS": "off"})
        identity = rule_id(site.name, SID)
    events = [event for _, event in read(journals(tmp_path / "dust" / "journal"))]
    by_url = {}
    for event in events:
        by_url.setdefault(event.what, {})[event.url] = event
    assert set(by_url[What.SUPPRESSED]) == set(by_url[What.RETURNED])
    assert all(event.rules == (identity,) for event in by_url[What.SUPPRESSED].values())
    first = next(iter(by_url[What.SUPPRESSED].values()))
    assert first.keeper.endswith("sid=s0")
    assert first.key == first.url.partition("&")[0]
    assert first.request["callback"] == "parse"
    assert first.request["errback"] == "failed"
    assert len(by_url[What.SUSPENDED]) == 1
    assert {event.note for event in by_url[What.TESTED].values()} <= {"same", "different", "unknown"}


@pytest.mark.once
def test_a_pause_forgets_neither_what_was_suspended_nor_what_is_still_to_be_given_back(with_rules, tmp_path):
    with serving(Changing(after=5)) as site:
        urls = urls_of(site, 5, 12)
        settings = with_rules(site, SID) | {"DUST_CANARY_RATE": 0.2, "JOBDIR": str(tmp_path / "job")}
        got = []
        for pages in (8, 20, 35, 0):
            part = crawl(urls, settings | {"CLOSESPIDER_PAGECOUNT": pages})
            got += part.got
    assert set(got) == set(urls)


@pytest.mark.once
def test_what_was_suppressed_for_a_keeper_of_before_a_pause_is_not_lost_either(with_rules, tmp_path):
    """The bare URL is changed by no rule, and the one that was fetched for it is not remembered."""
    web = Changing(after=2)
    with serving(web) as site:
        settings = with_rules(site, SID) | {"JOBDIR": str(tmp_path / "job")}
        bare, aliases = site.url("/p?id=1"), [site.url(f"/p?id=1&sid={n}") for n in range(12)]
        first = crawl(aliases[:1], settings | {"DUST_CANARY_RATE": 0})
        # Before any canary, so that it is suppressed.
        requests = [Request(bare, priority=9), *aliases[1:]]
        second = crawl([requests[0]], settings | {"DUST_CANARY_RATE": 0})
        third = crawl(requests[1:], settings | {"DUST_CANARY_RATE": 1})
    assert second.got == []
    assert third.stats["dust/suspended"] == 1
    assert sorted(first.got + third.got) == sorted([bare, *aliases])

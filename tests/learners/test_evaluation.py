"""Learning on one part, crawling the other: what goes where, and what is counted."""

from __future__ import annotations

import pytest

from scrapy_dust.learners.crawl_keys import InCrawl, key_in_scrapy
from scrapy_dust.learners.evaluation import (
    Order,
    Protocol,
    Split,
    Task,
    content_by_text,
    score_method,
    tasks_of,
    teach,
)
from scrapy_dust.learners.interface import Learned
from scrapy_dust.visits.pages import SiteLog, Visit
from tests.learners.logs import SITE, page

VISITS = {SITE: [page(f"http://h{n % 4}.a.example/{n}", n // 2) for n in range(40)]}
TRUTH = {visit.url: number // 2 for number, visit in enumerate(VISITS[SITE])}
ALL = [visit.url for visit in VISITS[SITE]]


class Chopper:
    """Takes all URLs of a directory for one."""

    name = "chopper"

    def learn(self, site, log):
        return Learned(lambda url: url.rpartition("/")[0], ("all but the last",))


def learned_from(task: Task) -> set[str]:
    return {one.url for one in task.log.pages} | set(task.log.redirects) | task.log.failures


@pytest.mark.parametrize("split", Split)
@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_crawled_was_not_learned_from(split, seed):
    (task,) = tasks_of(VISITS, TRUTH, Protocol(split=split, seed=seed))
    assert task.urls
    assert not learned_from(task) & set(task.urls)
    assert learned_from(task) | set(task.urls) == set(ALL)


def test_the_first_urls_of_a_log_are_learned_from():
    (task,) = tasks_of(VISITS, TRUTH, Protocol(train=0.6))
    assert list(task.urls) == ALL[24:]


def test_no_content_or_host_stands_on_both_sides():
    (by_content,) = tasks_of(VISITS, TRUTH, Protocol(split=Split.CLUSTER))
    assert not {TRUTH[url] for url in learned_from(by_content)} & {TRUTH[url] for url in by_content.urls}
    (by_host,) = tasks_of(VISITS, TRUTH, Protocol(split=Split.HOST))
    assert {url.split("/")[2] for url in by_host.urls} & {
        url.split("/")[2] for url in learned_from(by_host)
    } == set()


def test_a_seed_decides_what_is_random_and_nothing_else_does():
    random = [tasks_of(VISITS, TRUTH, Protocol(order=Order.RANDOM, seed=seed))[0].urls for seed in (1, 1, 2)]
    assert random[0] == random[1] != random[2]
    assert sorted(random[0]) == sorted(random[2]) == sorted(ALL[30:])


def test_urls_of_unknown_content_are_learned_from_and_not_crawled():
    gone = Visit(f"http://{SITE}/gone", status=404)
    for split in Split:
        tasks = tasks_of({SITE: [*VISITS[SITE], gone]}, TRUTH, Protocol(split=split))
        assert all(gone.url not in task.urls for task in tasks)
    assert tasks_of({SITE: [gone]}, TRUTH, Protocol()) == []


def test_a_replay_counts_what_is_fetched_and_what_is_lost():
    visits = {SITE: [page(f"http://{SITE}/{where}", 0) for where in ("t/1", "x/1", "x/2", "x/3", "y/1")]}
    truth = dict(zip((one.url for one in visits[SITE]), (0, 1, 1, 2, 3), strict=True))
    tasks = tasks_of(visits, truth, Protocol(train=0.2))
    score = score_method("chopper", list(teach(Chopper(), tasks)), truth)
    crawl = score.replay
    assert (crawl.urls, crawl.clusters, crawl.crawled, crawl.covered, crawl.lost) == (4, 3, 2, 2, 1)
    assert (crawl.precision, crawl.recall, score.rules) == (1.0, 2 / 3, 1)


def test_sites_are_learned_one_by_one_and_counted_together():
    visits = {
        site: [page(f"http://{site}/x/{n}", n) for n in range(4)] for site in ("a.example", "b.example")
    }
    truth = {one.url: one.url for of_site in visits.values() for one in of_site}
    crawl = score_method(
        "chopper", list(teach(Chopper(), tasks_of(visits, truth, Protocol(train=0.5)))), truth
    ).replay
    assert (crawl.urls, crawl.crawled, crawl.lost) == (4, 2, 2)


def test_without_a_truth_equal_text_is_equal_content_and_a_redirect_is_its_end():
    visits = [
        page("http://a.example/1", 1),
        page("http://a.example/2", 1),
        page("http://a.example/3", 2),
        Visit("http://a.example/old", status=301, redirect_to="http://a.example/3"),
        Visit("http://a.example/gone", status=404),
    ]
    truth = content_by_text(visits)
    assert truth["http://a.example/1"] == truth["http://a.example/2"] != truth["http://a.example/3"]
    assert truth["http://a.example/old"] == truth["http://a.example/3"]
    assert "http://a.example/gone" not in truth


def test_in_a_crawl_rules_and_scrapys_own_keys_are_one_key():
    dropped = "http://a.example/?b=2&a=1&sid=7#x"

    class WithoutSessions:
        name = "without sessions"

        def learn(self, site, log):
            return Learned(lambda url: url.replace("&sid=7", ""), ("sid",))

    learned = InCrawl(WithoutSessions(), "in a crawl").learn(SITE, SiteLog(pages=()))
    assert learned.key(dropped) == learned.key("http://a.example/?a=1&b=2") == "http://a.example/?a=1&b=2"
    assert key_in_scrapy(dropped) == "http://a.example/?a=1&b=2&sid=7"
    assert learned.rules == ("sid",)

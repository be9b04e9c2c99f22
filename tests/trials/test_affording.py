"""A run holds the logs of the sites that it can ask, and of no others."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from benchmarks import shops
from scrapy_dust.believe.validation import Verdict
from scrapy_dust.crawl_log.visit_fields import visit_of
from scrapy_dust.engines.local import Mined
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.settings import DustSettings
from scrapy_dust.stopping import Stopped
from scrapy_dust.trials.affording import afforded
from scrapy_dust.trials.ended import ended
from scrapy_dust.trials.learning import mine, prepare
from scrapy_dust.trials.reading import Reporter
from scrapy_dust.trials.site_trials import SiteTrials
from scrapy_dust.visits.pages import Visit

OWN = DustSettings(similar="none", validation_count=40)


def open_site(name: str) -> list[Visit]:
    """The log does not say what its pages show."""
    return [Visit(f"http://{name}/p?id={n}&sid={session}{n}", 200) for n in range(12) for session in "ab"]


def sites(count: int) -> dict[str, list[Visit]]:
    return {f"s{n}.example": open_site(f"s{n}.example") for n in range(count)}


def trials_of(log: dict[str, list[Visit]]) -> Iterator[SiteTrials]:
    return prepare(mine(log, OWN, Reporter()), RuleBook(), Verdicts(), OWN)


def test_no_more_sites_are_asked_than_there_are_fetches_and_the_first_come_first():
    asked, over = afforded(trials_of(sites(5)), 3)
    assert [one.site for one in asked] == ["s0.example", "s1.example", "s2.example"]
    assert [one.site for one in over] == ["s3.example", "s4.example"]
    assert all(one.is_cut_short and not one.is_settled for one in over)


def test_a_site_beyond_them_ends_as_one_does_that_no_fetch_was_left_for():
    (alone,) = trials_of(sites(1))
    assert alone.wanted()
    alone.campaign.believe_the_log()
    _, (over,) = afforded(trials_of(sites(1)), 0)
    assert over.decisions == ended(alone).decisions
    assert {one.verdict for one in over.decisions} <= {Verdict.UNDECIDED, Verdict.PROBATION}


def test_the_logs_of_sites_that_are_not_asked_are_let_go_as_they_come():
    log = {f"s{n}.example": [visit_of(one) for one in shops.clean(60, f"s{n}.example")] for n in range(5)}
    logs: list[weakref.ref[object]] = []

    def watched() -> Iterator[Mined]:
        for one in mine(log, OWN, Reporter()):
            logs.append(weakref.ref(one.log.comparing))
            yield one

    asked, over = afforded(prepare(watched(), RuleBook(), Verdicts(), OWN), 2)
    gc.collect()
    assert (len(asked), len(over)) == (2, 3)
    assert [one() is not None for one in logs] == [True, True, False, False, False]


def test_somebody_may_end_it():
    def stop() -> None:
        raise Stopped

    with pytest.raises(Stopped):
        afforded(trials_of(sites(2)), 2, stop)

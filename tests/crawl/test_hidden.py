"""`DUST_LOG_HIDE`: what is hidden is in no log, rules about it are still found, and nobody asks for such a URL."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_dust.believe.validation import Verdict
from scrapy_dust.crawl_log import read_visits
from scrapy_dust.judge.answers import Fetched
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.settings import DustSettings
from scrapy_dust.trials.learning import mine, prepare
from scrapy_dust.trials.reading import Reporter, Source, read
from tests.crawl.crawling import crawl
from tests.crawl.site import page, serving

HIDE = {"DUST_LOG_HIDE": ["token"]}


@pytest.fixture
def site():
    """Whose pages do not depend on the token, but need one that it gave out."""

    def web(path):
        name, _, query = path.partition("?")
        return (
            page(words=" ".join(f"{name}{n} is said here." for n in range(9)))
            if "secret" in query
            else page(words="log in first")
        )

    with serving(web) as site:
        yield site


def test_values_are_in_no_file_of_the_log(settings, site):
    crawl(
        [site.url("/p?token=secret1"), site.url("/p?token=secret2"), site.url("/p?token=secret1&x=1")],
        settings | HIDE,
    )
    (log,) = Path(settings["DUST_DIR"]).rglob("*.jsonl")
    assert "secret" not in log.read_text()
    first, second, third = (visit.url for visit in read_visits(log))
    assert first != second
    assert third == first + "&x=1"


@pytest.mark.once
@pytest.mark.parametrize("process", [False, True])
def test_equal_values_are_equal_in_the_logs_of_all_crawls(settings, site, process):
    for _ in range(2):
        crawl([site.url("/p?token=secret")], settings | HIDE | {"DUST_LOG_PROCESS": process})
    assert len({visit.url for visit in read_visits(settings["DUST_DIR"])}) == 1


@pytest.mark.once
def test_hidden_urls_are_evidence_and_are_never_asked_for(settings, site):
    urls = [site.url(f"/{name}?token=secret{n}") for name in range(30) for n in range(3)]
    crawl(urls, settings | HIDE)
    found = read(Source([settings["DUST_DIR"]]), Reporter())
    own = DustSettings(max_risk=1.0)
    (trials,) = prepare(mine(found.visits, own, Reporter()), RuleBook(), Verdicts(), own)
    asked, queue = [], trials.wanted()
    while queue:
        url = queue.pop()
        asked.append(url)
        queue += [*trials.answer(Fetched(url, url, 404)), *trials.wanted()]
    assert not [url for url in asked if "hidden" in url]
    # The log alone has proved it: each text under three tokens.
    valid = [one.rule for one in trials.campaign.decisions if one.verdict is Verdict.VALID]
    assert [rule.dropped_parameter for rule in valid if rule.dropped_parameter is not None] == ["token"]

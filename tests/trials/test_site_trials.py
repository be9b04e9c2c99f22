"""The state of one site's trials, without a network: answers are given by hand."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from scrapy.http import HtmlResponse

from scrapy_dust.judge.answers import Fetched
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.settings import DustSettings
from scrapy_dust.trials.answers import fetched, unanswered
from scrapy_dust.trials.journal import ProbeJournal
from scrapy_dust.trials.learning import mine, prepare
from scrapy_dust.trials.reading import Reporter, Source, read
from scrapy_dust.trials.site_trials import SiteTrials
from scrapy_dust.visits.pages import Visit
from tests.trials.running import html, prose

SITE = "http://shop.example"
PAGES = 12
URLS = [
    *(f"{SITE}/p?id={number}&sid={session}{number}x" for number in range(PAGES) for session in "ab"),
    *(f"{SITE}/q?id={number}&view={view}" for number in range(PAGES) for view in ("full", "brief")),
    *(f"{SITE}/n{number}/{name}" for number in range(PAGES) for name in ("", "index.html")),
]

Web = Callable[[str], Fetched]


def answer(url: str, text: str, at: float = 0.0) -> Fetched:
    made = html(text)
    return replace(fetched(HtmlResponse(url, body=made.body, headers=made.headers), url), at=at)


def shop(url: str) -> Fetched:
    path = url.removeprefix(SITE).removesuffix("index.html")
    head, _, query = path.partition("?")
    values = dict(part.partition("=")[::2] for part in query.split("&"))
    number = values.get("id", "") or head.removeprefix("/n").strip("/")
    if head.rstrip("/0123456789") not in ("/p", "/q", "/n") or not number.isdecimal():
        return unanswered(url, 404)
    return answer(url, prose(f"{head[1]}{number}{values.get('view', '') if head == '/q' else ''}"))


def trials_of(
    journal: ProbeJournal | None = None, latest: float = 0.0, urls: Sequence[str] = URLS
) -> SiteTrials:
    settings = DustSettings(similar="none", validation_count=40)
    visits: Sequence[Visit] = [Visit(url, 200) for url in urls]
    mined = mine({"shop.example": visits}, settings, Reporter())
    (trials,) = prepare(mined, RuleBook(), Verdicts(), settings, journal=journal, latest=latest)
    return trials


def run(trials: SiteTrials, web: Web, chance: random.Random | None = None, most: int = 10**6) -> list[str]:
    """Answer until nothing is wanted, or *most* were answered; by *chance* in any order. Gives what was asked for."""
    asked, queue = [], trials.wanted()
    while queue and len(asked) < most:
        url = queue.pop(chance.randrange(len(queue)) if chance else 0)
        asked.append(url)
        queue += trials.answer(web(url))
    return asked


def verdicts(trials: SiteTrials) -> list[object]:
    return [(one.rule, one.verdict, one.tally, one.fetches) for one in trials.campaign.decisions]


def test_in_whichever_order_answers_come_the_verdicts_and_what_is_asked_for_are_the_same():
    first = trials_of()
    asked = run(first, shop)
    assert first.finished
    assert len({str(verdict) for _, verdict, *_ in verdicts(first)}) > 1  # type: ignore[misc]
    for seed in range(5):
        other = trials_of()
        assert Counter(run(other, shop, random.Random(seed))) == Counter(asked)
        assert verdicts(other) == verdicts(first)


def test_in_whichever_order_a_crawl_came_to_urls_the_verdicts_and_what_is_asked_for_are_the_same():
    first = trials_of()
    asked = run(first, shop)
    for seed in range(5):
        shuffled = random.Random(seed).sample(URLS, len(URLS))
        other = trials_of(urls=shuffled)
        assert run(other, shop) == asked
        assert verdicts(other) == verdicts(first)


@pytest.mark.parametrize("seed", range(4))
def test_runs_that_are_cut_short_decide_together_what_one_run_does(seed, tmp_path: Path):
    whole = trials_of()
    asked = Counter(run(whole, shop))
    chance, again = random.Random(seed), Counter[str]()
    cuts = 0
    while True:
        with ProbeJournal(tmp_path / "probes.jsonl") as journal:
            trials = trials_of(journal)
            done = run(trials, shop, chance, most=chance.randrange(1, 30))
        again.update(done)
        if trials.finished:
            break
        cuts += 1
    assert cuts > 1
    assert verdicts(trials) == verdicts(whole)
    # Nothing is asked for twice but what one run asks for twice too. (404s are answers as well.)
    assert again == asked


def test_no_more_is_under_way_than_eight_after_the_survey():
    trials = trials_of()
    queue = trials.wanted()
    assert len(queue) <= 17
    most = 0
    while queue:
        queue += trials.answer(shop(queue.pop(0)))
        most = max(most, len(queue)) if trials.campaign.decided else most
    assert 0 < most <= 8


def test_a_site_that_is_given_up_wants_nothing_more_and_keeps_what_comes(tmp_path: Path):
    with ProbeJournal(tmp_path / "probes.jsonl") as journal:
        trials = trials_of(journal)
        queue = trials.wanted()
        trials.give_up("it is tired")
        assert [trials.answer(shop(url)) for url in queue] == [[] for _ in queue]
        assert trials.finished
    assert len(ProbeJournal(tmp_path / "probes.jsonl")) == len(queue)


def test_refusals_are_not_kept(tmp_path: Path):
    with ProbeJournal(tmp_path / "probes.jsonl") as journal:
        trials = trials_of(journal)
        run(trials, lambda url: unanswered(url, 503))
        assert not [one for one in trials.campaign.decisions if one.tally.positive or one.tally.negative]
    assert len(ProbeJournal(tmp_path / "probes.jsonl")) == 0


def test_answers_from_before_the_crawl_that_is_mined_are_not_believed(tmp_path: Path):
    """A rule that was true then may have been suspended since, because a crawl has seen that it is not."""
    with ProbeJournal(tmp_path / "probes.jsonl") as journal:
        asked = run(trials_of(journal), lambda url: replace(shop(url), at=1000.0))
    with ProbeJournal(tmp_path / "probes.jsonl") as journal:
        assert run(trials_of(journal, latest=999.0), shop) == []
    with ProbeJournal(tmp_path / "probes.jsonl") as journal:
        assert Counter(run(trials_of(journal, latest=1001.0), shop)) == Counter(asked)


def test_a_log_says_when_it_ends(tmp_path: Path):
    log = tmp_path / "log.jsonl"
    log.write_text(
        '{"url": "http://a.example/1", "fetched_at": "2026-11-18T10:00:00.000Z"}\n'
        '{"url": "http://a.example/1", "fetched_at": "2026-11-18T10:00:01.000Z"}\n{"url": "http://a.example/2"}\n'
    )
    assert (
        read(Source([str(log)]), Reporter()).latest
        == datetime(2026, 11, 18, 10, 0, 1, tzinfo=UTC).timestamp()
    )
    log.write_text('{"url": "http://a.example/2"}\n')
    assert read(Source([str(log)]), Reporter()).latest == 0.0

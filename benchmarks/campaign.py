"""What mining and trials cost by the size of a site: ``python -m benchmarks.campaign [DATA] [--sizes 1000,10000,100000]``.

Sites are the messy ones of `messy.py`, which answer each fetch, and with DATA some of its URL lists, where a fetch answers
what the list says. Given are CPU seconds, and milliseconds a page, of mining and of the campaign with a budget of fetches.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.logs import EXACT, load
from benchmarks.messy import HOST, MessySite, StubbornSite
from scrapy_dust.believe.campaign import Campaign
from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.validation import Verdict
from scrapy_dust.engines.local import Mined, mine_log, trial_params
from scrapy_dust.engines.side_by_side import look_seldom_for_garbage
from scrapy_dust.page.site_log import site_log
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.pages import Visit

LISTS = ("oscar", "trac", "hgweb")
Answers = Callable[[str, str], Outcome]


@dataclass(frozen=True, slots=True)
class Cost:
    """What one site took."""

    what: str
    pages: int
    mining: float  #: CPU seconds
    trials: float
    probes: int
    candidates: int
    valid: int
    undecided: int
    refuted: int
    saved: int  #: URLs of the log

    @property
    def a_page(self) -> float:
        return 1000 * (self.mining + self.trials) / self.pages


def campaign_of(mined: Mined, settings: DustSettings, *, log_only: bool = False) -> Campaign:
    urls = [page.url for page in mined.log.pages] + list(mined.log.redirects)
    random.Random(f"0 {mined.site}").shuffle(urls)
    return Campaign(
        mined.candidates(),
        LogEvidence(mined.log, urls, settings.sketch_matches),
        trial_params(settings, log_only=log_only),
        site=mined.site,
        site_of=site_of,
        passes=settings.passes,
    )


def conduct(campaign: Campaign, answers: Answers, budget: int) -> int:
    """Answer what the campaign asks, and read what it has decided; gives how many probes that took."""
    probes = 0
    while probes < budget and (probe := campaign.next_probe()) is not None:
        probes += 1
        outcome = answers(probe.pair.url, probe.pair.target)
        content = probe.pair.url if outcome is Outcome.SAME else None
        campaign.record(probe, outcome, content, fetches=1)
    return probes


def cost_of(what: str, site: str, visits: Sequence[Visit], answers: Answers, budget: int) -> Cost:
    settings = DustSettings()
    began = time.process_time()
    mined = mine_log(site, site_log(visits), settings, redirects_count=True)
    between = time.process_time()
    campaign = campaign_of(mined, settings)
    probes = conduct(campaign, answers, budget)
    decisions = campaign.decisions
    ended = time.process_time()
    by_verdict = {verdict: [one for one in decisions if one.verdict is verdict] for verdict in Verdict}
    return Cost(
        what,
        len(visits),
        between - began,
        ended - between,
        probes,
        len(mined.candidates()),
        len(by_verdict[Verdict.VALID]),
        len(by_verdict[Verdict.UNDECIDED]),
        len(by_verdict[Verdict.REFUTED]),
        sum(one.saves for one in by_verdict[Verdict.VALID]),
    )


def of_list(path: Path, silent: float, budget: int) -> Cost:
    visits, truths = load(path)
    site, of_site = max(visits.items(), key=lambda item: len(item[1]))
    truth, chance = truths[EXACT], random.Random(1)

    def answers(url: str, target: str) -> Outcome:
        if chance.random() < silent:
            return Outcome.UNKNOWN
        if url not in truth or target not in truth:
            return Outcome.UNFETCHABLE
        return Outcome.SAME if truth[url] == truth[target] else Outcome.DIFFERENT

    return cost_of(path.name.partition(".")[0], site, of_site, answers, budget)


def told(cost: Cost) -> str:
    return (
        f"{cost.what:<14} {cost.pages:>7} {cost.mining:>8.1f} {cost.trials:>8.1f} {cost.a_page:>8.2f} {cost.probes:>7}"
        f" {cost.candidates:>10} {cost.valid:>6} {cost.undecided:>10} {cost.refuted:>8} {cost.saved:>7}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.campaign", description=__doc__.splitlines()[0]
    )
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--silent", type=float, default=0.0, help="share of fetches that say nothing")
    parser.add_argument(
        "--stubborn", default="60", help="folders of a site where many rules pass and few are admitted"
    )
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument("--lists", default=",".join(LISTS))
    options = parser.parse_args()
    look_seldom_for_garbage()  # as the command does
    head = (
        "site",
        "pages",
        "mining",
        "trials",
        "ms/page",
        "probes",
        "candidates",
        "valid",
        "undecided",
        "refuted",
        "saved",
    )
    print("{:<14} {:>7} {:>8} {:>8} {:>8} {:>7} {:>10} {:>6} {:>10} {:>8} {:>7}".format(*head))
    for size in map(int, filter(None, options.sizes.split(","))):
        site = MessySite(size, silent=options.silent)
        print(told(cost_of("messy", HOST, list(site.log()), site.outcome, options.budget)), flush=True)
    for folders in map(int, filter(None, options.stubborn.split(","))):
        stubborn = StubbornSite(folders)
        print(
            told(cost_of("stubborn", HOST, list(stubborn.log()), stubborn.outcome, options.budget)),
            flush=True,
        )
    for name in options.lists.split(",") if options.data else ():
        print(
            told(of_list(options.data / "sites" / f"{name}.jsonl.gz", options.silent, options.budget)),
            flush=True,
        )


if __name__ == "__main__":
    main()

"""Who should be asked for rules: `dustmine` with each DUST_LEARNER, on crawls whose contents are known.

    python -m benchmarks.learners DATA

DATA is a folder with URL lists (``sites/*.jsonl.gz``, ``uci/*.jsonl.gz``), as for evaluation.py. The first three
quarters of each list are mined and validated, the rest is crawled. What validation would fetch is answered from the
list: nearly equal pages, by ``cluster_strict``, are one page, and what is not in the list does not answer.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.evaluation import EXACT, STRICT, lists_in, load
from benchmarks.replaying import Answers
from scrapy_dust.believe.campaign import Campaign
from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.validation import Verdict
from scrapy_dust.engines.local import mine_log, trial_params
from scrapy_dust.learners.evaluation import Protocol, Task, tasks_of
from scrapy_dust.learners.measures import replay
from scrapy_dust.rule_book.priors import priors_of_package
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of

ASKED = ("dustbuster", "dust", "both")


@dataclass(slots=True)
class Outcome:
    """Of one learner on one list."""

    rules: int = 0
    fetches: int = 0
    crawled: int = 0
    lost_exact: int = 0
    lost_strict: int = 0
    seconds: float = 0.0  #: of a processor

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(*(getattr(self, name) + getattr(other, name) for name in Outcome.__slots__))


def outcome_of(task: Task, truths: Mapping[str, Mapping[str, Hashable]], learner: str) -> Outcome:
    began = time.process_time()
    settings = DustSettings(learner=learner)
    mined = mine_log(
        task.site, task.log, settings, redirects_count=True, pool=priors_of_package().without(task.site)
    )
    urls = [page.url for page in task.log.pages] + list(task.log.redirects)
    random.Random(f"0 {task.site}").shuffle(urls)
    campaign = Campaign(
        mined.candidates(),
        LogEvidence(task.log, urls, settings.sketch_matches),
        trial_params(settings),
        site=task.site,
        site_of=site_of,
        passes=settings.passes,
    )
    answers = Answers(truths[STRICT], keeps=True, knows=True)
    while answers.fetches < settings.validation_budget and (probe := campaign.next_probe()) is not None:
        campaign.record(probe, answers.look(probe.pair))
    rules = [one.rule for one in campaign.decisions if one.verdict is Verdict.VALID]
    seconds = time.process_time() - began
    canonize = Canonizer({task.site: rules}, site_of, settings.passes).canonize
    keys = {url: canonize(url) for url in task.urls}
    crawls = [replay(task.urls, truths[truth], keys.__getitem__) for truth in (EXACT, STRICT)]
    return Outcome(
        len(rules),
        answers.fetches,
        crawls[0].crawled,
        crawls[0].lost,
        crawls[1].lost,
        seconds,
    )


def rows_of(path: Path) -> Iterator[str]:
    visits, truths = load(path)
    tasks = tasks_of(visits, truths[STRICT], Protocol())
    name = path.parent.name if path.name.startswith("pages") else path.name.partition(".")[0]
    urls = sum(len(task.urls) for task in tasks)
    for learner in ASKED:
        one = sum((outcome_of(task, truths, learner) for task in tasks), Outcome())
        yield (
            f"| {name} | {learner} | {one.crawled:,} of {urls:,} | {one.lost_exact} / {one.lost_strict} | {one.rules} "
            f"| {one.fetches:,} | {one.seconds:.1f} |"
        )


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    print("| list | learner | crawled | lost, exact / strict | rules | fetches | seconds |")
    print("|---|---|" + "---:|" * 5)
    for path in lists_in(Path(arguments[0])):
        for row in rows_of(path):
            print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

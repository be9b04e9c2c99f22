"""Hosts of a site that is known, after so many of their URLs.

    python -m benchmarks.new_hosts DATA

A quarter of uci's hosts is held out, with three seeds, as `benchmarks/evaluation.py` does; of each of them the first so many URLs
are learned from all the same, with all of the other hosts, and what is left of them is crawled. Sums over the seeds, exact truth.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.logs import EXACT, STRICT, Truths, lists_in, load, name_of
from scrapy_dust.learners.evaluation import Protocol, Split, Task, score_method, tasks_of, teach
from scrapy_dust.learners.measures import Replay
from scrapy_dust.learners.registry import LEARNERS
from scrapy_dust.visits.pages import Visit, merge_visits

SIZES = (0, 200, 800, 1600)
METHODS = ("keepall", "standard", "duster", "dust", "dust-crawl")
_SEEDS = 3


def tasks_after(size: int, visits: dict[str, list[Visit]], truths: Truths, seed: int) -> Iterator[Task]:
    for task in tasks_of(visits, truths[STRICT], Protocol(split=Split.HOST, seed=seed)):
        met: Counter[str] = Counter()
        crawled = []
        for url in task.urls:
            host = urlsplit(url).netloc.lower()
            met[host] += 1
            if met[host] > size:
                crawled.append(url)
        if crawled:
            held = set(crawled)
            yield Task(
                task.site, merge_visits(one for one in visits[task.site] if one.url not in held), crawled
            )


def row(size: int, method: str, visits: dict[str, list[Visit]], truths: Truths) -> Replay:
    replays = [
        score_method(method, list(teach(LEARNERS[method](), tasks)), truths[EXACT]).replay
        for seed in range(_SEEDS)
        if (tasks := list(tasks_after(size, visits, truths, seed)))
    ]
    return Replay(
        urls=sum(one.urls for one in replays),
        clusters=sum(one.clusters for one in replays),
        crawled=sum(one.crawled for one in replays),
        covered=sum(one.covered for one in replays),
    )


def measure(data: Path, sizes: Sequence[int]) -> None:
    (path,) = (path for path in lists_in(data) if name_of(path) == "uci")
    visits, truths = load(path)
    print("| URLs of a host learned | method | URLs | contents | crawled | F1 | lost |")
    print("|---:|---|---:|---:|---:|---:|---:|")
    for size in sizes:
        for method in METHODS:
            one = row(size, method, visits, truths)
            counts = f"{one.urls:,} | {one.clusters:,} | {one.crawled:,} | {one.f1:.4f} | {one.lost:,}"
            print(f"| {size:,} | {method} | {counts} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    options = parser.parse_args()
    measure(options.data, options.sizes)


if __name__ == "__main__":
    main()

"""All methods on crawls whose contents are known: the tables of docs/evaluation.md.

    python -m benchmarks.evaluation DATA [--output docs/evaluation.md] [--workers 2]

DATA is a folder with URL lists (``sites/*.jsonl.gz``, ``uci/*.jsonl.gz``) whose lines say what a URL shows, as
``cluster_exact`` (equal words) and ``cluster_strict`` (nearly equal, without what all pages share). The first
three quarters of each list are learned from and the rest is crawled; for ``uci`` also a quarter of the contents is
held out, three times, and a quarter of the hosts, for the best methods of each kind. Each method learns once for both
truths, but for ``dust``, which learns what the truth calls one page, as ``scrapy dusteval --truth`` has it do. With
``--methods`` and ``--lists``, the other rows stay on the page as they are. Other orders of arrival and new sites: `benchmarks/arrivals.py`, which this
command runs too unless it is given ``--methods``.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import fmean

from benchmarks import arrivals
from benchmarks.logs import EXACT, STRICT, lists_in, load, name_of
from scrapy_dust.learners.crawl_keys import with_scrapy_keys
from scrapy_dust.learners.dust_learner import Dust
from scrapy_dust.learners.evaluation import (
    Protocol,
    Score,
    Split,
    Task,
    Taught,
    score_method,
    tasks_of,
    teach,
)
from scrapy_dust.learners.interface import Learner
from scrapy_dust.learners.leftovers import Left
from scrapy_dust.learners.registry import LEARNERS


@dataclass(frozen=True, slots=True)
class Cost:
    """What a crawl sees, by one truth."""

    precision: float
    recall: float
    f1: float
    lost: int


@dataclass(frozen=True, slots=True)
class Row:
    """One method on one list."""

    crawled: int
    exact: Cost
    strict: Cost
    rules: int
    us_per_url: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Run:
    """All methods on one list."""

    name: str
    split: Split
    seed: int
    urls: int
    contents: tuple[int, int]  #: by the exact and the strict truth
    rows: Mapping[str, Row]  #: by method
    left: Mapping[Left, int] = field(default_factory=dict)  #: what `dust` fetches in vain, by why, exact


_SEEDS = 3
#: With hosts of uci held out: who is best of each kind, and who learns nothing.
_OF_HOSTS = frozenset(
    ("keepall", "scrapy", "standard", "surt", "dustbuster", "ra", "duster", "dust", "dust-crawl")
)
#: Variants of ours and of `dustmine` are not shown where contents are held out.
_VARIANTS = frozenset(("dustmine-plain", "dust-near", "dust-bold", "dust-alone"))

Part = tuple[Path, Split, int]


def parts_of(path: Path) -> Iterator[Part]:
    yield path, Split.LOG, 0
    if name_of(path) == "uci":
        for split in (Split.CLUSTER, Split.HOST):
            yield from ((path, split, seed) for seed in range(_SEEDS))


def run_of(part: Part, methods: Sequence[str]) -> Run:
    path, split, seed = part
    visits, truths = load(path)
    # What is nearly equal is held out together, and so is what is equal.
    lessons = Lessons(tasks_of(visits, truths[STRICT], Protocol(split=split, seed=seed)))
    rows, left = {}, {}
    for method in methods:
        if _is_shown(method, split):
            scores = lessons.scores(method, truths)
            left = dict(scores[0].left) if method == "dust" else left
            crawls = [score.replay for score in scores]
            costs = [Cost(crawl.precision, crawl.recall, crawl.f1, crawl.lost) for crawl in crawls]
            first = scores[0]
            rows[method] = Row(
                crawls[0].crawled, costs[0], costs[1], first.rules, first.us_per_url, first.learn_seconds
            )
    return Run(
        name_of(path), split, seed, crawls[0].urls, (crawls[0].clusters, crawls[1].clusters), rows, left
    )


def _is_shown(method: str, split: Split) -> bool:
    if split is Split.HOST:
        return method in _OF_HOSTS
    return split is Split.LOG or method not in _VARIANTS


class Lessons:
    """What methods make of the same tasks; none is taught the same twice."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = tasks
        self._taught: dict[str, list[Taught]] = {}

    def scores(self, method: str, truths: Mapping[str, Mapping[str, Hashable]]) -> list[Score]:
        """By the exact and the strict truth."""
        names = method, _NEAR.get(method, method)
        return [
            score_method(method, self._of(name), truths[truth])
            for name, truth in zip(names, (EXACT, STRICT), strict=True)
        ]

    def _of(self, name: str) -> list[Taught]:
        if name not in self._taught:
            beneath = _IN_CRAWL.get(name)
            self._taught[name] = (
                list(teach(_learner(name), self._tasks))
                if beneath is None
                else [_in_crawl(one) for one in self._of(beneath)]
            )
        return self._taught[name]


#: How a method learns where pages are one that are nearly equal.
_NEAR = {"dust": "dust-near", "dust-crawl": "dust-near-crawl", "dust-bold": "dust-bold-near"}
_IN_CRAWL = {"dust-crawl": "dust", "dust-near-crawl": "dust-near"}


def _learner(name: str) -> Learner:
    learner = LEARNERS[name.removesuffix("-near") if name not in LEARNERS else name]()
    return replace(learner, near=True) if isinstance(learner, Dust) and name not in LEARNERS else learner


def _in_crawl(taught: Taught) -> Taught:
    began = time.process_time()
    learned = with_scrapy_keys(taught.learned)
    keys = {url: learned.key(url) for url in taught.task.urls}
    return replace(taught, learned=learned, keys=keys, key_seconds=time.process_time() - began)


_SAID = {
    Split.LOG: "the first three quarters learned",
    Split.CLUSTER: "a quarter of the contents held out",
    Split.HOST: "a quarter of the hosts held out",
}
_HEAD = re.compile(r"## (\S+), ([^,\n]+)(?:, seed (\d))?")
_COUNTS = re.compile(
    r"([\d,]+) URLs crawled by KeepAll, of ([\d,]+) contents \(exact\) and ([\d,]+) \(strict\)"
)
_LEFT = re.compile(rf"({'|'.join(Left)}): (\d+)")


def runs_on(page: str) -> Iterator[Run]:
    """The runs whose tables are on a page that this program wrote."""
    for part in re.split(r"\n(?=## )", page):
        head, counts = _HEAD.match(part), _COUNTS.search(part)
        if head and counts:
            split = next(split for split, said in _SAID.items() if said == head[2])
            urls, exact, strict = (int(text.replace(",", "")) for text in counts.groups())
            rows = dict(_rows_in(part.splitlines()))
            left = {Left(why): int(count) for why, count in _LEFT.findall(part)}
            yield Run(head[1], split, int(head[3] or 0), urls, (exact, strict), rows, left)


def _rows_in(lines: Iterable[str]) -> Iterator[tuple[str, Row]]:
    for line in lines:
        cells = [cell.strip().replace(",", "") for cell in line.strip("|").split("|")]
        if len(cells) == _COLUMNS and cells[1].isdigit():
            x = [float(cell.strip("*")) for cell in cells[1:]]
            exact, strict = (Cost(x[at], x[at + 1], x[at + 2], int(x[at + 3])) for at in (1, 5))
            yield cells[0], Row(int(x[0]), exact, strict, int(x[9]), x[10], x[11])


_COLUMNS = 13


def merged(old: Iterable[Run], new: Iterable[Run]) -> list[Run]:
    """*old*, with the rows of *new* for what was measured again, in the registry's order."""
    runs = {(run.name, run.split, run.seed): run for run in old}
    for run in new:
        known = runs.get((run.name, run.split, run.seed))
        rows = {**(known.rows if known else {}), **run.rows}
        ordered = {name: rows[name] for name in LEARNERS if name in rows}
        left = run.left or (known.left if known else {})
        runs[run.name, run.split, run.seed] = replace(run, rows=ordered, left=left)
    order = list(Split)
    listed = list(dict.fromkeys(run.name for run in runs.values()))
    return sorted(runs.values(), key=lambda run: (listed.index(run.name), order.index(run.split), run.seed))


def as_markdown(runs: Sequence[Run]) -> str:
    parts = ["## All lists", "", *_overview(runs), "", *_savings(runs), "", *_held_out(runs), *_in_vain(runs)]
    for run in runs:
        seed = "" if run.split is Split.LOG else f", seed {run.seed}"
        parts += ["", f"## {run.name}, {_SAID[run.split]}{seed}", "", *_details(run)]
    return "\n".join(parts) + "\n"


def _overview(runs: Sequence[Run]) -> Iterator[str]:
    """F1 by method and list, exact truth; then means."""
    by_log = [run for run in runs if run.split is Split.LOG]
    yield (
        "F1 by exact contents, of the methods measured on all lists; in the last columns the means of both truths and "
        "all contents lost, of how many."
    )
    yield ""
    yield (
        "| method | "
        + " | ".join(run.name for run in by_log)
        + " | mean exact | mean strict | lost exact | lost strict |"
    )
    yield "|---|" + "---:|" * (len(by_log) + 4)
    shown = _measured_on_all(by_log)
    best = [max(run.rows[method].exact.f1 for method in shown) for run in by_log]
    for method in shown:
        rows = [run.rows[method] for run in by_log]
        cells = [_f1(row.exact.f1, top) for row, top in zip(rows, best, strict=True)]
        by_truth = ([row.exact for row in rows], [row.strict for row in rows])
        cells += [f"{fmean(one.f1 for one in costs):.4f}" for costs in by_truth]
        cells += [f"{sum(row.exact.lost for row in rows):,}", f"{sum(row.strict.lost for row in rows):,}"]
        yield f"| {method} | " + " | ".join(cells) + " |"
    contents = [sum(run.contents[truth] for run in by_log) for truth in (0, 1)]
    blank = " | ".join([""] * (len(by_log) + 2))
    yield f"| *contents* | {blank} | {contents[0]:,} | {contents[1]:,} |"


def _measured_on_all(runs: Sequence[Run]) -> list[str]:
    return [method for method in LEARNERS if all(method in run.rows for run in runs)]


def _savings(runs: Sequence[Run]) -> Iterator[str]:
    """The share of URLs that a method does not fetch, where it may be had."""
    by_log = [run for run in runs if run.split is Split.LOG]
    yield (
        "The share of URLs not fetched where at least 99.9 % of the exact contents are seen all the same; – where "
        "they are not."
    )
    yield ""
    yield "| method | " + " | ".join(run.name for run in by_log) + " | mean |"
    yield "|---|" + "---:|" * (len(by_log) + 1)
    for method in _measured_on_all(by_log):
        rows = [(run.rows[method], run.urls) for run in by_log]
        saved = [1 - row.crawled / urls if row.exact.recall >= _ENOUGH else None for row, urls in rows]
        cells = ["–" if one is None else f"{one:.1%}" for one in saved]
        yield f"| {method} | " + " | ".join(cells) + f" | {fmean(one or 0.0 for one in saved):.1%} |"


_ENOUGH = 0.999


def _held_out(runs: Sequence[Run]) -> Iterator[str]:
    """Means over seeds, of the methods measured with all of them."""
    for split in (Split.CLUSTER, Split.HOST):
        of_split = [run for run in runs if run.split is split]
        if not of_split:
            continue
        yield (
            f"{of_split[0].name}, {_SAID[split]}: means over {len(of_split)} seeds, and the contents lost with each "
            f"of them, in {' / '.join(f'{run.urls:,}' for run in of_split)} URLs."
        )
        yield ""
        yield "| method | exact: F1 | lost | strict: F1 | lost |"
        yield "|---|" + "---:|" * 4
        for method in _measured_on_all(of_split):
            cells = []
            for truth in ("exact", "strict"):
                costs = [getattr(run.rows[method], truth) for run in of_split]
                cells += [f"{fmean(one.f1 for one in costs):.4f}", " / ".join(str(one.lost) for one in costs)]
            yield f"| {method} | " + " | ".join(cells) + " |"
        yield ""


def _in_vain(runs: Sequence[Run]) -> Iterator[str]:
    """The thesis' figure 6.6, of every list."""
    shown = [run for run in runs if run.split is Split.LOG and run.left]
    if shown:
        yield "What `dust` still fetches in vain, by exact contents, in the classes of the thesis' figure 6.6."
        yield ""
        yield "| | " + " | ".join(run.name for run in shown) + " | all |"
        yield "|---|" + "---:|" * (len(shown) + 1)
        for why in Left:
            counts = [run.left.get(why, 0) for run in shown]
            yield f"| {why} | " + " | ".join(f"{one:,}" for one in (*counts, sum(counts))) + " |"
        yield ""


def _f1(value: float, best: float) -> str:
    return f"**{value:.4f}**" if round(value, 4) == round(best, 4) else f"{value:.4f}"


def _details(run: Run) -> Iterator[str]:
    yield (
        f"{run.urls:,} URLs crawled by KeepAll, of {run.contents[0]:,} contents (exact) "
        f"and {run.contents[1]:,} (strict)."
    )
    if run.left:
        counts = ", ".join(f"{why}: {run.left.get(why, 0)}" for why in Left)
        yield f"In vain, by the exact truth, `dust` fetches {counts}."
    yield ""
    yield (
        "| method | crawled | exact: precision | recall | F1 | lost | strict: precision | recall | F1 | lost "
        "| rules | µs/URL | CPU s to learn |"
    )
    yield "|---|" + "---:|" * (_COLUMNS - 1)
    best = [max(getattr(row, truth).f1 for row in run.rows.values()) for truth in ("exact", "strict")]
    for method, row in run.rows.items():
        cells = [f"{row.crawled:,}"]
        for cost, top in zip((row.exact, row.strict), best, strict=True):
            cells += [f"{cost.precision:.4f}", f"{cost.recall:.4f}", _f1(cost.f1, top), f"{cost.lost:,}"]
        cells += [f"{row.rules:,}", f"{row.us_per_url:.0f}", f"{row.seconds:.1f}"]
        yield f"| {method} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--methods", help="A,B,… (default: all)")
    parser.add_argument("--lists", help="A,B,… (default: all)")
    parser.add_argument("--workers", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--output", type=Path, help="a Markdown page; the tables go below its marker")
    options = parser.parse_args()
    methods = options.methods.split(",") if options.methods else list(LEARNERS)
    paths = [p for p in lists_in(options.data) if not options.lists or name_of(p) in options.lists.split(",")]
    parts = [
        part
        for path in paths
        for part in parts_of(path)
        if any(_is_shown(method, part[1]) for method in methods)
    ]
    with ProcessPoolExecutor(options.workers) as pool:
        # The longest come last in the folder; begun first, nobody waits for them.
        runs = list(pool.map(partial(run_of, methods=methods), parts[::-1]))[::-1]
    if options.output:
        marker = "<!-- measured: benchmarks/evaluation.py -->\n"
        page, _, tables = options.output.read_text(encoding="utf-8").partition(marker)
        runs = merged(runs_on(tables), runs)
        options.output.write_text(page + marker + "\n" + as_markdown(runs), encoding="utf-8")
    else:
        print(as_markdown(runs))
    if not options.methods:
        arrivals.measure(options.data, options.output, options.workers)


if __name__ == "__main__":
    main()

"""All methods on crawls whose contents are known: the tables of docs/evaluation.md.

    python benchmarks/evaluation.py DATA [--output docs/evaluation.md]

DATA is a folder with URL lists (``sites/*.jsonl.gz``, ``uci/*.jsonl.gz``) whose lines say what a URL shows, as
``cluster_exact`` (equal words) and ``cluster_strict`` (nearly equal, without what all pages share). The first
three quarters of each list are learned from, once for both truths, and the rest is crawled; for ``uci`` also a
quarter of the contents is held out.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from scrapy_dust.crawl_log import read_visits
from scrapy_dust.dust.pages import Visit
from scrapy_dust.learners.evaluation import Protocol, Score, Split, judge, tasks_of, teach
from scrapy_dust.learners.registry import LEARNERS
from scrapy_dust.sites import site_of

EXACT, STRICT = "cluster_exact", "cluster_strict"


@dataclass(frozen=True, slots=True)
class Run:
    """All methods on one list."""

    name: str
    split: Split
    scores: Mapping[str, Mapping[str, Score]]  #: by truth, by method


def lists_in(data: Path) -> list[Path]:
    return [path for path in sorted(data.glob("*/*.jsonl.gz")) if path.parent.name in ("sites", "uci")]


def load(path: Path) -> tuple[dict[str, list[Visit]], dict[str, dict[str, Hashable]]]:
    visits: dict[str, list[Visit]] = defaultdict(list)
    for visit in read_visits(path):
        visits[site_of(visit.url) or ""].append(visit)
    truths: dict[str, dict[str, Hashable]] = {EXACT: {}, STRICT: {}}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            for field, truth in truths.items():
                if record.get(field) is not None:
                    truth[record["url"]] = record[field]
    return visits, truths


def runs_of(path: Path, methods: Sequence[str]) -> Iterator[Run]:
    name = path.name.partition(".")[0]
    visits, truths = load(path)
    name = path.parent.name if name == "pages" else name
    for split in (Split.LOG, Split.CLUSTER) if name == "uci" else (Split.LOG,):
        # What is nearly equal is held out together, and so is what is equal.
        tasks = tasks_of(visits, truths[STRICT], Protocol(split=split))
        scores: dict[str, dict[str, Score]] = {EXACT: {}, STRICT: {}}
        for method in methods:
            taught = list(teach(LEARNERS[method](), tasks))
            for field, truth in truths.items():
                scores[field][method] = judge(method, taught, truth)
        yield Run(name, split, scores)


def as_markdown(runs: Sequence[Run], methods: Sequence[str]) -> str:
    parts = ["## All lists", "", *_overview(runs, methods)]
    for run in runs:
        how = (
            "the first three quarters learned"
            if run.split is Split.LOG
            else "a quarter of the contents held out"
        )
        parts += ["", f"## {run.name}, {how}", "", *_details(run)]
    return "\n".join(parts) + "\n"


def _overview(runs: Sequence[Run], methods: Sequence[str]) -> Iterator[str]:
    """F1 by method and list, exact truth; then means."""
    by_log = [run for run in runs if run.split is Split.LOG]
    yield "F1 by exact contents; in the last columns the means of both truths and all contents lost, of how many."
    yield ""
    yield (
        "| method | "
        + " | ".join(run.name for run in by_log)
        + " | mean exact | mean strict | lost exact | lost strict |"
    )
    yield "|---|" + "---:|" * (len(by_log) + 4)
    best = [max(score.replay.f1 for score in run.scores[EXACT].values()) for run in by_log]
    for method in methods:
        exact, strict = ([run.scores[field][method].replay for run in by_log] for field in (EXACT, STRICT))
        cells = [_f1(one.f1, top) for one, top in zip(exact, best, strict=True)]
        cells += [f"{fmean(one.f1 for one in crawls):.4f}" for crawls in (exact, strict)]
        cells += [f"{sum(c.lost for c in crawls):,}" for crawls in (exact, strict)]
        yield f"| {method} | " + " | ".join(cells) + " |"
    contents = [
        sum(run.scores[field][methods[0]].replay.clusters for run in by_log) for field in (EXACT, STRICT)
    ]
    blank = " | ".join([""] * (len(by_log) + 2))
    yield f"| *contents* | {blank} | {contents[0]:,} | {contents[1]:,} |"


def _f1(value: float, best: float) -> str:
    return f"**{value:.4f}**" if round(value, 4) == round(best, 4) else f"{value:.4f}"


def _details(run: Run) -> Iterator[str]:
    crawls = {field: next(iter(run.scores[field].values())).replay for field in (EXACT, STRICT)}
    yield (
        f"{crawls[EXACT].urls:,} URLs crawled by KeepAll, of {crawls[EXACT].clusters:,} contents (exact) "
        f"and {crawls[STRICT].clusters:,} (strict)."
    )
    yield ""
    yield (
        "| method | crawled | exact: precision | recall | F1 | lost | strict: precision | recall | F1 | lost "
        "| rules | µs/URL | CPU s to learn |"
    )
    yield "|---|" + "---:|" * 12
    for method, score in run.scores[EXACT].items():
        cells = [f"{score.replay.crawled:,}"]
        for field in (EXACT, STRICT):
            crawl = run.scores[field][method].replay
            cells += [f"{crawl.precision:.4f}", f"{crawl.recall:.4f}", f"{crawl.f1:.4f}", f"{crawl.lost:,}"]
        cells += [f"{score.rules:,}", f"{score.us_per_url:.0f}", f"{score.learn_seconds:.1f}"]
        yield f"| {method} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--methods", default=",".join(LEARNERS))
    parser.add_argument("--output", type=Path, help="a Markdown page; the tables go below its marker")
    options = parser.parse_args()
    methods = options.methods.split(",")
    runs = [run for path in lists_in(options.data) for run in runs_of(path, methods)]
    text = as_markdown(runs, methods)
    print(text)
    if options.output:
        marker = "<!-- measured: benchmarks/evaluation.py -->\n"
        page = options.output.read_text(encoding="utf-8").partition(marker)[0]
        options.output.write_text(page + marker + "\n" + text, encoding="utf-8")


if __name__ == "__main__":
    main()

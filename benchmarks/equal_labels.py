"""SIGIR 2017's tables 1 and 2 with all methods on equal labels: ``python -m benchmarks.equal_labels DATA [--output PAGE]``.

The paper has all methods learn from one clustering. Here it is each of three: the paper's (simhashes within three bits and equal
titles), exact text, and nearly equal text without what all pages share (strict). What is learned from one is judged by the same one,
as there, and contents lost are told by exact text besides. The networks are in it where PyTorch is.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.curves import Curve, drawing
from benchmarks.logs import EXACT, STRICT, lists_in, load, name_of
from scrapy_dust.learners.evaluation import Protocol, Task, Truth, score_method, tasks_of, teach
from scrapy_dust.learners.interface import Learner
from scrapy_dust.learners.labelling import labelled, labels_by_simhash
from scrapy_dust.learners.registry import LEARNERS, NETWORKS
from scrapy_dust.neural.torch_extra import is_installed
from scrapy_dust.neural.training_pairs import clusters_of, targets_of
from scrapy_dust.neural.vocabulary import document_frequencies

MARKER = "<!-- measured: benchmarks/equal_labels.py -->\n"
METHODS = ("keepall", "standard", "ra", "dta", "patterntree", "duster", "dustbuster", "dust")
LABELS = ("simhash", "exact", "strict")
#: Of figure 2.
_TOKENS = 150


@dataclass(frozen=True, slots=True)
class Row:
    """A method on a list."""

    name: str
    method: str
    precision: float
    recall: float
    f1: float
    heavy: tuple[float, float]  #: F with precision, and with recall, counting twice as much
    lost: int
    lost_exact: int


def learners() -> list[Learner]:
    found = [LEARNERS[name]() for name in METHODS]
    return [*found, *(NETWORKS[name]() for name in NETWORKS if is_installed())]


def rows_of(name: str, tasks: Sequence[Task], truth: Truth, exact: Truth) -> Iterator[Row]:
    for learner in learners():
        taught = list(teach(learner, tasks))
        score, by_text = score_method(learner.name, taught, truth), score_method(learner.name, taught, exact)
        crawl = score.replay
        weighed = crawl.f(0.5), crawl.f(2.0)
        yield Row(
            name,
            learner.name,
            crawl.precision,
            crawl.recall,
            crawl.f1,
            weighed,
            crawl.lost,
            by_text.replay.lost,
        )


def statistics(name: str, tasks: Sequence[Task], truth: Truth, exact: Mapping[str, object]) -> str:
    """A row of table 1, with the share of the pairs that are right by exact text: the paper's annotators say 97.3 %."""
    pairs: dict[str, str] = {}
    clusters = 0
    for task in tasks:
        groups = clusters_of(task.log)
        clusters += len(groups)
        pairs |= targets_of(groups)
    right = [exact.get(url) == exact.get(target) for url, target in pairs.items() if url != target]
    test = len({truth[url] for task in tasks for url in task.urls})
    precision = f"{sum(right) / len(right):.1%}" if right else "–"
    return f"| {name} | {clusters:,} | {len(pairs):,} | {test:,} | {precision} |"


def measured(paths: Sequence[Path], labels: Sequence[str]) -> Iterator[str]:
    for field in labels:
        rows: list[Row] = []
        yield f"## Labels: {field}\n"
        yield "| list | contents, learned from | training pairs | contents, tested | pairs of equal texts |"
        yield "|---|" + "---:|" * 4
        for path in paths:
            visits, truths = load(path)
            truth = (
                labels_by_simhash(visits)
                if field == "simhash"
                else truths[EXACT if field == "exact" else STRICT]
            )
            tasks = [
                replace(task, log=labelled(task.log, truth)) for task in tasks_of(visits, truth, Protocol())
            ]
            exact = {url: truths[EXACT].get(url, truth[url]) for url in truth}
            yield statistics(name_of(path), tasks, truth, exact)
            rows += rows_of(name_of(path), tasks, truth, exact)
        yield ""
        yield from means(rows)
        yield from each(rows)


def means(rows: Sequence[Row]) -> Iterator[str]:
    lists = list(dict.fromkeys(row.name for row in rows))
    yield (
        f"| mean of {len(lists)} lists | precision | recall | F1 | F0.5 | F2 | worst F1 below keepall's | lost | lost, by exact text |"
    )
    yield "|---|" + "---:|" * 8
    floor = {row.name: row.f1 for row in rows if row.method == "keepall"}
    for method in dict.fromkeys(row.method for row in rows):
        of = [row for row in rows if row.method == method]

        def mean(values: Iterator[float], of: Sequence[Row] = of) -> str:
            return f"{sum(values) / len(of):.4f}"

        cells = [
            mean(row.precision for row in of),
            mean(row.recall for row in of),
            mean(row.f1 for row in of),
            mean(row.heavy[0] for row in of),
            mean(row.heavy[1] for row in of),
            f"{max(0.0, *(floor[row.name] - row.f1 for row in of)):.4f}",
            f"{sum(row.lost for row in of):,}",
            f"{sum(row.lost_exact for row in of):,}",
        ]
        yield f"| {method} | " + " | ".join(cells) + " |"
    yield ""


def each(rows: Sequence[Row]) -> Iterator[str]:
    """F1, and contents lost, of each method on each list."""
    methods = list(dict.fromkeys(row.method for row in rows))
    yield "| F1, lost | " + " | ".join(methods) + " |"
    yield "|---|" + "---:|" * len(methods)
    for name in dict.fromkeys(row.name for row in rows):
        cells = [f"{row.f1:.3f}, {row.lost:,}" for row in rows if row.name == name]
        yield f"| {name} | " + " | ".join(cells) + " |"
    yield ""


def frequencies(path: Path) -> str:
    """Figure 2: the share of URLs that each token is in, the most frequent first. From 0.01 on it is a function token."""
    visits, _ = load(path)
    urls = list(dict.fromkeys(visit.url for of_site in visits.values() for visit in of_site))
    counts = sorted(document_frequencies(urls).values(), reverse=True)[:_TOKENS]
    shares = [(rank, count / len(urls)) for rank, count in enumerate(counts, start=1)]
    line = Curve("0.01", [(1, 0.01), (len(shares), 0.01)])
    return drawing("Share of URLs", "tokens by document frequency", [Curve(name_of(path), shares), line])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--lists", help="A,B,… (default: all)")
    parser.add_argument("--labels", default=",".join(LABELS), help="A,B,… (default: all)")
    parser.add_argument("--output", type=Path, help="a Markdown page; the tables go below its marker")
    options = parser.parse_args()
    paths = [p for p in lists_in(options.data) if not options.lists or name_of(p) in options.lists.split(",")]
    lines = []
    for line in measured(paths, options.labels.split(",")):
        print(line, flush=True)
        lines.append(line)
    if options.output:
        options.output.with_name("equal-labels-frequencies.svg").write_text(
            frequencies(paths[-1]), encoding="utf-8"
        )
        page = options.output.read_text(encoding="utf-8").partition(MARKER)[0]
        options.output.write_text(page + MARKER + "\n" + "\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()

"""New sites, and other orders of arrival: what `benchmarks/evaluation.py` does not say.

    python -m benchmarks.arrivals DATA [--output docs/evaluation.md]

Of each site the first 200 URLs are learned from, then 400, then 800, and all others are crawled: what is known of a
site early, and with what other sites have shown (``dust``; of the site itself nothing is in its prior beliefs) or
without (``dust-alone``). And what was learned from three quarters is crawled in five orders drawn at random.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import fmean

from benchmarks.logs import EXACT, STRICT, lists_in, load, name_of
from scrapy_dust.learners.evaluation import Protocol, Score, Task, Taught, score_method, tasks_of, teach
from scrapy_dust.learners.registry import LEARNERS
from scrapy_dust.visits.pages import merge_visits

SIZES = (200, 400, 800)
NEW = ("keepall", "scrapy", "standard", "dust-alone", "dust", "dust-crawl")
ORDERED = ("keepall", "standard", "dustbuster", "ra", "duster", "dust")
ORDERS = 5
_MARKER, _END = "<!-- measured: benchmarks/arrivals.py -->\n", "<!-- measured: benchmarks/evaluation.py -->\n"

Scores = dict[str, dict[object, Score]]  #: by list, by whatever was varied


def new_site(path: Path) -> dict[object, Score]:
    visits, truths = load(path)
    scores: dict[object, Score] = {}
    for size in SIZES:
        tasks = []
        for site, found in visits.items():
            urls = list(dict.fromkeys(visit.url for visit in found))
            first = set(urls[:size])
            rest = [url for url in urls[size:] if url in truths[EXACT]]
            tasks.append(Task(site, merge_visits(visit for visit in found if visit.url in first), rest))
        for method in NEW:
            taught = list(teach(LEARNERS[method](), tasks))
            scores[size, method] = score_method(method, taught, truths[EXACT])
            scores[size, method, STRICT] = score_method(method, taught, truths[STRICT])
    return scores


def in_orders(path: Path) -> dict[object, Score]:
    visits, truths = load(path)
    tasks = tasks_of(visits, truths[STRICT], Protocol())
    scores: dict[object, Score] = {}
    for method in ORDERED:
        taught = list(teach(LEARNERS[method](), tasks))
        for order in range(ORDERS):
            scores[order, method] = score_method(
                method, [_shuffled(one, order) for one in taught], truths[EXACT]
            )
    return scores


def _shuffled(taught: Taught, seed: int) -> Taught:
    urls = list(taught.task.urls)
    Random(f"{seed} {taught.task.site}").shuffle(urls)
    return replace(taught, task=replace(taught.task, urls=urls))


def as_markdown(new: Scores, ordered: Scores) -> Iterator[str]:
    yield "## New sites"
    yield ""
    yield (
        "F1 by exact contents after so many URLs of a site, its mean, and contents lost over all lists, by the exact and "
        "by the strict truth."
    )
    yield ""
    yield from _table(new, [(f"{method}, {size}", (size, method)) for size in SIZES for method in NEW])
    yield ""
    yield "## Other orders of arrival"
    yield ""
    yield f"F1 by exact contents: the least and the greatest of {ORDERS} orders drawn at random; contents lost in each."
    yield ""
    yield "| method | " + " | ".join(ordered) + " | mean | lost |"
    yield "|---|" + "---:|" * (len(ordered) + 2)
    for method in ORDERED:
        cells = [_span([scores[order, method] for order in range(ORDERS)]) for scores in ordered.values()]
        every = [[scores[order, method] for scores in ordered.values()] for order in range(ORDERS)]
        mean = fmean(score.replay.f1 for scores in every for score in scores)
        lost = " / ".join(str(sum(score.replay.lost for score in scores)) for scores in every)
        yield f"| {method} | " + " | ".join(cells) + f" | {mean:.4f} | {lost} |"
    yield ""


def _span(scores: Sequence[Score]) -> str:
    least, most = (f(round(score.replay.f1, 4) for score in scores) for f in (min, max))
    return f"{least:.4f}" if least == most else f"{least:.4f}–{most:.4f}"


def _table(
    scores: Mapping[str, Mapping[object, Score]], rows: Sequence[tuple[str, tuple[int, str]]]
) -> Iterator[str]:
    yield "| method, URLs learned | " + " | ".join(scores) + " | mean | lost exact | lost strict |"
    yield "|---|" + "---:|" * (len(scores) + 3)
    for said, which in rows:
        found = [of_list[which].replay for of_list in scores.values()]
        cells = [f"{replay.f1:.4f}" for replay in found]
        mean, lost = fmean(replay.f1 for replay in found), sum(replay.lost for replay in found)
        strict = sum(of_list[*which, STRICT].replay.lost for of_list in scores.values())
        yield f"| {said} | " + " | ".join(cells) + f" | {mean:.4f} | {lost:,} | {strict:,} |"


def measure(data: Path, output: Path | None, workers: int = 1) -> None:
    paths = [path for path in lists_in(data) if path.parent.name == "sites"]
    names = [name_of(path) for path in paths]
    with ProcessPoolExecutor(workers) as pool:
        new = dict(zip(names, pool.map(new_site, paths), strict=True))
        ordered = dict(zip(names, pool.map(in_orders, paths), strict=True))
    text = "\n".join(as_markdown(new, ordered)) + "\n"
    if output is None:
        print(text)
        return
    page = output.read_text(encoding="utf-8")
    before, _, rest = page.partition(_MARKER)
    after = rest.partition(_END)[2] if rest else before.partition(_END)[2]
    output.write_text(
        before.partition(_END)[0] + _MARKER + "\n" + text + "\n" + _END + after, encoding="utf-8"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument(
        "--output", type=Path, help="a Markdown page; the tables go above those of evaluation.py"
    )
    parser.add_argument("--workers", type=int, default=1, help="processes (default: 1)")
    options = parser.parse_args()
    measure(options.data, options.output, options.workers)


if __name__ == "__main__":
    main()

"""The papers' figures on another site: rules detected and eliminated, precision@k, redundancy and coverage.

    python benchmarks/paper_shape.py PAGES [--host www.ics.uci.edu] [--output docs/paper-shape.md]

PAGES is a URL list (JSONL, gzip allowed) whose lines also say which content a URL shows (--truth FIELD). Rules
are learned on half of the contents. A rule counts as valid when fewer than 5 % of its instances in that half
show different contents (the papers' ε). Valid rules then canonize the other half.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from scrapy_dust.dust.canonization import Canonizer
from scrapy_dust.dust.detection import DetectionParams, detect_likely_rules
from scrapy_dust.dust.elimination import EliminationParams, eliminate_redundant
from scrapy_dust.dust.measures import Replay, elimination_share, instances_in, precision_at, replay
from scrapy_dust.dust.pages import Page, Visit, merge_visits
from scrapy_dust.dust.rules import Rule, pair_refines
from scrapy_dust.dust.sketches import Similar
from scrapy_dust.sites import site_of

EPSILON = 0.05
RANKS = (10, 50, 100, 200, 300)


@dataclass(frozen=True, slots=True)
class Result:
    similar: Similar
    detected_in_all: int
    kept_of_all: int
    detected: int
    kept: int
    precision: dict[int, float | None]
    overall: float | None
    valid: int
    applied: int
    replayed: Replay
    seconds: float


def load(path: Path, host: str, truth: str) -> tuple[list[Page], dict[str, int]]:
    visits, clusters = [], {}
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if urlsplit(record["url"]).netloc == host:
                size = record.get("size")
                visits.append(
                    Visit(
                        url=record["url"],
                        status=record.get("status"),
                        size=None if size is None else (size, size),
                        sketch=tuple(record["sketch"]) if record.get("sketch") else None,
                    )
                )
                clusters[record["url"]] = record[truth]
    pages = list(merge_visits(visits).pages)
    return pages, {page.url: clusters[page.url] for page in pages}


def measure(
    pages: Sequence[Page],
    train: Sequence[Page],
    test: Sequence[Page],
    clusters: dict[str, int],
    similar: Similar,
) -> Result:
    begun = time.process_time()
    in_all = detect_likely_rules(pages, DetectionParams(similar=similar))
    of_all = eliminate_redundant(in_all, EliminationParams()).kept
    seconds = time.process_time() - begun
    likely = detect_likely_rules(train, DetectionParams(similar=similar))
    kept = eliminate_redundant(likely, EliminationParams()).kept
    known = {page.url: clusters[page.url] for page in train}
    valid = [instances_in(one.rule, known).is_valid(EPSILON) for one in kept]
    rules: list[Rule] = []
    for one, is_valid in zip(kept, valid, strict=True):
        # WWW'07, figure 4: refinements of a valid rule are removed.
        if is_valid and not any(pair_refines(one.rule, other) for other in rules):  # type: ignore[arg-type]
            rules.append(one.rule)
    site = site_of(test[0].url) or ""
    canonizer = Canonizer({site: rules}, site_of)
    return Result(
        similar=similar,
        detected_in_all=len(in_all),
        kept_of_all=len(of_all),
        detected=len(likely),
        kept=len(kept),
        precision={k: precision_at(valid, k) for k in RANKS if len(valid) >= k},
        overall=precision_at(valid, len(valid)),
        valid=sum(valid),
        applied=len(rules),
        replayed=replay((page.url for page in test), clusters, canonizer.canonize),
        seconds=seconds,
    )


def as_markdown(results: Sequence[Result], host: str, train: int, test: int, truth: str) -> str:
    names = {Similar.SKETCH: "sketches", Similar.SIZE: "sizes", Similar.NONE: "nothing"}
    rows: list[tuple[str, list[str]]] = [
        ("all URLs: likely rules", [f"{r.detected_in_all:,}" for r in results]),
        ("all URLs: kept", [f"{r.kept_of_all:,}" for r in results]),
        (
            "all URLs: eliminated",
            [f"{elimination_share(r.detected_in_all, r.kept_of_all):.1%}" for r in results],
        ),
        ("half: likely rules", [f"{r.detected:,}" for r in results]),
        ("half: kept", [f"{r.kept:,}" for r in results]),
        ("half: eliminated", [f"{elimination_share(r.detected, r.kept):.1%}" for r in results]),
        *[(f"precision@{k}", [_share(r.precision.get(k)) for r in results]) for k in RANKS],
        ("precision, all kept", [_share(r.overall) for r in results]),
        ("valid", [f"{r.valid:,}" for r in results]),
        ("valid, without refinements", [f"{r.applied:,}" for r in results]),
        ("discovered redundancy", [f"{r.replayed.redundancy:.2%}" for r in results]),
        ("coverage of duplicates", [f"{r.replayed.coverage:.1%}" for r in results]),
        ("contents lost", [f"{r.replayed.lost} of {r.replayed.clusters:,}" for r in results]),
        ("all URLs: CPU seconds", [f"{r.seconds:.1f}" for r in results]),
    ]
    lines = [
        f"`{host}`, {train + test:,} URLs; {train:,} learned from, {test:,} canonized; contents told by `{truth}`.",
        "",
        "| support filtered by | " + " | ".join(names[r.similar] for r in results) + " |",
        "|---|" + "---:|" * len(results),
        *[f"| {label} | " + " | ".join(cells) + " |" for label, cells in rows],
    ]
    return "\n".join(lines) + "\n"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", type=Path)
    parser.add_argument("--host", default="www.ics.uci.edu")
    parser.add_argument("--truth", default="cluster_strict")
    parser.add_argument("--output", type=Path, help="a Markdown page; the table goes below its marker")
    options = parser.parse_args()
    pages, clusters = load(options.pages, options.host, options.truth)
    # Halves by content, not by URL: a random split of URLs would tear the pairs apart.
    train = [page for page in pages if clusters[page.url] % 2 == 0]
    test = [page for page in pages if clusters[page.url] % 2 == 1]
    results = [
        measure(pages, train, test, clusters, similar)
        for similar in (Similar.SKETCH, Similar.SIZE, Similar.NONE)
    ]
    text = as_markdown(results, options.host, len(train), len(test), options.truth)
    print(text)
    if options.output:
        marker = "<!-- measured: benchmarks/paper_shape.py -->\n"
        page = options.output.read_text(encoding="utf-8").partition(marker)[0]
        options.output.write_text(page + marker + "\n" + text, encoding="utf-8")


if __name__ == "__main__":
    main()

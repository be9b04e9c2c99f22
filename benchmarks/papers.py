"""The tables and figures of the thesis (2006), WWW'07 and the poster (WWW'06), on sites that are at hand, in one run.

    python -m benchmarks.papers DATA [--output docs/papers.md] [--quick]

DATA is the folder with ``uci``, ``sites``, ``news`` and ``access_logs``. The papers' sites are gone. For each there is one like
it: the project's example, which is made in their likeness, a real university (uci), and real forum software. No page is fetched:
a list says what each of its URLs shows, and a pair whose second URL it lacks is not counted, as if the first had failed.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.curves import Curve, drawing
from benchmarks.papers_subjects import (
    Subject,
    canonizer,
    of_access_log,
    of_example,
    of_list,
    phases,
    validated,
    validities,
)
from scrapy_dust.believe.paper_validation import LiteralParams
from scrapy_dust.learners.measures import precision_at, replay
from scrapy_dust.propose.dustbuster.likely_rules import LikelyRule
from scrapy_dust.propose.dustbuster.sketches import Similar
from scrapy_dust.propose.dustbuster.windows import without_windows
from scrapy_dust.rules.rule import Rule
from scrapy_dust.visits.pages import Page

MARKER = "<!-- measured: benchmarks/papers.py -->\n"
STRICT, RELAXED = LiteralParams(), LiteralParams(threshold=0.1, matches=2)
RANKS = (10, 50, 100, 200, 300)
SLICES = 4
#: The validation counts of figure 6.
COUNTS = (1, 2, 3, 5, 10, 15, 20, 30, 40, 60, 80, 100)
#: A page of fewer words says nothing: the papers' soft errors.
FEW_WORDS = 20
#: Rules that are shown of a site.
SHOWN = 10
#: As the papers print them.
DETECTED = {
    "forum": (402, 37),
    "academic": (26_899, 2_041),
    "large news": (12_144, 1_243),
    "small news": (4_220, 96),
}
VALID = {"forum": 7, "academic": 52, "large news": 62, "small news": 5}
REDUCED = {"academic": "18 %", "small news": "26 %", "large news": "6 %", "forum": "4.7 %"}

Drawings = dict[str, str]


def percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|---|" + "---:|" * (len(head) - 1)
    yield from ("| " + " | ".join(row) + " |" for row in rows)
    yield ""


def curve(name: str, valid: Sequence[bool]) -> Curve:
    """Precision@k for every k."""
    found, good = list[tuple[float, float]](), 0
    for k, one in enumerate(valid, start=1):
        good += one
        found.append((k, good / k))
    return Curve(name, found or [(1, 0.0)])


def ranked(name: str, valid: Sequence[bool]) -> list[str]:
    at = [percent(precision_at(valid, k)) if len(valid) >= k else "–" for k in RANKS]
    return [name, *at, percent(precision_at(valid, len(valid))), f"{sum(valid):,} of {len(valid):,}"]


RANKED = ("", *(f"@{k}" for k in RANKS), "all", "valid")


# -- tables 1 and 2 (6.1, 6.2)


def sizes_of_logs(subjects: Sequence[Subject]) -> Iterator[str]:
    yield "## Log sizes, and what phase 2 eliminates (tables 6.1, 6.2; 1, 2)\n"
    rows = []
    for one in subjects:
        began = time.process_time()
        found = phases(one.pages, Similar.AUTO)
        seconds = time.process_time() - began
        likely, kept = len(found.likely), len(found.kept)
        before, after = DETECTED.get(one.like, (0, 0))
        rows.append(
            [
                one.name,
                f"{one.lines:,}",
                f"{len(one.pages):,}",
                f"{likely:,}",
                f"{kept:,}",
                f"{1 - kept / likely:.1%}" if likely else "–",
                f"{seconds:.1f}",
                f"{one.like}: {1 - after / before:.1%}" if before else "–",
            ]
        )
    yield from table(("site", "lines", "URLs", "likely", "kept", "eliminated", "CPU s", "the papers'"), rows)


# -- figures 5 a and 6.1


def four_logs(subject: Subject, drawings: Drawings) -> Iterator[str]:
    """Rules of each of four logs by sizes, validated by the other three."""
    yield f"### {subject.name}\n"
    rows, curves, rules = [], [], list[list[Rule]]()
    for number, pages in enumerate(subject.slices(SLICES), start=1):
        others = subject.without(pages)
        kept = phases(pages, Similar.SIZE).kept
        valid = validities(kept, others, STRICT)
        rows.append(ranked(f"log {number}", valid))
        curves.append(curve(f"log {number}", valid))
        rules.append(validated(kept, others, STRICT))
    yield from table(RANKED, rows)
    name = f"papers-logs-{subject.like}.svg"
    drawings[name] = drawing("Precision", "top k rules", curves)
    yield f"![Precision@k of four logs of {subject.name}]({name})\n"
    shares = [agreeing(one, other) for one in rules for other in rules if one is not other and one]
    mean = sum(shares) / len(shares) if shares else None
    yield (
        f"Valid rules of the four logs: {', '.join(str(len(of_log)) for of_log in rules)}. Of those of one log, another log has "
        f"{percent(mean)}, as they are, wider or narrower.\n"
    )


def agreeing(rules: Sequence[Rule], others: Sequence[Rule]) -> float:
    """The share of *rules* that *others* have too, as refinements or the other way round."""
    return sum(any(one.refines(other) or other.refines(one) for other in others) for one in rules) / len(
        rules
    )


# -- figures 5 b, c; 6.2, 6.3


def filters(subject: Subject, drawings: Drawings) -> Iterator[str]:
    """What filtering support by sizes and by sketches does to precision, with two ways to tell similar pages."""
    half, other = subject.slices(2)
    for params, said, file in ((STRICT, "4 of 4, ε = 5 %", "a"), (RELAXED, "2 of 4, ε = 10 %", "b")):
        rows, curves = [], []
        for similar, name in (
            (Similar.SKETCH, "sketches"),
            (Similar.SIZE, "sizes"),
            (Similar.NONE, "nothing"),
        ):
            valid = validities(phases(half, similar, params.matches).kept, other, params)
            rows.append(ranked(name, valid))
            curves.append(curve(name, valid))
        yield f"Support filtered by …; shingles {said}:\n"
        yield from table(RANKED, rows)
        drawings[f"papers-filters-{file}.svg"] = drawing("Precision", "top k rules", curves)
        yield f"![Precision@k with and without filters]({f'papers-filters-{file}.svg'})\n"


# -- why it is low


def directory(page: Page) -> str:
    return "/".join(page.url.split("/")[:5])


def why_low(subject: Subject) -> Iterator[str]:
    """The same without the directory that most of the false rules among the first are about."""
    half, other = subject.slices(2)
    kept = phases(half, Similar.SKETCH).kept
    valid = validities(kept, other, STRICT)
    rows = [ranked("all", valid)]
    urls = [page.url for page in half]
    merged = without_windows(kept, urls, 35)
    rows.append(ranked("windows merged", validities(merged, other, STRICT)))
    blamed = blamed_for([one for one, is_valid in zip(kept, valid, strict=True) if not is_valid], half)
    rest = [page for page in half if directory(page) != blamed]
    left = phases(rest, Similar.SKETCH).kept
    rows.append(ranked(f"without {blamed.partition('://')[2]}/", validities(left, other, STRICT)))
    merged = without_windows(left, [page.url for page in rest], 35)
    rows.append(ranked("and windows merged", validities(merged, other, STRICT)))
    yield from table(RANKED, rows)


def blamed_for(rules: Sequence[LikelyRule], pages: Sequence[Page]) -> str:
    """The directory in which most of *rules* have most of their instances."""
    listed = {page.url for page in pages}
    found: Counter[str] = Counter()
    for one in rules:
        rule = one.rule
        here = (page for page in pages if rule.alpha in page.url and rule.in_text(page.url) in listed)
        most = Counter(directory(page) for page in here if rule.in_text(page.url) != page.url).most_common(1)
        found.update(name for name, _ in most)
    return found.most_common(1)[0][0] if found else ""


# -- figures 6 and 6.4


def validations(subjects: Sequence[Subject], drawings: Drawings) -> Iterator[str]:
    yield "## How many validations it takes (figures 6.4, 6; the poster's 2)\n"
    rows, curves = [], []
    for subject in subjects:
        right: Counter[int] = Counter()
        said: Counter[int] = Counter()
        for pages in subject.slices(SLICES):
            others = subject.without(pages)
            kept = phases(pages, Similar.SIZE).kept
            final = dict(zip(kept, validities(kept, others, STRICT), strict=True))
            by_rule = {one.rule: is_valid for one, is_valid in final.items()}
            for n in COUNTS:
                for rule in validated(kept, others, LiteralParams(count=n)):
                    assert rule.substitution is not None
                    said[n] += 1
                    pair = by_rule.get(rule.substitution, by_rule.get(rule.substitution.reversed()))
                    right[n] += bool(pair)
        shares = {n: right[n] / said[n] if said[n] else 1.0 for n in COUNTS}
        rows.append([subject.name, *(f"{shares[n]:.2f}" for n in COUNTS)])
        curves.append(Curve(subject.name, [(n, shares[n]) for n in COUNTS]))
    yield from table(("valid after N of those valid after 100", *map(str, COUNTS)), rows)
    drawings["papers-validations.svg"] = drawing("Precision", "number of validations", curves)
    yield "![Precision against the number of validations](papers-validations.svg)\n"


# -- tables 3 and 4, figures 7 and 8 (6.3, 6.4, 6.5, 6.6)


def savings(subjects: Sequence[Subject]) -> Iterator[str]:
    yield "## Valid rules, coverage, and savings in crawl size (tables 6.3, 6.4; 3, 4)\n"
    rows = []
    for one in subjects:
        half, other = one.slices(2)
        for params, said in ((STRICT, "4 of 4, 5 %"), (RELAXED, "2 of 4, 10 %")):
            rules = validated(phases(half, Similar.AUTO, params.matches).kept, half, params)
            replayed = replay((page.url for page in other), one.clusters, canonizer(one, rules).canonize)
            rows.append(
                [
                    f"{one.name}, {said}",
                    f"{len(rules):,}",
                    f"{replayed.redundancy:.1%}",
                    percent(replayed.coverage),
                    f"{replayed.lost:,} of {replayed.clusters:,}",
                    f"{VALID.get(one.like, '–')}, {REDUCED.get(one.like, '–')}",
                ]
            )
    yield from table(
        ("site", "valid rules", "reduction", "coverage", "contents lost", "the papers': rules, reduction"),
        rows,
    )


def rules_shown(subject: Subject) -> Iterator[str]:
    yield f"## Valid rules of a forum (figures 6.5, 7)\n\n{subject.name}:\n"
    rules = validated(phases(subject.pages, Similar.SIZE).kept, subject.pages, STRICT)
    yield from (f"{number}. `{rule}`" for number, rule in enumerate(rules[:SHOWN], start=1))
    yield ""


def classes(subject: Subject) -> Iterator[str]:
    """Duplicates are URLs whose sketch another URL before them has."""
    yield f"## What duplicates are (figures 6.6, 8)\n\n{subject.name}, rules of one half on the other:\n"
    half, other = subject.slices(2)
    canonize = canonizer(subject, validated(phases(half, Similar.AUTO).kept, half, STRICT)).canonize
    firsts: dict[object, Page] = {}
    keys: set[str] = set()
    found: Counter[str] = Counter()
    for page in other:
        key, shown = canonize(page.url), page.sketch
        known = firsts.setdefault(shown, page)
        if known is not page:
            found[_kind(subject, page, known, by_rule=key in keys)] += 1
        keys.add(key)
    total = found.total()
    papers = {
        "eliminated by rules": "47.1 %",
        "images": "25.7 %",
        "exact copies": "17.9 %",
        "soft errors": "7.5 %",
    }
    rows = [[kind, f"{found[kind]:,}", percent(found[kind] / total), papers.get(kind, "–")] for kind in KINDS]
    yield from table(("duplicates", "URLs", "share", "the papers'"), rows)


KINDS = ("eliminated by rules", "images", "soft errors", "exact copies", "others")


def _kind(subject: Subject, page: Page, known: Page, *, by_rule: bool) -> str:
    record = subject.records[page.url]
    if by_rule:
        return KINDS[0]
    if str(record.get("content_type") or "").startswith("image/"):
        return KINDS[1]
    words = record.get("words")
    if isinstance(words, int) and words < FEW_WORDS:
        return KINDS[2]
    return KINDS[3] if page.text_digest == known.text_digest else KINDS[4]


# -- the page


def subjects_in(data: Path, *, quick: bool) -> tuple[list[Subject], list[Subject]]:
    """Those whose contents are known, and those of which only sizes are."""
    sites = data / "sites"
    known = [
        of_list(sites / "forum-nonest.jsonl.gz", "forum software", "forum"),
        *([] if quick else [of_list(data / "uci" / "pages.jsonl.gz", "uci", "academic", "www.ics.uci.edu")]),
        of_list(sites / "apache.jsonl.gz", "apache", "–"),
    ]
    sized = [
        of_access_log(data / "access_logs" / f"{name}.log.gz", name.partition(".")[0], like)
        for name, like in (("combined-apache", "–"), ("apache.access", "–"))
    ]
    if not quick:
        known += of_example()
        sized += [
            of_list(data / "news" / f"{name}.jsonl.gz", f"news, {name}", "large news")
            for name in ("nytimes-a", "latimes-a")
        ]
    return known, sized


def page_of(known: Sequence[Subject], sized: Sequence[Subject], drawings: Drawings) -> Iterator[str]:
    by_name = {one.name: one for one in known}
    academic, forum = by_name.get("uci", known[1]), by_name.get("example, forum", known[0])
    both = [forum, academic]
    yield from sizes_of_logs([*known, *sized])
    yield "## Precision@k before any fetch, on four logs (figures 6.1, 5 a; the poster's 1)\n"
    for one in both:
        yield from four_logs(one, drawings)
    yield f"## What filtering does (figures 6.2, 6.3 a and b, 5 b and c)\n\n{academic.name}, learned on one half, validated on the other.\n"
    yield from filters(academic, drawings)
    yield f"## Why it is lower than the papers'\n\n{academic.name}, by sketches:\n"
    yield from why_low(academic)
    yield from validations(both, drawings)
    yield from savings(known)
    yield from rules_shown(forum)
    yield from classes(academic)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--output", type=Path, help="a Markdown page; what is measured goes below its marker")
    parser.add_argument("--quick", action="store_true", help="small sites only, for a check that it runs")
    options = parser.parse_args()
    begun, drawings = time.monotonic(), Drawings()
    lines = []
    for line in page_of(*subjects_in(options.data, quick=options.quick), drawings):
        print(line, flush=True)
        lines.append(line)
    text = "\n".join([*lines, f"This run took {time.monotonic() - begun:,.0f} seconds."]) + "\n"
    if options.output:
        page = options.output.read_text(encoding="utf-8").partition(MARKER)[0]
        options.output.write_text(page + MARKER + "\n" + text, encoding="utf-8")
        for name, svg in drawings.items():
            options.output.with_name(name).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()

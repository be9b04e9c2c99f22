"""DustBuster on logs that have sizes and no content: the papers' test, and two that forgive live pages a little.

    python -m benchmarks.size_mode DATA [--output docs/size-mode.md]

DATA has access logs (``access_logs/*.log.gz``), crawls with sizes (``news/*.jsonl.gz``) and, for some of the access
logs, a crawl of the same site that says which content each URL shows (``sites/<name>.jsonl.gz``, ``cluster_strict``).

Rules are those of phases 1 and 2, and the parameters of phase 3, with three tests of whether two pages are alike:

- *overlap*: the ranges of their sizes overlap (the papers' test, `DUST_SIMILAR = "size"`);
- *1 %*: the ranges come within 1 % of each other;
- *1 %, by chance less*: of the rules found with 1 %, those whose pairs are within 1 % at least three times as often
  as pairs that the same URLs form at random: what any two pages of that template have in common says nothing.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from scrapy_dust.crawl_log import read_visits
from scrapy_dust.propose.dustbuster.detection import DetectionParams, detect_likely_rules
from scrapy_dust.propose.dustbuster.elimination import EliminationParams, eliminate_redundant
from scrapy_dust.propose.dustbuster.likely_parameters import detect_likely_parameters
from scrapy_dust.propose.dustbuster.sketches import Similar, likeness_of
from scrapy_dust.rules.rule import Rule
from scrapy_dust.visits.pages import Page, merge_visits

FRACTION = 0.01
TIMES_CHANCE = 3
EPSILON = 0.05
#: Rules that are looked at one by one, of each log and test, by support.
LOOKED_AT = 300
RANDOM_PAIRS = 500
#: Access logs that name no host, and the names of the crawls of the same sites.
BASES = {
    "roundup": "http://issues.test",
    "hgweb": "http://hg.test",
    "combined-apache": "http://semicomplete.com",
}
HOSTS = {"wordpress": "wordpress.test"}
TESTS = ("overlap", "1 %", "1 %, by chance less")


@dataclass(frozen=True, slots=True)
class Looked:
    """One rule, and what the log says of it."""

    rule: Rule
    support: int
    pairs: int  #: of URLs that the rule makes one, both in the log
    overlapping: float  #: share of them
    within: float  #: share of them whose sizes are within 1 %
    by_chance: float  #: share of random pairs of the same URLs that are
    told: int  #: pairs of which both contents are known
    same: int  #: of those, with one content

    @property
    def is_valid(self) -> bool | None:
        """None: nothing is known."""
        return self.same > (1 - EPSILON) * self.told if self.told else None

    @property
    def stands_out(self) -> bool:
        return self.within > 0 and self.within >= TIMES_CHANCE * self.by_chance


@dataclass(slots=True)
class Result:
    name: str
    urls: int
    sized: int
    ranges: int  #: URLs of which more than one size is known
    likely: list[int] = field(default_factory=list)
    found: list[list[Looked]] = field(default_factory=list)  #: kept rules and parameters, per test


def pages_of(path: Path) -> list[Page]:
    return list(merge_visits(read_visits(path, base_url=BASES.get(_name(path)))).pages)


def contents_of(data: Path, name: str) -> dict[str, int]:
    """By URL as the access log has it; empty where nothing is known."""
    path = data / "sites" / f"{name}.jsonl.gz"
    if not path.exists():
        return {}
    found = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            parts = urlsplit(record["url"])
            url = (
                parts._replace(netloc=HOSTS.get(name, parts.netloc)).geturl()
                if name in HOSTS
                else record["url"]
            )
            found[url] = record["cluster_strict"]
    return found


def widened(page: Page) -> Page:
    """A page whose range overlaps another such page's where the two true ranges are within `FRACTION`."""
    if page.size is None:
        return page
    # In millionths of a byte, so that whole numbers do; half of the fraction on either side.
    least, most = page.size
    half = (1 + FRACTION) ** 0.5
    return replace(page, size=(int(least * 1e6 / half), int(most * 1e6 * half)))


def measure(name: str, pages: Sequence[Page], contents: Mapping[str, int]) -> Result:
    sizes = [page.size for page in pages if page.size]
    result = Result(name, len(pages), len(sizes), sum(least != most for least, most in sizes))
    for judged in (pages, [widened(page) for page in pages]):
        likely = detect_likely_rules(judged, DetectionParams(similar=Similar.SIZE))
        kept = eliminate_redundant(likely, EliminationParams()).kept
        parameters = detect_likely_parameters(judged, likeness_of(judged, Similar.SIZE), 3)
        rules: list[tuple[Rule, int]] = [(one.rule, one.support) for one in kept[:LOOKED_AT]]
        rules += [(one.rules[0], one.support) for one in parameters]
        looked = [look_at(rule, support, pages, contents) for rule, support in rules]
        result.likely.append(len(likely))
        # A rule without a pair turns URLs of the log into none of it; it is found in parts of URLs alone.
        result.found.append([one for one in looked if one.pairs])
    result.found.append([one for one in result.found[1] if one.stands_out])
    return result


def look_at(rule: Rule, support: int, pages: Sequence[Page], contents: Mapping[str, int]) -> Looked:
    by_url = {page.url: page for page in pages}
    pairs = [(by_url[a], by_url[b]) for a, b in _pairs(rule, by_url)]
    chance = random.Random(str(rule))
    shuffled = [
        (chance.choice(pairs)[0], chance.choice(pairs)[1]) for _ in range(RANDOM_PAIRS if pairs else 0)
    ]
    told = [(contents[a.url], contents[b.url]) for a, b in pairs if a.url in contents and b.url in contents]
    return Looked(
        rule,
        support,
        len(pairs),
        _share(_near(a, b, 0) for a, b in pairs),
        _share(_near(a, b, FRACTION) for a, b in pairs),
        _share(_near(a, b, FRACTION) for a, b in shuffled if a.url != b.url),
        len(told),
        sum(a == b for a, b in told),
    )


def _pairs(rule: Rule, urls: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    if rule.substitution is not None:
        for url in urls:
            if rule.alpha in url and (target := rule.apply(url)) != url and target in urls:
                yield url, target
        return
    groups = defaultdict(list)
    for url in urls:
        groups[rule.apply(url)].append(url)
    for group in groups.values():
        yield from itertools.pairwise(group)


def _near(a: Page, b: Page, fraction: float) -> bool:
    """As the papers have it, a page of unknown size may be like any; here it tells nothing."""
    if a.size is None or b.size is None:
        return False
    return max(a.size[0], b.size[0]) <= (1 + fraction) * min(a.size[1], b.size[1])


def _share(said: Iterator[bool]) -> float:
    answers = list(said)
    return sum(answers) / len(answers) if answers else 0.0


def as_markdown(results: Sequence[Result], known: Sequence[str]) -> str:
    lines = [
        "| log | URLs | with a size | with several | likely rules: overlap | 1 % | found: overlap | 1 % | 1 %, by chance less |"
    ]
    lines.append("|---|" + "---:|" * 8)
    lines += [
        f"| {one.name} | {one.urls:,} | {one.sized:,} | {one.ranges:,} | {one.likely[0]:,} | {one.likely[1]:,} | "
        + " | ".join(f"{len(found):,}" for found in one.found)
        + " |"
        for one in results
    ]
    lines += ["", "Where contents are known, of the rules found:", ""]
    lines += [
        "| log | test | found | valid | share | valid ones that another test found and this did not |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for one in results:
        if one.name in known and one.sized:
            valid = [{looked.rule for looked in found if looked.is_valid} for found in one.found]
            for test, found, good in zip(TESTS, one.found, valid, strict=True):
                share = f"{len(good) / len(found):.0%}" if found else "–"
                missed = len(set.union(*valid) - good)
                lines.append(f"| {one.name} | {test} | {len(found)} | {len(good)} | {share} | {missed} |")
    lines += ["", "Examples, with the share of a rule's pairs of URLs:", ""]
    lines += [
        "| log | rule | pairs | sizes overlap | within 1 % | random pairs within 1 % | same content | found by |",
        "|---|---|---:|---:|---:|---:|---:|---|",
    ]
    for one in results:
        lines += [_example(one, looked) for looked in _examples(one)]
    return "\n".join(lines) + "\n"


def _examples(result: Result) -> list[Looked]:
    """The two with most pairs: what only 1 % finds, what chance explains, what is wrong, what is right."""
    overlap, within, rare = ({one.rule: one for one in found} for found in result.found)
    groups = (
        [one for rule, one in within.items() if rule not in overlap and rule in rare],
        [one for rule, one in within.items() if rule not in rare],
        [one for one in (overlap | within).values() if one.is_valid is False],
        [one for one in (overlap | within).values() if one.is_valid],
    )
    chosen = {
        one.rule: one
        for group in groups
        for one in sorted(group, key=lambda one: (-one.pairs, str(one.rule)))[:2]
    }
    return list(chosen.values())


def _example(result: Result, one: Looked) -> str:
    by = [
        test
        for test, found in zip(TESTS, result.found, strict=True)
        if one.rule in {each.rule for each in found}
    ]
    if TESTS[2] in by:
        by.remove(TESTS[1])
    same = f"{one.same / one.told:.0%}" if one.told else "?"
    said = str(one.rule)
    said = said.replace("|", "\\|")
    return (
        f"| {result.name} | `{said if len(said) < 90 else said[:89] + '…'}` | {one.pairs:,} | {one.overlapping:.0%} | "
        f"{one.within:.0%} | {one.by_chance:.0%} | {same} | {'; '.join(by)} |"
    )


def _name(path: Path) -> str:
    return path.name.partition(".")[0]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--output", type=Path, help="a Markdown page; the tables go below its marker")
    options = parser.parse_args()
    begun = time.process_time()
    paths = sorted((options.data / "access_logs").glob("*.log.gz"))
    paths += sorted((options.data / "news").glob("*.jsonl.gz"))
    results, known = [], []
    for path in paths:
        contents = contents_of(options.data, _name(path))
        results.append(measure(_name(path), pages_of(path), contents))
        known += [_name(path)] if contents else []
    text = as_markdown(results, known)
    print(text)
    print(f"{time.process_time() - begun:.0f} s")
    if options.output:
        marker = "<!-- measured: benchmarks/size_mode.py -->\n"
        page = options.output.read_text(encoding="utf-8").partition(marker)[0]
        options.output.write_text(page + marker + "\n" + text, encoding="utf-8")


if __name__ == "__main__":
    main()

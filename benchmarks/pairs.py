"""Pairs of real pages: what the log says of them, against a full comparison of the bodies.

    python -m benchmarks.pairs URL … [--pages 600] [--pairs 700] [--seed 0] [--examples 2]

From each URL a plain client crawls a site, in an order that the seed draws, and keeps the bodies. Of these a log is made, as a crawl
records it. Then pairs are drawn: half of them of URLs of which the log says that they are one page, as far as there are so many, the others of
URLs whose pages hold most in common. Of each pair is told what the log's units say (same, different, open), and what a comparison of all text,
links, media, fields and data of both bodies says, which is this benchmark's own:

- *same*: all that one has, the other has, too;
- *own address*: links, fields and data differ in parts of the two URLs only;
- *links*: links differ, and lead to equal bodies;
- *known*: else nothing differs but what most pages of the site have, and links to URLs that the crawl knows;
- *other*: the rest.

The log must not say *same* of a pair that is *other*. All that the two disagree on is listed by where it stands.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import time
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import quote, urldefrag, urlsplit

from benchmarks.live.comparing import Client, Finding, Got, Level, Looks, differ
from benchmarks.live.holdings import Unit, units_of
from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.page.site_log import site_log
from scrapy_dust.page.sketch import describe
from scrapy_dust.page.units import pack
from scrapy_dust.trials.actions import ActionWords
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.pages import Visit
from scrapy_dust.visits.strata import template_of

_ONE_PAGE = (Level.SAME, Level.OWN_ADDRESS, Level.LINKS)
_SAID = {Level.ELSEWHERE: "known", Level.NEW_LINKS: "known", Level.LOST: "other"}
_COLUMNS = ("same", "own address", "links", "known", "other")
_ROWS = ("same", "different", "open")
#: What a crawl of a stranger's site leaves alone.
_ACTIONS = ActionWords(("login", "logout", "delete", "edit", "add", "register", "attachment", "export"))
_AT_A_TIME = 4
#: URLs next to each other in the alphabet that make pairs; how often URLs of one template are paired by lot.
_NEAR, _ROUNDS = 3, 8
#: Pairs of one URL that look alike.
_TIMES = 8


@dataclass(frozen=True)
class Stored:
    """One answer, with its body."""

    url: str
    content_type: str
    body: bytes


def stored_in(start: str, pages: int, seed: int) -> dict[str, Stored]:
    """Answers to *pages* URLs of the site of *start*, by URL."""
    host, chance = urlsplit(start).netloc, random.Random(seed)
    waiting, seen, found = [start], {start}, dict[str, Stored]()
    with ThreadPoolExecutor(_AT_A_TIME) as threads:
        while waiting and len(found) < pages:
            chance.shuffle(waiting)
            batch, waiting = waiting[:_AT_A_TIME], waiting[_AT_A_TIME:]
            for answer in filter(None, threads.map(_fetched, batch)):
                if urlsplit(answer.url).netloc == host:
                    found.setdefault(answer.url, answer)
                    new = [url for url in _links(answer) if url not in seen and urlsplit(url).netloc == host]
                    seen.update(new)
                    waiting += [url for url in dict.fromkeys(new) if url not in _ACTIONS]
    return found


def _fetched(url: str) -> Stored | None:
    try:
        safe = quote(url, safe="%/:=&?~#+!$,;'@()*[]")
        with urllib.request.urlopen(safe, timeout=30) as came:
            return Stored(came.geturl(), came.headers.get("Content-Type", ""), came.read())
    except (OSError, ValueError):
        return None


def _links(answer: Stored) -> Iterator[str]:
    for unit in units_of(answer.body, answer.content_type, answer.url):
        if unit.kind == "link" and unit.value.startswith("http"):
            yield urldefrag(unit.value).url


def evidence_of(found: Mapping[str, Stored], seed: int) -> LogEvidence:
    """The log of a crawl that got these answers."""
    visits = []
    for url, answer in found.items():
        said = describe(answer.body, answer.content_type, None, url)
        assert said.units is not None
        visits.append(
            Visit(url, 200, text_digest=said.text_digest, sketch=said.sketch, units=pack(said.units))
        )
    urls = sorted(found)
    random.Random(seed).shuffle(urls)
    return LogEvidence(site_log(visits), urls)


def drawn(
    evidence: LogEvidence, full: Full, urls: Sequence[str], number: int, seed: int
) -> list[tuple[str, str]]:
    """Pairs of *urls*: of one page, as the log has it, and those that hold most in common, each URL some times."""
    chance = random.Random(seed)
    by_label, by_template = defaultdict(list), defaultdict(list)
    for url in urls:
        by_label[evidence.digest(url)].append(url)
        by_template[template_of(url)].append(url)
    by_label.pop(None, None)
    equal = _pairs(by_label.values(), chance)
    chance.shuffle(equal)
    in_order = sorted(urls)
    near = [pair for step in range(1, _NEAR + 1) for pair in zip(in_order, in_order[step:], strict=False)]
    by_template[""] = list(urls)
    among = [pair for _ in range(_ROUNDS) for pair in _pairs(by_template.values(), chance)]
    alike = sorted(dict.fromkeys([*near, *among]), key=lambda pair: (-full.resemblance(*pair), pair))
    found, times = dict.fromkeys(equal[: number // 2]), Counter[str]()
    for pair in alike:
        if len(found) < number and max(times[url] for url in pair) < _TIMES:
            found[pair] = None
            times.update(pair)
    return list(found)


def _pairs(groups: Iterable[Sequence[str]], chance: random.Random) -> list[tuple[str, str]]:
    found = []
    for urls in groups:
        several = chance.sample(sorted(urls), len(urls))
        found += [(min(pair), max(pair)) for pair in pairwise(several)]
    return found


class Full:
    """Compares bodies in full."""

    def __init__(self, found: Mapping[str, Stored]) -> None:
        self._client = Client(0, times=1)
        looks = {url: units_of(one.body, one.content_type, url) for url, one in found.items()}
        self._client.known.update({url: Looks(url, [units]) for url, units in looks.items()})
        self._whats = {url: frozenset(unit.what for unit in units) for url, units in looks.items()}
        having = Counter(what for units in looks.values() for what in {unit.what for unit in units})
        most = {"\t".join(what) for what, count in having.items() if 2 * count > len(looks)}
        keys = {url: hashlib.sha1(one.body).hexdigest() for url, one in found.items()}
        linked = {unit.value for units in looks.values() for unit in units if unit.kind == "link"}
        self._got = Got(
            most, lambda *what: "\t".join(what), keys, {keys.get(url, url) for url in {*linked, *looks}}
        )

    def resemblance(self, one: str, other: str) -> float:
        """The share of what both hold, of all that one of them holds."""
        here, there = self._whats[one], self._whats[other]
        return len(here & there) / max(1, len(here | there))

    def __call__(self, one: str, other: str) -> Finding:
        return differ(self._client, one, other, self._got)


def row_of(known: Outcome | None) -> str:
    said = {Outcome.SAME: "same", Outcome.DIFFERENT: "different"}
    return "open" if known is None else said.get(known, "open")


def column_of(level: Level) -> str:
    return _SAID.get(level, str(level))


def cause_of(row: str, finding: Finding, why: str) -> str:
    """Where the two sides disagree; empty if they do not."""
    if row == "same" and finding.level not in _ONE_PAGE:
        return f"same, but {column_of(finding.level)}: {', '.join(sorted({_place(unit) for unit in finding.new})[:3])}"
    if row == "different" and finding.level in _ONE_PAGE:
        return f"different, but {column_of(finding.level)}: {why}"
    return ""


def _place(unit: Unit) -> str:
    return f"{unit.kind} {'/'.join(unit.place.split('/')[-2:])}"


def measured(
    start: str, options: argparse.Namespace
) -> tuple[Counter[tuple[str, str]], dict[str, list[str]]]:
    """How many pairs there are of each sort, and examples of those on which the two sides disagree."""
    found = stored_in(start, options.pages, options.seed)
    evidence, full = evidence_of(found, options.seed), Full(found)
    counts, causes = Counter[tuple[str, str]](), defaultdict[str, list[str]](list)
    for one, other in drawn(evidence, full, list(found), options.pairs, options.seed):
        row, finding = row_of(evidence.pair(one, other).known), full(one, other)
        counts[row, column_of(finding.level)] += 1
        why = evidence.compare(one, other)[1] if row == "different" else ""
        if cause := cause_of(row, finding, why):
            new = "; ".join(f"{unit.kind} {unit.value[:70]!r}" for unit in finding.new[:3])
            causes[cause].append(f"{one} | {other} | {new}")
    return counts, causes


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pairs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("urls", nargs="+", metavar="URL")
    parser.add_argument("--pages", type=int, default=600)
    parser.add_argument("--pairs", type=int, default=700)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--examples", type=int, default=2)
    options = parser.parse_args()
    total = Counter[tuple[str, str]]()
    for start in options.urls:
        began = time.monotonic()
        counts, causes = measured(start, options)
        total.update(counts)
        print(
            f"\n{start}: {counts.total()} pairs, {time.monotonic() - began:.0f} s", *table(counts), sep="\n"
        )
        for cause, examples in sorted(causes.items(), key=lambda item: (-len(item[1]), item[0])):
            print(f"- {len(examples)} {cause}", *examples[: options.examples], sep="\n    ")
        sys.stdout.flush()
    print(f"\nall: {total.total()} pairs", *table(total), sep="\n")


def table(counts: Mapping[tuple[str, str], int]) -> Iterator[str]:
    yield f"| log | {' | '.join(_COLUMNS)} |"
    yield f"|---|{'---:|' * len(_COLUMNS)}"
    for row in _ROWS:
        yield f"| {row} | {' | '.join(str(counts.get((row, column), 0)) for column in _COLUMNS)} |"


if __name__ == "__main__":
    main()

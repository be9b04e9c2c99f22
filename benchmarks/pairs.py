"""Pairs of real pages: what the log says of them, against a full comparison of the bodies.

    python -m benchmarks.pairs URL … [--pages 300] [--pairs 900] [--seed 0] [--examples 2]

From each URL a plain client crawls a site, breadth first, and keeps the bodies; then it fetches each page once more. Of the answers two logs
are made, as a crawl records them: *once* has the first answer of each URL, *twice* has both. Pairs are drawn: half of them of URLs of which
a log says that they are one page, as far as there are so many, the others of URLs whose pages hold most in common. Of each pair is told
what the logs' units say (same, different, open), and what a comparison of all text, links, media, fields and data of the bodies says, but
for what the two answers to one URL do not share. That comparison is the benchmarks' own:

- *same*: all that one has, the other has, too;
- *own address*: links, fields and data differ in parts of the two URLs only;
- *links*: links differ, and lead to equal bodies;
- *known*: else nothing differs but what most pages of the site have, and links to URLs that the crawl knows;
- *other*: the rest.

A log must not say *same* of a pair that is *other*. All that the two disagree on is listed by where it stands.
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
_LOGS = ("once", "twice")
#: What a crawl of a stranger's site leaves alone.
_ACTIONS = ActionWords(("logout", "delete", "remove", "attachment", "export"))
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


def stored_in(start: str, pages: int, seed: int) -> dict[str, list[Stored]]:
    """Two answers to each of *pages* URLs of the site of *start*."""
    host, chance = urlsplit(start).netloc, random.Random(seed)
    waiting, seen, found = [start], {start}, dict[str, list[Stored]]()
    with ThreadPoolExecutor(_AT_A_TIME) as threads:
        while waiting and len(found) < pages:
            batch, waiting = waiting[:_AT_A_TIME], waiting[_AT_A_TIME:]
            for answer in filter(None, threads.map(_fetched, batch)):
                if urlsplit(answer.url).netloc == host:
                    found.setdefault(answer.url, [answer])
                    new = sorted({url for url in _links(answer) if urlsplit(url).netloc == host} - seen)
                    seen.update(new)
                    chance.shuffle(new)
                    waiting += [url for url in new if url not in _ACTIONS]
        for answer in filter(None, threads.map(_fetched, list(found))):
            if answer.url in found:
                found[answer.url].append(answer)
    return {url: answers for url, answers in found.items() if len(answers) > 1}


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


def evidence_of(found: Mapping[str, Sequence[Stored]], seed: int, times: int) -> LogEvidence:
    """The log of a crawl that got the first *times* answers of each URL."""
    visits = []
    for url, answer in ((url, one) for url, answers in found.items() for one in answers[:times]):
        said = describe(answer.body, answer.content_type, None, url)
        assert said.units is not None
        visits.append(
            Visit(url, 200, text_digest=said.text_digest, sketch=said.sketch, units=pack(said.units))
        )
    urls = sorted(found)
    random.Random(seed).shuffle(urls)
    return LogEvidence(site_log(visits), urls)


def drawn(
    evidence: Sequence[LogEvidence], full: Full, urls: Sequence[str], number: int, seed: int
) -> list[tuple[str, str]]:
    """Pairs of *urls*: of one page, as the log has it, and those that hold most in common, each URL some times."""
    chance = random.Random(seed)
    by_label, by_template = defaultdict(list), defaultdict(list)
    for url in urls:
        by_template[template_of(url)].append(url)
        for log in evidence:
            if (label := log.digest(url)) is not None:
                by_label[label].append(url)
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
        found += [(min(pair), max(pair)) for pair in pairwise(several) if pair[0] != pair[1]]
    return found


class Full:
    """Compares bodies in full."""

    def __init__(self, found: Mapping[str, Sequence[Stored]]) -> None:
        self._client = Client(0, times=2)
        every = {
            url: [units_of(one.body, one.content_type, url) for one in answers]
            for url, answers in found.items()
        }
        self._client.known.update({url: Looks(url, answers) for url, answers in every.items()})
        looks = {url: answers[0] for url, answers in every.items()}
        self._whats = {url: frozenset(unit.what for unit in units) for url, units in looks.items()}
        having = Counter(what for units in looks.values() for what in {unit.what for unit in units})
        most = {"\t".join(what) for what, count in having.items() if 2 * count > len(looks)}
        keys = {url: hashlib.sha1(one[0].body).hexdigest() for url, one in found.items()}
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


Counts = Counter[tuple[str, str]]


def measured(start: str, options: argparse.Namespace) -> tuple[list[Counts], dict[str, list[str]]]:
    """By log, how many pairs there are of each sort, and examples of those on which the two sides disagree."""
    found = stored_in(start, options.pages, options.seed)
    logs, full = [evidence_of(found, options.seed, times) for times in (1, 2)], Full(found)
    counts, causes = [Counts() for _ in logs], defaultdict[str, list[str]](list)
    for one, other in drawn(logs, full, list(found), options.pairs, options.seed):
        finding = full(one, other)
        for log, name, counted in zip(logs, _LOGS, counts, strict=True):
            row = row_of(log.pair(one, other).known)
            counted[row, column_of(finding.level)] += 1
            why = log.compare(one, other)[1] if row == "different" else ""
            if cause := cause_of(row, finding, why):
                new = "; ".join(f"{unit.kind} {unit.value[:70]!r}" for unit in finding.new[:3])
                causes[f"{name}: {cause}"].append(f"{one} | {other} | {new}")
    return counts, causes


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pairs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("urls", nargs="+", metavar="URL")
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--pairs", type=int, default=900)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--examples", type=int, default=2)
    options = parser.parse_args()
    total = [Counts() for _ in _LOGS]
    for start in options.urls:
        began = time.monotonic()
        counts, causes = measured(start, options)
        for known, new in zip(total, counts, strict=True):
            known.update(new)
        print(
            f"\n{start}: {counts[0].total()} pairs, {time.monotonic() - began:.0f} s",
            *table(counts),
            sep="\n",
        )
        for cause, examples in sorted(causes.items(), key=lambda item: (-len(item[1]), item[0])):
            print(f"- {len(examples)} {cause}", *examples[: options.examples], sep="\n    ")
        sys.stdout.flush()
    print(f"\nall: {total[0].total()} pairs", *table(total), sep="\n")


def table(counts: Sequence[Counts]) -> Iterator[str]:
    yield f"| log | it says | {' | '.join(_COLUMNS)} |"
    yield f"|---|---|{'---:|' * len(_COLUMNS)}"
    for name, counted in zip(_LOGS, counts, strict=True):
        for row in _ROWS:
            yield f"| {name} | {row} | {' | '.join(str(counted[row, column]) for column in _COLUMNS)} |"


if __name__ == "__main__":
    main()

"""One site: its crawls, and what becomes of what they were spared."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.live.checking import Checks, mixed_classes, suppressed
from benchmarks.live.comparing import Client, Finding, Level
from benchmarks.live.contents import contents, volatile_places
from benchmarks.live.crawls import IN_FORCE, Crawl, Ran, Site, saying

#: Of what differs, so many units are shown.
_SHOWN = 4
#: Of URLs that are lost, or mixed, so many are told, and of so many it is asked which rules they are by.
_TOLD, _EXPLAINED = 20, 4


@dataclass(frozen=True, slots=True)
class Lost:
    """A URL that a rule suppressed, or joined with another, and what it shows that the other does not."""

    url: str
    keeper: str
    rules: Sequence[str]
    new: Sequence[str]  #: "kind place: value"
    level: str = "LOST"


@dataclass(frozen=True, slots=True)
class Book:
    """What the rules of one crawl did."""

    rules: Sequence[str]
    suppressed: int
    levels: Mapping[str, int]
    lost: Sequence[Lost]
    classes: int  #: of URLs that A and B have fetched, those with several URLs
    mixed: Sequence[Lost]


@dataclass(frozen=True, slots=True)
class Row:
    """One site; crawls by their letters."""

    name: str
    requests: Mapping[str, int]
    contents: Mapping[str, int]
    cpu: Mapping[str, float]
    reasons: Mapping[str, str]
    canaries: Mapping[str, int]  #: with controls
    fetches: int | None  #: of the validation; None where dustmine did not end
    books: Mapping[str, Book]
    seconds: float = field(default=0.0)


def measure(name: str, site: Site, checks: int, *, more: bool) -> Row:
    began = time.monotonic()
    crawls = {"A": site.crawl("A", addon=False), "B": site.crawl("B", rules="none.json")}
    # A site is asked about a page a second where it answers slowly.
    mining = {"C": site.command("B", "C.json", "dustmine", "--json", seconds=max(300, 3 * site.seconds))}
    crawls["D"] = site.crawl("D", rules="C.json", after="B")
    crawls["E"] = site.crawl("E", rules="E.json", learn="online")
    books = {"D": "C.json", "E": "E.json"}
    if more:
        mining["N0"] = site.command("B", "N.json", "dustmine", "--no-validate", "--json")
        crawls["N"], crawls["F"] = site.crawl("N", rules="N.json"), site.crawl("F", rules="E.json", after="E")
        books |= {"N": "N.json", "F": "E.json"}
    volatile = volatile_places(crawls["A"], crawls["B"])
    # Looking after each crawl may take as long as two of them.
    asking = Checks(site, (crawls["A"], crawls["B"]), Client(2 * site.seconds * len(books)), checks)
    return Row(
        name,
        {letter: len(crawl.asked) for letter, crawl in crawls.items()},
        {letter: contents(crawl, volatile) for letter, crawl in crawls.items()},
        {letter: round(one.cpu, 1) for letter, one in _ran(crawls, mining).items()},
        {letter: crawl.reason for letter, crawl in crawls.items()} | _ends(mining),
        {letter: _canaries(crawl) for letter, crawl in crawls.items()},
        _fetches(mining["C"]),
        {letter: _book(asking, crawls[letter], rules) for letter, rules in books.items()},
        time.monotonic() - began,
    )


def _ran(crawls: Mapping[str, Crawl], mining: Mapping[str, Ran]) -> dict[str, Ran]:
    return {letter: crawl.ran for letter, crawl in crawls.items()} | dict(mining)


def _ends(mining: Mapping[str, Ran]) -> dict[str, str]:
    return {
        letter: "ended" if ran.ended and not ran.code else f"code {ran.code}" if ran.ended else "did not end"
        for letter, ran in mining.items()
    }


def _canaries(crawl: Crawl) -> int:
    return sum(int(str(crawl.summary.get(f"dust/{what}", 0))) for what in ("canaries", "controls"))


def _fetches(ran: Ran) -> int | None:
    try:
        return int(json.loads(ran.out)["fetches"])
    except (ValueError, KeyError):
        return None


def _book(checks: Checks, crawl: Crawl, rules: str) -> Book:
    site, letter = checks.site, crawl.folder.name
    in_force = [saying(rule) for rule in site.rules(letter, rules) if rule["status"] in IN_FORCE]
    spared, findings = suppressed(checks, crawl, rules)
    classes, mixed = mixed_classes(checks, letter, rules)
    levels = Counter(str(finding.level) for finding in findings)
    lost = [finding for finding in findings if finding.level in {Level.LOST, Level.NEW_LINKS}]
    return Book(
        in_force,
        spared,
        dict(levels),
        _all_lost(site, letter, rules, lost),
        classes,
        _all_lost(site, letter, rules, mixed),
    )


def _all_lost(site: Site, letter: str, rules: str, findings: Sequence[Finding]) -> list[Lost]:
    found = []
    for number, finding in enumerate(sorted(findings, key=lambda one: one.level is not Level.LOST)):
        explained: list[str] = []
        if number < _EXPLAINED:
            explained = site.explained(letter, rules, finding.url) or site.explained(
                letter, rules, finding.keeper
            )
        shown = _SHOWN if number < _TOLD else 0
        new = [f"{unit.kind} {_last(unit.place)}: {unit.value[:100]}" for unit in finding.new[:shown]]
        more = [f"… {len(finding.new) - shown} more"] if 0 < shown < len(finding.new) else []
        found.append(Lost(finding.url, finding.keeper, explained, [*new, *more], str(finding.level)))
    return found


def _last(place: str) -> str:
    return "/".join(place.split("/")[-2:])

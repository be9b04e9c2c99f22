"""Fingerprints with rules in force: ``python -m benchmarks.keys [--quick] [--json]``.

100,000 requests to 1,000 sites with 10 rules each. A rule changes a third of them (on half of the sites it takes a
parameter away, on the other half an ``index.html``), and none the other two thirds. The other rules of a site
never fire; every third of them has a word that occurs in the URLs. All requests are new in each round, since the
fingerprinters remember what they were asked.

Then the same number of requests to 100 sites under 1, 100 and 1,000 rules a site, and to one site under 1,000:
what a request costs must not depend on it. Idle rules are the same on all sites there, as rules about session ids
are; once more with those of each site its own. Each is measured in turns with Scrapy's `RequestFingerprinter`, in CPU
time: every thousand requests in the best of the rounds, since a busy machine spoils some of each round.
duplicate-url-discarder is measured too where it is installed with its rules (``pip install
duplicate-url-discarder duplicate-url-discarder-rules``).
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.utils.request import RequestFingerprinter
from scrapy.utils.test import get_crawler

from scrapy_dust.addon import Addon
from scrapy_dust.rule_book import Entry, RuleBook
from scrapy_dust.rule_book.document import Document
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.rules.url_words import words_of
from scrapy_dust.sites import site_of

WORDS = tuple(f"w{number}" for number in range(40))

#: Rules in all, and over how many sites. The first is the one that is promised about.
LOADS = ((10_000, 1_000), (100, 100), (10_000, 100), (100_000, 100), (1_000, 1))

#: Which requests a rule changes, to choose from.
MIXES = {"a third touched": (True, False, False), "all touched": (True,), "none touched": (False,)}


@dataclass(frozen=True, slots=True)
class Cost:
    """Of a fingerprint."""

    whose: str
    rules: int
    sites: int
    requests: str  #: which of them
    microseconds: float
    scrapy: float  #: microseconds of Scrapy's fingerprinter for the same requests

    @property
    def ratio(self) -> float:
        return self.microseconds / self.scrapy


def urls(count: int, sites: int, touched: Sequence[bool]) -> list[str]:
    """Of 20 to 30 tokens; each changed by a rule or not, as chosen from *touched*."""
    chance = random.Random(7)
    made: list[str] = []
    for _ in range(count):
        site, folders = chance.randrange(sites), "/".join(chance.choices(WORDS, k=3))
        page = f"http://www.site{site}.test/{folders}/story-{chance.randrange(count)}/"
        if chance.choice(touched):
            made.append(page + ("index.html" if site % 2 else f"?sid={chance.randrange(9)}"))
        else:
            made.append(page + chance.choice(("", f"?page={chance.randrange(9)}")))
    return made


def rules(count: int, sites: int, *, own: bool = False) -> dict[str, tuple[Rule, ...]]:
    """*count* rules in all, of which the first of each site fires on `urls`; the others each site's *own*, or not."""
    firing: tuple[Rule, Rule] = (
        Rule.of(DropParameter("sid")),
        Rule.of(Substitute("/index.html", "/", end=True)),
    )
    return {
        f"site{site}.test": (firing[site % 2], *idle_rules(count // sites - 1, site if own else None))
        for site in range(sites)
    }


def idle_rules(count: int, site: int | None) -> Iterator[Rule]:
    """That do not fire on `urls`. Of a *site* of their own they have other words, or other texts at the same words."""
    of = "" if site is None else f"{site}x"
    for number in range(count):
        word, mark = WORDS[number % len(WORDS)], "/" if site is None else "/-.~+"[(site + number) % 5]
        kinds: tuple[Rule, ...] = (
            Rule.of(DropParameter(f"p{of}{number}")),
            Rule.of(Substitute(f"/old{of}{number}/", f"/new{number}/")),
            Rule.of(Substitute(f"/{word}{mark}{'-' * (number // len(WORDS) + 1)}", f"/{word}/")),
        )
        yield kinds[number % 3]


def crawler_with(by_site: dict[str, tuple[Rule, ...]]) -> Crawler:
    book = RuleBook(Document({site: tuple(map(Entry, of_site)) for site, of_site in by_site.items()}))
    with TemporaryDirectory() as folder:
        path = Path(folder, "rules.json")
        book.save(path)
        return get_crawler(Spider, {"DUST_RULES": [str(path)], "ADDONS": {Addon: 900}})


def discarder() -> Callable[[Request], bytes] | None:
    """duplicate-url-discarder with all of the rules that are published for it."""
    try:
        settings = {"DUD_LOAD_RULE_PATHS": import_module("duplicate_url_discarder_rules").RULE_PATHS}
        ours = import_module("duplicate_url_discarder").Fingerprinter
    except ImportError:
        return None
    # Or it asks publicsuffix.org for the list of suffixes, which comes with tldextract too.
    module = import_module("tldextract.tldextract")
    module.TLD_EXTRACTOR = module.TLDExtract(suffix_list_urls=(), cache_dir=None)
    fingerprint: Callable[[Request], bytes] = ours(get_crawler(Spider, settings)).fingerprint
    return fingerprint


def seconds(fingerprint: Callable[[Request], bytes], of: list[str]) -> float:
    requests = [Request(url, meta={"depth": 1}) for url in of]  # as they come from the spider
    begun = time.process_time()
    for request in requests:
        fingerprint(request)
    return time.process_time() - begun


def compare(fingerprint: Callable[[Request], bytes], of: list[str], rounds: int) -> tuple[float, float]:
    """Microseconds a request: its own and those of Scrapy's fingerprinter, a thousand requests at a time."""
    both = (fingerprint, RequestFingerprinter().fingerprint)
    parts = [of[begin : begin + 1000] for begin in range(0, len(of), 1000)]
    best = [[float("inf")] * len(parts) for _ in both]
    for _ in range(rounds):
        gc.collect()
        for number, part in enumerate(parts):
            for times, one in zip(best, both, strict=True):
                times[number] = min(times[number], seconds(one, part))
    own, scrapy = (sum(times) / len(of) * 1e6 for times in best)
    return own, scrapy


def costs(count: int, rounds: int = 3) -> list[Cost]:
    found: list[Cost] = []
    for number, sites in LOADS:
        fingerprint = crawler_with(rules(number, sites)).request_fingerprinter.fingerprint
        for which in MIXES if sites == 1_000 else ("a third touched",):
            asked = urls(count, sites, MIXES[which])
            found.append(Cost("ours", number, sites, which, *compare(fingerprint, asked, rounds)))
    fingerprint = crawler_with(rules(100_000, 100, own=True)).request_fingerprinter.fingerprint
    asked = urls(count, 100, MIXES["a third touched"])
    own = compare(fingerprint, asked, rounds)
    found.append(Cost("ours, each site with its own", 100_000, 100, "a third touched", *own))
    if (theirs := discarder()) is not None:
        asked = urls(count, 1_000, MIXES["a third touched"])
        found.append(
            Cost("duplicate-url-discarder", 382, 0, "a third touched", *compare(theirs, asked, rounds))
        )
    return found


def plain_lookups(count: int, rules_of_site: int, sites: int = 100) -> float:
    """Microseconds a URL: its words, looked for in a plain dict of as many words as its site has rules."""
    dicts = {
        f"site{site}.test": {b"r%d" % number: 0 for number in range(rules_of_site)} for site in range(sites)
    }
    asked = [
        (dicts[site_of(url) or ""], words_of(url)) for url in urls(count, sites, MIXES["a third touched"])
    ]
    best = float("inf")
    for _ in range(5):
        begun = time.process_time()
        for by_word, words in asked:
            for _ in filter(None, map(by_word.get, words)):
                pass
        best = min(best, time.process_time() - begun)
    return best / count * 1e6


def bytes_per_rule() -> tuple[float, float]:
    """What a rule takes that was read from a rule book, and what it takes besides once its site was met."""
    asked = urls(20_000, 1_000, (False,))
    with TemporaryDirectory() as folder:
        path = Path(folder, "rules.json")
        by_site = rules(100_000, 1_000)
        RuleBook(Document({site: tuple(map(Entry, of)) for site, of in by_site.items()})).save(path)
        del by_site
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        canonizer = Canonizer(RuleBook.load([str(path)]).rules_by_site(), site_of)
    gc.collect()
    loaded = tracemalloc.get_traced_memory()[0]
    for url in asked:
        canonizer.canonize(url)
    gc.collect()
    met = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return (loaded - before) / 100_000, (met - loaded) / 100_000


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.keys", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small inputs, for a check that it runs")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--requests", type=int, default=100_000)
    options = parser.parse_args()
    found = costs(2_000 if options.quick else options.requests)
    read, met = bytes_per_rule()
    if options.json:
        said = [asdict(cost) | {"ratio": cost.ratio} for cost in found]
        print(json.dumps({"costs": said, "bytes_per_rule": {"read": read, "met": met}}, indent=2))
        return
    for cost in found:
        print(
            f"{cost.whose}, {cost.rules} rules, {cost.sites} sites, {cost.requests}: {cost.microseconds:.1f} µs, "
            f"{cost.ratio:.2f} times the {cost.scrapy:.1f} µs of Scrapy's RequestFingerprinter"
        )
    one, thousand = (plain_lookups(options.requests, number) for number in (1, 1000))
    print(
        f"Plain dicts of 100 sites, asked for the words of a URL: {one:.1f} µs where each has one word, "
        f"{thousand:.1f} µs where each has a thousand"
    )
    print(f"Memory of a rule: {read:.0f} bytes as read, {met:.0f} more once its site was met")


if __name__ == "__main__":
    main()

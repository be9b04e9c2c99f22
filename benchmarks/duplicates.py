"""What a request costs that a dupefilter is asked about: ``python -m benchmarks.duplicates [--quick] [--requests N] [--json]``.

A stream of requests to one site, of which 78 % are aliases that a rule suppresses, as in a crawl that is worth our while;
beside it, the same stream through Scrapy's `RFPDupeFilter` and `RequestFingerprinter`. In CPU time, in turns, best of some
rounds; what is suppressed and what is let through apart. Garbage is collected of what the dupefilters make, and not of the
program around them: one look at all that is imported takes 50 ms, and would be counted for whatever it comes in between.
Memory: what each has taken for a request when it has seen all, where the spider takes each page, and where no page ever
comes, so that all aliases wait.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scrapy import Request, Spider
from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.test import get_crawler

from benchmarks.keys import idle_rules
from scrapy_dust.addon import Addon
from scrapy_dust.crawl.succession import Succession
from scrapy_dust.rule_book import Entry, RuleBook
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule

#: Of a hundred requests, so many are aliases of one that came before.
SUPPRESSED = 78


class Shop(Spider):
    name = "shop"

    def parse_item(self, response: Any) -> None:
        """Nothing."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one dupefilter. All times in microseconds a request."""

    whose: str
    suppressed: float
    admitted: float
    settled: float  #: bytes a request, when all have been asked about
    waiting: float  #: the same where no page has come


def stream(count: int) -> list[tuple[str, bool]]:
    """URLs, each with whether it is the first of its page."""
    chance, pages = random.Random(3), 0
    made = []
    for _ in range(count):
        is_new = not pages or chance.randrange(100) >= SUPPRESSED
        page = pages if is_new else chance.randrange(pages)
        pages += is_new
        made.append(
            (f"http://shop.test/catalog/item-{page}/?color=red&sid={chance.randrange(10**9)}", is_new)
        )
    return made


def dupefilter_of(folder: Path, *, ours: bool, journal: bool) -> tuple[Any, Spider]:
    settings: dict[str, Any] = {}
    if ours:
        book = RuleBook().with_site(
            "shop.test", [Entry(Rule.of(DropParameter("sid"))), *map(Entry, idle_rules(9, None))]
        )
        book.save(folder / "rules.json")
        settings = {
            "ADDONS": {Addon: 900},
            "DUST_RULES": [str(folder / "rules.json")],
            "DUST_DIR": str(folder / "dust"),
            "DUST_CANARY_RATE": 0,
            "DUST_JOURNAL": journal,
        }
    crawler = get_crawler(Shop, settings)
    crawler.spider = Shop.from_crawler(crawler, "shop")
    found: BaseDupeFilter = build_from_crawler(load_object(crawler.settings["DUPEFILTER_CLASS"]), crawler)
    found.open()
    return found, crawler.spider


def measured(
    asked: list[tuple[str, bool]], folder: Path, *, ours: bool, journal: bool
) -> tuple[float, float]:
    """Microseconds of what is suppressed, and of what is admitted. Of each page the spider takes the first answer."""
    dupefilter, spider = dupefilter_of(folder, ours=ours, journal=journal)
    succession: Succession | None = dupefilter.enforcing.succession if ours else None
    seconds, counts = [0.0, 0.0], [0, 0]
    gc.collect()
    gc.freeze()
    for part in _parts(asked):
        for is_new in (True, False):
            requests = [_request(url, spider) for url, new in part if new is is_new]
            begun = time.process_time()
            for request in requests:
                if dupefilter.request_seen(request):
                    dupefilter.log(request, spider)
            seconds[is_new] += time.process_time() - begun
            counts[is_new] += len(requests)
            if succession is not None and is_new:
                for request in requests:
                    succession.settle(request)
    gc.unfreeze()
    dupefilter.close("finished")
    return seconds[0] / counts[0] * 1e6, seconds[1] / counts[1] * 1e6


def _parts(asked: list[tuple[str, bool]]) -> Iterator[list[tuple[str, bool]]]:
    for begin in range(0, len(asked), 1000):
        yield asked[begin : begin + 1000]


def _request(url: str, spider: Spider) -> Request:
    headers = {"Referer": "http://shop.test/catalog/"}
    return Request(url, callback=spider.parse_item, meta={"depth": 2}, headers=headers)  # type: ignore[attr-defined]


def memory(
    asked: list[tuple[str, bool]], folder: Path, *, ours: bool, journal: bool, pages_come: bool
) -> float:
    """Bytes a request."""
    dupefilter, spider = dupefilter_of(folder, ours=ours, journal=journal)
    gc.collect()
    tracemalloc.start()
    for url, is_new in asked:
        request = _request(url, spider)
        dupefilter.request_seen(request)
        if ours and is_new and pages_come:
            dupefilter.enforcing.succession.settle(request)
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    dupefilter.close("finished")
    return taken / len(asked)


def costs(count: int, rounds: int) -> list[Cost]:
    asked = stream(count)
    kinds = (("Scrapy", False, False), ("ours", True, False), ("ours, with a journal", True, True))
    found = []
    best: dict[str, list[float]] = {whose: [float("inf")] * 2 for whose, _, _ in kinds}
    for _ in range(rounds):
        for whose, ours, journal in kinds:
            with TemporaryDirectory() as folder:
                times = measured(asked, Path(folder), ours=ours, journal=journal)
            best[whose] = [min(one, other) for one, other in zip(best[whose], times, strict=True)]
    for whose, ours, journal in kinds:
        taken = []
        for pages_come in (True, False):
            with TemporaryDirectory() as folder:
                taken.append(memory(asked, Path(folder), ours=ours, journal=journal, pages_come=pages_come))
        found.append(Cost(whose, *best[whose], *taken))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="20,000 requests instead of 300,000")
    parser.add_argument("--requests", type=int, help="another number of requests")
    parser.add_argument("--json", action="store_true", help="numbers for other programs")
    options = parser.parse_args()
    found = costs(options.requests or (20_000 if options.quick else 300_000), rounds=3)
    if options.json:
        print(json.dumps([asdict(cost) for cost in found]))
        return
    scrapy = found[0]
    for cost in found:
        print(
            f"{cost.whose}: suppressed {cost.suppressed:.1f} µs ({cost.suppressed / scrapy.suppressed:.2f} times Scrapy's), "
            f"admitted {cost.admitted:.1f} µs ({cost.admitted / scrapy.admitted:.2f}); {cost.settled:.0f} bytes a request "
            f"({cost.settled / scrapy.settled:.2f}), {cost.waiting:.0f} ({cost.waiting / scrapy.waiting:.2f}) where no page comes"
        )


if __name__ == "__main__":
    main()

"""Parts of a site that never end: how soon they come last, when they end, and what a budget gets, beside plain Scrapy.

    python -m benchmarks.traps families [NAME …] [--marks sid6 …] [--pages 1000] [--most 6000]
    python -m benchmarks.traps facets [--items 60 600] [--facets 3 8]
    python -m benchmarks.traps chains [NAME …] [--length 2000]
    python -m benchmarks.traps attacks [NAME …] [--most 6000]
    python -m benchmarks.traps drawn [--sites 24]
    python -m benchmarks.traps shops [--sites 24] [--first 0]
    python -m benchmarks.traps broad [--hosts 100000] [--each 20]
    python -m benchmarks.traps cost [--pages 3000] [--rounds 5]
    python -m benchmarks.traps live [SITE …] [--pages 1000] [--seconds 1200]

Sites are those of `tests/traps/sites.py`. Scheduler, dupefilter and what tells traps are real; the rest of a crawl is a loop without a
network (`tests/traps/simulating.py`). *plain*, *last*: real items among the first pages, of 600. *cap*: pages until the crawl ends by
itself with ``DUST_TRAPS = "cap"``, and the items that it has. *facets*: the page with which the last item came; *least* is what one
needs who knows the shop. *attacks*: sites that have no end, and sites that only look so (`tests/traps/seeming.py`). *drawn*: sites that chance
draws (`tests/traps/drawn.py`); *plain* and *last* are items among half as many pages as the site has. *shops*: shops that chance draws
(`tests/traps/drawn_shops.py`). Each crawl draws with a secret of its own, or all with ``--secret``. *broad*: memory and time of what tells
traps, with as many hosts. *cost*: CPU time a page in what tells traps, beside that of a whole crawl. *live*: different contents among so many pages of the
real software in $DUST_SITES, with ``"off"`` and with ``"last"``, breadth first (`benchmarks/live`).
"""

from __future__ import annotations

import argparse
import logging
import resource
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from benchmarks.live.__main__ import SITES, running
from benchmarks.live.contents import contents, volatile_places
from benchmarks.live.crawls import Site as RealSite
from scrapy_dust.crawl import trapping
from scrapy_dust.crawl.canary_draw import Draw
from scrapy_dust.sites import site_of
from scrapy_dust.traps.ledger import Ledger
from scrapy_dust.traps.said import said_by
from tests.traps.crawling import Crawled, crawl
from tests.traps.drawn import Drawn
from tests.traps.drawn_shops import Shop
from tests.traps.seeming import ENDLESS, FINITE
from tests.traps.simulating import simulate
from tests.traps.sites import CHAINS, MARKS, TRAPS, Facets, Site, chain, trapped

#: Real software with parts that never end, or with many views of the same.
REAL = ("oscar", "trac", "forum", "apache")

Options = argparse.Namespace


def _simulated(site: Site, pages: int, **settings: Any) -> Crawled:
    with TemporaryDirectory() as folder:
        return simulate(site, folder, pages, **settings)


def families(options: Options) -> None:
    print("| family | links | plain | last | cap: pages | items |\n|---|---|---|---|---|---|")
    for name in options.names or TRAPS:
        for marks in options.marks or MARKS:
            plain = simulate(trapped(name, marks), None, options.pages).among(options.pages)
            last = _simulated(trapped(name, marks), options.pages).among(options.pages)
            cap = _simulated(trapped(name, marks), options.most, DUST_TRAPS="cap")
            pages = f"{len(cap.pages):,}" if len(cap.pages) < options.most else f"more than {options.most:,}"
            print(
                f"| {name} | {marks or 'plain'} | {plain} | {last} | {pages} | {len(cap.items)} |", flush=True
            )


def facets(options: Options) -> None:
    print(
        "| items | facets | pages | least | plain | last | cap: pages | items |\n|---|---|---|---|---|---|---|---|"
    )
    for items in options.items:
        for count in options.facets:
            for paged in (True, False):
                print(_of_facets(items, count, paged=paged), flush=True)


def _of_facets(items: int, count: int, *, paged: bool) -> str:
    def shop() -> Facets:
        return Facets(items=items, facets=count, paged=paged)

    least = shop().least
    most = 4 * least + 400
    plain, last = simulate(shop(), None, most), _simulated(shop(), most)
    cap = _simulated(shop(), most, DUST_TRAPS="cap")
    said = [f"{max(one.items.values(), default=0):,} ({len(one.items):,})" for one in (plain, last)]
    pages = f"{len(cap.pages):,}" if len(cap.pages) < most else f"more than {most:,}"
    kind = "yes" if paged else "no"
    return (
        f"| {items:,} | {count} | {kind} | {least:,} | {said[0]} | {said[1]} | {pages} | {len(cap.items):,} |"
    )


def chains(options: Options) -> None:
    print("| chain | pages | fetched with cap | last | capped |\n|---|---|---|---|---|")
    for name in options.names or CHAINS:
        length = options.length * 5 if name == "forum" else options.length
        done = _simulated(chain(name, length), 3 * length, DUST_TRAPS="cap")
        fetched = sum("/chain/" in url for url in done.pages)
        counts = [done.stats.get(f"dust/traps/{one}", 0) for one in ("last", "capped")]
        print(f"| {name} | {length:,} | {fetched:,} | {counts[0]:,} | {counts[1]:,} |", flush=True)


def attacks(options: Options) -> None:
    print("| site | items | plain | last | cap: pages | lost |\n|---|---|---|---|---|---|")
    for sites, most in ((ENDLESS, options.pages), (FINITE, options.most)):
        for name, (trap, entrance) in sites.items():
            if options.names and name not in options.names:
                continue
            made = partial(Site, trap, (entrance,), 100)
            plain, last = simulate(made(), None, most), _simulated(made(), most)
            cap = _simulated(made(), options.most, DUST_TRAPS="cap")
            every = {*made().names, *plain.items, *last.items, *cap.items}
            pages = f"{len(cap.pages):,}" if len(cap.pages) < options.most else f"more than {options.most:,}"
            lost = len(every - cap.items.keys())
            print(
                f"| {name} | {len(every)} | {len(plain.items)} | {len(last.items)} | {pages} | {lost} |",
                flush=True,
            )


def drawn(options: Options) -> None:
    print("| site | pages | items | cap: pages | lost | plain | last |\n|---|---|---|---|---|---|---|")
    for seed in range(1, options.sites + 1):
        made = Drawn(seed)
        half = len(made.pages) // 2
        cap = _simulated(made.site(), options.most, DUST_TRAPS="cap")
        plain, last = simulate(made.site(), None, half), _simulated(made.site(), half)
        lost = len(made.items - cap.items.keys())
        print(
            f"| {seed} | {len(made.pages):,} | {len(made.items)} | {len(cap.pages):,} | {lost} | {len(plain.items)} | {len(last.items)} |",
            flush=True,
        )


def shops(options: Options) -> None:
    print("| shop | items | least | cap: pages | times the least | lost |\n|---|---|---|---|---|---|")
    for seed in range(options.first, options.first + options.sites):
        shop = Shop(seed=seed)
        most = 8 * shop.least + 1000
        cap = _simulated(shop, most, DUST_TRAPS="cap")
        pages = f"{len(cap.pages):,}" if len(cap.pages) < most else f"more than {most:,}"
        times, lost = len(cap.pages) / shop.least, len(shop.names - cap.items.keys())
        print(f"| {seed} | {shop.items:,} | {shop.least:,} | {pages} | {times:.2f} | {lost} |", flush=True)


def broad(options: Options) -> None:
    """Hosts in turn, a page of each, as in a broad crawl; every tenth has session ids, and every hundredth a calendar."""
    ledger, began = Ledger(), time.process_time()
    for number in range(options.each):
        for host in range(options.hosts):
            _visit(
                ledger,
                _url(host, number),
                f"<title>{host} {number}</title><p>article {number} of {host}".encode(),
            )
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    urls = options.hosts * options.each
    spent = time.process_time() - began
    print(
        f"{urls:,} pages of {options.hosts:,} hosts: {most:.0f} MB, {spent / urls * 1e6:.0f} µs of CPU time a page"
    )


def _url(host: int, number: int) -> str:
    front = f"http://www.host{host}.example"
    if host % 100 == 1:
        return f"{front}/calendar/{2000 + number}/{host % 12 + 1}"
    return f"{front}/section/{number}/some-article-{number}.html" + (
        f"?sid={host:x}{number}" if host % 10 == 0 else ""
    )


def _visit(ledger: Ledger, url: str, body: bytes) -> None:
    site = site_of(url) or ""
    place = ledger.place(site, url)
    ledger.budget.sent(place.account)
    page = ledger.arrived(place, is_drawn=False)
    ledger.done(page, lambda: said_by(body, is_markup=True))


def cost(options: Options) -> None:
    """The time that telling traps takes is the difference between two loops without an engine, where times differ less from round to
    round; it is told as a share of a whole crawl, which the same rounds measure.
    """
    took: dict[str, list[float]] = {"crawl": [], "off": [], "last": []}
    for number in range(options.rounds + 1):
        for what in sorted(took, reverse=bool(number % 2)):
            began = time.process_time()
            pages = _crawled(what, options.pages)
            took[what].append((time.process_time() - began) / pages * 1e6)
    whole, off, last = (sorted(took[what][1:]) for what in ("crawl", "off", "last"))
    more = last[0] - off[0]
    print(
        f"best of {options.rounds}: {more:.1f} µs of CPU time a page in what tells traps, {more / whole[0]:.2%} of the {whole[0]:.0f} of a "
        f"crawl; off {off[0]:.0f} to {off[-1]:.0f}, last {last[0]:.0f} to {last[-1]:.0f}, crawls {whole[0]:.0f} to {whole[-1]:.0f}"
    )


def _crawled(what: str, pages: int) -> int:
    """The pages that a crawl without traps being told has fetched, or a loop with ``DUST_TRAPS`` = *what*."""
    if what != "crawl":
        return len(_simulated(_Made(items=pages), 2 * pages, DUST_TRAPS=what).pages)
    with TemporaryDirectory() as folder:
        return len(crawl(_Made(items=pages), folder, DUST_TRAPS="off", LOG_LEVEL="ERROR").pages)


class _Made(Site):
    """A shop whose pages are made once."""

    pages: ClassVar[dict[str, str | None]] = {}

    def answer(self, url: str) -> str | None:
        if url not in self.pages:
            self.pages[url] = super().answer(url)
        return self.pages[url]


def live(options: Options) -> None:
    print("| site | pages | off: contents | last: contents | put last |\n|---|---|---|---|---|", flush=True)
    for name in options.names or REAL:
        start, deny = SITES[name]
        with TemporaryDirectory() as folder, running(name, start) as answers:
            if answers:
                print(
                    _live(name, RealSite(start, Path(folder), options.pages, options.seconds, deny)),
                    flush=True,
                )


def _live(name: str, site: RealSite) -> str:
    off, last = (site.crawl(traps, traps=traps) for traps in ("off", "last"))
    volatile = volatile_places(off, last)
    found = [contents(crawl, volatile) for crawl in (off, last)]
    pages = " / ".join(f"{len(crawl.asked):,}" for crawl in (off, last))
    return f"| {name} | {pages} | {found[0]:,} | {found[1]:,} | {last.summary.get('dust/traps/last', 0):,} |"


_TASKS: dict[str, Callable[[Options], None]] = {
    task.__name__: task for task in (families, facets, chains, attacks, drawn, shops, broad, cost, live)
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", choices=_TASKS)
    parser.add_argument("names", nargs="*", help="families, chains or sites")
    parser.add_argument("--marks", nargs="*", choices=MARKS)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--most", type=int, default=6000)
    parser.add_argument("--items", nargs="*", type=int, default=[60, 600])
    parser.add_argument("--facets", nargs="*", type=int, default=[3, 8])
    parser.add_argument("--length", type=int, default=2000)
    parser.add_argument("--sites", type=int, default=24)
    parser.add_argument("--first", type=int, default=0, help="the first of the drawn shops")
    parser.add_argument("--hosts", type=int, default=100_000)
    parser.add_argument("--each", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=1200)
    parser.add_argument("--secret", type=int)
    options = parser.parse_args()
    if options.secret is not None:
        trapping.local_draw = lambda folder: Draw(bytes([options.secret]) * 32, "2026-11-20")
    logging.disable(logging.CRITICAL)
    _TASKS[options.task](options)


if __name__ == "__main__":
    main()

"""Fingerprints where edits are in force: ``python -m benchmarks.edit_keys [--quick]``.

As benchmarks/keys.py: 200 sites with ten rules each, of which one changes a third of the requests. Here the first
is an edit, and three of the idle ones are; then rules that look at every URL are added, since they have no text to
look for (the spelling of hosts), or change every URL (the order of parameters, the slash that all of these end with).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from benchmarks.keys import MIXES, compare, crawler_with, rules, urls
from scrapy_dust.rules.guards import Condition
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.path_rewriting import Rewrite
from scrapy_dust.rules.paths import DropLast, DropSlash, MapSegments
from scrapy_dust.rules.queries import SortParameters
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.spellings import PlainHost

BySite = dict[str, tuple[Rule, ...]]

FIRING = (
    Rule((DropParameter("sid"),), (Condition("?page", holds=False),)),
    Rule((DropLast("index.html"),)),
)
IDLE = (
    Rule((MapSegments(("old1",), ("new",)),)),
    Rule((Rewrite(("/print.pl?sid=", 0), ("/news/", 0, ".html"), ("numbers",)),)),
    Rule((DropParameter("p1"),)),
)


def loads(sites: int) -> Iterator[tuple[str, BySite]]:
    plain = rules(10 * sites, sites)
    yield "no edits", plain
    for name, more in (
        ("four edits", ()),
        ("and one that looks at every URL", (Rule((PlainHost(),)),)),
        ("and one that changes every URL", (Rule((SortParameters(),)), Rule((DropSlash(),)))),
    ):
        yield (
            name,
            {
                site: (*of_site[1:7], FIRING[number % 2], *IDLE, *more)
                for number, (site, of_site) in enumerate(plain.items())
            },
        )


def main(arguments: list[str]) -> None:
    count = 2_000 if "--quick" in arguments else 20_000
    asked = urls(count, 200, MIXES["a third touched"])
    for name, by_site in loads(200):
        own, scrapys = compare(crawler_with(by_site).request_fingerprinter.fingerprint, asked, rounds=3)
        print(f"{name}: {own:.1f} µs, {own / scrapys:.2f} times the {scrapys:.1f} µs of Scrapy's own")


if __name__ == "__main__":
    main(sys.argv[1:])

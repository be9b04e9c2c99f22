"""``scrapy dustrules advise``: what the owner of a site can do, and the requests that it would spare."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from scrapy.exceptions import UsageError

from scrapy_dust.commands.context import Context
from scrapy_dust.commands.exchanging import sites_of
from scrapy_dust.commands.output import printable
from scrapy_dust.commands.progress import Counting
from scrapy_dust.commands.tables import table
from scrapy_dust.crawl_log import read_visits
from scrapy_dust.exchange.advice import Advice, Remedy, Spared, advice_of, spared_by
from scrapy_dust.exchange.clean_param import directives
from scrapy_dust.rule_book import RuleBook, Status
from scrapy_dust.sites import site_of


def advise(context: Context, *logs: str, site: Sequence[str], base_url: str | None) -> None:
    """Print advice for the owners of *site*, with the requests of *logs* that it saves, or URLs that dustmine saw."""
    book = context.book()
    chosen = sites_of(site) or book.sites
    spared = None
    if logs:
        try:
            reading = read_visits(logs, base_url=base_url)
        except ValueError as error:
            raise UsageError(str(error), print_help=False) from None
        urls = (
            visit.url
            for visit in Counting(sys.stderr, "Reading").of(reading)
            if site_of(visit.url) in set(chosen)
        )
        spared = spared_by(urls, context.canonizer(book), site_of)
    found = {one: list(_advice_for(book, one, spared)) for one in chosen}
    if context.as_json:
        for one in (one for of_site in found.values() for one in of_site):
            print(json.dumps(asdict(one), ensure_ascii=False))
        return
    for name, advice in found.items():
        if advice:
            _print_advice(name, advice)
    if not any(found.values()):
        print("No rule is in force for these sites, so there is nothing to advise.", file=sys.stderr)
    elif spared is not None:
        share = f" ({spared.in_vain / spared.requests:.1%})" if spared.requests else ""
        print(f"Of {spared.requests} requests, {spared.in_vain}{share} asked for a page under one more URL.")


def _advice_for(book: RuleBook, site: str, spared: Spared | None) -> Iterator[Advice]:
    """The advice for the owner of *site*, by its rules in force; with the requests that each would save, if they were
    counted.
    """
    entries = [entry for entry in book.entries(site) if entry.status is Status.VALID]
    yield from advice_of(site, entries, None if spared is None else spared.by_rule.get(site, {}))


def _print_advice(site: str, advice: Sequence[Advice]) -> None:
    print(printable(site))
    print()
    rows = [[str(one.remedy), printable(one.rule), str(one.spares)] for one in advice]
    print(table(["do", "rule", "spares"], rows, right={2}))
    print()
    names = [one.name for one in advice if one.remedy is Remedy.CLEAN_PARAM and one.name]
    if names:
        print("In robots.txt, for Yandex:")
        print("\n".join(f"  {printable(line)}" for line in directives(names)))
        print(f"In the answers, for caches:\n  {printable(_no_vary_search_header(names))}")
    examples = [one for one in advice if one.remedy is not Remedy.CLEAN_PARAM and one.example]
    for remedy, said in _SAID.items():
        of_remedy = [one.example for one in examples if one.remedy is remedy and one.example]
        if of_remedy:
            print(said)
            print("\n".join(f"  {printable(a)} → {printable(b)}" for a, b in of_remedy))
    print()


_SAID = {
    Remedy.REDIRECT: "Redirects (301; `scrapy dustrules export nginx` and `apache` write what a server can say), such as:",
    Remedy.CANONICAL: 'A link in the page, <link rel="canonical" href="…">, to the same URL in all of these, such as:',
}


def _no_vary_search_header(names: Sequence[str]) -> str:
    """The response header that says that the parameters *names* do not matter."""
    return "No-Vary-Search: params=(" + " ".join(json.dumps(name) for name in names if name.isascii()) + ")"

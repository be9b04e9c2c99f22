"""The actions of ``scrapy dustrules`` that change nothing."""

from __future__ import annotations

import json

from scrapy_dust.commands.context import Context, Found, evidence_lines
from scrapy_dust.commands.journals import event_line, history
from scrapy_dust.commands.output import (
    entry_with_site,
    number,
    print_rules_json,
    printable,
    unchanged_in_pipes,
)
from scrapy_dust.commands.tables import STATUS_COLOURS, table
from scrapy_dust.commands.url_lists import read_expectations, read_urls, write_exactly
from scrapy_dust.journal.events import to_record
from scrapy_dust.rule_book import RuleBook, rule_id
from scrapy_dust.sites import site_of


def list_rules(context: Context) -> None:
    """Print all rules, one a line."""
    found = all_found(context.book())
    if context.as_json:
        print_rules_json(found)
    elif found:
        rows = [
            [
                rule_id(site, entry.rule),
                str(entry.status),
                site,
                str(entry.evidence.positive),
                str(entry.evidence.contradictions),
                entry.evidence.last_validated or "",
                str(entry.rule),
            ]
            for site, entry in found
        ]
        heads = ["id", "status", "site", "alike", "differ", "last tested", "rule"]
        print(table(heads, rows, right={3, 4}, spare=[5, 4, 3], colours=STATUS_COLOURS))
    else:
        context.tell_if_empty()


def show(context: Context, *ids: str) -> None:
    """Print the rules *ids*, or all, with their evidence."""
    book = context.book()
    found = [one for wanted in ids for one in context.named(book, wanted)] if ids else all_found(book)
    if context.as_json:
        print_rules_json(found)
    elif found:
        print("\n\n".join("\n".join(evidence_lines(*one)) for one in found))
    else:
        context.tell_if_empty()


def explain(context: Context, url: str) -> None:
    """Print the key of *url*, the rules that lead to it, and the journal's events of *url*."""
    book = context.book()
    canonizer = context.canonizer(book)
    site, key, steps = site_of(url), canonizer.canonize(url), canonizer.explain(url)
    entries = {entry.rule: entry for entry in book.entries(site or "")}
    became = history(context, url)
    if context.as_json:
        path = [
            {"before": step.before, "after": step.after, **entry_with_site(site or "", entries[step.rule])}
            for step in steps
        ]
        events = [{"spider": spider, **to_record(event)} for spider, event in became or ()]
        print(json.dumps({"url": url, "key": key, "site": site, "steps": path, "history": events}))
        return
    print(printable(key))
    if not steps:
        known = book.rules_by_site().get(site or "", ())
        where = (
            f"{number(len(known), 'rule')} in force for {site}"
            if site
            else "a URL begins with http:// or https://"
        )
        print(f"No rule changes this URL; {where}.")
    for step in steps:
        print(f"\n  {printable(step.before)}\n→ {printable(step.after)}")
        print("\n".join(f"  {line}" for line in evidence_lines(site or "", entries[step.rule])))
    if became is not None:
        print("\nIn crawls:" if became else "\nNo journal says that a crawl suppressed this URL.")
        for one in became:
            print(f"  {event_line(one)}")


def keys(context: Context, name: str = "-") -> None:
    """Print the key of each URL in the file *name*."""
    canonize = context.canonizer(context.book()).canonize
    write_exactly()
    for url in read_urls(name):
        key = canonize(url)
        print(
            json.dumps({"key": key, "url": url})
            if context.as_json
            else f"{_before_a_tab(key)}\t{unchanged_in_pipes(url)}"
        )


def _before_a_tab(key: str) -> str:
    """*key* without a tab of its own, so that the first tab of a line ends the key."""
    return unchanged_in_pipes(key.replace("\t", "\\t"))


def test(context: Context, name: str) -> int:
    """Check the expectations in the file *name*. Returns the exit status."""
    canonize = context.canonizer(context.book()).canonize
    held = failed = 0
    for expected in read_expectations(name):
        keys = canonize(expected.a), canonize(expected.b)
        holds = (keys[0] == keys[1]) == expected.same
        held, failed = held + holds, failed + (not holds)
        wanted = "same" if expected.same else "different"
        if context.as_json:
            urls = {"urls": [expected.a, expected.b], "keys": keys}
            print(json.dumps({"line": expected.line, "holds": holds, "expected": wanted, **urls}))
        elif not holds:
            pairs = zip((expected.a, expected.b), keys, strict=True)
            seen = " and ".join(f"{printable(url)} (key {printable(key)})" for url, key in pairs)
            print(f"line {expected.line}: expected {wanted}, got {seen}")
    if not context.as_json:
        print(f"{held} of {held + failed} expectations hold.")
    return 1 if failed else 0


def all_found(book: RuleBook) -> list[Found]:
    """All rules of *book*, each with its site."""
    return [(site, entry) for site in book.sites for entry in book.entries(site)]

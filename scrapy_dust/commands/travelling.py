"""The actions of ``scrapy dustrules`` by which rules come from other programs and go to them."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePath

from scrapy.exceptions import UsageError

from scrapy_dust.commands.desk import Desk
from scrapy_dust.commands.output import as_it_is, printable
from scrapy_dust.commands.suggestions import no_such
from scrapy_dust.exchange import EXPORTS, Imported, Unsaid, exported, imported
from scrapy_dust.exchange.travelling import ExchangeError, whole_site
from scrapy_dust.rule_book import Entry, RuleBook, Status, rule_id
from scrapy_dust.rule_book.files import read
from scrapy_dust.rule_book.joining import Difference, join
from scrapy_dust.sites import site_of

#: So many rules that did not come along are named; the others are counted.
_NAMED = 20


def take_in(desk: Desk, path: str, sites: Sequence[str], *, format_name: str, dry_run: bool) -> None:
    """Imported rules are in no force: they are `Status.UNPROVEN` until dustmine has tried them."""
    content = sys.stdin.buffer.read() if path == "-" else read(path)
    if content is None:
        raise ExchangeError(path, "there is no such file. Check the path.")
    known = RuleBook.load(desk.paths[:1])
    found = imported(path, content, sites_of(sites) or known.sites, format_name)
    day = datetime.now(UTC).date().isoformat()
    name = PurePath(path).name
    new = _new(known, found, f"imported from {name} on {day}; `scrapy dustmine` tries it", name, day)
    new, opposed = _without_opposed(known, new)
    found = replace(found, unsaid=(*found.unsaid, *opposed))
    if not dry_run and any(new.values()):
        desk.change(lambda book: _with(book, new))
    if desk.as_json:
        ids = [rule_id(site, entry.rule) for site, entries in new.items() for entry in entries]
        unsaid = [one._asdict() for one in found.unsaid]
        print(json.dumps({"found": len(found.rules), "new": ids, "unsaid": unsaid}, ensure_ascii=False))
        return
    count = sum(map(len, new.values()))
    print(
        f"{count} rules of {sum(map(bool, new.values()))} sites {'would be ' * dry_run}taken in, unproven; "
        f"{len(found.rules) - count - len(opposed)} were known; {len(found.unsaid)} could not be said."
    )
    _tell(found.unsaid)


def sites_of(hosts: Sequence[str]) -> tuple[str, ...]:
    """The sites of what a user typed: hosts, or URLs. Raises `UsageError`."""
    found = {host: site_of(host if "://" in host else f"http://{host}/") for host in hosts}
    for host, site in found.items():
        if site is None or whole_site(site) != site:
            raise UsageError(f"{host!r} is no host. Name one such as 'www.example.org'.", print_help=False)
    return tuple(dict.fromkeys(site for site in found.values() if site))


def _new(known: RuleBook, found: Imported, reason: str, name: str, day: str) -> dict[str, list[Entry]]:
    new: dict[str, list[Entry]] = {}
    extra = {"imported": {"from": name, "on": day}}
    there = {(site, entry.rule) for site in known.sites for entry in known.entries(site)}
    for site, rule in found.rules:
        if (site, rule) not in there:
            new.setdefault(site, []).append(Entry(rule, Status.UNPROVEN, reason=reason, extra=extra))
    return new


def _without_opposed(
    known: RuleBook, new: dict[str, list[Entry]]
) -> tuple[dict[str, list[Entry]], list[Unsaid]]:
    """What a book does not take, since the reverse is in force in it or a person has disabled that."""
    book, opposed = _with(known, new), []
    for site, entries in new.items():
        taken = {entry.rule for entry in book.entries(site)}
        opposed += [
            Unsaid(f"{site}: {entry.rule}", "its reverse is in the book")
            for entry in entries
            if entry.rule not in taken
        ]
        new = new | {site: [entry for entry in entries if entry.rule in taken]}
    return new, opposed


def _with(book: RuleBook, new: dict[str, list[Entry]]) -> RuleBook:
    for site, entries in new.items():
        book = book.merge(site, entries)
    return book


def give_out(desk: Desk, name: str, sites: Sequence[str]) -> None:
    """The rules in force to stdout; what the format cannot say is told on stderr. Raises `UsageError`."""
    if name not in EXPORTS:
        raise UsageError(no_such("format", name, EXPORTS), print_help=False)
    book = desk.book()
    chosen = sites_of(sites)
    for site in chosen:
        if site not in book.sites:
            print(no_such("rule for the site", site, book.sites), file=sys.stderr)
    wanted = [site for site in book.sites if not chosen or site in chosen]
    in_force = {
        site: [entry for entry in book.entries(site) if entry.status is Status.VALID] for site in wanted
    }
    found = exported({site: entries for site, entries in in_force.items() if entries}, name)
    if desk.as_json:
        unsaid = [one._asdict() for one in found.unsaid]
        print(json.dumps({"format": name, "text": found.text, "unsaid": unsaid}, ensure_ascii=False))
        return
    for line in found.text.splitlines():
        print(as_it_is(line))
    if found.unsaid:
        total = sum(map(len, in_force.values()))
        print(f"{len(found.unsaid)} of {total} rules could not be said.", file=sys.stderr)
        _tell(found.unsaid, stderr=True)


def _tell(unsaid: Sequence[Unsaid], *, stderr: bool = False) -> None:
    stream = sys.stderr if stderr else sys.stdout
    for what, why in unsaid[:_NAMED]:
        print(f"  {printable(what)}: {printable(why)}.", file=stream)
    rest = Counter(one.why for one in unsaid[_NAMED:])
    for why, count in rest.most_common():
        print(f"  and {count} more: {printable(why)}.", file=stream)


def merge(desk: Desk, paths: Sequence[str], *, dry_run: bool) -> None:
    """Put what other books say into the first one: see `rule_book.joining`."""
    differences: list[Difference] = []
    theirs = [RuleBook.load([path], missing_ok=False) for path in paths]

    def change(book: RuleBook) -> RuleBook:
        for other in theirs:
            book, found = join(book, other)
            differences.extend(found)
        return book

    if dry_run:
        change(RuleBook.load(desk.paths[:1]))
    else:
        desk.change(change)
    if desk.as_json:
        for one in differences:
            told = {"site": one.site, "id": rule_id(one.site, one.mine.rule), "rule": str(one.mine.rule)}
            said = {"mine": str(one.mine.status), "theirs": str(one.theirs.status), "now": str(one.now)}
            print(json.dumps(told | said, ensure_ascii=False))
        return
    for one in differences:
        who = f"{rule_id(one.site, one.mine.rule)}  {one.site}  {one.mine.rule}"
        print(f"{printable(who)}: here {one.mine.status}, there {one.theirs.status}; now {one.now}")
    rules = sum(len(book.entries(site)) for book in theirs for site in book.sites)
    print(
        f"{rules} rules of {len(theirs)} books {'would be ' * dry_run}merged; {len(differences)} were of another status."
    )

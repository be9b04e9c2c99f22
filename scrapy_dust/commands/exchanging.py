"""The actions of ``scrapy dustrules`` that import, export and merge rules."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePath

from scrapy.exceptions import UsageError

from scrapy_dust.commands.context import Context
from scrapy_dust.commands.output import printable, unchanged_in_pipes
from scrapy_dust.commands.suggestions import no_such
from scrapy_dust.crawl_log.log_places import log_dir
from scrapy_dust.errors import RuleBookError
from scrapy_dust.exchange import EXPORTS, Imported, Unsaid, exported, imported
from scrapy_dust.exchange.older_books import migrated
from scrapy_dust.exchange.transfer import ExchangeError, name_left_out, whole_site
from scrapy_dust.rule_book import Entry, RuleBook, Status, priors, rule_id, safe_files
from scrapy_dust.rule_book.joining import Difference, join
from scrapy_dust.rule_book.safe_files import read
from scrapy_dust.rule_book.shards import Shard, missing_of, shards_in
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.sites import site_of

#: So many rules that did not come along are named; the others are counted.
_NAMED = 20


def import_rules(
    context: Context,
    path: str,
    *,
    format: str,  # noqa: A002
    site: Sequence[str],
    dry_run: bool,
) -> None:
    """Import the rules in the file *path*, on probation: nothing applies them before they are proved."""
    content = sys.stdin.buffer.read() if path == "-" else read(path)
    if content is None:
        raise ExchangeError(path, "there is no such file. Check the path.")
    # An import makes the book that --rules names.
    context = replace(context, must_exist=False)
    known = RuleBook.load(context.paths[:1])
    found = imported(path, content, sites_of(site) or known.sites, format)
    day = datetime.now(UTC).date().isoformat()
    name = PurePath(path).name
    new = _new_entries(known, found, f"imported from {name} on {day}; the next crawl tries it", name, day)
    new, opposed = _without_opposed(known, new)
    found = replace(found, unsaid=(*found.unsaid, *opposed))
    if not dry_run and any(new.values()):
        context.change(lambda book: book.merge_sites(new))
    if context.as_json:
        ids = [rule_id(site, entry.rule) for site, entries in new.items() for entry in entries]
        unsaid = [one._asdict() for one in found.unsaid]
        told = {"found": len(found.rules), "new": ids, "unsaid": unsaid, "stays": found.stays}
        print(json.dumps(told, ensure_ascii=False))
        return
    count = sum(map(len, new.values()))
    print(
        f"{count} rules of {sum(map(bool, new.values()))} sites {'would be ' * dry_run}imported, on probation; "
        f"{len(found.rules) - count - len(opposed)} were known already; {len(found.unsaid)} could not be imported."
    )
    _print_left_out(found.unsaid)
    for what in found.stays:
        print(f"  These stay as they are: {what}.")


def sites_of(hosts: Sequence[str]) -> tuple[str, ...]:
    """The sites that a user named by hosts or URLs. Raises `UsageError`."""
    found = {host: site_of(host if "://" in host else f"http://{host}/") for host in hosts}
    for host, site in found.items():
        if site is None or whole_site(site) != site:
            raise UsageError(f"{host!r} is no host. Name one such as 'www.example.org'.", print_help=False)
    return tuple(dict.fromkeys(site for site in found.values() if site))


def _new_entries(
    known: RuleBook, found: Imported, reason: str, name: str, day: str
) -> dict[str, list[Entry]]:
    """The imported rules that the book *known* does not have yet, as entries on probation, by site."""
    new: dict[str, list[Entry]] = {}
    extra = {"imported": {"from": name, "on": day}}
    there = {(site, entry.rule) for site in known.sites for entry in known.entries(site)}
    for site, rule in found.rules:
        leaves_out = name_left_out(rule)
        # A rule of our own leaves the parameter out wherever the imported one does.
        if (site, rule) not in there and (
            leaves_out is None or (site, Rule.of(DropParameter(leaves_out))) not in there
        ):
            new.setdefault(site, []).append(Entry(rule, Status.PROBATION, reason=reason, extra=extra))
    return new


def _without_opposed(
    known: RuleBook, new: dict[str, list[Entry]]
) -> tuple[dict[str, list[Entry]], list[Unsaid]]:
    """The entries of *new* that the book takes, and those that it refuses because their reverse is in force or disabled."""
    book, opposed = known.merge_sites(new), []
    for site, entries in new.items():
        taken = {entry.rule for entry in book.entries(site)}
        opposed += [
            Unsaid(f"{site}: {entry.rule}", "its reverse is in the book")
            for entry in entries
            if entry.rule not in taken
        ]
        new = new | {site: [entry for entry in entries if entry.rule in taken]}
    return new, opposed


def export_rules(context: Context, name: str, *, site: Sequence[str]) -> None:
    """Print the rules in force in the format *name*, and on stderr those that it cannot express. Raises `UsageError`."""
    if name not in EXPORTS:
        raise UsageError(no_such("format", name, EXPORTS), print_help=False)
    book = context.book()
    chosen = sites_of(site)
    unknown = [no_such("rule for the site", one, book.sites) for one in chosen if one not in book.sites]
    if chosen and len(unknown) == len(chosen):
        raise RuleBookError(", ".join(context.paths), unknown[0])
    for said in unknown:
        print(said, file=sys.stderr)
    wanted = [site for site in book.sites if not chosen or site in chosen]
    in_force = {
        site: [entry for entry in book.entries(site) if entry.status is Status.VALID] for site in wanted
    }
    found = exported({site: entries for site, entries in in_force.items() if entries}, name)
    if context.as_json:
        unsaid = [one._asdict() for one in found.unsaid]
        print(json.dumps({"format": name, "text": found.text, "unsaid": unsaid}, ensure_ascii=False))
        return
    for line in found.text.splitlines():
        print(unchanged_in_pipes(line))
    if found.unsaid:
        total = sum(map(len, in_force.values()))
        print(f"{len(found.unsaid)} of {total} rules cannot be written in this format.", file=sys.stderr)
        _print_left_out(found.unsaid, stderr=True)


def _print_left_out(unsaid: Sequence[Unsaid], *, stderr: bool = False) -> None:
    """Print each rule that was left out, with the reason; of many, only the first, and how many others have each
    reason.
    """
    stream = sys.stderr if stderr else sys.stdout
    for what, why in unsaid[:_NAMED]:
        print(f"  {printable(what)}: {printable(why)}.", file=stream)
    rest = Counter(one.why for one in unsaid[_NAMED:])
    for why, count in rest.most_common():
        print(f"  and {count} more: {printable(why)}.", file=stream)


def merge(context: Context, *paths: str, dry_run: bool) -> None:
    """Merge other rule books into the first one (see `rule_book.joining`)."""
    differences: list[Difference] = []
    theirs = {path: RuleBook.load([path], missing_ok=False) for path in paths}
    if of_shards := shards_in(theirs):
        _merge_parts(context, theirs, of_shards, dry_run=dry_run)
        return

    def change(book: RuleBook) -> RuleBook:
        """*book* with the rules of the other books."""
        for other in theirs.values():
            book, found = join(book, other)
            differences.extend(found)
        return book

    if dry_run:
        change(RuleBook.load(context.paths[:1]))
    else:
        context.change(change)
    if context.as_json:
        for one in differences:
            told = {"site": one.site, "id": rule_id(one.site, one.mine.rule), "rule": str(one.mine.rule)}
            said = {"mine": str(one.mine.status), "theirs": str(one.theirs.status), "now": str(one.now)}
            print(json.dumps(told | said, ensure_ascii=False))
        return
    for one in differences:
        who = f"{rule_id(one.site, one.mine.rule)}  {one.site}  {one.mine.rule}"
        print(f"{printable(who)}: here {one.mine.status}, there {one.theirs.status}; now {one.now}")
    rules = sum(map(_count_rules, theirs.values()))
    print(
        f"{rules} rules of {len(theirs)} books {'would be ' * dry_run}merged; {len(differences)} had another status here."
    )


def _merge_parts(
    context: Context, parts: Mapping[str, RuleBook], shards: Sequence[Shard], *, dry_run: bool
) -> None:
    """Put what the shards of one log have decided into the first book, as one run of all sites would have."""
    decided = {site: part.entries(site) for part in parts.values() for site in part.sites}
    if not dry_run:
        # The book may begin with this.
        replace(context, must_exist=False).change(lambda book: book.merge_sites(decided))
        for shard in shards:
            priors.add_priors_of_shard(log_dir(context.dust_dir).parent, shard)
    missing = [str(shard) for shard in missing_of(shards)]
    rules = sum(map(_count_rules, parts.values()))
    if context.as_json:
        print(json.dumps({"parts": len(parts), "rules": rules, "sites": len(decided), "missing": missing}))
        return
    print(
        f"{rules} rules of {len(decided)} sites {'would be ' * dry_run}merged, of {len(parts)} of {shards[0].count} shards."
    )
    if missing:
        print(
            f"Missing: {', '.join(missing)}; their sites stay as they are. Merge these parts when they are there.",
            file=sys.stderr,
        )


def _count_rules(book: RuleBook) -> int:
    return sum(len(book.entries(site)) for site in book.sites)


def migrate(context: Context) -> None:
    """Write each rule book of an older format anew. The old book stays beside the new one."""
    for path in context.paths:
        with safe_files.lock(path) as file:
            content = safe_files.read(str(file))
            document = None if content is None else migrated(path, content)
            if content is not None and document is not None:
                safe_files.replace(file.with_name(f"{file.name}.old"), content)
                safe_files.replace(file, RuleBook(document).rendered())
        rules = 0 if document is None else sum(map(len, document.sites.values()))
        said = "nothing to do" if document is None else f"{rules} rules migrated; the old book is {path}.old"
        told = {"path": path, "rules": rules, "migrated": document is not None}
        print(json.dumps(told) if context.as_json else f"{printable(path)}: {printable(said)}")

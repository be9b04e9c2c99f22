"""What a crawl has found out about its rules, told to the rule book.

Where a rule stands in a book that cannot be written, a URI say, nobody else learns of it; that is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from scrapy_dust.dust.rules import Rule
from scrapy_dust.dust.watch import Standing, Watch
from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book.book import RuleBook, update
from scrapy_dust.rule_book.entries import Entry, Evidence, Status
from scrapy_dust.rule_book.files import in_project

#: Canaries that show the same page, after which a rule's evidence is of today.
RENEWED = 3

Found = tuple[str, Entry]  # with its site


def found_of(site: str, rule: Rule, watch: Watch, crawl: str, reason: str | None = None) -> Found:
    """The entry for what *watch* saw; *crawl* names it, so that it is not counted twice."""
    fresh = watch.same >= RENEWED or watch.standing is not Standing.TRUSTED
    evidence = Evidence(
        positive=watch.same,
        negative=watch.different,
        contradictions=watch.different,
        unknown=watch.unknown,
        fetches=watch.same + watch.different + watch.unknown,
        last_validated=datetime.now(UTC).date().isoformat() if fresh else None,
        logs=(crawl,),
    )
    status = Status.VALID if reason is None else Status.SUSPENDED
    return site, Entry(rule, status, evidence, reason)


def tell(paths: Sequence[str], found: Sequence[Found], max_age: int) -> list[str]:
    """Bring the books up to date; gives a sentence for each rule that nobody could be told of."""
    untold = []
    left = list(found)
    for path in map(in_project, paths):
        here = _standing_in(path, left)
        if here:
            try:
                update(path, lambda book, here=here: _with(book, here, max_age))  # type: ignore[misc]
            except RuleBookError as error:
                untold += [f"{error}" for _ in here[:1]]
            left = [one for one in left if one not in here]
    return untold


def _standing_in(path: str, found: Sequence[Found]) -> list[Found]:
    try:
        book = RuleBook.load([path])
    except RuleBookError:
        return []
    return [
        (site, entry) for site, entry in found if any(one.rule == entry.rule for one in book.entries(site))
    ]


def _with(book: RuleBook, found: Sequence[Found], max_age: int) -> RuleBook:
    for site, entry in found:
        known = {one.rule: one for one in book.entries(site)}.get(entry.rule)
        if known is None or known.status is not Status.VALID:
            continue
        if entry.status is Status.SUSPENDED or entry.evidence.contradictions or _ages(known, max_age):
            book = book.merge(site, [entry])
    return book


def _ages(entry: Entry, max_age: int) -> bool:
    """Whether the evidence is so old that it is worth a change of the book that it was confirmed."""
    last = entry.evidence.last_validated
    if last is None or not max_age:
        return False
    return last <= (datetime.now(UTC).date() - timedelta(days=max(1, max_age // 4))).isoformat()

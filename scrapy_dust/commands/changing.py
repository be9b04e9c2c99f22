"""The actions of ``scrapy dustrules`` that change a rule book: the first one, if a project has several."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from scrapy_dust.commands.context import Context, Found
from scrapy_dust.commands.output import print_rules_json, printable
from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book import RuleBook, Status, rule_id


def set_status(context: Context, ids: Sequence[str], status: Status) -> None:
    """Disable or enable rules by their ids. Only a rule of the first book can be enabled."""
    reason = f"by hand, {datetime.now(UTC).date()}" if status is Status.DISABLED else None
    done: list[Found] = []

    def change(book: RuleBook) -> RuleBook:
        """*book* with the new status of each of the rules."""
        for wanted in ids:
            known = book.find(wanted)
            if status is Status.VALID:
                _refuse_where_undone(context, wanted, [Status.DISABLED] if known else list(Status))
            for site, entry in known or context.named(RuleBook.load(context.paths[1:]), wanted):
                if entry.rule not in {one.rule for one in book.entries(site)}:
                    book = book.with_site(site, (*book.entries(site), entry))
                if entry.status is not status:
                    book = book.with_status(site, entry.rule, status, reason)
                done.extend((site, one) for one in book.entries(site) if one.rule == entry.rule)
        return book

    context.change(change)
    _print_changed(context, str(status), done)


def disable(context: Context, *ids: str) -> None:
    """Disable rules by their ids."""
    set_status(context, ids, Status.DISABLED)


def enable(context: Context, *ids: str) -> None:
    """Enable rules by their ids."""
    set_status(context, ids, Status.VALID)


def forget(context: Context, *ids: str) -> None:
    """Remove rules from the first book."""
    done: list[Found] = []

    def change(book: RuleBook) -> RuleBook:
        """*book* without the rules."""
        for wanted in ids:
            known = book.find(wanted)
            _refuse_where_undone(context, wanted, list(Status))
            for site, entry in known or context.named(book, wanted):
                book = book.with_site(site, (one for one in book.entries(site) if one.rule != entry.rule))
                done.append((site, entry))
        return book

    context.change(change)
    _print_changed(context, "forgotten", done)


def _refuse_where_undone(context: Context, wanted: str, undoing: Sequence[Status]) -> None:
    """Refuse a change of the first book that another book would undo."""
    for path in context.paths[1:]:
        if any(entry.status in undoing for _, entry in RuleBook.load([path]).find(wanted)):
            raise RuleBookError(
                path, f"the rule {wanted!r} stands here too. Change it here first, with --rules {path}"
            )


def _print_changed(context: Context, what: str, found: Sequence[Found]) -> None:
    """Print each of the rules *found*, after the word *what*, which says what was done with it."""
    if context.as_json:
        print_rules_json(found)
    else:
        for site, entry in found:
            print(f"{what}: {rule_id(site, entry.rule)}  {printable(site)}  {printable(str(entry.rule))}")

"""The context of the actions of ``scrapy dustrules``: the rule books that the options name, and how rules are printed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scrapy.settings import Settings
from scrapy.utils.log import configure_logging

from scrapy_dust.commands.output import number, printable
from scrapy_dust.commands.suggestions import nearest
from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book import Entry, RuleBook, in_project, rule_id, update
from scrapy_dust.rule_book.safe_files import is_uri
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of

logger = logging.getLogger(__name__)

Found = tuple[str, Entry]  # with its site

#: Among more ids than these nobody looks for one that was meant.
_GUESSED = 20_000


@dataclass(frozen=True, slots=True)
class Context:
    """The context of all actions of ``scrapy dustrules``: the rule books to look after, and the form of answers."""

    paths: tuple[str, ...]  #: the first is the one that is written
    passes: int
    must_exist: bool  #: named on the command line
    as_json: bool
    dust_dir: str | None = None
    hide: tuple[str, ...] = ()  #: parameters whose values no journal has

    def book(self) -> RuleBook:
        """The rule books, joined."""
        if not self.must_exist:
            for path in self.paths:
                if not is_uri(path) and not Path(path).exists():
                    logger.warning("%s: there is no such rule book yet. `scrapy dustmine` makes it.", path)
        return RuleBook.load(self.paths, missing_ok=not self.must_exist)

    def tell_if_empty(self) -> None:
        """Print that a rule book has no rules, unless its file is missing, which `book` has said already."""
        there = [path for path in self.paths if is_uri(path) or Path(path).exists()]
        if there:
            print(f"{', '.join(there)}: no rule is in it yet. `scrapy dustmine` makes rules.")
        elif not self.paths:
            print("DUST_RULES names no rule book. Name one there, or with --rules.")

    def canonizer(self, book: RuleBook) -> Canonizer:
        """The canonizer by the rules of *book*."""
        return Canonizer(book.rules_by_site(), site_of, self.passes)

    def change(self, change: Callable[[RuleBook], RuleBook]) -> None:
        """Change the first rule book by the function *change*. Raises `RuleBookError`."""
        if not self.paths:
            raise RuleBookError("DUST_RULES", "names no rule book. Name one there, or with --rules.")
        RuleBook.load(self.paths[:1], missing_ok=not self.must_exist)
        update(self.paths[0], change)

    def named(self, book: RuleBook, wanted: str) -> Sequence[Found]:
        """The rules with the id *wanted*, each with its site. Raises `RuleBookError` where there is none."""
        found = book.find(wanted)
        if not found:
            where = ", ".join(self.paths) or "DUST_RULES"
            ids = [rule_id(site, entry.rule) for site in book.sites for entry in book.entries(site)]
            meant = nearest(wanted, ids if len(ids) <= _GUESSED else ())
            raise RuleBookError(
                where, f"no rule has the id {wanted!r}. {meant or '`scrapy dustrules list` shows all ids.'}"
            )
        return found


def context_of(project: Settings, rules: str | None, *, as_json: bool) -> Context:
    """The context of an action, from the project's settings and the options. Raises `ValueError` for a wrong value."""
    # Stdout is for results, whatever a project wants its crawls to do with it.
    project.set("LOG_STDOUT", False, priority="cmdline")
    configure_logging(project)
    settings = DustSettings.from_settings(project)
    paths = tuple(in_project(path) for path in settings.rules) if rules is None else (rules,)
    return Context(paths, settings.passes, rules is not None, as_json, settings.dir, settings.log_hide)


def evidence_lines(site: str, entry: Entry) -> list[str]:
    """Lines that describe a rule with all its evidence."""
    known = entry.evidence
    lines = [
        f"{rule_id(site, entry.rule)}  {entry.status}  {site}  {entry.rule}",
        f"  {number(known.positive, 'pair')} of URLs showed one page ({known.log_same} known from logs alone), on {number(known.contents, 'different page')}",
        f"  {number(known.contradictions, 'pair')} differed, {known.unanswered} did not answer, {known.unknown} could not be compared",
        f"  found in {number(known.support, 'pair')} of the log, tested with {number(known.fetches, 'fetch', 'fetches')}",
    ]
    if known.loss_bound is not None:
        wrong = round(known.loss_bound * known.merges)
        lines.append(f"  in the log: of {number(known.merges, 'URL')} merged, at most {wrong} wrongly (95 %)")
    if known.unseen_bound is not None:
        lines.append(f"  on other URLs: at most {known.unseen_bound:.1%} of its merges are wrong (95 %)")
    if known.last_validated:
        first, last = known.first_validated or known.last_validated, known.last_validated
        lines.append(f"  tested on {last}" if first == last else f"  tested from {first} to {last}")
    if known.logs:
        lines.append(f"  logs: {', '.join(known.logs)}")
    lines += [f"  {name}: {said}" for name in ("reason", "comment") if (said := getattr(entry, name))]
    lines += [f"  example: {a} → {b}" for a, b in known.examples]
    return [printable(line) for line in lines]

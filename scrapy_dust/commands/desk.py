"""What all of ``scrapy dustrules`` works with: the books that are meant, and how a rule is told."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scrapy.settings import Settings
from scrapy.utils.log import configure_logging

from scrapy_dust.commands.output import printable
from scrapy_dust.commands.suggestions import nearest
from scrapy_dust.dust.canonization import Canonizer
from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book import Entry, RuleBook, in_project, rule_id, update
from scrapy_dust.rule_book.document import entry_json
from scrapy_dust.rule_book.files import is_uri
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of

logger = logging.getLogger(__name__)

Found = tuple[str, Entry]  # with its site

#: Among more ids than these nobody looks for one that was meant.
_GUESSED = 20_000


@dataclass(frozen=True, slots=True)
class Desk:
    """The books to look after, and how to answer."""

    paths: tuple[str, ...]  #: the first is the one that is written
    passes: int
    must_exist: bool  #: named on the command line
    as_json: bool
    dust_dir: str | None = None
    hide: tuple[str, ...] = ()  #: parameters whose values no journal has

    def book(self) -> RuleBook:
        if not self.must_exist:
            for path in self.paths:
                if not is_uri(path) and not Path(path).exists():
                    logger.warning("%s: there is no such rule book yet, so none of its rules apply.", path)
        return RuleBook.load(self.paths, missing_ok=not self.must_exist)

    def canonizer(self, book: RuleBook) -> Canonizer:
        return Canonizer(book.rules_by_site(), site_of, self.passes)

    def change(self, change: Callable[[RuleBook], RuleBook]) -> None:
        if not self.paths:
            raise RuleBookError("DUST_RULES", "names no rule book. Name one there, or with --rules.")
        RuleBook.load(self.paths[:1], missing_ok=not self.must_exist)
        update(self.paths[0], change)

    def named(self, book: RuleBook, wanted: str) -> Sequence[Found]:
        """The entry with this id, very rarely several. Raises `RuleBookError` where there is none."""
        found = book.find(wanted)
        if not found:
            where = ", ".join(self.paths) or "DUST_RULES"
            ids = [rule_id(site, entry.rule) for site in book.sites for entry in book.entries(site)]
            meant = nearest(wanted, ids if len(ids) <= _GUESSED else ())
            raise RuleBookError(
                where, f"no rule has the id {wanted!r}. {meant or '`scrapy dustrules list` shows all ids.'}"
            )
        return found


def desk_of(project: Settings, rules: str | None, *, as_json: bool) -> Desk:
    """From the project's settings. Raises `ValueError` for what cannot be meant."""
    # Stdout is for results, whatever a project wants its crawls to do with it.
    project.set("LOG_STDOUT", False, priority="cmdline")
    configure_logging(project)
    settings = DustSettings.from_settings(project)
    paths = tuple(in_project(path) for path in settings.rules) if rules is None else (rules,)
    return Desk(paths, settings.passes, rules is not None, as_json, settings.dir, settings.log_hide)


def entry_with_site(site: str, entry: Entry) -> dict[str, object]:
    return {"site": site, **entry_json(site, entry)}


def print_json(found: Sequence[Found]) -> None:
    for site, entry in found:
        print(json.dumps(entry_with_site(site, entry)))


def told(site: str, entry: Entry) -> list[str]:
    known = entry.evidence
    lines = [
        f"{rule_id(site, entry.rule)}  {entry.status}  {site}  {entry.rule}",
        f"  {known.positive} pairs same page ({known.log_same} by logs alone, {known.contents} texts)",
        f"  {known.negative} not fetchable or different, {known.contradictions} different, {known.unknown} open",
        f"  support {known.support}, {known.fetches} fetches",
    ]
    if known.loss_bound is not None:
        wrong = round(known.loss_bound * known.merges)
        lines.append(f"  of {known.merges} URLs merged in a log at most {wrong} wrongly (95 %)")
    if known.unseen_bound is not None:
        lines.append(f"  of URLs that no log has shown at most {known.unseen_bound:.1%} (95 %)")
    if known.last_validated:
        first, last = known.first_validated or known.last_validated, known.last_validated
        lines.append(f"  validated on {last}" if first == last else f"  validated from {first} to {last}")
    if known.logs:
        lines.append(f"  logs: {', '.join(known.logs)}")
    lines += [f"  {name}: {said}" for name in ("reason", "comment") if (said := getattr(entry, name))]
    lines += [f"  example: {a} → {b}" for a, b in known.examples]
    return [printable(line) for line in lines]

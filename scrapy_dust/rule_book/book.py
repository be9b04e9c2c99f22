"""The rules on disk: JSON that a person can review, and the only thing that decides what a crawl filters.

A book is a value: every change gives another one, and `RuleBook.save` puts it in the place of the old.
Writing never loses what another process wrote meanwhile if it goes through `update`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from os import PathLike, fspath

from scrapy_dust import __version__
from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book import safe_files
from scrapy_dust.rule_book.document import Document, parse, render
from scrapy_dust.rule_book.entries import Entry, Status, rule_id
from scrapy_dust.rule_book.merging import merge_entries
from scrapy_dust.rules.canonizer import CANONIZER_VERSION
from scrapy_dust.rules.json_rules import content_of
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.site_rules import in_order


@dataclass(frozen=True, slots=True)
class RuleBook:
    """Rules of many sites with their evidence."""

    document: Document = field(default_factory=Document)

    @classmethod
    def load(cls, paths: Sequence[str], *, missing_ok: bool = True) -> RuleBook:
        """The books at *paths*, files or fsspec URIs, as one. Raises `RuleBookError`.

        If a rule stands in several books, its first entry counts, but the rule is disabled if any book says so.
        """
        together = cls()
        for path in paths:
            content = safe_files.read(path)
            if content is not None:
                together = together._joined_with(parse(path, content))
            elif not missing_ok:
                raise RuleBookError(
                    path, "there is no such file. Check the path; `scrapy dustmine` makes rule books."
                )
        return together

    @property
    def sites(self) -> tuple[str, ...]:
        """The sites of the book, in order."""
        return tuple(sorted(self.document.sites))

    def entries(self, site: str) -> tuple[Entry, ...]:
        """All entries of *site*, in the order in which a crawl applies the rules."""
        return self.document.sites.get(site, ())

    def find(self, wanted: str) -> tuple[tuple[str, Entry], ...]:
        """The site and entry of the rule with this id. Very rarely two rules share an id."""
        return tuple(
            (site, entry)
            for site in self.sites
            for entry in self.entries(site)
            if rule_id(site, entry.rule) == wanted
        )

    def rules_by_site(self) -> dict[str, tuple[Rule, ...]]:
        """The rules in force, in the order in which they are applied. Sites without such rules are left out."""
        rules = {
            site: tuple(entry.rule for entry in self.entries(site) if entry.status is Status.VALID)
            for site in self.sites
        }
        return {site: of_site for site, of_site in rules.items() if of_site}

    @property
    def version(self) -> str:
        """A hash of all that determines keys: the rules in force, and how they are applied."""
        by_site = self.rules_by_site()
        rules = {site: [content_of(rule) for rule in in_order(of_site)] for site, of_site in by_site.items()}
        content = json.dumps({"canonizer": CANONIZER_VERSION, "rules": rules}, sort_keys=True)
        return blake2b(content.encode(), digest_size=8).hexdigest()

    def with_site(self, site: str, entries: Iterable[Entry]) -> RuleBook:
        """The book with *entries*, and no others, for *site*."""
        return self._with_entries({site: tuple(entries)})

    def merge(self, site: str, entries: Iterable[Entry]) -> RuleBook:
        """The book with *entries* that a run has found (see `merging`). Refuted entries take rules out of force."""
        return self.merge_sites({site: entries})

    def merge_sites(self, found: Mapping[str, Iterable[Entry]]) -> RuleBook:
        """The book after `merge` for each of these sites."""
        return self._with_entries(
            {site: merge_entries(self.entries(site), of_site) for site, of_site in found.items()}
        )

    def _with_entries(self, changed: Mapping[str, tuple[Entry, ...]]) -> RuleBook:
        """The book with other entries for the *changed* sites; sites left without any are removed."""
        sites = {**self.document.sites, **changed}
        for site in changed:
            if not sites[site] and site not in self.document.site_extra:
                del sites[site]
        return RuleBook(replace(self.document, sites=sites))

    def with_status(self, site: str, rule: Rule, status: Status, reason: str | None = None) -> RuleBook:
        """The book with *status* for this rule."""
        return self.with_site(
            site,
            (
                replace(entry, status=status, reason=reason) if entry.rule == rule else entry
                for entry in self.entries(site)
            ),
        )

    def save(self, path: str | PathLike[str], *, patience: float = safe_files.PATIENCE) -> None:
        """Write this book to *path*. Raises `RuleBookError`."""
        with safe_files.lock(fspath(path), patience) as file:
            safe_files.replace(file, self.rendered())

    def rendered(self) -> bytes:
        """The book as the bytes of a file."""
        return render(self.document, f"scrapy-dust {__version__}")

    def _joined_with(self, other: Document) -> RuleBook:
        """The book together with *other*; where both have a rule, the entry of this book counts."""
        sites = dict(self.document.sites)
        for site, entries in other.sites.items():
            sites[site] = _joined_entries(sites.get(site, ()), entries)
        return RuleBook(
            Document(
                sites,
                {**other.extra, **self.document.extra},
                _joined_extra(self.document.site_extra, other.site_extra),
            )
        )


def update(
    path: str | PathLike[str],
    change: Callable[[RuleBook], RuleBook],
    *,
    patience: float = safe_files.PATIENCE,
) -> RuleBook:
    """Change the book at *path* by *change*, or begin one, while no other process can write it.

    Do slow work before: *change* should only put its result into the book, which may have changed meanwhile.
    """
    with safe_files.lock(fspath(path), patience) as file:
        content = safe_files.read(str(file))
        known = RuleBook() if content is None else RuleBook(parse(fspath(path), content))
        changed = change(known)
        if content is None or changed != known:
            safe_files.replace(file, changed.rendered())
    return changed


def _joined_entries(first: Sequence[Entry], second: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries *first*, then those of rules that only *second* has; a rule that *second* disables is disabled."""
    entries = {entry.rule: entry for entry in first}
    for entry in second:
        known = entries.setdefault(entry.rule, entry)
        if entry.status is Status.DISABLED and known.status is not Status.DISABLED:
            entries[entry.rule] = replace(known, status=entry.status, reason=entry.reason)
    return tuple(entries.values())


def _joined_extra(
    first: Mapping[str, Mapping[str, object]], second: Mapping[str, Mapping[str, object]]
) -> dict[str, Mapping[str, object]]:
    """By site, the unknown keys of two books; the values of *first* win."""
    return {site: {**second.get(site, {}), **first.get(site, {})} for site in {**second, **first}}

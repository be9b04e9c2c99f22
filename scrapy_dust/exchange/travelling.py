"""What comes in from another format, what goes out to one, and what cannot be said on the way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from scrapy_dust.dust.rules import ParameterRule, Rule, SubstringRule
from scrapy_dust.errors import DustError
from scrapy_dust.rule_book.entries import Entry, check_rule
from scrapy_dust.sites import site_of_host

Entries = Mapping[str, Sequence[Entry]]  #: by site, in the order to apply them

_NETLOC = re.compile(r"[\w.-]+(?::[0-9]+)?|\[[0-9a-f:.]+\](?::[0-9]+)?")

NO_SITE = "it is about all sites, and none was named; name one with --site"


class ExchangeError(DustError):
    """A file that is not what its format says."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(path, reason)

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class Unsaid(NamedTuple):
    """A rule that did not come along."""

    what: str  #: as its source writes it
    why: str


@dataclass(frozen=True, slots=True)
class Imported:
    """The rules of a file, each with its site, in the order to apply them."""

    rules: tuple[tuple[str, Rule], ...]
    unsaid: tuple[Unsaid, ...]


@dataclass(frozen=True, slots=True)
class Exported:
    """A file for another program."""

    text: str
    unsaid: tuple[Unsaid, ...]


@dataclass(slots=True)
class Collected:
    """Rules as they are found in a file. *sites*: where a rule that names no site is meant."""

    sites: Sequence[str]
    _rules: dict[tuple[str, Rule], None] = field(default_factory=dict)
    _unsaid: list[Unsaid] = field(default_factory=list)

    def take(self, site: str, rule: Rule, what: str) -> None:
        if whole_site(site) != site:
            self.leave(what, f"{site!r} is no name of a site")
            return
        try:
            check_rule(rule)
        except ValueError as error:
            self.leave(what, str(error))
        else:
            self._rules[site, rule] = None

    def take_everywhere(self, rules: Iterable[Rule], what: str) -> None:
        """*rules* are meant for all sites."""
        if not self.sites:
            self.leave(what, NO_SITE)
        for rule in rules if self.sites else ():
            for site in self.sites:
                self.take(site, rule, what)

    def leave(self, what: str, why: str) -> None:
        self._unsaid.append(Unsaid(what, why))

    def imported(self) -> Imported:
        return Imported(tuple(self._rules), tuple(self._unsaid))


def whole_site(host: str) -> str | None:
    """*host*, where it is the name of a site of ours; None where it is only one of a site's hosts."""
    name = host.strip().lower()
    try:
        return name if _NETLOC.fullmatch(name) and site_of_host(name) == name else None
    except ValueError:  # brackets that are no address
        return None


def each_rule(entries: Entries) -> Iterator[tuple[str, Entry]]:
    for site in sorted(entries):
        for entry in entries[site]:
            yield site, entry


def names_by_site(
    entries: Entries, unsaid: list[Unsaid], why_not_substring: str
) -> dict[str, list[tuple[str, Entry]]]:
    """The names of parameters to leave out, for formats that can say nothing else; what is left goes to *unsaid*."""
    names: dict[str, list[tuple[str, Entry]]] = {}
    for site, entry in each_rule(entries):
        rule = entry.rule
        if isinstance(rule, ParameterRule) and rule.value is None:
            names.setdefault(site, []).append((rule.name, entry))
        else:
            unsaid.append(Unsaid(f"{site}: {rule}", reason_of(rule, why_not_substring)))
    return names


def reason_of(rule: Rule, why_not_substring: str) -> str:
    if isinstance(rule, ParameterRule):
        return "it puts a value in the place of others, and this format can only leave parameters out"
    # Of other kinds there is nothing in these formats.
    return (
        why_not_substring if isinstance(rule, SubstringRule) else "this format has no words for such an edit"
    )

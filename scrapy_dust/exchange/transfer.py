"""The values that import and export of rules share, for all formats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from scrapy_dust.errors import DustError
from scrapy_dust.rule_book.entries import Entry
from scrapy_dust.rules.guards import Condition
from scrapy_dust.rules.json_rules import check_rule
from scrapy_dust.rules.rule import Rule
from scrapy_dust.sites import site_of_host

Entries = Mapping[str, Sequence[Entry]]  #: by site, in the order to apply them

_NETLOC = re.compile(r"[\w.-]+(?::[0-9]+)?|\[[0-9a-f:.]+\](?::[0-9]+)?")

#: To other programs nothing but & separates parameters, and none is in the path.
BY_AMPERSAND = Condition("separator", "&")

NO_SITE = "it is about all sites, and none was named; name one with --site"


class ExchangeError(DustError):
    """A file does not have the content that its format needs."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(path, reason)

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class Unsaid(NamedTuple):
    """A rule that could not be taken into a format or out of one, with the reason."""

    what: str  #: as its source writes it
    why: str


_QUERIES = "URLs with a parameter after a ;, which other programs read in another way"


@dataclass(frozen=True, slots=True)
class Imported:
    """The rules of a file, each with its site, in the order in which they are applied."""

    rules: tuple[tuple[str, Rule], ...]
    unsaid: tuple[Unsaid, ...]
    stays: tuple[str, ...] = ()  #: URLs that the program would change, and that these rules leave as they are


@dataclass(frozen=True, slots=True)
class Exported:
    """A file for another program."""

    text: str
    unsaid: tuple[Unsaid, ...]


@dataclass(slots=True)
class Collected:
    """Rules as they are found in a file. *sites*: the sites of a rule that names none."""

    sites: Sequence[str]
    _rules: dict[tuple[str, Rule], None] = field(default_factory=dict)
    _unsaid: list[Unsaid] = field(default_factory=list)
    _stays: list[str] = field(default_factory=list)

    def take(self, site: str, rule: Rule, what: str) -> None:
        """Add *rule* for *site*. If the rule cannot be applied, *what*, its text in the file, is noted as left out."""
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
        """Add *rules* for each of the sites. *what*: their text in the file."""
        if not self.sites:
            self.leave(what, NO_SITE)
        for rule in rules if self.sites else ():
            for site in self.sites:
                self.take(site, rule, what)

    def leave(self, what: str, why: str) -> None:
        """Note that *what* is left out, and *why*."""
        self._unsaid.append(Unsaid(what, why))

    def leave_queries(self, *more: str) -> None:
        """Note which queries stay as they are although the other program would leave parameters out of them."""
        if any(BY_AMPERSAND in rule.guard for _, rule in self._rules):
            self._stays += [_QUERIES, *more]

    def imported(self) -> Imported:
        """All that was collected."""
        return Imported(tuple(self._rules), tuple(self._unsaid), tuple(self._stays))


def whole_site(host: str) -> str | None:
    """*host* if it names a whole site; None if it is only one of a site's hosts."""
    name = host.strip().lower()
    try:
        return name if _NETLOC.fullmatch(name) and site_of_host(name) == name else None
    except ValueError:  # brackets that are no address
        return None


def each_rule(entries: Entries) -> Iterator[tuple[str, Entry]]:
    """Each rule with its site, sites in order."""
    for site in sorted(entries):
        for entry in entries[site]:
            yield site, entry


def names_by_site(
    entries: Entries, unsaid: list[Unsaid], why_not_substring: str
) -> dict[str, list[tuple[str, Entry]]]:
    """The parameters to leave out, each with its entry, by site, for formats that can say nothing else. Other rules go
    to *unsaid*.
    """
    names: dict[str, list[tuple[str, Entry]]] = {}
    for site, entry in each_rule(entries):
        name = name_left_out(entry.rule)
        if name is not None:
            names.setdefault(site, []).append((name, entry))
        else:
            unsaid.append(Unsaid(f"{site}: {entry.rule}", reason_of(entry.rule, why_not_substring)))
    return names


def name_left_out(rule: Rule) -> str | None:
    """The parameter that *rule* leaves out of all URLs of its site; None for any other rule."""
    return rule.unguarded.dropped_parameter if rule.guard in ((), (BY_AMPERSAND,)) else None


def reason_of(rule: Rule, why_not_substring: str) -> str:
    """Why a format that can only leave parameters out cannot express *rule*."""
    if rule.fixed_value_operation is not None:
        return "it puts a value in the place of others, and this format can only leave parameters out"
    # Of other kinds there is nothing in these formats.
    return "this format has no words for such a rule" if rule.substitution is None else why_not_substring

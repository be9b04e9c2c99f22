"""Advice for the owner of a site: how to have crawlers ask for each page once, and the requests that this
saves.

Three things: ``Clean-param`` in robots.txt, for parameters; a canonical link in the page, for whatever else is said in
one URL; and a redirect, where a host or a path has two names. A redirect is advised only where the URLs that a rule
leads to have answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from scrapy_dust.exchange.transfer import name_left_out
from scrapy_dust.rule_book.entries import Entry
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.rule import Rule


class Remedy(StrEnum):
    """The three remedies that an owner can use."""

    CLEAN_PARAM = "clean-param"
    CANONICAL = "canonical link"
    REDIRECT = "redirect"


@dataclass(frozen=True, slots=True)
class Advice:
    """One piece of advice: a rule, and a remedy for it."""

    site: str
    remedy: Remedy
    rule: str
    name: str | None  #: of the parameter to leave out
    spares: int  #: requests of the log, or URLs of the log that taught the rule where there is no other
    example: tuple[str, str] | None = None


def advice_of(site: str, entries: Iterable[Entry], spared: Mapping[Rule, int] | None = None) -> list[Advice]:
    """Advice about the rules in force, the advice that saves most requests first. *spared*: see `spared_by`."""
    found = []
    for entry in entries:
        spares = entry.evidence.merges if spared is None else spared.get(entry.rule, 0)
        remedy = _remedy_for(entry)
        example = entry.evidence.examples[0] if entry.evidence.examples else None
        name = name_left_out(entry.rule)
        found.append(Advice(site, remedy, str(entry.rule), name, spares, example))
    return sorted(found, key=lambda one: (-one.spares, one.rule))


def _remedy_for(entry: Entry) -> Remedy:
    """The remedy that suits the rule of *entry*, the simplest one first."""
    rule = entry.rule
    if name_left_out(rule) is not None:
        return Remedy.CLEAN_PARAM
    if rule.leads_to_urls and not entry.evidence.unanswered and not _changes_only_the_query(entry):
        return Remedy.REDIRECT
    return Remedy.CANONICAL


def _changes_only_the_query(entry: Entry) -> bool:
    """Whether the rule of *entry* changes the query alone. A query may matter to people, such as those logged in."""
    text = entry.rule.substitution
    if entry.rule.fixed_value_operation is not None or (text is not None and "=" in text.alpha + text.beta):
        return True
    examples = entry.evidence.examples
    return bool(examples) and all(a.partition("?")[0] == b.partition("?")[0] for a, b in examples)


@dataclass(frozen=True, slots=True)
class Spared:
    """How many requests of a log asked for a page under another URL than the one that most requests asked for."""

    requests: int
    in_vain: int
    by_rule: Mapping[str, Mapping[Rule, int]]  #: by site; a request that several rules spare counts for each


def spared_by(urls: Iterable[str], canonizer: Canonizer, site_of: Callable[[str], str | None]) -> Spared:
    """Count the requests that rules would save. Of the URLs with one key, the one that most requests ask for stays."""
    requests = Counter(urls)
    classes: dict[str, list[str]] = {}
    for url in requests:
        classes.setdefault(canonizer.canonize(url), []).append(url)
    by_rule: dict[str, Counter[Rule]] = {}
    in_vain = 0
    for members in classes.values():
        keeper = max(members, key=lambda url: requests[url])
        for url in members:
            if url == keeper:
                continue
            in_vain += requests[url]
            # The URL that is its own key is spared because the other one has become it.
            rules = {step.rule for step in canonizer.explain(url) or canonizer.explain(keeper)}
            by_rule.setdefault(site_of(url) or "", Counter()).update(dict.fromkeys(rules, requests[url]))
    return Spared(requests.total(), in_vain, by_rule)

"""What the owner of a site can do, so that crawlers ask for each page once, and the requests that it would spare.

Three things: ``Clean-param`` in robots.txt, for parameters; a canonical link in the page, for whatever else is said in
one URL; and a redirect, where a host or a path has two names. A redirect is advised only where the URLs that a rule
leads to have answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from scrapy_dust.dust.canonization import Canonizer
from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.rules import ParameterRule, Rule, SubstringRule
from scrapy_dust.rule_book.entries import Entry


class Remedy(StrEnum):
    CLEAN_PARAM = "clean-param"
    CANONICAL = "canonical link"
    REDIRECT = "redirect"


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing to do."""

    site: str
    remedy: Remedy
    rule: str
    name: str | None  #: of the parameter to leave out
    spares: int  #: requests of the log, or URLs of the log that taught the rule where there is no other
    example: tuple[str, str] | None = None


def advice_of(site: str, entries: Iterable[Entry], spared: Mapping[Rule, int] | None = None) -> list[Advice]:
    """For the rules in force, what spares most first. *spared*: counted on a log of requests (`spared_by`)."""
    found = []
    for entry in entries:
        spares = entry.evidence.merges if spared is None else spared.get(entry.rule, 0)
        remedy = _remedy(entry)
        example = entry.evidence.examples[0] if entry.evidence.examples else None
        name = entry.rule.name if isinstance(entry.rule, ParameterRule) else None
        found.append(Advice(site, remedy, str(entry.rule), name, spares, example))
    return sorted(found, key=lambda one: (-one.spares, one.rule))


def _remedy(entry: Entry) -> Remedy:
    rule = entry.rule
    if isinstance(rule, ParameterRule) and rule.value is None:
        return Remedy.CLEAN_PARAM
    leads_to_urls = rule.leads_to_urls if isinstance(rule, Edit) else True
    is_path = isinstance(rule, SubstringRule) and "=" not in rule.alpha + rule.beta
    if (is_path or isinstance(rule, Edit)) and leads_to_urls and not entry.evidence.unanswered:
        return Remedy.REDIRECT
    return Remedy.CANONICAL


@dataclass(frozen=True, slots=True)
class Spared:
    """Of the requests of a log, those that asked for a page under another URL than most did."""

    requests: int
    in_vain: int
    by_rule: Mapping[str, Mapping[Rule, int]]  #: by site; a request that several rules spare counts for each


def spared_by(urls: Iterable[str], canonizer: Canonizer, site_of: Callable[[str], str | None]) -> Spared:
    """Of each class the URL that was asked for most often is the one that stays."""
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

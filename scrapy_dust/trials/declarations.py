"""Declarations of a site about its own parameters: ``Clean-param`` in robots.txt, ``No-Vary-Search`` in answers.

Such a declaration is a reason to try a rule, no evidence for the rule, and concerns the host that makes it. No fetch
is made to read declarations: they come from the crawl's log and from the answers of validation.
"""

from __future__ import annotations

from collections.abc import Iterator

from scrapy_dust.exchange import clean_param, no_vary_search
from scrapy_dust.exchange.transfer import BY_AMPERSAND, Imported
from scrapy_dust.rules.guards import Condition
from scrapy_dust.rules.rule import Rule
from scrapy_dust.sites import site_of
from scrapy_dust.url.parts import parts_of
from scrapy_dust.visits.pages import SiteLog

#: Rules that a site may suggest.
MOST = 50
_LONGEST = 100_000  #: characters of a robots.txt that are read


def by_log(log: SiteLog) -> list[Rule]:
    """The rules that the site's answers declared while *log* was made, in ``No-Vary-Search`` headers."""
    return list(dict.fromkeys(edit for said, url in log.declared for edit in by_header(said, url)))[:MOST]


def by_robots(text: str, url: str) -> list[Rule]:
    """The rules that the robots.txt with this *text* at *url* declares."""
    site = site_of(url)
    return [] if site is None else list(_rules_for_host(clean_param.read(text[:_LONGEST], (site,)), url))


def by_header(value: str, url: str) -> list[Rule]:
    """The rules that the *value* of a ``No-Vary-Search`` header declares. *url*: of the answer with the header."""
    site = site_of(url)
    line = " ".join(value.split())
    return [] if site is None or not line else list(_rules_for_host(no_vary_search.read(line, (site,)), url))


def _rules_for_host(said: Imported, url: str) -> Iterator[Rule]:
    """The rules in *said* about the site of *url*, narrowed to the host of *url*, which made the declaration."""
    here = Condition("host", parts_of(url).host)
    for site, rule in said.rules:
        if site == site_of(url):
            # On trial, it is the rule that the log would propose.
            guard = tuple(one for one in rule.guard if one != BY_AMPERSAND)
            yield Rule(rule.operations, guard).under_guard((here,))

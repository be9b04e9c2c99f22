"""What a site says of its own parameters, met on the way: ``Clean-param`` in robots.txt, ``No-Vary-Search`` in answers.

It is a reason to try a rule and no evidence for it, and it is about the host that says it. Nothing is asked for to read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from scrapy_dust.dust.edits.anatomy import anatomy_of
from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.edits.guards import Condition
from scrapy_dust.dust.edits.queries import DropParameter
from scrapy_dust.dust.rules import ParameterRule, Rule
from scrapy_dust.exchange import clean_param, no_vary_search
from scrapy_dust.exchange.travelling import Imported
from scrapy_dust.sites import site_of

_LONGEST = 100_000  #: characters of a robots.txt that are read


def by_robots(text: str, url: str) -> list[Edit]:
    """*url*: of the robots.txt."""
    site = site_of(url)
    return [] if site is None else list(_of_host(clean_param.read(text[:_LONGEST], (site,)), url))


def by_header(value: str, url: str) -> list[Edit]:
    """*url*: of the answer that has the header."""
    site = site_of(url)
    line = " ".join(value.split())
    return [] if site is None or not line else list(_of_host(no_vary_search.read(line, (site,)), url))


def _of_host(said: Imported, url: str) -> Iterator[Edit]:
    here = Condition("host", anatomy_of(url).host)
    for site, rule in said.rules:
        edit = _as_edit(rule)
        if edit is not None and site == site_of(url):
            yield replace(edit, guard=tuple(sorted({*edit.guard, here}, key=str)))


def _as_edit(rule: Rule) -> Edit | None:
    if isinstance(rule, ParameterRule) and rule.value is None:
        return Edit((DropParameter(rule.name),))
    return rule if isinstance(rule, Edit) else None

"""Finds the rules for which a pair of URLs is evidence: the rules without which both would have different keys.

URLs with one key are a class; its keeper is the URL that is fetched for all.
"""

from __future__ import annotations

from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.rule import Rule


def rules_at_work(canonizer: Canonizer, url: str, keeper: str) -> tuple[Rule, ...]:
    """The rules that change *url* or *keeper* on the way to the key that both share, each once."""
    steps = (*canonizer.explain(url), *canonizer.explain(keeper))
    return tuple(dict.fromkeys(step.rule for step in steps))


def decisive_rules(canonizer: Canonizer, site: str, url: str, keeper: str) -> tuple[Rule, ...]:
    """The rules that give both URLs one key and that no other rule could replace; if each can be replaced, all of them.
    Empty if the two URLs have different keys.
    """
    if canonizer.canonize(url) != canonizer.canonize(keeper):
        return ()
    working = rules_at_work(canonizer, url, keeper)
    needed = []
    for rule in working:
        others = canonizer.with_only(site, {one for one in working if one != rule})
        if others.canonize(url) != others.canonize(keeper):
            needed.append(rule)
    return tuple(needed) or working

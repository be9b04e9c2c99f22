"""Where a rule was seen to hold: in which parts of a site, by path template.

A crawl walks through a site part by part, so that what was seen of a rule says little of a part that is new. There
the first URLs that it would suppress are fetched all the same, as canaries, until so many were looked at as make a
rule; unless it was seen to hold in so many parts that the next one is very probably like them. Rules that differ in
numbers, ids and guards alone show themselves for each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from scrapy_dust.dust.canonization import Canonizer
from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.rules import Rule
from scrapy_dust.dust.strata import template_of
from scrapy_dust.online.extent import ANY_VALUE, ONE_VALUE
from scrapy_dust.online.traps import form_of, kind_of

#: By what a rule does, the parts of the site in which that was seen to hold, and how many contents bore it out
#: there, up to `ONE_VALUE`.
Held = Mapping[str, Mapping[str, int]]

#: Parts that are remembered of a site for each rule; of others every URL is new.
_PARTS = 2000


class Ground:
    """Of one site."""

    def __init__(self) -> None:
        self._held: Held = {}
        self._sent: dict[str, Counter[str]] = {}
        self._looked_at = Counter[str]()  #: parts of which enough was sent, by what rules do

    def learned(self, held: Held) -> None:
        self._held = held
        for deed, sent in self._sent.items():
            known = held.get(deed, {})
            self._looked_at[deed] = sum(n >= ONE_VALUE and part not in known for part, n in sent.items())

    def is_new(self, url: str, rules: Iterable[Rule]) -> bool:
        """Whether *url*, which *rules* would suppress, is fetched all the same; then it is counted as looked at."""
        part = part_of(url)
        new = [deed for deed in dict.fromkeys(map(deed_of, rules)) if self._is_new(deed, part)]
        for deed in new:
            sent = self._sent.setdefault(deed, Counter())
            if part in sent or len(sent) < _PARTS:
                sent[part] += 1
                if sent[part] == ONE_VALUE and part not in self._held.get(deed, {}):
                    self._looked_at[deed] += 1
        return bool(new)

    def _is_new(self, deed: str, part: str) -> bool:
        held: Mapping[str, int] = self._held.get(deed, {})
        sent = self._sent.get(deed)
        # What was sent has still to be judged; if it shows another page, the rule is out of force at once.
        if len(held) + (0 if sent is None else self._looked_at[deed]) >= ANY_VALUE:
            return False
        return max(held.get(part, 0), 0 if sent is None else sent[part]) < ONE_VALUE


@lru_cache(maxsize=4096)
def deed_of(rule: Rule) -> str:
    """What *rule* does, whatever the numbers and ids, and wherever it does it."""
    return kind_of(str(replace(rule, guard=()) if isinstance(rule, Edit) else rule))


def part_of(url: str) -> str:
    """Of a site: what *url* has in common with others of its kind, ids and numbers apart."""
    return template_of(form_of(url))


def held_by(contents: Mapping[str, str], canonizer: Canonizer) -> Held:
    """Where the rules of *canonizer* were seen to hold, by what each URL shows."""
    groups: dict[str, list[str]] = {}
    for url in contents:
        groups.setdefault(canonizer.canonize(url), []).append(url)
    found: dict[str, dict[str, set[str]]] = {}
    for urls in groups.values():
        if len(urls) > 1 and len({contents[url] for url in urls}) == 1:
            _count(urls, contents[urls[0]], canonizer, found)
    return {rule: {part: len(shown) for part, shown in parts.items()} for rule, parts in found.items()}


def _count(
    urls: Iterable[str], content: str, canonizer: Canonizer, found: dict[str, dict[str, set[str]]]
) -> None:
    for url in urls:
        for step in canonizer.explain(url):
            shown = found.setdefault(deed_of(step.rule), {}).setdefault(part_of(url), set())
            if len(shown) < ONE_VALUE:
                shown.add(content)

"""Finds where an edit holds if it does not hold everywhere: guards from a decision tree.

As in Koppula et al. (WSDM 2010), but for one edit at a time, and only while the evidence is mixed. The evidence of a
leaf is weighed against how often the edit holds in the node above, and against the number of conditions that were
tried: among many, one looks good by accident.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import log
from typing import NamedTuple

from scrapy_dust.propose.edits.classes import Effect, Merge
from scrapy_dust.rules.guards import Condition, Guard, attributes, holds
from scrapy_dust.url.parts import Parts, parts_of

_DEPTH = 3  #: conditions of a guard
_LEAST = 2  #: contents in a leaf
_LONE_CONDITIONS = 5


@dataclass(frozen=True, slots=True)
class Leaf:
    """A guard under which an edit has merged no two contents."""

    guard: Guard
    slab: tuple[float, float]  #: how often it holds around the leaf
    tries: int


class _Row(NamedTuple):
    """One merge of an edit, as a row of the decision tree's data."""

    contents: frozenset[Hashable]  #: that a merge makes one
    is_good: bool  #: whether they are equal
    conditions: frozenset[int]  #: that all of the moved URLs fulfil


class Truths:
    """The conditions that are true of URLs. Each condition has a number, by which it is compared and counted."""

    def __init__(self) -> None:
        self.conditions: list[Condition] = []  #: by number
        self._numbers: dict[Condition, int] = {}
        self._by_url: dict[str, frozenset[int]] = {}

    def about(self, url: str) -> frozenset[int]:
        """The numbers of the conditions that are true of *url*."""
        found = self._by_url.get(url)
        if found is None:
            found = self._by_url[url] = frozenset([self._number(one) for one in _conditions(parts_of(url))])
        return found

    def about_all(self, urls: Iterable[str]) -> frozenset[int]:
        """The numbers of the conditions that are true of each of *urls*."""
        first, *others = map(self.about, urls)
        return first.intersection(*others)

    def _number(self, condition: Condition) -> int:
        """The number of *condition*, a new one for one that was not seen before."""
        number = self._numbers.setdefault(condition, len(self.conditions))
        if number == len(self.conditions):
            self.conditions.append(condition)
        return number


def leaves(effect: Effect, truths: Truths) -> list[Leaf]:
    """The guards that a decision tree over the merges of *effect* finds. Findings about URLs are added to *truths*."""
    rows = [
        _Row(merge.contents, merge.is_good, truths.about_all(merge.moved[:8]))
        for merge in (*effect.good, *effect.bad)
    ]
    return list(_leaves_below(rows, (), 1, truths))


def _conditions(url: Parts) -> Iterator[Condition]:
    """The conditions that are true of *url*."""
    for name, value in attributes(url).items():
        yield Condition(name, value)
        if name[0] == "?" and name[-1] != ":":
            yield Condition(name)


def _leaves_below(rows: Sequence[_Row], guard: Guard, tries: int, truths: Truths) -> Iterator[Leaf]:
    """The leaves of the tree below a node that has these *rows* and this *guard*. *tries*: how many conditions were
    tried so far.
    """
    good = sum(row.is_good for row in rows)
    bad = len(rows) - good
    if len(guard) >= _DEPTH or not good or not bad:
        return
    in_all = Counter(chain.from_iterable([row.conditions for row in rows]))
    in_good = Counter(chain.from_iterable([row.conditions for row in rows if row.is_good]))
    useful = {
        one: (in_good[one], count - in_good[one]) for one, count in in_all.items() if 1 < count < len(rows)
    }
    if not useful:
        return
    gains = {counted: _information_gain(good, bad, *counted) for counted in set(useful.values())}
    most = max(gains.values())
    if most < _MIN_GAIN:
        return
    best = min(
        (one for one, counted in useful.items() if gains[counted] == most),
        key=lambda one: str(truths.conditions[one]),
    )
    slab = (good + 1.0, bad + 1.0)
    more = tries * max(1, len(useful))
    inside = [row for row in rows if best in row.conditions]
    outside = [row for row in rows if best not in row.conditions]
    condition = truths.conditions[best]
    for side, holding in ((inside, True), (outside, False)):
        narrower = (*guard, condition._replace(holds=holding))
        if all(row.is_good for row in side):
            contents = {content for row in side for content in row.contents}
            if len(contents) >= _LEAST:
                yield Leaf(narrower, slab, more)
        else:
            yield from _leaves_below(side, narrower, more, truths)


#: Nats of information that a condition must give.
_MIN_GAIN = 2.0


def _information_gain(good: int, bad: int, inside_good: int, inside_bad: int) -> float:
    return (
        _entropy(good, bad)
        - _entropy(inside_good, inside_bad)
        - _entropy(good - inside_good, bad - inside_bad)
    )


def _entropy(good: int, bad: int) -> float:
    total = good + bad
    return -sum(n * log(n / total) for n in (good, bad) if n)


def places_of(effect: Effect) -> list[Guard]:
    """The parts of the site in which the edit has merged pages: hosts, and the first segments of their paths."""
    return list(dict.fromkeys(_part_of(parts_of(merge.moved[0])) for merge in effect.good))


def _part_of(url: Parts) -> Guard:
    """The part of a site that *url* is in: its host with the first segment, or with the depth of a short path."""
    host = Condition("host", url.host)
    return (
        (host, Condition("/1", url.path[1]))
        if len(url.path) > 2
        else (host, Condition("depth", str(len(url.path) - 1)))
    )


def lone_guards(effect: Effect, many: int, forms: Mapping[str, Parts], truths: Truths) -> Iterator[Guard]:
    """Guards for an edit that only many URLs of one content suggest: the shape of their paths, and exclusions.

    Such an edit may hold there and nowhere else. *forms*: the parts of all URLs.
    """
    bad = [url for one in effect.bad for url in one.moved]
    for merge in effect.good:
        if merge.members >= many:
            for urls in _urls_by_shape(merge, forms):
                guard = _lone_guard(urls, bad, forms, truths) if len(urls) >= many - 1 else None
                if guard is not None:
                    yield guard


def _urls_by_shape(merge: Merge, forms: Mapping[str, Parts]) -> list[list[str]]:
    """The URLs that *merge* moves to another key, in groups whose URLs one path shape can describe."""
    alike: dict[object, list[str]] = {}
    for url in merge.moved:
        form = forms[url]
        if form.host is not None:
            alike.setdefault((form.host, len(form.path), form.path[1:2]), []).append(url)
    return list(alike.values())


def _lone_guard(
    urls: Sequence[str], bad: Sequence[str], forms: Mapping[str, Parts], truths: Truths
) -> Guard | None:
    """A guard for *urls*, which have one path shape, that excludes the URLs *bad*; None if there is none."""
    columns = zip(*(forms[url].path for url in urls), strict=True)
    shape = tuple(column[0] if len(set(column)) == 1 else "*" for column in columns)
    if not any(segment not in ("", "*") for segment in shape):
        return None
    guard: Guard = (Condition("host", forms[urls[0]].host), Condition("shape", "/".join(shape)))
    against = [truths.about(url) for url in bad if holds(guard, forms[url])]
    common = {truths.conditions[one]: one for one in truths.about_all(urls)}
    left = sorted((one for one in common if one.name not in ("host", "path", "depth")), key=str)
    while against and left and len(guard) < _LONE_CONDITIONS:
        counts = Counter(chain.from_iterable(against))
        best = min(left, key=lambda one: counts[common[one]])
        if counts[common[best]] == len(against):
            return None
        guard = (*guard, best)
        left.remove(best)
        against = [true for true in against if common[best] in true]
    return None if against else guard

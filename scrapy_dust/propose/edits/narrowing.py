"""Finds where an edit holds if it does not hold everywhere: guards from a decision tree.

As in Koppula et al. (WSDM 2010), but for one edit at a time, and only while the evidence is mixed. The evidence of a
leaf is weighed against how often the edit holds in the node above, and against the number of conditions that were
tried: among many, one looks good by accident.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import log

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


@dataclass(frozen=True, slots=True)
class _Row:
    merge: Merge
    conditions: frozenset[Condition]  #: that all of the moved URLs fulfil


#: What is true of URLs, by URL.
Truths = dict[str, frozenset[Condition]]


def leaves(effect: Effect, known: Truths) -> list[Leaf]:
    """The guards that a decision tree over the merges of *effect* finds. *known*: findings about URLs, to which new ones are added."""
    rows = [_row_of_merge(merge, known) for merge in (*effect.good, *effect.bad)]
    return list(_leaves_below(rows, (), 1))


def _row_of_merge(merge: Merge, known: Truths) -> _Row:
    common: frozenset[Condition] | None = None
    for key in merge.moved[:8]:
        found = known.get(key)
        if found is None:
            found = known[key] = frozenset(_conditions(parts_of(key)))
        common = found if common is None else common & found
    return _Row(merge, common or frozenset())


def _conditions(url: Parts) -> Iterator[Condition]:
    for name, value in attributes(url).items():
        yield Condition(name, value)
        if name[0] == "?" and name[-1] != ":":
            yield Condition(name)


def _leaves_below(rows: Sequence[_Row], guard: Guard, tries: int) -> Iterator[Leaf]:
    good = sum(row.merge.is_good for row in rows)
    bad = len(rows) - good
    if len(guard) >= _DEPTH or not good or not bad:
        return
    of_good = Counter(chain.from_iterable(row.conditions for row in rows if row.merge.is_good))
    of_bad = Counter(chain.from_iterable(row.conditions for row in rows if row.merge.is_bad))
    counts = ((one, (of_good[one], of_bad[one])) for one in of_good | of_bad)
    useful = {one: (g, b) for one, (g, b) in counts if 1 < g + b < len(rows)}
    if not useful:
        return
    gains = {counted: _information_gain(good, bad, *counted) for counted in set(useful.values())}
    most = max(gains.values())
    if most < _MIN_GAIN:
        return
    best = min((one for one, counted in useful.items() if gains[counted] == most), key=str)
    slab = (good + 1.0, bad + 1.0)
    more = tries * max(1, len(useful))
    inside = [row for row in rows if best in row.conditions]
    outside = [row for row in rows if best not in row.conditions]
    against = Condition(best.name, best.value, holds=False)
    for side, condition in ((inside, best), (outside, against)):
        narrower = (*guard, condition)
        if all(row.merge.is_good for row in side):
            contents = {content for row in side for content in row.merge.contents}
            if len(contents) >= _LEAST:
                yield Leaf(narrower, slab, more)
        else:
            yield from _leaves_below(side, narrower, more)


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
    host = Condition("host", url.host)
    return (
        (host, Condition("/1", url.path[1]))
        if len(url.path) > 2
        else (host, Condition("depth", str(len(url.path) - 1)))
    )


def lone_guards(effect: Effect, many: int) -> Iterator[Guard]:
    """Guards for an edit that only many URLs of one content suggest: the shape of their paths, and exclusions.

    Such an edit may hold there and nowhere else.
    """
    for merge in effect.good:
        if merge.members >= many:
            for forms in _urls_by_shape(merge):
                guard = _lone_guard(forms, effect.bad) if len(forms) >= many - 1 else None
                if guard is not None:
                    yield guard


def _urls_by_shape(merge: Merge) -> list[list[Parts]]:
    """The URLs that *merge* moves to another key, in groups whose URLs one path shape can describe."""
    alike: dict[object, list[Parts]] = {}
    for form in map(parts_of, merge.moved):
        if form.host is not None:
            alike.setdefault((form.host, len(form.path), form.path[1:2]), []).append(form)
    return list(alike.values())


def _lone_guard(forms: Sequence[Parts], bad: Sequence[Merge]) -> Guard | None:
    columns = zip(*(form.path for form in forms), strict=True)
    shape = tuple(column[0] if len(set(column)) == 1 else "*" for column in columns)
    if not any(segment not in ("", "*") for segment in shape):
        return None
    guard: Guard = (Condition("host", forms[0].host), Condition("shape", "/".join(shape)))
    against = [form for one in bad for form in map(parts_of, one.moved) if holds(guard, form)]
    common = _common_conditions(forms)
    while against and len(guard) < _LONE_CONDITIONS:
        left = {one: sum(one.accepts(form) for form in against) for one in common if one not in guard}
        if not left:
            return None
        best = min(sorted(left, key=str), key=left.__getitem__)
        if left[best] == len(against):
            return None
        guard = (*guard, best)
        against = [form for form in against if best.accepts(form)]
    return None if against else guard


def _common_conditions(forms: Sequence[Parts]) -> set[Condition]:
    common: set[Condition] | None = None
    for form in forms:
        found = set(_conditions(form))
        common = found if common is None else common & found
    return {one for one in common or () if one.name not in ("host", "path", "depth")}

"""Phase 3: finds parameters whose value does not matter.

Thesis §5.3: for each parameter of the site, look at the URLs that differ in its value alone (the buckets whose prefix
ends with its name); if their pages are likely similar, two rules are worth validating: leave the parameter out, or
put one fixed value in its place. Session ids and sort orders are found here, since their buckets overflow in phase 1.

Deviations, where the thesis says only that its presentation is omitted:

- ``;`` parameters count too, in paths and in query strings;
- a bucket is compared along a line, neighbour with neighbour, so that one of n values costs n;
- the pairs (URL with the parameter, the same without it) count with them;
- a parameter is a candidate when MS pairs are likely similar, and no fewer than are not;
- the fixed value is the most frequent one.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from scrapy_dust.propose.dustbuster.likely_rules import LikelyParameter
from scrapy_dust.propose.dustbuster.sketches import Likeness
from scrapy_dust.rules.parameters import DropParameter, SetParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.url.parts import parts_of
from scrapy_dust.visits.pages import Page

Pair = tuple[int, int]


class Place(NamedTuple):
    """The position of a ``name=value`` in a URL."""

    name: str
    begin: int  #: where the name begins
    value_begin: int
    end: int  #: where the value ends


_PATH_PARAMETER = re.compile(r"(?<=;)([^;=/?#&]+)=([^;/?#&]*)")


def parameters(url: str) -> Iterator[Place]:
    """The parameters of *url* that have a name and a value, from left to right."""
    if "=" not in url:
        return
    path = url.partition("#")[0].partition("?")[0]
    for match in _PATH_PARAMETER.finditer(path) if ";" in path else ():
        yield Place(match[1], match.start(1), match.start(2), match.end(2))
    begin = len(path) + 1
    for name, value, _ in parts_of(url).query or ():
        end = begin + len(name)
        if value is not None:
            end += 1 + len(value)
            if name:
                yield Place(name, begin, end - len(value), end)
        begin = end + 1


def detect_likely_parameters(
    pages: Sequence[Page], likeness: Likeness, min_support: int
) -> list[LikelyParameter]:
    """The parameters of a site whose value likely does not matter, by descending support, then name."""
    values, pairs = _pairs_by_name(pages)
    found = []
    for name, of_name in pairs.items():
        a, b = np.array(sorted(of_name), dtype=np.int64).T
        support = int(likeness.likely(a, b).sum())
        if support >= min_support and 2 * support >= len(of_name):
            default = min(values[name], key=lambda value: (-values[name][value], value))
            rules = (Rule.of(DropParameter(name)), Rule.of(SetParameter(name, default)))
            found.append(LikelyParameter(rules=rules, support=support))
    return sorted(found, key=lambda one: (-one.support, one.rules[0].dropped_parameter or ""))


def _pairs_by_name(pages: Sequence[Page]) -> tuple[dict[str, Counter[str]], dict[str, set[Pair]]]:
    """For each parameter: how often each value occurs, and the pairs of pages that differ in this parameter alone."""
    number = {page.url: i for i, page in enumerate(pages)}
    values: dict[str, Counter[str]] = defaultdict(Counter)
    buckets: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    pairs: dict[str, set[Pair]] = defaultdict(set)
    dropping: dict[str, DropParameter] = {}
    for i, page in enumerate(pages):
        url, names = page.url, set[str]()
        for name, begin, value_begin, end in parameters(url):
            names.add(name)
            if name not in dropping:
                dropping[name] = DropParameter(name)
            values[name][url[value_begin:end]] += 1
            buckets[name, url[:begin], url[end:]].append(i)
        for name in names:
            j = number.get(dropping[name].in_text(url))
            if j is not None:
                pairs[name].add((min(i, j), max(i, j)))
    for (name, _, _), members in buckets.items():
        pairs[name].update(itertools.pairwise(members))
    return values, {name: some for name, some in pairs.items() if some}

"""Phase 3: parameters whose value does not matter.

Thesis §5.3: for each parameter the site uses, look at the URLs that differ in its value alone (the buckets
whose prefix ends with its name); where their pages are likely similar, two rules are worth validating: leave
the parameter out, or put one fixed value in its place. Session ids and sort orders are found here, since
their buckets overflow in phase 1.

Deviations, where the thesis says only that its presentation is omitted:

- ``;`` parameters count too, in paths and in query strings;
- a bucket is compared along a line, neighbour with neighbour, so that one of n values costs n;
- the pairs (URL with the parameter, the same without it) count with them;
- a parameter is a candidate when MS pairs are likely similar, and no fewer than are not;
- the fixed value is the most frequent one.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from scrapy_dust.dust.pages import Page
from scrapy_dust.dust.rules import LikelyParameter, Parameter, ParameterRule, parameters, without
from scrapy_dust.dust.sketches import Likeness

Pair = tuple[int, int]


def detect_likely_parameters(
    pages: Sequence[Page], likeness: Likeness, min_support: int
) -> list[LikelyParameter]:
    """The candidates, by descending support, then name."""
    values, pairs = _pairs_by_name(pages)
    found = []
    for name, of_name in pairs.items():
        a, b = np.array(sorted(of_name), dtype=np.int64).T
        support = int(likeness.likely(a, b).sum())
        if support >= min_support and 2 * support >= len(of_name):
            default = min(values[name], key=lambda value: (-values[name][value], value))
            rules = (ParameterRule(name), ParameterRule(name, default))
            found.append(LikelyParameter(rules=rules, support=support))
    return sorted(found, key=lambda one: (-one.support, one.rules[0].name))


def _pairs_by_name(pages: Sequence[Page]) -> tuple[dict[str, Counter[str]], dict[str, set[Pair]]]:
    """Per parameter: how often each value occurs, and the pairs of pages that it alone tells apart."""
    number = {page.url: i for i, page in enumerate(pages)}
    values: dict[str, Counter[str]] = defaultdict(Counter)
    buckets: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    pairs: dict[str, set[Pair]] = defaultdict(set)
    for i, page in enumerate(pages):
        url, of_name = page.url, defaultdict[str, list[Parameter]](list)
        for parameter in parameters(url):
            name = parameter.name
            of_name[name].append(parameter)
            values[name][url[parameter.value_begin : parameter.end]] += 1
            buckets[name, url[: parameter.begin], url[parameter.end :]].append(i)
        for name, places in of_name.items():
            j = number.get(without(url, places))
            if j is not None:
                pairs[name].add((min(i, j), max(i, j)))
    for (name, _, _), members in buckets.items():
        pairs[name].update(itertools.pairwise(members))
    return values, {name: some for name, some in pairs.items() if some}

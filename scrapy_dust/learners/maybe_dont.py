"""MaybeDont (TeamHG-Memex, 2016, read in its code): six hypotheses about paths and parameters.

It asks of each URL, before it is fetched: is a page likely its duplicate that was fetched before, (1) under
the same path, (2) with another value of one parameter or without it, (3) the same for this path, (4) and for
this rest of the query, (5) without one ``name=value``, (6) the same for this path? Each hypothesis has counts
of duplicates and others among the pages seen; it is believed when the lower 95 % bound of its share exceeds
.98, from five pairs_by_hypothesis on. Pages are compared within a path only.

Here it learns from the training log and stands still then, and URLs that it would not fetch beside one
another have one key. What differs: duplicates are told by sketch and title, not by its 128 min-hashes without
the site's frequent shingles; one of twenty duplicates, which it fetches to go on learning, is not fetched;
a key leaves out all parameters that are believed, while it looks at one at a time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from scrapy_dust.learners.clusters import clusters_of
from scrapy_dust.learners.interface import Learned, key_unchanged
from scrapy_dust.learners.url_components import parameters_of, parts_of, query_of
from scrapy_dust.visits.pages import SiteLog

Query = tuple[tuple[str, str | None], ...]  #: sorted
Hypothesis = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class MaybeDont:
    """MaybeDont as a learner, with its parameters."""

    believed: float = 0.98
    least: int = 5  #: pairs_by_hypothesis
    name: str = "maybedont"

    def learn(self, site: str, log: SiteLog) -> Learned:
        """Count in *log* how often each hypothesis holds, and believe those that nearly always do."""
        by_path: dict[str, list[tuple[Query, Hashable]]] = defaultdict(list)
        for url, content in clusters_of(log).items():
            path, query = path_and_query(url)
            by_path[path].append((query, content))
        same: Counter[Hypothesis] = Counter()
        seen: Counter[Hypothesis] = Counter()
        for path, pages in by_path.items():
            for hypotheses, (agreeing, pairs) in pairs_by_hypothesis(path, pages):
                for hypothesis in hypotheses:
                    same[hypothesis] += agreeing
                    seen[hypothesis] += pairs
        sure = {one for one in seen if self._lower_bound(same[one], seen[one]) > self.believed}
        return (
            Learned(BelievedKeys(sure).key, tuple(sorted(map(_hypothesis_text, sure))))
            if sure
            else Learned(key_unchanged)
        )

    def _lower_bound(self, same: int, seen: int) -> float:
        """The lower 95 % bound of the share of duplicates, of which *same* were among *seen*; 0 for few pairs_by_hypothesis."""
        if seen < self.least:
            return 0.0
        share = (same + 1) / (seen + 2)
        return share - 1.96 * sqrt(share * (1 - share) / (seen + 2))


class BelievedKeys:
    """Makes keys that leave out the parameters which believed hypotheses say do not matter."""

    def __init__(self, sure: set[Hypothesis]) -> None:
        self._sure = sure

    def key(self, url: str) -> str:
        """*url* without the parameters that do not matter by the believed hypotheses."""
        path, query = path_and_query(url)
        if not query:
            return url
        if ("path", path) in self._sure:
            return str(parts_of(url)._replace(query=None))
        kept = [pair for pair in query if not self._does_not_matter(path, query, pair)]
        if len(kept) == len(query):
            return url
        return str(parts_of(url)._replace(query=query_of(kept) or None))

    def _does_not_matter(self, path: str, query: Query, pair: tuple[str, str | None]) -> bool:
        """Whether a believed hypothesis says that *pair*, a parameter of *query*, does not matter."""
        rest = tuple(one for one in query if one != pair)
        ways = [*hypotheses_about_parameter(path, pair[0], rest), *hypotheses_about_value(path, *pair)]
        return any(one in self._sure for one in ways)


def path_and_query(url: str) -> tuple[str, Query]:
    """The path and the parameters of a URL. Parameters that come more than once stay in the path."""
    parts = parts_of(url)
    given = parameters_of(parts.query or "")
    times = Counter(name for name, _ in given)
    often = query_of([pair for pair in given if times[pair[0]] > 1])
    query = tuple(sorted((pair for pair in given if times[pair[0]] == 1), key=lambda pair: pair[0]))
    return f"{parts.host or ''}{parts.path}?{often}", query


def pairs_by_hypothesis(
    path: str, pages: Sequence[tuple[Query, Hashable]]
) -> Iterator[tuple[Sequence[Hypothesis], tuple[int, int]]]:
    """For the hypotheses about each parameter and value, how many pairs of *pages* show one content, and how many
    pairs there are.
    """
    yield [("path", path)], _count_pairs(Counter(content for _, content in pages))
    varied: dict[tuple[str, Query], Counter[Hashable]] = defaultdict(Counter)
    bare: Mapping[Query, Counter[Hashable]] = _contents_by_query(pages)
    for query, content in pages:
        for pair in query:
            rest = tuple(one for one in query if one != pair)
            varied[pair[0], rest][content] += 1
            if rest in bare:
                agreeing = bare[rest][content]
                yield hypotheses_about_value(path, *pair), (agreeing, bare[rest].total())
    for (name, rest), contents in varied.items():
        yield hypotheses_about_parameter(path, name, rest), _count_pairs(contents + bare.get(rest, Counter()))


def _contents_by_query(pages: Iterable[tuple[Query, Hashable]]) -> dict[Query, Counter[Hashable]]:
    """The contents that each query showed, with their numbers of pages."""
    found: dict[Query, Counter[Hashable]] = defaultdict(Counter)
    for query, content in pages:
        found[query][content] += 1
    return dict(found)


def _count_pairs(contents: Counter[Hashable]) -> tuple[int, int]:
    """The number of pairs of pages with one content, and the number of all pairs."""
    total = contents.total()
    return sum(n * (n - 1) // 2 for n in contents.values()), total * (total - 1) // 2


def hypotheses_about_parameter(path: str, name: str, rest: Query) -> Sequence[Hypothesis]:
    """The hypotheses that the parameter *name* does not matter under *path*, beside the other parameters *rest*."""
    return ("parameter", name), ("parameter", path, name), ("parameter", path, name, rest)


def hypotheses_about_value(path: str, name: str, value: str | None) -> Sequence[Hypothesis]:
    """The hypotheses that the parameter *name* with just this *value* does not matter."""
    return ("value", name, value), ("value", path, name, value)


def _hypothesis_text(hypothesis: Hypothesis) -> str:
    return " ".join(str(part) for part in hypothesis)

"""The entropy test (Google, US patent 9,081,861, filed 2008): which parameters of a site do not matter.

A parameter is irrelevant when pages of one fingerprint come with many of its values, H(value | fingerprint)
> τ1, and its values come with many fingerprints, H(fingerprint | value) > τ2. It is left out wherever it
occurs on the site. The thresholds are not published; one bit each is our choice. As in the patent, nothing
is conditioned on the rest of the URL, which is the method's weakness: a page number passes when a site
answers many of them with the same empty list.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from math import log2

from scrapy_dust.learners.clusters import clusters_of
from scrapy_dust.learners.interface import Learned, key_unchanged
from scrapy_dust.learners.url_components import parameters_of, parts_of, query_of
from scrapy_dust.visits.pages import SiteLog


@dataclass(frozen=True, slots=True)
class Entropy:
    """The learner of the patent, with its parameters."""

    of_values: float = 1.0  #: τ1, in bits
    of_fingerprints: float = 1.0  #: τ2, in bits
    name: str = "entropy"

    def learn(self, site: str, log: SiteLog) -> Learned:
        """Find in *log* the parameters that do not matter, and leave them out."""
        seen: dict[str, list[tuple[Hashable, Hashable]]] = defaultdict(list)
        for url, fingerprint in clusters_of(log).items():
            for name, value in parameters_of(parts_of(url).query or ""):
                seen[name].append((value, fingerprint))
        found = frozenset(name for name, pairs in seen.items() if self._is_irrelevant(pairs))
        if not found:
            return Learned(key_unchanged)
        return Learned(key_without(found), tuple(f"{name}=* → (left out)" for name in sorted(found)))

    def _is_irrelevant(self, pairs: list[tuple[Hashable, Hashable]]) -> bool:
        """Whether a parameter does not matter, by its *pairs* of a value and the fingerprint of a page."""
        of_fingerprints = conditional_entropy((fingerprint, value) for value, fingerprint in pairs)
        return conditional_entropy(pairs) > self.of_values and of_fingerprints > self.of_fingerprints


def conditional_entropy(pairs: Iterable[tuple[Hashable, Hashable]]) -> float:
    """H(X | Y) in bits, of pairs (x, y)."""
    joint = Counter(pairs)
    of_y: Counter[Hashable] = Counter()
    for (_, y), count in joint.items():
        of_y[y] += count
    total = joint.total()
    return -sum(count / total * log2(count / of_y[y]) for (_, y), count in joint.items())


def key_without(names: frozenset[str]) -> Callable[[str], str]:
    """The key function that leaves these parameters out."""

    def key(url: str) -> str:
        parts = parts_of(url)
        given = parameters_of(parts.query or "")
        kept = [pair for pair in given if pair[0] not in names]
        if len(kept) == len(given):
            return url
        return str(parts._replace(query=query_of(kept) or None))

    return key

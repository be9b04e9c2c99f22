"""RA: rewrite rules from pairs of duplicates (Dasgupta, Kumar, Sasturkar, KDD 2008).

A pair (u, v) of one cluster is a rule that turns all of u into v; rules that differ in the value of one
component alone, of which *fanout* values and more were seen, become one rule with a wildcard there. SIGIR'17
dropped rules with more than 10 % false positives, and so does this. Known from descriptions of the paper and
a patent of its authors, not from its text. What is our choice:

- pairs go from the longer URL to the shorter, or rules would undo each other;
- the first ten URLs of a cluster are paired with one another, the others with the shortest alone;
- a component that the rule leaves out or overwrites may become a wildcard together with another one: where
  each page has session ids of its own, no component alone has many values;
- a rule is kept when three URLs support it; rules with more support go first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from scrapy_dust.learners.clusters import clusters_of, duplicate_clusters
from scrapy_dust.learners.component_rules import (
    Context,
    Rewrite,
    Rewriter,
    Transformation,
    changes_between,
    mostly_true_rules,
)
from scrapy_dust.learners.interface import Learned, key_unchanged
from scrapy_dust.learners.url_components import Components, components_of
from scrapy_dust.visits.pages import SiteLog

#: Rules, with the URLs that they turn into duplicates.
Support = dict[tuple[Context, Transformation], set[str]]


@dataclass(frozen=True, slots=True)
class Ra:
    """The learner of the paper, with its parameters."""

    fanout: int = 10
    least_support: int = 3
    most_false: float = 0.1
    most_paired: int = 10
    name: str = "ra"

    def learn(self, site: str, log: SiteLog) -> Learned:
        """Make a rule of each pair of duplicates in *log*, generalize the rules, keep those that are seldom wrong."""
        clusters = clusters_of(log)
        maps = {url: components_of(url) for url in clusters}
        support = self._generalize(self._rules_of_pairs(duplicate_clusters(clusters), maps))
        frequent = {Rewrite(*rule): len(by) for rule, by in support.items() if len(by) >= self.least_support}
        rules = mostly_true_rules(frequent, self.most_false, maps, clusters)
        return Learned(Rewriter(rules).key, tuple(map(str, rules))) if rules else Learned(key_unchanged)

    def _rules_of_pairs(self, groups: Iterable[Sequence[str]], maps: Mapping[str, Components]) -> Support:
        """The rules of all pairs of URLs in *groups*, each with the URLs that the rule turns into duplicates."""
        support: Support = defaultdict(set)
        for urls in groups:
            for target, source in self._pairs_of_cluster(
                sorted(urls, key=lambda url: (len(maps[url]), len(url), url))
            ):
                transformation = changes_between(maps[source], maps[target])
                if transformation:
                    support[frozenset(maps[source].items()), transformation].add(source)
        return support

    def _pairs_of_cluster(self, urls: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Pairs of a target and a source among the *urls* of one page."""
        yield from combinations(urls[: self.most_paired], 2)
        for url in urls[self.most_paired :]:
            yield urls[0], url

    def _generalize(self, support: Support) -> Support:
        """The rules generalized, component by component, until nothing changes. Each round makes wildcards of values."""
        while True:
            names = {key for context, _ in support for key, value in context if value is not None}
            before = len(support)
            for key in sorted(names):
                support = self._generalize_component(support, key)
            if len(support) == before:
                return support

    def _generalize_component(self, support: Support, key: str) -> Support:
        """The rules with a wildcard for the component *key*, where rules differ in this component and have many
        values of it.
        """
        groups: dict[tuple[Context, Transformation], list[Context]] = defaultdict(list)
        result: Support = defaultdict(set)
        for (context, transformation), sources in support.items():
            values = dict(context)
            if values.get(key) is None:
                result[context, transformation] |= sources
                continue
            loose = {key, *(change.key for change in transformation)}
            rest = frozenset(item for item in context if item[0] not in loose)
            groups[rest, transformation].append(context)
        for (rest, transformation), contexts in groups.items():
            for context, wide in self._wildcard_contexts(rest, contexts, key):
                result[wide, transformation] |= support[context, transformation]
        return result

    def _wildcard_contexts(
        self, rest: Context, contexts: Sequence[Context], key: str
    ) -> Iterator[tuple[Context, Context]]:
        """Each of *contexts*, which share *rest*, with its wildcards for components that have many values."""
        seen: dict[str, set[str | None]] = defaultdict(set)
        loose = [sorted(context - rest) for context in contexts]
        for items in loose:
            for name, value in items:
                seen[name].add(value)
        if len(seen[key]) < self.fanout:
            yield from ((context, context) for context in contexts)
            return
        many = {name for name, values in seen.items() if len(values) >= self.fanout}
        for context, items in zip(contexts, loose, strict=True):
            yield context, rest | {(name, None if name in many else value) for name, value in items}

"""DTA: contexts of rewrite rules by decision trees (Koppula et al., WSDM 2010).

Pairs of duplicates give transformations of a URL's deep tokens; for each transformation a decision tree tells the
URLs that it turns into duplicates from those that it turns into known other pages, and each pure leaf with enough
of them is the context of a rule. Known from abstract, patents and descriptions, not from the paper's text.
What is our choice:

- of a cluster the two smallest URLs are targets, at most ten others sources;
- a test asks for a value or for a component to be there; a context says what its leaf's tests said yes to, since
  contexts say nothing negative. What a rule then gets wrong is counted on all URLs, and more than 10 % of it is too much, as
  in SIGIR 2017.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2

from scrapy_dust.learners.clusters import clusters_of, duplicate_clusters
from scrapy_dust.learners.component_rules import (
    Context,
    Rewrite,
    Rewriter,
    Transformation,
    changes_between,
    mostly_true_rules,
)
from scrapy_dust.learners.deep_tokens import DeepTokens, deep_tokens
from scrapy_dust.learners.interface import Learned, key_unchanged
from scrapy_dust.learners.url_components import Components
from scrapy_dust.visits.pages import SiteLog

Item = tuple[str, str | None]
Example = tuple[Components, bool]  #: a URL, and whether the transformation makes a duplicate of it


@dataclass(frozen=True, slots=True)
class Dta:
    """The learner of the paper, with its parameters."""

    targets: int = 2
    sources: int = 10
    precision: float = 0.95
    coverage: int = 3  #: URLs of a leaf
    depth: int = 4
    max_false: float = 0.1  #: share of the URLs that a rule fits which it may turn into known other pages
    name: str = "dta"

    def learn(self, site: str, log: SiteLog) -> Learned:
        """Learn transformations from the duplicates in *log*, each with the contexts in which it holds."""
        clusters = clusters_of(log)
        tokens = deep_tokens(clusters)
        maps = {url: tokens.keys(url) for url in clusters}
        known: dict[str, Hashable] = {tokens.url(maps[url]): cluster for url, cluster in clusters.items()}
        rules: Counter[Rewrite] = Counter()
        for transformation, positives in self._transformations(clusters, maps).items():
            if len(positives) >= self.coverage:
                examples = _examples(transformation, positives, maps, clusters, known, tokens)
                for context, count in self._contexts_of_leaves(examples, frozenset(), 0):
                    asked = context | _components_needed(transformation, positives, maps)
                    rules[Rewrite(asked, transformation)] += count
        found = mostly_true_rules(rules, self.max_false, maps, clusters, tokens.url)
        if not found:
            return Learned(key_unchanged)
        return Learned(Rewriter(found, parse=tokens.keys, compose=tokens.url).key, tuple(map(str, found)))

    def _transformations(
        self, clusters: dict[str, Hashable], maps: Mapping[str, Components]
    ) -> dict[Transformation, dict[str, None]]:
        """The transformations between URLs of one page, each with the URLs that it turns into another one."""
        found: dict[Transformation, dict[str, None]] = defaultdict(dict)
        for urls in duplicate_clusters(clusters):
            ranked = sorted(urls, key=lambda url: (len(maps[url]), len(url), url))
            step = max(1, len(ranked) // self.sources)
            for target in ranked[: self.targets]:
                for source in ranked[ranked.index(target) + 1 :: step][: self.sources]:
                    transformation = changes_between(maps[source], maps[target])
                    if transformation:
                        found[transformation][source] = None
        return found

    def _contexts_of_leaves(
        self, examples: Sequence[Example], context: Context, depth: int
    ) -> Iterator[tuple[Context, int]]:
        """The contexts of the tree's pure leaves, each with its number of good examples. *context*: that of this node."""
        good = sum(is_good for _, is_good in examples)
        if good < self.coverage:
            return
        if good >= self.precision * len(examples):
            yield context, good
            return
        item = _best_test(examples) if depth < self.depth else None
        if item is None:
            return
        yes = [example for example in examples if _passes_test(example[0], item)]
        no = [example for example in examples if not _passes_test(example[0], item)]
        yield from self._contexts_of_leaves(yes, context | {item}, depth + 1)
        yield from self._contexts_of_leaves(no, context, depth + 1)


def _components_needed(
    transformation: Transformation, positives: Mapping[str, None], maps: Mapping[str, Components]
) -> Context:
    """The components that *transformation* reads or changes, with the values that all of its source URLs have there."""
    touched = {change.key for change in transformation} | {c.source for c in transformation if c.source}
    needed = [key for key in touched if all(key in maps[url] for url in positives)]
    return frozenset((key, None) for key in needed) or frozenset({("host", None)})


def _examples(
    transformation: Transformation,
    positives: Mapping[str, None],
    maps: Mapping[str, Components],
    clusters: Mapping[str, Hashable],
    known: Mapping[str, Hashable],
    tokens: DeepTokens,
) -> list[Example]:
    """Examples for the tree: the source URLs of *transformation* are good, others that it turns into a known URL are bad."""
    rule = Rewrite(_components_needed(transformation, positives, maps), transformation)
    examples: list[Example] = [(maps[url], True) for url in positives]
    for url, keys in maps.items():
        if url not in positives and rule.fits(keys):
            changed = rule.apply(keys)
            target = known.get(tokens.url(changed)) if changed != keys else None
            if target is not None:
                examples.append((keys, target == clusters[url]))
    return examples


def _passes_test(keys: Components, item: Item) -> bool:
    """Whether a URL has the component that *item* names, with the value that *item* asks for, if any."""
    name, value = item
    return name in keys and (value is None or keys[name] == value)


def _best_test(examples: Sequence[Example]) -> Item | None:
    """The test with the highest information gain; None where no test tells examples apart."""
    counts: dict[Item, list[int]] = defaultdict(lambda: [0, 0])
    for keys, is_good in examples:
        for name, value in keys.items():
            counts[name, value][is_good] += 1
            counts[name, None][is_good] += 1
    good = sum(is_good for _, is_good in examples)
    bad = len(examples) - good
    useful = [item for item, (b, g) in counts.items() if 0 < b + g < len(examples)]

    def entropy_left(item: Item) -> float:
        """The entropy that is left when *examples* are split by the test *item*."""
        b, g = counts[item]
        return _entropy_in_bits(g, b) + _entropy_in_bits(good - g, bad - b)

    # Of equal tests, one to which the good say yes: that is what a context can ask for.
    return min(
        useful, key=lambda item: (entropy_left(item), -counts[item][1], item[0], item[1] or ""), default=None
    )


def _entropy_in_bits(good: int, bad: int) -> float:
    total = good + bad
    return -sum(n * log2(n / total) for n in (good, bad) if n)

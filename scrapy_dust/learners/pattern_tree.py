"""Pattern tree: rules between groups of URLs (Lei, Cai, Yang, Ke, Fan, Zhang, WWW 2010; US patent 8,429,110).

The URLs of a site are split by the component whose values have the least entropy, and each part again: the
salient values, those before the largest drop of log frequency, have a part each, all others share one, and
URLs without the component are one more. Where the same pages stand in two parts, or twice in one, a rule
takes the URLs of the one to the other: a component is constant there, or comes from a component that equals
it in nine of ten pairs, or does not matter. Known from the patent's claims and descriptions. What is our
choice:

- two parts are compared when the same split made them, or when both are leaves;
- of two parts the one with fewer components is the target;
- a rule needs three URLs, half of the smaller part's URLs to be in such pairs, and at most 10 % of the URLs
  it gives one form may show another page than most; a part has one rule to another part at most;
- a part of fewer than ten URLs is not split, nor by a component that fewer than ten have.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import log

from scrapy_dust.learners.clusters import clusters_of
from scrapy_dust.learners.component_rules import Change, Transformation, apply_transformation
from scrapy_dust.learners.interface import Learned, apply_until_settled, key_unchanged
from scrapy_dust.learners.url_components import Components, components_of, url_of
from scrapy_dust.visits.pages import SiteLog

_ABSENT, _OTHERS = "\0absent", "\0others"
_PAIRS = 10  # URLs of one page that are paired in one part


@dataclass(slots=True)
class Node:
    """A group of the site's URLs."""

    urls: Sequence[str]
    pattern: tuple[str, ...] = ()
    key: str | None = None  #: what it is split by; None: a leaf
    parts: dict[str, Node] = field(default_factory=dict)
    rules: list[Transformation] = field(default_factory=list)
    linked: bool = False  #: whether a rule leads to another part

    def part_of(self, keys: Components) -> Node | None:
        """The part to which a URL with these *keys* belongs; None if there is none."""
        if self.key is None:
            return None
        value = keys.get(self.key, _ABSENT)
        return self.parts.get(value) or (self.parts.get(_OTHERS) if value != _ABSENT else None)

    def walk(self) -> Iterator[Node]:
        """This group and all its parts."""
        yield self
        for part in self.parts.values():
            yield from part.walk()


@dataclass(frozen=True, slots=True)
class TrainingUrls:
    """The training URLs, and their contents."""

    clusters: Mapping[str, Hashable]
    maps: Mapping[str, Components]
    by_form: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, clusters: Mapping[str, Hashable]) -> TrainingUrls:
        """The training URLs of *clusters*."""
        maps = {url: components_of(url) for url in clusters}
        by_form: dict[str, list[str]] = defaultdict(list)
        for url, keys in maps.items():
            by_form[url_of(keys)].append(url)
        return cls(clusters, maps, dict(by_form))


@dataclass(frozen=True, slots=True)
class PatternTree:
    """The learner of the paper, with its parameters."""

    least_urls: int = 10
    least_support: int = 3  #: URLs
    least_share: float = 0.5  #: τ
    least_equal: float = 0.9  #: θ
    most_false: float = 0.1
    name: str = "patterntree"

    def learn(self, site: str, log: SiteLog) -> Learned:
        """Split the URLs of *log* into a tree of groups, and find the rules between groups that show the same pages."""
        known = TrainingUrls.of(clusters_of(log))
        names = frozenset(key for keys in known.maps.values() for key in keys)
        root = self._grow_tree(Node(list(known.maps)), known.maps, names)
        for a, b in _comparable_groups(root, known.clusters):
            rule = None if a is not b and a.linked else self._rule_between(a, b, known)
            if rule:
                a.rules.append(rule)
                a.linked = a.linked or a is not b
        _drop_repeated_rules(root, frozenset())
        said = tuple(
            f"{' '.join(node.pattern) or '*'} ⇒ {' '.join(sorted(map(str, rule)))}"
            for node in root.walk()
            for rule in node.rules
        )
        return Learned(TreeKeys(root).key, said) if said else Learned(key_unchanged)

    def _grow_tree(self, node: Node, maps: Mapping[str, Components], keys: frozenset[str]) -> Node:
        """Split *node* by one of the components *keys*, and its parts again. Returns *node*."""
        if len(node.urls) < self.least_urls:
            return node
        values: dict[str, Counter[str]] = defaultdict(Counter)
        for url in node.urls:
            for key in keys & maps[url].keys():
                values[key][maps[url][key]] += 1
        # What hardly any URL has would have the least entropy of all.
        varied = {key for key, seen in values.items() if seen.total() >= self.least_urls}
        for key in list(varied):
            values[key][_ABSENT] = len(node.urls) - values[key].total()
            values[key] = +values[key]
            if len(values[key]) == 1:
                varied.remove(key)
        if not varied:
            return node
        node.key = min(varied, key=lambda key: (entropy(values[key]), key))
        salient = salient_values(values[node.key]) | {_ABSENT}
        groups: dict[str, list[str]] = defaultdict(list)
        for url in node.urls:
            value = maps[url].get(node.key, _ABSENT)
            groups[value if value in salient else _OTHERS].append(url)
        for value, urls in groups.items():
            part = Node(urls, (*node.pattern, f"{node.key}={_value_in_words(value)}"))
            node.parts[value] = self._grow_tree(part, maps, frozenset(varied - {node.key}))
        return node

    def _rule_between(self, a: Node, b: Node, known: TrainingUrls) -> Transformation | None:
        """The changes from URLs of *a* to URLs of *b*, where enough pages are in both and few are confused."""
        pairs = _url_pairs(a, b, known.clusters)
        urls = {url for url, _ in pairs}
        if len(urls) < self.least_support or len(urls) < self.least_share * min(len(a.urls), len(b.urls)):
            return None
        rule = self._common_changes(pairs, known.maps)
        return rule if rule and self._is_true(rule, a, known) else None

    def _common_changes(
        self, pairs: Sequence[tuple[str, str]], maps: Mapping[str, Components]
    ) -> Transformation:
        """The changes that turn the first URL of nearly all *pairs* into the second; what has no rule is left out."""
        instances = [(maps[source], maps[target]) for source, target in pairs]
        sources = Counter(key for source, _ in instances for key in source)
        targets = Counter(key for _, target in instances for key in target)
        enough = self.least_equal * len(instances)
        changes = set()
        for key in sources.keys() | targets.keys():
            equal = sum(source.get(key) == target.get(key) for source, target in instances)
            if equal >= enough:
                continue
            change = self._change_of(key, instances, enough) if targets[key] >= enough else None
            changes.add(change or Change(key))
        return frozenset(changes)

    def _change_of(
        self, key: str, instances: Sequence[tuple[Components, Components]], enough: float
    ) -> Change | None:
        """How the component *key* changes in at least *enough* of *instances*: to a constant, or to another
        component's value.
        """
        constant, times = Counter(target.get(key, "") for _, target in instances).most_common(1)[0]
        if times >= enough:
            return Change(key, constant)
        origins = Counter(
            origin
            for source, target in instances
            for origin, value in source.items()
            if value == target.get(key)
        )
        found = [origin for origin, times in origins.items() if times >= enough]
        return Change(key, None, min(found)) if found else None

    def _is_true(self, rule: Transformation, node: Node, known: TrainingUrls) -> bool:
        """Whether few URLs get by *rule* a form of which most URLs show another page."""
        forms: dict[str, set[str]] = defaultdict(set)
        for url in node.urls:
            form = url_of(apply_transformation(rule, known.maps[url]))
            forms[form].update((url, *known.by_form.get(form, ())))
        merged = [Counter(known.clusters[url] for url in urls) for urls in forms.values() if len(urls) > 1]
        wrong = sum(pages.total() - max(pages.values()) for pages in merged)
        return wrong <= self.most_false * sum(pages.total() for pages in merged)


class TreeKeys:
    """Makes keys by the tree: of the groups that a URL is in, the largest whose rule changes the URL decides."""

    def __init__(self, root: Node) -> None:
        self._root = root

    def key(self, url: str) -> str:
        """The key of *url*; *url* itself if the rules come to no end."""
        return url_of(apply_until_settled(components_of(url), self._apply_once))

    def _apply_once(self, keys: Components) -> dict[str, str]:
        """The components after the first rule that changes *keys*, from the largest group to the smallest."""
        node: Node | None = self._root
        while node is not None:
            for rule in node.rules:
                following = apply_transformation(rule, keys)
                if following != keys:
                    return following
            node = node.part_of(keys)
        return dict(keys)


def entropy(values: Counter[str]) -> float:
    """The entropy of *values*, in nats."""
    total = values.total()
    return -sum(n / total * log(n / total) for n in values.values())


def salient_values(values: Counter[str]) -> set[str]:
    """The values before the largest drop of log frequency; none where all values are equally rare."""
    ordered = values.most_common()
    counts = [count for _, count in ordered] + [1]
    drops = [log(counts[i] / counts[i + 1]) for i in range(len(ordered))]
    at = max(range(len(drops)), key=drops.__getitem__)
    return {value for value, _ in ordered[: at + 1]} if drops[at] > 0 else set()


def _comparable_groups(root: Node, clusters: Mapping[str, Hashable]) -> Iterator[tuple[Node, Node]]:
    """Pairs of groups that show the same pages, larger groups first, each group with itself before others."""
    leaves = []
    for node in root.walk():
        yield node, node
        yield from _groups_sharing_pages(list(node.parts.values()), clusters)
        if node.key is None:
            leaves.append(node)
    yield from _groups_sharing_pages(leaves, clusters)


def _groups_sharing_pages(
    nodes: Sequence[Node], clusters: Mapping[str, Hashable]
) -> Iterator[tuple[Node, Node]]:
    """Pairs of *nodes* that show the same pages, those that share most first."""
    touched: dict[Hashable, dict[int, None]] = defaultdict(dict)
    for number, node in enumerate(nodes):
        for url in node.urls:
            touched[clusters[url]][number] = None
    shared = Counter(pair for numbers in touched.values() for pair in combinations(numbers, 2))
    for a, b in sorted(shared, key=lambda pair: (-shared[pair], pair)):
        yield _source_and_target(nodes[a], nodes[b])


def _drop_repeated_rules(node: Node, above: frozenset[Transformation]) -> None:
    """Remove the rules of *node* and its parts that a larger group has already. *above*: those of larger groups."""
    node.rules = [rule for rule in node.rules if rule not in above]
    for part in node.parts.values():
        _drop_repeated_rules(part, above.union(node.rules))


def _source_and_target(a: Node, b: Node) -> tuple[Node, Node]:
    """*a* and *b* in the order in which a rule leads: to the group with the shorter URLs."""
    return (a, b) if min(map(len, a.urls)) > min(map(len, b.urls)) else (b, a)


def _url_pairs(a: Node, b: Node, clusters: Mapping[str, Hashable]) -> list[tuple[str, str]]:
    """Pairs of URLs that show one page, the first of group *a* and the second of group *b*."""
    targets: dict[Hashable, list[str]] = defaultdict(list)
    for url in b.urls:
        targets[clusters[url]].append(url)
    if a is not b:
        return [(url, targets[clusters[url]][0]) for url in a.urls if clusters[url] in targets]
    groups = (sorted(urls, key=lambda url: (len(url), url)) for urls in targets.values() if len(urls) > 1)
    return [(longer, shorter) for urls in groups for shorter, longer in combinations(urls[:_PAIRS], 2)]


def _value_in_words(value: str) -> str:
    return {_ABSENT: "(absent)", _OTHERS: "*"}.get(value, value)

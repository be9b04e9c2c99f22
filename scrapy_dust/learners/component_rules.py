"""The rules of the learners of KDD'08 and WSDM'10: a context that the components of a URL must fit, and a change for
each component.

A context says of some components which value they must have, or only that they must be there; a transformation leaves
components out, sets them to a constant, or copies another component's value. What neither names stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scrapy_dust.learners.interface import apply_until_settled
from scrapy_dust.learners.url_components import Components, components_of, url_of

#: Components that a URL must have, each with its value; None for any value.
Context = frozenset[tuple[str, str | None]]


class Change(NamedTuple):
    """The change of one component: to a constant, to another component's value, or to nothing."""

    key: str
    constant: str | None = None
    source: str | None = None

    def __str__(self) -> str:
        if self.source is not None:
            return f"{self.key}:={self.source}"
        return f"-{self.key}" if self.constant is None else f"{self.key}={self.constant}"


Transformation = frozenset[Change]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One rule of the learners that rewrite components."""

    context: Context
    transformation: Transformation

    def fits(self, keys: Components) -> bool:
        """Whether the rule applies to a URL with these *keys*."""
        return all(
            key in keys if value is None else keys.get(key) == value for key, value in self.context
        ) and all(change.source is None or change.source in keys for change in self.transformation)

    def apply(self, keys: Components) -> dict[str, str]:
        """The components after the rule was applied to *keys*, which it fits."""
        return apply_transformation(self.transformation, keys)

    def __str__(self) -> str:
        asked = sorted(f"{key}={'*' if value is None else value}" for key, value in self.context)
        return f"{' '.join(asked)} ⇒ {' '.join(sorted(map(str, self.transformation)))}"


def apply_transformation(transformation: Transformation, keys: Components) -> dict[str, str]:
    """The components after *transformation*; unchanged where a component that it copies is missing."""
    result = dict(keys)
    for change in transformation:
        if change.source is not None:
            if change.source not in keys:
                return dict(keys)
            result[change.key] = keys[change.source]
        elif change.constant is not None:
            result[change.key] = change.constant
        else:
            result.pop(change.key, None)
    return result


def changes_between(source: Components, target: Components) -> Transformation:
    """The changes that make *target* of *source*. Of several components with the value, the first is taken."""
    changes = []
    for key in source.keys() | target.keys():
        if key not in target:
            changes.append(Change(key))
        elif source.get(key) != target[key]:
            origin = min((k for k, value in source.items() if value and value == target[key]), default=None)
            changes.append(Change(key, None if origin else target[key], origin))
    return frozenset(changes)


class Rewriter:
    """The key function of rules in order: the first one that fits is applied. Rules are looked up by a component."""

    def __init__(
        self,
        rules: Sequence[Rewrite],
        *,
        parse: Callable[[str], dict[str, str]] = components_of,
        compose: Callable[[Components], str] = url_of,
    ) -> None:
        self.rules = rules
        self._parse, self._compose = parse, compose
        asked = Counter(item for rule in rules for item in rule.context)
        self._by_item: dict[tuple[str, str | None], list[int]] = {}
        for number, rule in enumerate(rules):
            item = min(rule.context, key=lambda one: (one[1] is None, asked[one], one[0], one[1] or ""))
            self._by_item.setdefault(item, []).append(number)

    def fitting(self, keys: Components) -> Iterable[Rewrite]:
        """The rules that apply to a URL with these *keys*, in order."""
        items: list[tuple[str, str | None]] = [*keys.items(), *((key, None) for key in keys)]
        numbers = sorted(number for item in items for number in self._by_item.get(item, ()))
        return (self.rules[number] for number in numbers if self.rules[number].fits(keys))

    def key(self, url: str) -> str:
        """*url* after the first rule that fits has been applied, again and again, as a text."""
        return self._compose(apply_until_settled(self._parse(url), self._apply_once))

    def _apply_once(self, keys: Components) -> Components:
        """The components after the first rule that changes *keys*; *keys* itself if none does."""
        changed = (rule.apply(keys) for rule in self.fitting(keys))
        return next((one for one in changed if one != keys), keys)


def mostly_true_rules(
    support: Mapping[Rewrite, int],
    most_false: float,
    maps: Mapping[str, Components],
    clusters: Mapping[str, object],
    form: Callable[[Components], str] = url_of,
) -> list[Rewrite]:
    """The rules of *support* that turn few URLs into known URLs of other pages, those with most support first.

    *most_false*: the largest share of such URLs among the URLs that a rule fits.
    """
    known: dict[str, object] = {}
    for url, keys in maps.items():
        known.setdefault(form(keys), clusters[url])
    wrong: Counter[Rewrite] = Counter()
    fitted: Counter[Rewrite] = Counter()
    index = Rewriter(list(support))
    for url, keys in maps.items():
        for rule in index.fitting(keys):
            fitted[rule] += 1
            target = known.get(form(rule.apply(keys)))
            wrong[rule] += target is not None and target != clusters[url]
    good = [rule for rule in support if wrong[rule] <= most_false * fitted[rule]]
    return sorted(good, key=lambda rule: (-support[rule], str(rule)))

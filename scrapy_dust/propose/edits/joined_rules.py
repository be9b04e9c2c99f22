"""Joins several rules into one: rules about parameters that come together (column and direction of a list), or about
several values of one segment.

The learner admits narrow rules first, so it finds for each parameter, and for each value, what holds of all of them.
If parameters stand together in URLs and each of them was found not to matter in part, they may not matter at all; nor
may a segment of which one value after the other was found to be another one. A joined rule is proposed if no two
contents of the log contradict it, and trials decide.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from scrapy_dust.propose.edits.classes import Effect, classes_of
from scrapy_dust.propose.edits.narrowing import places_of
from scrapy_dust.rules.guards import Condition, Guard, attribute
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.paths import AnySegment
from scrapy_dust.rules.rule import Rule
from scrapy_dust.url.parts import Parts, parts_of

#: Sets of parameters of one site that are looked at, those first that stand in most URLs.
_MOST = 8
#: Contents that must bear a rule out.
_CONTENTS = 2

#: What puts segments in the place of others.
_SEGMENTS = ("segments",)

Together = tuple[Rule, int, int]  #: a rule, the contents that bear it out, the URLs that it would spare


def joined_rules(contents: Mapping[str, Hashable | None], learned: Sequence[Rule]) -> list[Together]:
    """The joined rules. *contents*: what each URL of the log shows. *learned*: the rules to join, among others."""
    joined = [*_joined_parameter_rules(contents, learned), *_joined_segment_rules(contents, learned)]
    classes = classes_of(contents) if joined else None
    found = []
    for rule in joined:
        assert classes is not None
        effect = classes.effect(rule)
        if effect.contents >= _CONTENTS and not effect.bad and not effect.endless:
            found.append((_limit_to_part_seen(rule, effect), effect.contents, effect.saves))
    return found


def _joined_parameter_rules(urls: Iterable[str], learned: Iterable[Rule]) -> Iterator[Rule]:
    """Rules that leave out all parameters that stand together and that *learned* is about."""
    names = frozenset(_parameter_names(learned))
    if len(names) < 2:
        return
    having: dict[frozenset[str], list[Parts]] = {}
    for form in map(parts_of, urls):
        present = names.intersection(name for name, _ in form.parameters)
        if len(present) > 1:
            having.setdefault(present, []).append(form)
    for present in sorted(having, key=lambda one: (-len(having[one]), sorted(one)))[:_MOST]:
        yield Rule(tuple(map(DropParameter, sorted(present)))).under_guard(
            _guard_on_parameters(present, having[present])
        )


def _joined_segment_rules(urls: Iterable[str], learned: Iterable[Rule]) -> list[Rule]:
    """Rules that a segment does not matter at a place where several of *learned* put one value for another, under one guard."""
    values: dict[Guard, list[Rule]] = {}
    for rule in learned:
        if rule.families == _SEGMENTS:
            values.setdefault(rule.guard, []).append(rule)
    places: dict[Rule, set[Rule]] = {}
    several = [rule for rules in values.values() if len(rules) > 1 for rule in rules]
    for url in urls if several else ():
        for rule in several:
            changed = rule.apply(url)
            place = (
                None if changed is url else _place_of_only_change(parts_of(url).path, parts_of(changed).path)
            )
            if place is not None:
                places.setdefault(Rule((AnySegment(place),), rule.guard), set()).add(rule)
    found = [wide for wide, narrow in places.items() if len(narrow) > 1]
    return sorted(found, key=lambda wide: (-len(places[wide]), str(wide)))[:_MOST]


def _place_of_only_change(path: Sequence[str], changed: Sequence[str]) -> int | None:
    """The place of the one segment in which the two paths differ; None if they differ otherwise."""
    if len(path) != len(changed):
        return None
    places = [n for n, (one, other) in enumerate(zip(path, changed, strict=True)) if one != other]
    return places[0] if len(places) == 1 else None


def _parameter_names(rules: Iterable[Rule]) -> Iterator[str]:
    for operation in chain.from_iterable(rule.operations for rule in rules):
        if operation.parameter is not None:
            yield operation.parameter


def _limit_to_part_seen(rule: Rule, effect: Effect) -> Rule:
    """*rule*, limited to the part of the site where it was seen, if there is only one."""
    parts = {part for _, part in places_of(effect)}
    return rule.under_guard(tuple(parts)) if len(parts) == 1 else rule


def _guard_on_parameters(names: Iterable[str], forms: Iterable[Parts]) -> Guard:
    """A guard that demands all parameters in *names*, with values of the classes that they have in *forms*."""
    forms = list(forms)
    guard = []
    for name in sorted(names):
        kinds = {attribute(form, f"?{name}:") for form in forms}
        guard.append(Condition(f"?{name}:", kinds.pop()) if len(kinds) == 1 else Condition(f"?{name}"))
    return tuple(guard)

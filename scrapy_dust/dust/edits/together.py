"""Joins rules about several parameters into one, where the parameters do not matter together: column and direction of
a list.

The learner admits narrow rules first, so it finds for each parameter, and for each value, what holds of all of them.
If parameters stand together in URLs and each of them was found not to matter in part, they may not matter at all. A
joined rule is proposed if no two contents of the log contradict it, and trials decide.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import chain

from scrapy_dust.dust.edits.classes import Effect, classes_of
from scrapy_dust.dust.edits.narrowing import places_of
from scrapy_dust.rules.guards import Condition, Guard, attribute
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.url.parts import Parts, parts_of

#: Sets of parameters of one site that are looked at, those first that stand in most URLs.
_MOST = 8
#: Contents that must bear a rule out.
_CONTENTS = 2

Together = tuple[Rule, int, int]  #: a rule, the contents that bear it out, the URLs that it would spare


def said_together(contents: Mapping[str, Hashable | None], learned: Iterable[Rule]) -> list[Together]:
    """The joined rules. *contents*: what each URL of the log shows. *learned*: rules of single parameters among others."""
    names = frozenset(_parameters(learned))
    if len(names) < 2:
        return []
    having: dict[frozenset[str], list[Parts]] = {}
    for form in map(parts_of, contents):
        present = names.intersection(name for name, _ in form.parameters)
        if len(present) > 1:
            having.setdefault(present, []).append(form)
    classes = classes_of(contents) if having else None
    found = []
    for present in sorted(having, key=lambda one: (-len(having[one]), sorted(one)))[:_MOST]:
        rule = Rule(tuple(map(DropParameter, sorted(present)))).where(_guard(present, having[present]))
        assert classes is not None
        effect = classes.effect(rule)
        if effect.contents >= _CONTENTS and not effect.bad and not effect.endless:
            found.append((_where_seen(rule, effect), effect.contents, effect.saves))
    return found


def _parameters(rules: Iterable[Rule]) -> Iterator[str]:
    for operation in chain.from_iterable(rule.operations for rule in rules):
        if operation.parameter is not None:
            yield operation.parameter


def _where_seen(rule: Rule, effect: Effect) -> Rule:
    """*rule*, limited to the part of the site where it was seen, if there is only one."""
    parts = {part for _, part in places_of(effect)}
    return rule.where(tuple(parts)) if len(parts) == 1 else rule


def _guard(names: Iterable[str], forms: Iterable[Parts]) -> Guard:
    """A guard that all parameters are there, with values of the classes that were seen."""
    forms = list(forms)
    guard = []
    for name in sorted(names):
        kinds = {attribute(form, f"?{name}:") for form in forms}
        guard.append(Condition(f"?{name}:", kinds.pop()) if len(kinds) == 1 else Condition(f"?{name}"))
    return tuple(guard)

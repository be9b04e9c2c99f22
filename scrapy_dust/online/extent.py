"""How far a rule that holds so far reaches, while a crawl still meets values that it has never seen.

A crawl does not meet a site at random. It walks through one language, or one kind of sorting, after the other, so
that a value does not matter in all that was seen, and does in what comes next. So a rule by which a value does not
matter is in force at once for the values that were seen not to matter; for any value, once so many different ones
were seen that the next one is very probably like them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from scrapy_dust.dust.canonization import Canonizer
from scrapy_dust.dust.edits.anatomy import Anatomy, anatomy_of
from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.edits.guards import Condition
from scrapy_dust.dust.edits.operation import Operation
from scrapy_dust.dust.edits.paths import AnySegment, DropFrom, place_in
from scrapy_dust.dust.edits.queries import AnyValue, CutValue, DropParameter, DropQuery, KeepParameters
from scrapy_dust.dust.rules import ParameterRule, Rule

#: Different values that did not matter, from which on none is thought to: the next one does with 1 / (n + 2) (Laplace),
#: before anything is known of rules of its kind.
ANY_VALUE = 20
#: Contents that were seen the same with and without one value.
ONE_VALUE = 3

Contents = Mapping[str, str]  #: URL → what it shows
_Values = dict[str, set[str]]  #: value → contents that were the same whether it was there or not


def as_far_as_seen(rules: Sequence[Rule], contents: Contents, canonizer: Canonizer) -> list[Rule]:
    """*rules*, those that are about any value only as far as *contents* says; *canonizer* has all of them."""
    wide = [rule for rule in rules if _slot(rule) is not None]
    if not wide:
        return list(rules)
    merged = _merged(contents, canonizer)
    reached: list[Rule] = [rule for rule in rules if rule not in wide]
    for rule in wide:
        reached += _reach(rule, _values(rule, contents, merged, canonizer))
    return list(dict.fromkeys(reached))


def _merged(contents: Contents, canonizer: Canonizer) -> set[str]:
    """The URLs that share a key with others, all of which show the same."""
    groups: dict[str, list[str]] = {}
    for url in contents:
        groups.setdefault(canonizer.canonize(url), []).append(url)
    return {
        url
        for urls in groups.values()
        if len(urls) > 1 and len({contents[url] for url in urls}) == 1
        for url in urls
    }


def _values(rule: Rule, contents: Contents, merged: Iterable[str], canonizer: Canonizer) -> _Values:
    slot, found = _slot(rule), dict[str, set[str]]()
    for url in merged:
        for form in canonizer.forms(url):
            if rule.apply(form) != form:
                value = _in_slot(slot, anatomy_of(form))
                found.setdefault(value, set()).add(contents[url])
                break
    return found


def _reach(rule: Rule, values: _Values) -> Iterator[Rule]:
    if len(values) >= ANY_VALUE:
        yield rule
        return
    for value, contents in values.items():
        narrowed = _for_value(rule, value) if len(contents) >= ONE_VALUE else None
        if narrowed is not None:
            yield narrowed


def _slot(rule: Rule) -> Operation | None:
    """The operation by which any value does not matter; None where the rule is about one text."""
    if isinstance(rule, ParameterRule):
        return DropParameter(rule.name)
    if not isinstance(rule, Edit):
        return None
    pinned = {condition.name for condition in rule.guard if condition.holds and condition.value is not None}
    return next((one for one in rule.operations if _is_wide(one, pinned)), None)


def _is_wide(operation: Operation, pinned: set[str]) -> bool:
    match operation:
        case DropParameter(name=name, value=None) | AnyValue(name=name) | CutValue(name=name):
            return f"?{name}" not in pinned
        case AnySegment(place=place):
            return f"/{place}" not in pinned
        case DropFrom() | DropQuery() | KeepParameters():
            return True
    return False


def _in_slot(operation: Operation | None, url: Anatomy) -> str:
    match operation:
        case DropParameter(name=name) | AnyValue(name=name) | CutValue(name=name):
            return "&".join("" if value is None else value for value in url.values(name))
        case AnySegment(place=place):
            at = place_in(url.path, place)
            return "" if at is None else url.path[at]
        case DropFrom():
            return "/".join(url.path)
    return "" if url.query is None else repr(url.query)


def _for_value(rule: Rule, value: str) -> Rule | None:
    """*rule* where the value is *value*; None where that cannot be said."""
    slot = _slot(rule)
    if isinstance(rule, ParameterRule):
        return None if rule.value is not None else Edit((DropParameter(rule.name, value),))
    assert isinstance(rule, Edit)
    match slot:
        case DropParameter(name=name) | AnyValue(name=name) | CutValue(name=name):
            return replace(rule, guard=(*rule.guard, Condition(f"?{name}", value)))
        case AnySegment(place=place) if place > 0:
            return replace(rule, guard=(*rule.guard, Condition(f"/{place}", value)))
    return None

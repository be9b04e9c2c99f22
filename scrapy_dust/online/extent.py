"""How far a rule applies while a crawl still meets values that it has never seen.

A crawl does not meet a site at random. It walks through one language, or one kind of sorting, after the other, so
that a parameter may not matter in all pages so far, and matter in the next. So a rule that ignores a value is in
force at once for the values that were seen not to matter; for any value, once so many different values were seen that
the next one is very probably like them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.rule import Rule
from scrapy_dust.url.parts import parts_of

#: Different values that did not matter, from which on none is thought to: the next one does with 1 / (n + 2) (Laplace),
#: before anything is known of rules of its kind.
ANY_VALUE = 20
#: Contents that were seen the same with and without one value.
ONE_VALUE = 3

Contents = Mapping[str, str]  #: URL → what it shows
_Values = dict[str, set[str]]  #: value → contents that were the same whether it was there or not


def limited_to_seen(rules: Sequence[Rule], contents: Contents, canonizer: Canonizer) -> list[Rule]:
    """*rules*, limited to the values for which *contents* shows that they do not matter. *canonizer* has all of *rules*."""
    wide = [rule for rule in rules if rule.wide_operation is not None]
    if not wide:
        return list(rules)
    merged = _merged(contents, canonizer)
    reached: list[Rule] = [rule for rule in rules if rule not in wide]
    for rule in wide:
        reached += _reach(rule, _values(rule, contents, merged, canonizer))
    return list(dict.fromkeys(reached))


def _merged(contents: Contents, canonizer: Canonizer) -> set[str]:
    """The URLs whose key others have too, if all URLs with the key show the same content."""
    groups: dict[str, list[str]] = {}
    for url in contents:
        groups.setdefault(canonizer.canonize(url), []).append(url)
    alike = (urls for urls in groups.values() if len(urls) > 1 and len({contents[url] for url in urls}) == 1)
    return {url for urls in alike for url in urls}


def _values(rule: Rule, contents: Contents, merged: Iterable[str], canonizer: Canonizer) -> _Values:
    """The values that *rule* ignores in the *merged* URLs, each with the contents of its URLs."""
    operation, found = rule.wide_operation, dict[str, set[str]]()
    assert operation is not None
    for url in sorted(merged):  # whatever the order of sets
        for form in canonizer.forms(url):
            if rule.apply(form) != form:
                value = operation.value_in_slot(parts_of(form))
                found.setdefault(value, set()).add(contents[url])
                break
    return found


def _reach(rule: Rule, values: _Values) -> Iterator[Rule]:
    """*rule* itself if enough *values* do not matter; else *rule* for each single value that does not matter."""
    if len(values) >= ANY_VALUE:
        yield rule
        return
    for value, contents in values.items():
        narrowed = rule.for_value(value) if len(contents) >= ONE_VALUE else None
        if narrowed is not None:
            yield narrowed

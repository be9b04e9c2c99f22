"""How far the evidence for a rule reaches: a rule in force is on probation where nothing similar has been seen.

*Aspects* describe a URL: its part of the site, the length of its longest number, and of each value that the rule
removes the kind of text (or the length of the number). A crawl walks through a site part by part, and ids grow. So
where an aspect is new, URLs that the rule would suppress are fetched, and each that shows the same page confirms the
rule there. A value that several pages have (``/7/reviews``, ``/8/reviews``) is an aspect too: a rule that was seen to
hold for values of one page each, such as titles, says little of a value that means the same on all pages.

`unseen` says how many must do so: the more parts of a site confirm a rule, the more probably it holds in the next one
(n + 1 of n + 2, Laplace). Rules that differ only in numbers, ids and guards confirm each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from scrapy_dust.rules.canonizer import Canonizer, Step
from scrapy_dust.rules.operation import Operation
from scrapy_dust.rules.rule import Rule
from scrapy_dust.url.parts import Parts, parts_of
from scrapy_dust.url.values import class_of
from scrapy_dust.visits.strata import template_of

#: Aspects, each with how many contents bear a rule out where URLs have it.
Shown = Mapping[str, int]
#: What rules do to a URL, one after the other.
Explain = Callable[[str], Sequence[Step]]

#: Aspects that are remembered of a rule in one crawl; a URL with any other is beyond its reach.
ASPECTS = 2000
#: Of an aspect, so many contents, each with a URL, are remembered: more than are ever needed.
_CONTENTS = 500

#: The aspect of a URL that has a value in common with URLs of other pages. How much bears it out is counted in values and pages.
COMMON = "values of several pages"
#: Values whose pages are remembered. Others count as values of one page.
_VALUES = 50_000

#: Aspects that say how long a number is: the longest of the URL, and the values that the rule does away with.
_DIGITS = re.compile(r"(numbers of|of values(?: [0-9]+)?:) ([0-9]{1,6}) digits")
_NUMBER = re.compile(r"[0-9]+")
# Letters and digits in turn: `article12` is no id, nor is `20th`.
_ID = re.compile(r"(?=[A-Za-z0-9]{8})(?:[A-Za-z]+[0-9]+[A-Za-z]|[0-9]+[A-Za-z]+[0-9])[A-Za-z0-9]*")


def aspects_of(rule: Rule, url: str) -> tuple[str, ...]:
    """The aspects of *url*, which *rule* changes: of the changed URL, and of the values that the rule removes."""
    applied = rule.apply(url)
    form = _ID.sub("*", applied)
    _, _, beyond = form.partition("://")
    longest = max(map(len, _NUMBER.findall(beyond.partition("/")[2])), default=0)
    host = "/".join(url.split("/", 3)[:3])
    part = template_of(form).split("/", 3)[-1]
    return (
        f"in {host}/{part}",
        f"numbers of {longest} digits",
        *(f"{of}: {_kind(value)}" for of, value in _values(rule, url, applied)),
    )


def _values(rule: Rule, url: str, applied: str) -> list[tuple[str, str]]:
    """The values that *rule* removes from *url*, each with a name of the operation that does so."""
    found = [
        (_named("of values", rule, number), one.in_slot(parts)) for number, one, parts in _at_work(rule, url)
    ]
    return found or [("of values", _removed(url, applied))]


def _named(aspect: str, rule: Rule, number: int) -> str:
    """The name of *aspect*, of the operation of *rule* with this *number*: a rule may remove several values."""
    return f"{aspect} {number}" if sum(one.slot is not None for one in rule.operations) > 1 else aspect


def _at_work(rule: Rule, url: str) -> Iterator[tuple[int, Operation, Parts]]:
    """The operations of *rule* that remove a value from *url*, each with its number and the parts of *url*."""
    wide = rule.wide_operations
    parts = parts_of(url) if wide else None
    for number, one in wide:
        assert parts is not None
        if one.apply(parts) is not parts:
            yield number, one, parts


def _removed(url: str, form: str) -> str:
    """The text of *url* that *form* does not have."""
    begin = _alike(url, form)
    return url[begin : len(url) - _alike(url[begin:][::-1], form[begin:][::-1])]


class CommonValues:
    """Finds the values that rules remove from URLs of several pages."""

    def __init__(self) -> None:
        #: By rule and value, the page that had the value first.
        self._of: dict[tuple[int, int], Hashable] = {}
        self._rules: dict[int, Rule] = {}  #: so that the ids of rules stay theirs

    def of(self, rule: Rule, url: str, page: Hashable) -> set[tuple[str, int]]:
        """The values, by aspect and hash, that *rule* removes from *url* of *page*, and that another page has had before."""
        self._rules[id(rule)] = rule
        values = [
            (
                _named(COMMON, rule, number),
                one.in_slot(parts) if one.slot else _removed(url, one.in_text(url)),
            )
            for number, one, parts in _at_work(rule, url)
        ]
        hashed = {(aspect, hash((aspect, value))) for aspect, value in values}
        return {(aspect, value) for aspect, value in hashed if self._first(id(rule), value, page) != page}

    def _first(self, rule: int, value: int, page: Hashable) -> Hashable:
        if len(self._of) >= _VALUES:
            return self._of.get((rule, value), page)
        return self._of.setdefault((rule, value), page)


def _alike(one: str, other: str) -> int:
    """The number of characters at the beginning of *one* and *other* that are equal."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def _kind(value: str) -> str:
    kind = class_of(value)
    if kind == "digits":
        return f"{len(value)} digits"
    if value.lower() == value:
        return kind
    return f"{kind} in {'capitals' if value.upper() == value else 'mixed case'}"


@lru_cache(maxsize=4096)
def deed_of(rule: Rule) -> str:
    """The change that *rule* makes, as a text without numbers, ids and guards: rules with one text share their reach."""
    return _NUMBER.sub("0", _ID.sub("*", str(rule.everywhere)))


def changed_by(rule: Rule, url: str, other: str, explain: Explain = lambda url: ()) -> tuple[str, ...]:
    """The URLs, of two of one class, that *rule* changes, or the forms into which other rules put these URLs before.

    *explain*: the steps of the canonizer, which may differ another time, so that both count as places where the rule
    held.
    """
    if rule.apply(url) != url:
        return (url,)
    if rule.apply(other) != other:
        return (other,)
    found = [
        text
        for one in (url, other)
        for step in explain(one)
        if step.rule == rule
        for text in (one, step.before)
    ]
    return tuple(dict.fromkeys(found)) or (url,)


def shown_by(rule: Rule, pairs: Iterable[tuple[str, str, str]]) -> dict[str, int]:
    """The reach of *rule* that *pairs* show: two URLs with the same content, and a name of the content."""
    found: _Bearing = {}
    common = CommonValues()
    for url, other, content in pairs:
        for changed in changed_by(rule, url, other):
            for aspect in aspects_of(rule, changed):
                found.setdefault(aspect, set()).add((content, url))
        _bear_out(found, content, common.of(rule, url, content) | common.of(rule, other, content))
    return _counted(found)


#: By aspect, the contents that bear a rule out, each with a URL.
_Bearing = dict[str, set[tuple[Hashable, Hashable]]]


def _counted(found: _Bearing) -> dict[str, int]:
    """How much bears a rule out, by aspect: contents; where all show one page, such as a login form, its URLs."""
    contents = {
        content for aspect, bearing in found.items() if not _is_common(aspect) for content, _ in bearing
    }
    if len(contents) == 1:
        return {aspect: len(bearing) for aspect, bearing in found.items()}
    return {aspect: len({content for content, _ in bearing}) for aspect, bearing in found.items()}


def _bear_out(found: _Bearing, content: Hashable, values: Iterable[tuple[str, int]]) -> None:
    """Take note in *found* of *values* that are common to several pages, of which *content* is one."""
    for aspect, value in values:
        bearing = found.setdefault(aspect, set())
        if len(bearing) < _CONTENTS:
            bearing.add(((content, value), value))


def held_by(contents: Mapping[str, str], canonizer: Canonizer) -> dict[str, dict[str, int]]:
    """The reach of the rules of *canonizer*, as `deed_of` names the rules. *contents*: the content that each URL shows."""
    groups: dict[str, list[str]] = {}
    for url in contents:
        groups.setdefault(canonizer.canonize(url), []).append(url)
    found: dict[str, _Bearing] = {}
    common = CommonValues()
    for urls in groups.values():
        if len(urls) > 1 and len({contents[url] for url in urls}) == 1:
            for url in urls:
                for step in canonizer.explain(url):
                    of = found.setdefault(deed_of(step.rule), {})
                    for aspect in {*aspects_of(step.rule, step.before), *aspects_of(step.rule, url)}:
                        of.setdefault(aspect, set()).add((contents[url], url))
                    _bear_out(of, contents[url], common.of(step.rule, step.before, contents[url]))
    return {deed: _counted(aspects) for deed, aspects in found.items()}


class Reach:
    """The reach of rules of one site in one crawl, as far as it is limited.

    *max_risk*: as in ``DUST_MAX_RISK``; *explain*: what rules do to a URL, one after the other.
    """

    def __init__(self, max_risk: float, explain: Explain = lambda url: ()) -> None:
        self._max_risk, self._explain = max_risk, explain
        self._limited: set[Rule] = set()
        #: By the ids of rules, what they do; None: no limits.
        self._known: dict[int, tuple[Rule, str | None]] = {}
        self._shown: dict[str, dict[str, int]] = {}  #: by what rules do
        self._seen: dict[str, _Bearing] = {}  #: the same in this crawl
        self._counts: dict[str, Shown] = {}  #: of those seen in this crawl, how much bears them out
        self._within: dict[str, set[str]] = {}  #: the same, aspects with which rules have shown themselves
        self._common = CommonValues()

    def __bool__(self) -> bool:
        return bool(self._limited)

    def limit(self, rules: Iterable[Rule], shown: Mapping[str, Shown]) -> None:
        """Limit *rules* to the reach that is *shown* for their change of a URL; more evidence widens it."""
        self._limited.update(rules)
        self._known.clear()
        for deed, aspects in shown.items():
            known = self._shown.setdefault(deed, {})
            for aspect, count in aspects.items():
                known[aspect] = max(count, known.get(aspect, 0))

    def is_beyond(self, rules: Iterable[Rule], url: str, keeper: str) -> bool:
        """Whether *rules*, which merge the two URLs, are not proved yet for URLs like *url*."""
        return any(self._is_beyond(rule, url, keeper) for rule in rules)

    def _is_beyond(self, rule: Rule, url: str, keeper: str) -> bool:
        deed = self._limits(rule)
        if deed is None:
            return False
        within = self._within.get(deed, set())
        if any(_named(COMMON, rule, number) not in within for number, _ in rule.wide_operations):
            common = {aspect for aspect, _ in self._common_values(rule, url, keeper)}
            if common and self._is_new(rule, deed, common):
                return True
        changed = changed_by(rule, url, keeper, self._explain)
        return all(self._is_new(rule, deed, aspects_of(rule, one)) for one in changed)

    def _common_values(self, rule: Rule, url: str, keeper: str) -> set[tuple[str, int]]:
        """The values that *rule* removes from the two URLs of one class, and that URLs of other classes have as well."""
        found = set[tuple[str, int]]()
        for one in (url, keeper):
            steps = self._explain(one)
            page = steps[-1].after if steps else rule.apply(one)
            for form in {one, *(step.before for step in steps if step.rule == rule)}:
                found |= self._common.of(rule, form, page)
        return found

    def _is_new(self, rule: Rule, deed: str, aspects: Iterable[str]) -> bool:
        within = self._within.setdefault(deed, set())
        new = [one for one in aspects if one not in within]
        if new:
            shown = self._shown_by(deed)
            within.update(one for one in new if self._is_shown(rule, one, shown))
        return not within.issuperset(new)

    def _is_shown(self, rule: Rule, aspect: str, shown: Shown) -> bool:
        others = sum(other != aspect and _group(other) == _group(aspect) for other in shown)
        if _is_common(aspect):
            others = 1  # values of one page each
        count = _of_longer(aspect, shown) if _DIGITS.fullmatch(aspect) else shown.get(aspect, 0)
        # All that has proved the rule was like that.
        proved_by_it = not others and count > 0
        return proved_by_it or count >= needed(rule.families, others, self._max_risk)

    def _limits(self, rule: Rule) -> str | None:
        """The change that *rule* makes, as a text, if the reach of such rules is limited; else None. Hashing a rule is slow."""
        known = self._known.get(id(rule))
        if known is None:
            known = self._known[id(rule)] = rule, deed_of(rule) if rule in self._limited else None
        return known[1]

    def same(self, rules: Iterable[Rule], url: str, keeper: str, content: int) -> None:
        """Take note that the two URLs, which *rules* merge, showed the same *content*."""
        for rule in rules:
            deed = self._limits(rule)
            if deed is None:
                continue
            seen = self._seen.setdefault(deed, {})
            self._counts.pop(deed, None)
            if rule.wide_operations:
                _bear_out(seen, content, self._common_values(rule, url, keeper))
            changed = changed_by(rule, url, keeper, self._explain)
            for aspect in {aspect for one in changed for aspect in aspects_of(rule, one)}:
                if aspect in seen or len(seen) < ASPECTS:
                    bearing = seen.setdefault(aspect, set())
                    if len(bearing) < _CONTENTS:
                        bearing.add((content, hash(url)))

    def shown(self, rule: Rule) -> dict[str, int]:
        """How far *rule* reaches by now; empty if its reach is not limited."""
        deed = self._limits(rule)
        return {} if deed is None else dict(self._shown_by(deed))

    def _shown_by(self, deed: str) -> Shown:
        known, seen = self._shown.get(deed, {}), self._seen.get(deed)
        if not seen:
            return known
        counts = self._counts.get(deed)
        if counts is None:
            counts = self._counts[deed] = _counted(seen)
        # What an earlier crawl has seen may be the same.
        return known | {aspect: max(count, known.get(aspect, 0)) for aspect, count in counts.items()}


class Reaches:
    """The reach of rules on each of many sites in one crawl: what one site shows says nothing of another.

    *site_of*: the site of a URL, None if no rule applies to it; the rest as for `Reach`.
    """

    def __init__(
        self,
        max_risk: float,
        site_of: Callable[[str], str | None],
        explain: Explain = lambda url: (),
    ) -> None:
        self._max_risk, self._site_of, self._explain = max_risk, site_of, explain
        self._of: dict[str, Reach] = {}

    def __bool__(self) -> bool:
        return bool(self._of)

    def limit(self, site: str, rules: Collection[Rule], shown: Mapping[str, Shown]) -> None:
        """Limit *rules* of *site* as `Reach.limit` does."""
        if rules and site not in self._of:
            self._of[site] = Reach(self._max_risk, self._explain)
        if site in self._of:
            self._of[site].limit(rules, shown)

    def is_beyond(self, rules: Iterable[Rule], url: str, keeper: str) -> bool:
        """Whether *rules*, which merge the two URLs, are not proved yet for URLs of their site like *url*."""
        reach = self._of.get(self._site_of(url) or "")
        return reach is not None and reach.is_beyond(rules, url, keeper)

    def same(self, rules: Iterable[Rule], url: str, keeper: str, content: int) -> None:
        """Take note that the two URLs, which *rules* merge, showed the same *content*."""
        reach = self._of.get(self._site_of(url) or "")
        if reach is not None:
            reach.same(rules, url, keeper, content)

    def shown(self, site: str, rule: Rule) -> dict[str, int]:
        """How far *rule* reaches on *site* by now; empty if its reach is not limited there."""
        reach = self._of.get(site)
        return {} if reach is None else reach.shown(rule)


def _of_longer(aspect: str, shown: Shown) -> int:
    """How much was shown for *aspect*. Ids grow: evidence for longer numbers counts for shorter ones too."""
    of, least = _length(aspect)
    lengths = [(*_length(other), count) for other, count in shown.items() if _DIGITS.fullmatch(other)]
    return sum(count for other, length, count in lengths if other == of and length >= least)


def _group(aspect: str) -> str:
    """The name that all aspects have that are alternatives to *aspect*."""
    return aspect.partition(":" if aspect.startswith("of ") else " ")[0]


def _is_common(aspect: str) -> bool:
    """Whether *aspect* is about values of several pages."""
    return aspect.startswith(COMMON)


def _length(aspect: str) -> tuple[str, int]:
    """The kind of text that *aspect* is about, and the length of its number."""
    found = _DIGITS.fullmatch(aspect)
    assert found is not None
    return found[1], int(found[2])


@lru_cache(maxsize=4096)
def needed(families: tuple[str, ...], others: int, max_risk: float) -> int:
    """The number of contents that must confirm a rule in a new aspect, after the rule has held in *others* other aspects."""
    # Not loaded by a crawl whose rules have no limits.
    from scrapy_dust.believe.unseen import DOUBT, contents_to_prove, law_share  # noqa: PLC0415

    laws = max(law_share(families), (others + 1) / (others + 2))
    return 0 if laws >= 1 - DOUBT else contents_to_prove(max_risk, laws)

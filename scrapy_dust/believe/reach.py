"""How far the evidence for a rule reaches: a rule in force is on probation where nothing similar has been seen.

*Aspects* describe a URL: its part of the site, the length of its longest number, and of each value that the rule
removes the kind of text (or the length of the number). A crawl walks through a site part by part, and ids grow. So
where an aspect is new, URLs that the rule would suppress are fetched, and each that shows the same page confirms the
rule there. A value that several pages have (``/7/reviews``, ``/8/reviews``) is an aspect too: a rule that was seen to
hold for values of one page each, such as titles, says little of a value that means the same on all pages.

`unseen_loss` says how many must do so: the more parts of a site confirm a rule, the more probably it holds in the next one
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
from scrapy_dust.url.value_classes import MIXED_ID, value_class
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


def aspects_of(rule: Rule, url: str) -> tuple[str, ...]:
    """The aspects (labels that describe a URL) of *url*, which *rule* changes: its part of the site, the length of its
    numbers, and the kind of each value that *rule* removes.
    """
    applied = rule.apply(url)
    form = MIXED_ID.sub("*", applied)
    _, _, beyond = form.partition("://")
    longest = max(map(len, _NUMBER.findall(beyond.partition("/")[2])), default=0)
    host = "/".join(url.split("/", 3)[:3])
    part = template_of(form).split("/", 3)[-1]
    return (
        f"in {host}/{part}",
        f"numbers of {longest} digits",
        *(f"{of}: {_kind_with_length(value)}" for of, value in _removed_values(rule, url, applied)),
    )


def _removed_values(rule: Rule, url: str, applied: str) -> list[tuple[str, str]]:
    """The values that *rule* removes from *url*, each with a name of the operation that does so."""
    found = [
        (_aspect_of_operation("of values", rule, number), one.value_in_slot(parts))
        for number, one, parts in _removing_operations(rule, url)
    ]
    return found or [("of values", _removed_text(url, applied))]


def _aspect_of_operation(aspect: str, rule: Rule, number: int) -> str:
    """The label *aspect*, with the *number* of the operation where *rule* removes several values."""
    return f"{aspect} {number}" if sum(one.slot is not None for one in rule.operations) > 1 else aspect


def _removing_operations(rule: Rule, url: str) -> Iterator[tuple[int, Operation, Parts]]:
    """The operations of *rule* that remove a value from *url*, each with its number and the parts of *url*."""
    wide = rule.wide_operations
    parts = parts_of(url) if wide else None
    for number, one in wide:
        assert parts is not None
        if one.apply(parts) is not parts:
            yield number, one, parts


def _removed_text(url: str, form: str) -> str:
    """The text of *url* that *form* does not have."""
    begin = _common_prefix(url, form)
    return url[begin : len(url) - _common_prefix(url[begin:][::-1], form[begin:][::-1])]


class CommonValues:
    """Finds the values that rules remove from URLs of several pages."""

    def __init__(self) -> None:
        #: By rule and value, the page that had the value first.
        self._of: dict[tuple[int, int], Hashable] = {}
        self._rules: dict[int, Rule] = {}  #: so that the ids of rules stay theirs

    def common_values(self, rule: Rule, url: str, page: Hashable) -> set[tuple[str, int]]:
        """The values (each an aspect and a hash) that *rule* removes from *url* of *page*, and that another page has
        had before.
        """
        self._rules[id(rule)] = rule
        values = [
            (
                _aspect_of_operation(COMMON, rule, number),
                one.value_in_slot(parts) if one.slot else _removed_text(url, one.in_text(url)),
            )
            for number, one, parts in _removing_operations(rule, url)
        ]
        hashed = {(aspect, hash((aspect, value))) for aspect, value in values}
        return {
            (aspect, value) for aspect, value in hashed if self._first_page(id(rule), value, page) != page
        }

    def _first_page(self, rule: int, value: int, page: Hashable) -> Hashable:
        """The page of which *rule* first removed *value*; *page*, if no other came before."""
        if len(self._of) >= _VALUES:
            return self._of.get((rule, value), page)
        return self._of.setdefault((rule, value), page)


def _common_prefix(one: str, other: str) -> int:
    """The number of characters at the beginning of *one* and *other* that are equal."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def _kind_with_length(value: str) -> str:
    """The kind of text that *value* is, with the number of its digits, or with its use of capitals."""
    kind = value_class(value)
    if kind == "digits":
        return f"{len(value)} digits"
    if value.lower() == value:
        return kind
    return f"{kind} in {'capitals' if value.upper() == value else 'mixed case'}"


@lru_cache(maxsize=4096)
def change_of(rule: Rule) -> str:
    """The change that *rule* makes, as a text without numbers, ids and guards: rules with one text share their reach."""
    return _NUMBER.sub("0", MIXED_ID.sub("*", str(rule.unguarded)))


def changed_urls(rule: Rule, url: str, other: str, explain: Explain = lambda url: ()) -> tuple[str, ...]:
    """The two URLs, which get one key, as far as *rule* changes them: themselves, or the forms that other rules made of
    them before.

    *explain*: gives the steps of the canonizer. The steps may differ another time, so both count as places where the
    rule held.
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


def reach_shown_by(rule: Rule, pairs: Iterable[tuple[str, str, str]]) -> dict[str, int]:
    """How many contents confirm *rule*, by aspect of URLs (part of the site, kind of value). *pairs*: two URLs with the
    same content, and a name of the content.
    """
    found: _Bearing = {}
    common = CommonValues()
    for url, other, content in pairs:
        for changed in changed_urls(rule, url, other):
            for aspect in aspects_of(rule, changed):
                found.setdefault(aspect, set()).add((content, url))
        _add_common_values(
            found,
            content,
            common.common_values(rule, url, content) | common.common_values(rule, other, content),
        )
    return _count_contents(found)


#: By aspect, the contents that bear a rule out, each with a URL.
_Bearing = dict[str, set[tuple[Hashable, Hashable]]]


def _count_contents(found: _Bearing) -> dict[str, int]:
    """The number of contents that confirm a rule, by aspect; if all URLs show one page, such as a login form, the
    number of URLs.
    """
    contents = {
        content for aspect, bearing in found.items() if not _is_common(aspect) for content, _ in bearing
    }
    if len(contents) == 1:
        return {aspect: len(bearing) for aspect, bearing in found.items()}
    return {aspect: len({content for content, _ in bearing}) for aspect, bearing in found.items()}


def _add_common_values(found: _Bearing, content: Hashable, values: Iterable[tuple[str, int]]) -> None:
    """Add *values* of the page *content*, which other pages have too, to *found*."""
    for aspect, value in values:
        bearing = found.setdefault(aspect, set())
        if len(bearing) < _CONTENTS:
            bearing.add(((content, value), value))


def reach_by_rule(contents: Mapping[str, str], canonizer: Canonizer) -> dict[str, dict[str, int]]:
    """How many contents confirm each rule of *canonizer*, by aspect of URLs, under the rule's `change_of`. *contents*:
    the content that each URL shows.
    """
    groups: dict[str, list[str]] = {}
    for url in contents:
        groups.setdefault(canonizer.canonize(url), []).append(url)
    found: dict[str, _Bearing] = {}
    common = CommonValues()
    for urls in groups.values():
        if len(urls) > 1 and len({contents[url] for url in urls}) == 1:
            for url in urls:
                for step in canonizer.explain(url):
                    of = found.setdefault(change_of(step.rule), {})
                    for aspect in {*aspects_of(step.rule, step.before), *aspects_of(step.rule, url)}:
                        of.setdefault(aspect, set()).add((contents[url], url))
                    _add_common_values(
                        of, contents[url], common.common_values(step.rule, step.before, contents[url])
                    )
    return {change: _count_contents(aspects) for change, aspects in found.items()}


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
        """Whether any rule is limited to URLs for which it was shown to hold."""
        return bool(self._limited)

    def limit(self, rules: Iterable[Rule], shown: Mapping[str, Shown]) -> None:
        """Let *rules* hold only for URLs with aspects (part of the site, kind of value) in which they are *shown* to
        hold; more evidence widens that.
        """
        self._limited.update(rules)
        self._known.clear()
        for change, aspects in shown.items():
            known = self._shown.setdefault(change, {})
            for aspect, count in aspects.items():
                known[aspect] = max(count, known.get(aspect, 0))

    def is_beyond(self, rules: Iterable[Rule], url: str, keeper: str) -> bool:
        """Whether *rules*, which merge *url* and *keeper*, are not proved yet for URLs like *url*. The keeper is the
        URL that is fetched for all with its key.
        """
        return any(self._is_beyond(rule, url, keeper) for rule in rules)

    def _is_beyond(self, rule: Rule, url: str, keeper: str) -> bool:
        """Whether *rule*, which merges *url* and *keeper*, is not proved yet for URLs like *url*."""
        change = self._limited_change(rule)
        if change is None:
            return False
        within = self._within.get(change, set())
        if any(
            _aspect_of_operation(COMMON, rule, number) not in within for number, _ in rule.wide_operations
        ):
            common = {aspect for aspect, _ in self._common_values(rule, url, keeper)}
            if common and self._has_new_aspect(rule, change, common):
                return True
        changed = changed_urls(rule, url, keeper, self._explain)
        return all(self._has_new_aspect(rule, change, aspects_of(rule, one)) for one in changed)

    def _common_values(self, rule: Rule, url: str, keeper: str) -> set[tuple[str, int]]:
        """The values (each an aspect and a hash) that *rule* removes from two URLs of one class, and that URLs of other
        classes have as well.
        """
        found = set[tuple[str, int]]()
        for one in (url, keeper):
            steps = self._explain(one)
            page = steps[-1].after if steps else rule.apply(one)
            for form in {one, *(step.before for step in steps if step.rule == rule)}:
                found |= self._common.common_values(rule, form, page)
        return found

    def _has_new_aspect(self, rule: Rule, change: str, aspects: Iterable[str]) -> bool:
        """Whether one of *aspects*, which describe a URL, is new: not enough contents confirm rules that make this
        *change* there.
        """
        within = self._within.setdefault(change, set())
        new = [one for one in aspects if one not in within]
        if new:
            shown = self._contents_by_aspect(change)
            within.update(one for one in new if self._is_proved_for(rule, one, shown))
        return not within.issuperset(new)

    def _is_proved_for(self, rule: Rule, aspect: str, shown: Shown) -> bool:
        """Whether enough contents confirm *rule* for URLs that *aspect* describes. *shown*: how many confirm it, by
        aspect.
        """
        others = sum(other != aspect and _group_of(other) == _group_of(aspect) for other in shown)
        if _is_common(aspect):
            others = 1  # values of one page each
        count = _shown_for_longer(aspect, shown) if _DIGITS.fullmatch(aspect) else shown.get(aspect, 0)
        # All that has proved the rule was like that.
        proved_by_it = not others and count > 0
        return proved_by_it or count >= confirmations_needed(rule.families, others, self._max_risk)

    def _limited_change(self, rule: Rule) -> str | None:
        """The change that *rule* makes, as a text, if the reach of such rules is limited; else None. Hashing a rule is slow."""
        known = self._known.get(id(rule))
        if known is None:
            known = self._known[id(rule)] = rule, change_of(rule) if rule in self._limited else None
        return known[1]

    def confirm(self, rules: Iterable[Rule], url: str, keeper: str, content: int) -> None:
        """Count the same *content* of two URLs, which *rules* merge, as evidence for *rules* where URLs are like these."""
        for rule in rules:
            change = self._limited_change(rule)
            if change is None:
                continue
            seen = self._seen.setdefault(change, {})
            self._counts.pop(change, None)
            if rule.wide_operations:
                _add_common_values(seen, content, self._common_values(rule, url, keeper))
            changed = changed_urls(rule, url, keeper, self._explain)
            for aspect in {aspect for one in changed for aspect in aspects_of(rule, one)}:
                if aspect in seen or len(seen) < ASPECTS:
                    bearing = seen.setdefault(aspect, set())
                    if len(bearing) < _CONTENTS:
                        bearing.add((content, hash(url)))

    def confirmed(self, rule: Rule) -> dict[str, int]:
        """How many contents confirm *rule* by now, by aspect (a label that describes URLs); empty if the rule is not
        limited.
        """
        change = self._limited_change(rule)
        return {} if change is None else dict(self._contents_by_aspect(change))

    def _contents_by_aspect(self, change: str) -> Shown:
        """How many contents confirm rules that make this *change*, by aspect (a label that describes URLs), in all
        crawls so far.
        """
        known, seen = self._shown.get(change, {}), self._seen.get(change)
        if not seen:
            return known
        counts = self._counts.get(change)
        if counts is None:
            counts = self._counts[change] = _count_contents(seen)
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
        """Whether any rule of any site is limited to URLs for which it was shown to hold."""
        return bool(self._of)

    def limit(self, site: str, rules: Collection[Rule], shown: Mapping[str, Shown]) -> None:
        """Let *rules* of *site* hold only for URLs with aspects (part of the site, kind of value) in which they are
        *shown* to hold.
        """
        if rules and site not in self._of:
            self._of[site] = Reach(self._max_risk, self._explain)
        if site in self._of:
            self._of[site].limit(rules, shown)

    def is_beyond(self, rules: Iterable[Rule], url: str, keeper: str) -> bool:
        """Whether *rules*, which merge the two URLs, are not proved yet for URLs of their site like *url*."""
        reach = self._of.get(self._site_of(url) or "")
        return reach is not None and reach.is_beyond(rules, url, keeper)

    def confirm(self, rules: Iterable[Rule], url: str, keeper: str, content: int) -> None:
        """Count the same *content* of two URLs, which *rules* merge, as evidence for *rules* where URLs are like these."""
        reach = self._of.get(self._site_of(url) or "")
        if reach is not None:
            reach.confirm(rules, url, keeper, content)

    def confirmed(self, site: str, rule: Rule) -> dict[str, int]:
        """How many contents of *site* confirm *rule* by now, by aspect (a label that describes URLs); empty if the rule
        is not limited there.
        """
        reach = self._of.get(site)
        return {} if reach is None else reach.confirmed(rule)


def _shown_for_longer(aspect: str, shown: Shown) -> int:
    """How many contents confirm a rule for numbers as long as in *aspect*, or longer: ids grow, so longer ones prove
    shorter ones too.
    """
    of, least = _kind_and_length(aspect)
    lengths = [
        (*_kind_and_length(other), count) for other, count in shown.items() if _DIGITS.fullmatch(other)
    ]
    return sum(count for other, length, count in lengths if other == of and length >= least)


def _group_of(aspect: str) -> str:
    """The beginning of the label *aspect*, without its value: labels with one beginning are alternatives."""
    return aspect.partition(":" if aspect.startswith("of ") else " ")[0]


def _is_common(aspect: str) -> bool:
    """Whether *aspect*, a label that describes URLs, is about values that several pages have."""
    return aspect.startswith(COMMON)


def _kind_and_length(aspect: str) -> tuple[str, int]:
    """The two parts of the label *aspect*: what it describes, and the length of the number."""
    found = _DIGITS.fullmatch(aspect)
    assert found is not None
    return found[1], int(found[2])


@lru_cache(maxsize=4096)
def confirmations_needed(families: tuple[str, ...], others: int, max_risk: float) -> int:
    """The number of contents that must confirm a rule for new URLs (a new part of the site, say), after the rule has
    held for *others* other kinds of URLs.
    """
    # Not loaded by a crawl whose rules have no limits.
    from scrapy_dust.believe.unseen_loss import DOUBT, contents_to_prove, law_share  # noqa: PLC0415

    laws = max(law_share(families), (others + 1) / (others + 2))
    return 0 if laws >= 1 - DOUBT else contents_to_prove(max_risk, laws)

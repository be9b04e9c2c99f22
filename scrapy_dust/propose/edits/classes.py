"""The URLs of a log by key, and the merges that another edit would make: evidence for and against the edit.

Every effect of an edit on the log is seen, including pages that get one key only together with earlier edits. Two
known contents under one key speak against an edit, however many pairs speak for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from math import log2
from typing import NamedTuple

from scrapy_dust.rules.guards import holds
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.site_rules import SiteRules, Step
from scrapy_dust.rules.word_index import WordIndex
from scrapy_dust.url.parts import Parts, parts_of

#: Forms of which the way is held, some 300 bytes each.
_MOST_WAYS = 200_000


class Merge(NamedTuple):
    """Classes that an edit merges into one."""

    key: str
    moved: tuple[str, ...]  #: the keys that change
    members: int  #: classes that become one, those that do not move included
    contents: frozenset[Hashable]  #: that are known

    @property
    def is_good(self) -> bool:
        """Whether all known contents of the merged classes are equal."""
        return len(self.contents) == 1

    @property
    def is_bad(self) -> bool:
        """Whether the merged classes have different contents."""
        return len(self.contents) > 1


@dataclass(frozen=True, slots=True)
class Effect:
    """All merges that an edit makes in the log."""

    moved: Mapping[str, str]
    good: tuple[Merge, ...] = ()
    bad: tuple[Merge, ...] = ()
    unknown: int = 0  #: merges of pages of which at most one is known
    endless: bool = False  #: with it, some URL comes to no end
    #: Whether the edit changes no URL twice. Under a guard it then does the same to all URLs for which the guard holds.
    is_made_once: bool = False

    @property
    def saves(self) -> int:
        """How many URLs need not be fetched, without losing any content."""
        return sum(merge.members - 1 for merge in self.good)

    @property
    def contents(self) -> int:
        """How many different contents were seen under several URLs."""
        return len({content for merge in self.good for content in merge.contents})

    @property
    def apart(self) -> int:
        """How many of the good merges are independent, if pages of one directory may be copied together."""
        seen = Counter(merge.moved[0].partition("?")[0].rpartition("/")[0] for merge in self.good)
        return int(sum(1 + log2(count) for count in seen.values()))


@dataclass(slots=True)
class Classes:
    """The keys of a log's URLs, with the contents seen under each. The log's order does not matter."""

    contents: dict[str, frozenset[Hashable]]  #: by key
    function: SiteRules = field(default_factory=lambda: SiteRules("", ()))
    forms: dict[str, Parts] = field(init=False)
    work: int = 0  #: so many keys were looked at, all edits together
    #: The effects of edits since the last one was accepted, each with the work that it took.
    _effects: dict[Rule, tuple[Effect, int]] = field(default_factory=dict)
    #: By a form that some edit has made, since the last edit was accepted: the form's key, and all forms on the way there.
    _ways: dict[str, tuple[str | None, tuple[str, ...]]] = field(default_factory=dict)
    _index: WordIndex = field(init=False)  #: of keys, and of those that are none any more

    def __post_init__(self) -> None:
        self.forms = {key: parts_of(key) for key in sorted(self.contents)}
        self._index = WordIndex(self.forms)

    def __len__(self) -> int:
        return len(self.contents)

    def known_twice(self) -> dict[Hashable, list[Parts]]:
        """The forms of the keys that show one content and no other, by content, for contents with two keys or more."""
        groups: dict[Hashable, list[Parts]] = {}
        for key, contents in self.contents.items():
            if len(contents) == 1:
                groups.setdefault(next(iter(contents)), []).append(self.forms[key])
        return {content: forms for content, forms in groups.items() if len(forms) > 1}

    def effect(self, edit: Rule) -> Effect:
        """The merges that *edit* would make."""
        known = self._effects.get(edit)
        if known is None:
            before = self.work
            effect = self._effect_of_merges(edit)
            self._effects[edit] = effect, self.work - before
            return effect
        self.work += known[1]
        return known[0]

    def _effect_of_merges(self, edit: Rule) -> Effect:
        """The effect of *edit*, found by applying it to all keys that it may change."""
        if edit.guard and (wide := self._effects.get(edit.unguarded)) and wide[0].is_made_once:
            return self._effect_under_guard(edit, wide[0].moved)
        moved: dict[str, str] = {}
        is_made_once, has_rules = True, bool(self.function.rules)
        with_edit = self.function.with_rule(edit)
        for key in self._touched_keys(edit):
            changed = edit.apply_to_parts(key, self.forms[key])
            if changed == key:
                continue
            target, on_the_way = self._way_of(changed) if has_rules else (changed, (changed,))
            for one in on_the_way:
                if edit.apply(one) != one:
                    is_made_once, target = False, with_edit.settle(changed)
                    break
            if target is None:
                return Effect({}, endless=True)
            if target != key:
                moved[key] = target
        return self._sort_merges(moved, is_made_once)

    def _effect_under_guard(self, edit: Rule, wide: Mapping[str, str]) -> Effect:
        """The effect of *edit*, which without its guard moves all of *wide*."""
        touched = [key for key in self._touched_keys(edit) if key in wide]
        moved = {key: wide[key] for key in touched if holds(edit.guard, self.forms[key])}
        return self._sort_merges(moved, is_made_once=True)

    def _touched_keys(self, edit: Rule) -> list[str]:
        """The keys that have the texts which *edit* needs. Only keys with the rarest word of these texts are looked at."""
        found, forms = self._index.names_touched(edit), self.forms
        touched = [
            key for key in (forms if found is None else found) if key in forms and edit.may_change(key)
        ]
        self.work += len(touched)
        return touched

    def _way_of(self, form: str) -> tuple[str | None, tuple[str, ...]]:
        """Two results: the key of *form* under the accepted edits, None if they come to no end; and all forms on the
        way to the key.
        """
        known = self._ways.get(form)
        if known is None:
            if len(self._ways) >= _MOST_WAYS:
                self._ways.clear()
            steps: list[Step] = []
            end = self.function.settle(form, steps=steps)
            known = self._ways[form] = end, (form, *[after for _, _, after in steps])
        return known

    def _sort_merges(self, moved: dict[str, str], is_made_once: bool) -> Effect:
        """The effect of an edit that turns keys into others as *moved* has it: its merges, by whether their contents
        are equal.
        """
        contents = self.contents
        # Most targets are new, and of one key: nothing is merged there.
        groups: dict[str, list[str]] = {
            target: []
            for target, count in Counter(moved.values()).items()
            if count > 1 or (target in contents and target not in moved)
        }
        for key, target in moved.items():
            if target in groups:
                groups[target].append(key)
        good, bad, unknown = [], [], 0
        for target, keys in groups.items():
            known = [contents[key] for key in keys]
            if target in contents and target not in moved:
                known.append(contents[target])
            merge = Merge(target, tuple(keys), len(known), known[0].union(*known))
            if merge.is_bad:
                bad.append(merge)
            elif sum(map(bool, known)) > 1:
                good.append(merge)
            else:
                unknown += len(known) - 1
        return Effect(moved, tuple(good), tuple(bad), unknown, is_made_once=is_made_once)

    def accept(self, edit: Rule, effect: Effect) -> None:
        """Accept *edit*, whose effect is known."""
        self._effects.clear()
        self._ways.clear()
        self.function = self.function.with_rule(edit)
        for key, target in effect.moved.items():
            contents = self.contents.pop(key)
            self.forms.pop(key)
            self.contents[target] = self.contents.get(target, frozenset()) | contents
            if target not in self.forms:
                self.forms[target] = parts_of(target)
                self._index.add(target, target)


def classes_of(contents: Mapping[str, Hashable | None], rules: Iterable[Rule] = ()) -> Classes:
    """The classes of URLs under *rules*. *contents*: None if it is not known what a URL shows."""
    function = SiteRules("", rules)
    found: dict[str, frozenset[Hashable]] = {}
    for url, content in contents.items():
        key = function.key(url)
        found[key] = found.get(key, frozenset()) | (frozenset() if content is None else frozenset((content,)))
    return Classes(found, function)

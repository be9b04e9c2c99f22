"""The URLs of a log by key, and what another edit would merge: the evidence for and against it.

Everything an edit does to the log is looked at: pages that only together with earlier edits get one key are
seen. Two known contents under one key speak against it, however many pairs speak for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import log2

from scrapy_dust.dust.word_index import WordIndex
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.site_rules import SiteRules
from scrapy_dust.url.parts import Parts, parts_of


@dataclass(frozen=True, slots=True)
class Merge:
    """Classes that an edit makes one."""

    key: str
    moved: tuple[str, ...]  #: the keys that change
    members: int  #: classes that become one, those that do not move included
    contents: frozenset[Hashable]  #: that are known

    @property
    def is_good(self) -> bool:
        return len(self.contents) == 1

    @property
    def is_bad(self) -> bool:
        return len(self.contents) > 1


@dataclass(frozen=True, slots=True)
class Effect:
    """What an edit does to the log."""

    moved: Mapping[str, str]
    good: tuple[Merge, ...] = ()
    bad: tuple[Merge, ...] = ()
    unknown: int = 0  #: merges of pages of which at most one is known
    endless: bool = False  #: with it, some URL comes to no end

    @property
    def saves(self) -> int:
        """URLs that would not have been fetched, nothing lost with them."""
        return sum(merge.members - 1 for merge in self.good)

    @property
    def contents(self) -> int:
        """Different contents that were seen under several URLs."""
        return len({content for merge in self.good for content in merge.contents})

    @property
    def apart(self) -> int:
        """As how many independent observations they count, where pages of one directory are copied together."""
        seen = Counter(merge.moved[0].partition("?")[0].rpartition("/")[0] for merge in self.good)
        return int(sum(1 + log2(count) for count in seen.values()))


@dataclass(slots=True)
class Classes:
    """Keys with what is known to be seen under each. The log's order does not matter."""

    contents: dict[str, frozenset[Hashable]]  #: by key
    function: SiteRules = field(default_factory=lambda: SiteRules("", ()))
    forms: dict[str, Parts] = field(init=False)
    work: int = 0  #: so many keys were looked at, all edits together
    _index: WordIndex = field(init=False)  #: of keys, and of those that are none any more

    def __post_init__(self) -> None:
        self.forms = {key: parts_of(key) for key in sorted(self.contents)}
        self._index = WordIndex(self.forms)

    def _touched_by(self, edit: Rule) -> Iterator[str]:
        """The keys that *edit* may change, some others among them."""
        found = self._index.touched_by(edit)
        for key in self.forms if found is None else found:
            if key in self.forms and edit.may_change(key):
                yield key

    def __len__(self) -> int:
        return len(self.contents)

    def effect(self, edit: Rule) -> Effect:
        moved: dict[str, str] = {}
        for key in self._touched_by(edit):
            self.work += 1
            form = self.forms[key]
            edited = edit.change(form)
            if edited is form or (changed := edited.url) == key:
                continue
            target = self.function.settle(changed, more=edit)
            if target is None:
                return Effect({}, endless=True)
            if target != key:
                moved[key] = target
        return self._merges(moved)

    def _merges(self, moved: dict[str, str]) -> Effect:
        groups: dict[str, list[str]] = {}
        for key, target in moved.items():
            groups.setdefault(target, []).append(key)
        good, bad, unknown = [], [], 0
        for target, keys in groups.items():
            stays = target in self.contents and target not in moved
            members = len(keys) + stays
            if members < 2:
                continue
            known = [self.contents[key] for key in keys] + ([self.contents[target]] if stays else [])
            contents = frozenset().union(*known)
            merge = Merge(target, tuple(keys), members, contents)
            if merge.is_bad:
                bad.append(merge)
            elif sum(map(bool, known)) > 1:
                good.append(merge)
            else:
                unknown += members - 1
        return Effect(moved, tuple(good), tuple(bad), unknown)

    def accept(self, edit: Rule, effect: Effect) -> None:
        self.function = SiteRules("", [*self.function.rules, edit])
        for key, target in effect.moved.items():
            contents = self.contents.pop(key)
            self.forms.pop(key)
            self.contents[target] = self.contents.get(target, frozenset()) | contents
            if target not in self.forms:
                self.forms[target] = parts_of(target)
                self._index.add(target, target)


def classes_of(contents: Mapping[str, Hashable | None], rules: Iterable[Rule] = ()) -> Classes:
    """The URLs by their keys. None: what a URL shows is not known."""
    function = SiteRules("", rules)
    found: dict[str, frozenset[Hashable]] = {}
    for url, content in contents.items():
        key = function.key(url)
        found[key] = found.get(key, frozenset()) | (frozenset() if content is None else frozenset((content,)))
    return Classes(found, function)

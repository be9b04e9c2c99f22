"""The URLs of a log by key, and what another edit would merge: the evidence for and against it.

Everything an edit does to the log is looked at: pages that only together with earlier edits get one key are
seen. Two known contents under one key speak against it, however many pairs speak for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from math import log2

from scrapy_dust.dust.edits.anatomy import Anatomy, anatomy_of
from scrapy_dust.dust.edits.edit import Edit, KeyFunction


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
    function: KeyFunction = field(default_factory=lambda: KeyFunction(()))
    forms: dict[str, Anatomy] = field(init=False)
    _with: dict[str, dict[str, None]] = field(init=False, default_factory=dict)  #: keys by needle

    def __post_init__(self) -> None:
        self.forms = {key: anatomy_of(key) for key in sorted(self.contents)}

    def _keys_with(self, needle: str) -> dict[str, None]:
        found = self._with.get(needle)
        if found is None:
            found = self._with[needle] = {key: None for key in self.forms if needle in key}
        return found

    def __len__(self) -> int:
        return len(self.contents)

    def effect(self, edit: Edit) -> Effect:
        moved: dict[str, str] = {}
        for key in dict.fromkeys(key for needle in edit.needles for key in self._keys_with(needle)):
            form = self.forms[key]
            edited = edit.edit(form)
            if edited is form or edited == form:
                continue
            end = self.function.end_of(edited, edit)
            if end is None:
                return Effect({}, endless=True)
            if (target := end.url) != key:
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

    def accept(self, edit: Edit, effect: Effect) -> None:
        self.function = KeyFunction([*self.function.edits, edit])
        gone: dict[str, None] = {}
        for key, target in effect.moved.items():
            contents = self.contents.pop(key)
            self.forms.pop(key)
            gone[key] = None
            self.contents[target] = self.contents.get(target, frozenset()) | contents
            self.forms[target] = anatomy_of(target)
        for needle, keys in self._with.items():
            for key in gone:
                keys.pop(key, None)
            keys.update((key, None) for key in effect.moved.values() if needle in key and key in self.forms)


def classes_of(contents: Mapping[str, Hashable | None], function: KeyFunction) -> Classes:
    """The URLs by their keys. None: what a URL shows is not known."""
    found: dict[str, frozenset[Hashable]] = {}
    for url, content in contents.items():
        key = function(url)
        found[key] = found.get(key, frozenset()) | (frozenset() if content is None else frozenset((content,)))
    return Classes(found, function)


def impure(contents: Mapping[str, Hashable | None], function: KeyFunction) -> Iterable[str]:
    """The keys under which *function* puts URLs of different known contents."""
    first: dict[str, Hashable] = {}
    for url, content in contents.items():
        if content is not None:
            key = function(url)
            if first.setdefault(key, content) != content:
                yield key

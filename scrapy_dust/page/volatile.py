"""Places of a site whose units change at each fetch: advertisements, tokens, clocks, counters, recommendations.

They are learned from several answers to one URL. A place is volatile on the URLs of one path template if hardly a
unit there survives a second fetch. Where a place changes in part, the texts of one shape may be volatile: ``Seen #
times``. A place that is volatile under several sets of parameters is volatile on the whole path, and one that is so on
several paths, on the whole site.

A place that changes on some pages may stay on others: live prices beside fixed ones. So a volatile place says which
pages to fetch twice, and a difference there is ignored if the page itself was seen to change. The difference is
ignored unseen only if the place is *surely* volatile: so many URLs showed other units there that hardly a page can
keep its own.

A place that only one of two answers has proves nothing: the other answer may be a wall in front of the page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from scrapy_dust.page.places import SHAPE_BITS, Kind, kind_of
from scrapy_dust.page.units import distinct
from scrapy_dust.page.unitsets import (
    EMPTY,
    SHAPED,
    Mask,
    UnitSet,
    array_of,
    as_links,
    is_in,
    is_of,
    places_of,
    shapes_of,
    union_of,
    within,
    without,
)
from scrapy_dust.page.wording import NOTHING_READ, Parts

#: URLs that must show a place to change, and the share of its units that may nevertheless survive a second fetch.
LEAST_URLS, MOST_SURVIVORS = 3, 0.1
#: The share of units that may survive where `LEAST_URLS` URLs have kept no unit of the place.
MOST_DRAWN_AGAIN = 1 / 3
#: URLs that must show a place to change for it to be surely volatile, and as many again for each unit that stayed. A share
#: s of pages that keep what stands there goes unnoticed so long with a probability of (1 - s)**20: whatever s is, less
#: than 2 % of the pages are misjudged on average.
LEAST_SURE = 20
#: URLs whose texts must have been compared word by word for a place of texts to be surely volatile.
LEAST_READ = 2
#: From which probability on survivors may be there by chance.
_CHANCE = 0.02
#: Path templates that must show it for a place to be volatile on all of a path, and paths for it to be so on a whole site.
LEAST_TEMPLATES = 2
#: Answers to one URL that have less in common than this share of their units are different pages, not one that changes.
_LEAST_COMMON = 0.2
#: Places and shapes of one path template that are kept, those that change most.
MOST_KEPT = 2000
#: Tells the number of a place and a shape from that of a place alone, and from that of a place and all its shapes.
SHAPE, SHAPES = 1 << 40, 1 << 41


@dataclass(frozen=True, slots=True)
class Changes:
    """How the units of one place, or of one shape there, fared at further fetches."""

    urls: int  #: that showed other units there at another fetch
    changed: int  #: units that one answer had and another to the same URL had not
    survived: int  #: units that both had
    emptied: int = 0  #: URLs of which no unit there was in both
    read: int = 0  #: URLs whose texts there were compared word by word, where they had changed
    kept: int = 0  #: URLs of these that kept words or numbers there, which are the page's own
    open: int = 0  #: URLs of these that may have kept words by chance: more answers tell

    def are_volatile(self, *, groups: bool = False) -> bool:
        """Whether hardly a unit at the place survives a fetch. For *groups* it is enough that most change, since a group
        changes with any part.

        Where a site draws units by lot, more of them survive by chance.
        """
        most = 1 / 2 if groups else MOST_DRAWN_AGAIN if self.emptied >= LEAST_URLS else MOST_SURVIVORS
        return self.urls >= LEAST_URLS and self.survived <= most * (self.changed + self.survived)

    def are_emptied(self) -> bool:
        """Whether hardly a page can keep any of its shapes there."""
        return self.left_to_be_emptied() <= 0

    def left_to_be_emptied(self) -> int:
        """How many more URLs must keep none of their shapes for `are_emptied`."""
        if self._may_be_chance():
            return LEAST_SURE - self.urls
        return LEAST_SURE * (1 + self.survived) - self.emptied

    def _may_be_chance(self) -> bool:
        """Whether as many shapes survive by chance, since a shape has few bits, in one case of fifty or more often."""
        mean = self.changed**2 / (4 * max(1, self.urls)) / (1 << SHAPE_BITS)
        less = sum(
            math.exp(-mean) * mean**number / math.factorial(number)
            for number in range(min(self.survived, 20))
        )
        return self.survived < 20 and 1 - less >= _CHANCE

    def are_sure(self, *, groups: bool = False) -> bool:
        """Whether a page can hardly keep its units at the place of these changes."""
        if groups:
            return self.urls >= LEAST_SURE and self.are_volatile(groups=True)
        return self.urls >= LEAST_SURE * (1 + self.survived)

    def are_drawn(self, *, groups: bool = False) -> bool:
        """Whether units at the place are drawn by lot at each fetch, so that one may survive by chance."""
        return self.are_volatile(groups=groups) and self.emptied >= LEAST_URLS

    def keep_parts(self) -> bool:
        """Whether a part of the texts at the place lasts on most pages, though the texts change.

        Pages that may have kept words by chance count only where there are too few others.
        """
        if self.told >= LEAST_READ:
            return 2 * (self.kept - self.open) > self.told
        return 2 * self.kept > self.read

    @property
    def told(self) -> int:
        """How many URLs have shown, as far as words can show it, whether they keep a part of their texts there."""
        return self.read - self.open

    def may_be_drawn(self) -> bool:
        """Whether units at the place may be drawn by lot: a URL has kept none of them, and no more have stayed than changed."""
        return self.emptied > 0 and self.survived <= self.changed

    def __add__(self, other: Changes) -> Changes:
        return Changes(
            self.urls + other.urls,
            self.changed + other.changed,
            self.survived + other.survived,
            self.emptied + other.emptied,
            self.read + other.read,
            self.kept + other.kept,
            self.open + other.open,
        )


NO_CHANGES = Changes(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Places:
    """A set of volatile places, to look up units."""

    places: UnitSet = field(default_factory=EMPTY.copy)
    shapes: UnitSet = field(default_factory=EMPTY.copy)  #: place and shape, as `shapes_of` has them
    #: Places where texts change in more than their numbers.
    wordy: UnitSet = field(default_factory=EMPTY.copy)

    def has(self, units: UnitSet) -> Mask:
        """A mask of those *units* that stand at a volatile place, or have a volatile shape there."""
        mask = is_in(places_of(units), self.places)
        if len(self.shapes):
            mask |= is_in(shapes_of(units), self.shapes) & is_of(units, *SHAPED)
        return mask

    def change_in_words(self, units: UnitSet) -> Mask:
        """A mask of those *units* that stand where texts change in more than their numbers."""
        return is_in(places_of(units), self.wordy)

    def __or__(self, other: Places) -> Places:
        return Places(
            union_of((self.places, other.places)),
            union_of((self.shapes, other.shapes)),
            union_of((self.wordy, other.wordy)),
        )

    def __bool__(self) -> bool:
        return bool(len(self.places) or len(self.shapes) or len(self.wordy))


NO_PLACES = Places()


def is_volatile(key: int, changes: Changes) -> bool:
    """Whether the place or shape *key*, with these *changes*, is volatile."""
    return key < SHAPES and changes.are_volatile(groups=_is_of_groups(key))


def is_sure(key: int, changes: Changes) -> bool:
    """Whether the place, the shape, or all shapes of the place *key*, with these *changes*, are surely volatile.

    For texts and links only a comparison word by word can tell.
    """
    if _may_keep_parts(key, changes):
        return False
    return changes.are_emptied() if key >= SHAPES else changes.are_sure(groups=_is_of_groups(key))


def _may_keep_parts(key: int, changes: Changes) -> bool:
    """Whether parts of the texts or links at *key* may last, though the whole changes."""
    has_parts = kind_of(place_in(key)) in (Kind.TEXT, Kind.LINK, Kind.OWN_LINK)
    return changes.keep_parts() or (has_parts and changes.told < LEAST_READ)


def is_drawn(key: int, changes: Changes) -> bool:
    """Whether the units at the place or shape *key* are drawn by lot."""
    return key < SHAPES and changes.are_drawn(groups=_is_of_groups(key))


def keeps_parts(key: int, changes: Changes) -> bool:
    """Whether texts at the place or of the shape *key* change, and a part of them lasts on each page."""
    return key < SHAPES and changes.keep_parts()


def place_in(key: int) -> int:
    """The place that *key* is about. A key names a place, a shape of values in a place, or all shapes in a place."""
    if key >= SHAPES:
        return key - SHAPES
    return (key - SHAPE) >> SHAPE_BITS if key >= SHAPE else key


#: Links for the page itself, which are compared as links like any other, and what they say beside its URL.
_LIKE_OTHERS = frozenset({Kind.OWN, Kind.OWN_LINK})


def _is_of_groups(key: int) -> bool:
    return key < SHAPE and kind_of(key) is Kind.GROUP


#: A test of a key and its changes.
Kept = Callable[[int, Changes], bool]


def _path_of(template: str) -> str:
    return template.partition("?")[0]


class Volatile:
    """The volatile places of one site: by path template, the changes of each place and shape."""

    def __init__(self, changes: Mapping[str, Mapping[int, Changes]] | None = None) -> None:
        self.changes: Mapping[str, Mapping[int, Changes]] = changes or {}
        self._found: dict[tuple[str, Kept], Places] = {}
        self._paths: dict[str, list[str]] = {}  #: the path templates of each path
        for template in self.changes:
            self._paths.setdefault(_path_of(template), []).append(template)

    def __bool__(self) -> bool:
        return bool(self.changes)

    def of(self, template: str) -> Places:
        """The volatile places of URLs of *template*."""
        return self._places_where(template, is_volatile)

    def surely(self, template: str) -> Places:
        """The places of URLs of *template* that are surely volatile."""
        return self._places_where(template, is_sure)

    def drawn(self, template: str) -> Places:
        """The places of URLs of *template* whose units are drawn by lot, so that one may survive a fetch by chance."""
        return self._places_where(template, is_drawn)

    def _places_where(self, template: str, are: Kept) -> Places:
        """The places for which the test *are* holds: on pages of *template*, on several templates of its path, or on
        several paths of the site.
        """
        found = self._found.get((template, are))
        if found is None:
            own = _places_of(key for key, one in self.changes.get(template, {}).items() if are(key, one))
            on_path = self._on_path(_path_of(template), are)
            found = self._found[template, are] = own | on_path if own else on_path
        return found

    def _on_path(self, path: str, are: Kept) -> Places:
        """The places for which *are* holds on several templates of *path*, or on several paths of the site."""
        found = self._found.get(("?" + path, are))
        if found is None:
            here = {template: self.changes[template] for template in self._paths.get(path, ())}
            own, everywhere = _places_of(_in_several(here, are, str)), self._everywhere(are)
            found = self._found["?" + path, are] = own | everywhere if own else everywhere
        return found

    def _everywhere(self, are: Kept) -> Places:
        """The places for which *are* holds on several paths of the site."""
        found = self._found.get(("", are))
        if found is None:
            found = self._found["", are] = _places_of(_in_several(self.changes, are, _path_of))
        return found

    def telling(self, template: str) -> Places:
        """The places of URLs of *template* whose texts change, while a part of them lasts and belongs to the page."""
        return self._places_where(template, keeps_parts)

    def changes_in_part(self, template: str) -> bool:
        """Whether texts change on URLs of *template* that neither place nor shape distinguishes from texts that stay."""
        here = self.changes.get(template, {})
        left = {key: one.changed for key, one in here.items() if key < SHAPE and _is_text_in_part(key, one)}
        for key, one in here.items():
            if (
                SHAPE <= key < SHAPES
                and is_volatile(key, one)
                and (place := key - SHAPE >> SHAPE_BITS) in left
            ):
                left[place] -= one.changed
        return any(changed > 0 for changed in left.values())

    def changing(self, template: str) -> Sequence[int]:
        """The places that change on URLs of *template*, in whole or in part: as the template itself has shown, or several
        templates of its path, or several paths of the site.
        """
        found = (
            key
            for known in self._scopes(template)
            for key, one in known.items()
            if key < SHAPE and one.urls >= LEAST_URLS
        )
        return list(dict.fromkeys(found))

    def lacking(self, template: str) -> int | None:
        """How many more URLs must show other units at all volatile places of *template* for these to be surely volatile.

        None if at some place units stay now and then, and are not drawn by lot, so that no number of URLs is enough.
        """
        least: dict[int, int | None] = {}
        for known in self._scopes(template):
            for key, one in known.items():
                if _must_be_sure(known, key, one):
                    left = _left_to_be_sure(key, one)
                    before = least.get(key)
                    least[key] = left if before is None else before if left is None else min(left, before)
        needed = [0, *least.values()]
        return None if None in needed else max(left for left in needed if left is not None)

    def perhaps_drawn(self, template: str) -> UnitSet:
        """The places of URLs of *template* whose units may be drawn by lot, so that one stays by chance now and then."""
        found = dict[int, Changes]()
        for known in self._scopes(template):
            found |= known
        return array_of(
            key for key, one in found.items() if _may_be_drawn(key, one) and kind_of(key) not in _LIKE_OTHERS
        )

    def _scopes(self, template: str) -> Iterator[Mapping[int, Changes]]:
        """The changes on URLs of *template*, of its path where it has several, and of the site where it has several paths."""
        yield self.changes.get(template, {})
        path = _path_of(template)
        if len(self._paths.get(path, ())) >= LEAST_TEMPLATES:
            yield self._total([path])
        if len(self._paths) >= LEAST_TEMPLATES:
            yield self._total(self._paths)

    def _total(self, paths: Iterable[str]) -> dict[int, Changes]:
        """The changes of all templates of *paths* together."""
        total: dict[int, Changes] = {}
        for path in paths:
            for template in self._paths.get(path, ()):
                for key, one in self.changes[template].items():
                    total[key] = total.get(key, NO_CHANGES) + one
        return total

    def joined(self, other: Volatile) -> Volatile:
        """The changes of both, for each place from the one that has seen more URLs. So no URL counts twice."""
        templates = dict.fromkeys([*self.changes, *other.changes])
        return Volatile(
            {
                template: _better(self.changes.get(template, {}), other.changes.get(template, {}))
                for template in templates
            }
        )


def _must_be_sure(known: Mapping[int, Changes], key: int, changes: Changes) -> bool:
    """Whether *key* is volatile, and so has to become surely volatile before no change is left open.

    A shape need not if its whole place is volatile; then all shapes of the place must, if they change too. Links for
    the page itself are compared as links.
    """
    if key < SHAPE:
        is_known = is_volatile(key, changes) or (changes.urls >= LEAST_URLS and _is_text(key))
        return is_known and kind_of(key) not in _LIKE_OTHERS
    place = key - SHAPES if key >= SHAPES else key - SHAPE >> SHAPE_BITS
    within = place in known and is_volatile(place, known[place])
    return within is (key >= SHAPES) and changes.are_volatile()


def _left_to_be_sure(key: int, changes: Changes) -> int | None:
    """The least number of URLs that must still show other units at *key* to make it surely volatile. None if no
    number is enough, since units or parts of texts stay there now and then.
    """
    if _may_keep_parts(key, changes):
        return None
    if changes.survived and not _is_of_groups(key) and not changes.may_be_drawn():
        return max(0, changes.left_to_be_emptied()) if key >= SHAPES else None
    return max(0, LEAST_SURE - changes.urls)


def _may_be_drawn(key: int, changes: Changes) -> bool:
    """Whether *key* is a place, not of groups, whose units may be drawn by lot."""
    return key < SHAPE and not _is_of_groups(key) and changes.may_be_drawn()


def _is_text_in_part(place: int, changes: Changes) -> bool:
    """Whether *place* has texts of which many change, and not nearly all."""
    return changes.urls >= LEAST_URLS and not changes.are_volatile() and _is_text(place)


def _is_text(place: int) -> bool:
    return kind_of(place) is Kind.TEXT


class Group(NamedTuple):
    """Several answers to one URL."""

    template: str  #: the path template of the URL
    answers: Sequence[UnitSet]
    parts: Parts = NOTHING_READ  #: what lasts in their texts, as far as these were read word by word


def learn_volatile(groups: Iterable[Group]) -> Volatile:
    """Learn the volatile places of a site from *groups*."""
    found: dict[str, dict[int, Changes]] = {}
    for template, answers, parts in groups:
        known = found.setdefault(template, {})
        for key, changes in _with_parts(_changes_of(answers), parts).items():
            known[key] = known.get(key, NO_CHANGES) + changes
    # What stays on pages of one kind counts where it changes on pages of another.
    moving = {key for known in found.values() for key, changes in known.items() if changes.changed}
    return Volatile({template: kept for template, known in found.items() if (kept := _kept(known, moving))})


def _changes_of(answers: Sequence[UnitSet]) -> dict[int, Changes]:
    """The changes between several answers to one URL. A unit survives if all answers have it. However many answers
    there are, they count as one URL.

    A link for the page itself counts as a link like any other, too.
    """
    answers = [union_of((units, as_links(units))) for units in answers]
    first = answers[0]
    alike = [first, *(other for other in answers[1:] if _are_of_one_page(first, other))]
    if len(alike) < 2:
        return {}
    common, everything = alike[0], union_of(alike)
    of_all = distinct(places_of(first))
    for other in alike[1:]:
        common = within(common, other)
        of_all = within(of_all, distinct(places_of(other)))
    changed = without(everything, common)
    changed = changed[is_in(places_of(changed), of_all)]
    found = _counted(changed, common) | _of_all_shapes(alike, of_all)
    return {
        key: Changes(min(one.urls, 1), one.changed, one.survived, int(one.changed > 0 and not one.survived))
        for key, one in found.items()
    }


def _with_parts(found: dict[int, Changes], parts: Parts) -> dict[int, Changes]:
    """The changes *found* between answers to one URL, with what is known of their words."""
    if not len(parts.read):
        return found
    read, kept, shapes, veiled, by_chance = (
        set(one.tolist()) for one in (parts.read, parts.kept, parts.shapes, parts.veiled, parts.by_chance)
    )
    with_numbers = {shape >> SHAPE_BITS for shape in shapes}
    told = {}
    for key, changes in found.items():
        place = place_in(key)
        if SHAPE <= key < SHAPES:
            is_kept, is_open = key - SHAPE in shapes, False
        else:
            is_kept = place in with_numbers and not changes.survived
            is_open = place in by_chance and not is_kept and place not in veiled
            is_kept |= place in kept
        is_kept |= place in veiled
        is_read = place in read
        told[key] = replace(changes, read=1, kept=int(is_kept), open=int(is_open)) if is_read else changes
    return told


def _are_of_one_page(first: UnitSet, other: UnitSet) -> bool:
    """Whether two answers to one URL have enough in common to be one page."""
    common = within(first, other)
    most = max(len(first), len(other)) - len(common)
    return len(common) >= _LEAST_COMMON * (len(common) + most)


def _counted(changed: UnitSet, common: UnitSet) -> dict[int, Changes]:
    """The changes at each place and at each shape, between answers to one URL."""
    of_changed, of_common = (shapes_of(units[is_of(units, *SHAPED)]) for units in (changed, common))
    return _by_number(places_of(changed), places_of(common), 0) | _by_number(of_changed, of_common, SHAPE)


def _of_all_shapes(answers: Sequence[UnitSet], of_all: UnitSet) -> dict[int, Changes]:
    """The number of shapes of texts that lasted and that changed at each place: ``5 EUR`` and ``6 EUR`` have one shape."""
    shapes = [distinct(shapes_of(units[is_of(units, *SHAPED)])) for units in answers]
    common = shapes[0]
    for other in shapes[1:]:
        common = within(common, other)
    bits = np.uint64(SHAPE_BITS)
    changed, stayed = without(union_of(shapes), common) >> bits, common >> bits
    return _by_number(changed[is_in(changed, of_all)], stayed, SHAPES)


def _by_number(changed: UnitSet, common: UnitSet, mark: int) -> dict[int, Changes]:
    """The changes at one URL by key. A key is a number in *changed* or *common*, combined with *mark*."""
    found = {
        number | mark: Changes(1, count, 0)
        for number, count in zip(*map(np.ndarray.tolist, np.unique(changed, return_counts=True)), strict=True)
    }
    for number, count in zip(*map(np.ndarray.tolist, np.unique(common, return_counts=True)), strict=True):
        known = found.get(number | mark, NO_CHANGES)
        found[number | mark] = replace(known, survived=count)
    return found


def _kept(known: Mapping[int, Changes], moving: Container[int]) -> dict[int, Changes]:
    """The *known* changes of keys that change or are *moving*: at most `MOST_KEPT`, those of most URLs."""
    changing = [(key, changes) for key, changes in known.items() if changes.changed or key in moving]
    changing.sort(key=lambda one: (-one[1].urls, -one[1].changed, one[0]))
    return dict(changing[:MOST_KEPT])


def _better(known: Mapping[int, Changes], other: Mapping[int, Changes]) -> dict[int, Changes]:
    """The changes at each place, of *known* or of *other*, whichever were learned from more URLs."""
    joined = dict(known)
    for key, changes in other.items():
        before = joined.get(key, NO_CHANGES)
        more = max(before, changes, key=lambda one: (one.urls, one.changed, one.survived))
        read = max(before, changes, key=lambda one: (one.read, -one.open, one.kept))
        joined[key] = replace(more, read=read.read, kept=read.kept, open=read.open)
    return _kept(joined, joined)


def _in_several(
    changes: Mapping[str, Mapping[int, Changes]], are: Kept, kind_of_pages: Callable[[str], str]
) -> Iterable[int]:
    """The places of which *are* is true when all templates are summed up, and that pages of several kinds have."""
    total: dict[int, Changes] = {}
    kinds: dict[int, set[str]] = {}
    for template, known in changes.items():
        kind = kind_of_pages(template)
        for key, one in known.items():
            total[key] = total.get(key, NO_CHANGES) + one
            kinds.setdefault(key, set()).add(kind)
    return (key for key, one in total.items() if len(kinds[key]) >= LEAST_TEMPLATES and are(key, one))


def _places_of(keys: Iterable[int]) -> Places:
    """*keys* as `Places`: each key is a place, a shape in a place, or all shapes in a place."""
    listed = list(keys)
    if not listed:
        return NO_PLACES
    return Places(
        array_of(key for key in listed if key < SHAPE),
        array_of(key - SHAPE for key in listed if SHAPE <= key < SHAPES),
        array_of(key - SHAPES for key in listed if key >= SHAPES),
    )


NOTHING_VOLATILE = Volatile()

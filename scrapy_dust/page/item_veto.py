"""The veto of items: two pages are not one if the spider took other values from each, and nothing else explains it.

Pages are compared without the parts that change at each fetch. A spider may read such a part nevertheless (a price in
glyphs that are drawn anew, an encrypted state), or it may take another part of one page under each URL. Only the items
show that. They add nothing to the evidence for a rule, and take evidence away only where

- each of the two pages gave a value that the other did not give, since a spider may leave out what it has taken before;
- where parts of the pages were set aside, a value counts only if it was made by the spider, or if it is a text that both pages
  have, so that it is in no part that was set aside;
- the field is not one that changes in any case: from one fetch of a URL to the next, or between URLs that differ in
  whatever parameter.

The text of a request that the spider made up counts as a value. If the log has the pages to which such requests lead, these
pages decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import TypeVar

from scrapy_dust.page.item_values import CHANCE
from scrapy_dust.page.own import pieces_of
from scrapy_dust.page.places import PATH_BITS, VALUE, Kind, Names, kind_of
from scrapy_dust.page.units import is_sound, units_of, unpack
from scrapy_dust.visits.pages import PackedUnits, Visit

#: Pairs of URLs of one kind that must differ in a field, and kinds, for the field to change in any case; and the share of
#: all pairs that may nevertheless have equal values.
_PAIRS, _KINDS, _SAME = 3, 2, 0.2
#: The share of pages on which a field may look like chance and count.
_CHANCE = 0.05
#: So many times more pairs of which one URL gave values that the other did not give, than pairs of which both did, are the
#: mark of a spider that leaves out what it has taken. Of a spider that completes items by whichever part comes last it is twice.
_LEFT_OUT = 4
#: Fields that a sentence names.
_NAMED = 3
_PATH = (1 << PATH_BITS) - 1
_Any = TypeVar("_Any")

#: URLs whose items are looked through for fields that change, and of which values are kept unpacked.
_LOOKED_AT, _UNPACKED = 5000, 2000

_NO_ENDS: Mapping[int, int] = {}
#: Values by field and hash, as one number; whether the spider made each of them.
_Values = Mapping[int, bool]


class Items:
    """The values that callbacks took from the pages of one site."""

    def __init__(self, of: Mapping[str, PackedUnits], changing: Collection[int] = ()) -> None:
        """*of*: by URL, the values of its items, as a log has them. *changing*: the fields whose values say nothing."""
        self._of, self._changing = of, changing
        self._names: dict[int, str] = {}
        self._unpacked: dict[str, _Values] = {}

    def __bool__(self) -> bool:
        return bool(self._of)

    @property
    def urls(self) -> Collection[str]:
        """The URLs from which the spider took something."""
        return self._of.keys()

    def learned(self, pairs: Iterable[tuple[str, str]]) -> Items:
        """These items without the fields that differ between URLs of one page. *pairs*: URLs that show one page."""
        same, kinds = Counter[int](), Counter[tuple[int, frozenset[str]]]()
        on_one = on_both = 0
        for url, other in pairs:
            a, b = self._values(url), self._values(other)
            fields = {unit >> 32 for unit in a} & {unit >> 32 for unit in b}
            only = [a.keys() - b.keys(), b.keys() - a.keys()]
            if a and b:  # A field that only one page has may be one that the spider took in a later crawl.
                only = [{unit for unit in side if unit >> 32 in fields} for side in only]
            on_both += all(only)
            on_one += any(only) and not all(only)
            differ = {unit >> 32 for side in only for unit in side}
            same.update(fields - differ)
            kind = _difference(url, other)
            kinds.update((field, kind) for field in fields & differ)
        # A spider that leaves out what it has taken before says little by what it takes.
        if on_one > _LEFT_OUT * on_both:
            return NO_ITEMS
        found = Items(self._of, {*self._changing, *_changing_between(same, kinds)})
        found._names = self._names
        return found

    def veto(
        self,
        url: str,
        other: str,
        ends: Mapping[int, int] = _NO_ENDS,
        *,
        standing: Container[int] | None = None,
    ) -> str | None:
        """The reason, as a sentence without its end, for which the pages of *url* and *other* are not one although they show
        the same; None if the items do not say so. *ends*: what the log shows at the end of links, by their values.
        *standing*: the values of the texts that both pages have; None: nothing on the pages was set aside because it changes.
        """
        here, there = self._of.get(url), self._of.get(other)
        if here is None or there is None or here.total == there.total:
            return None
        a, b = self._values(url), self._values(other)
        alike = self._leading_alike(here, there, ends)
        only = [
            [unit for unit in self._counting(one, two, standing) if unit >> 32 not in alike]
            for one, two in ((a, b), (b, a))
        ]
        if not all(only):
            return None
        return f"the spider took other items: {self._named({unit >> 32 for side in only for unit in side})}"

    def _leading_alike(self, here: PackedUnits, there: PackedUnits, ends: Mapping[int, int]) -> set[int]:
        """The fields of requests that the spider made up on both pages, and that lead to the same contents; the log
        must have all of them.
        """
        of_here, of_there = _leading(here), _leading(there)
        both = of_here.keys() & of_there.keys()
        found = {
            field: [{ends.get(value) for value in of[field]} for of in (of_here, of_there)] for field in both
        }
        return {field for field, (a, b) in found.items() if None not in a | b and (a <= b or b <= a)}

    def name(self, names: Names) -> None:
        """Take *names* of places, to be used in sentences."""
        for place, name in names.items():
            kind, _, path = name.partition(" item ")
            if kind in ("text", "data"):
                self._names[place & _PATH] = path.partition(" ")[2]

    def _values(self, url: str) -> _Values:
        """The values that the spider took at *url*; none if the log has none."""
        found = self._unpacked.get(url)
        if found is None:
            packed = self._of.get(url)
            found = {} if packed is None else _unpacked(packed)[0]
            if len(self._unpacked) < _UNPACKED:
                self._unpacked[url] = found
        return found

    def _counting(self, values: _Values, others: _Values, standing: Container[int] | None) -> list[int]:
        """The *values* that are not among *others* and may tell two pages apart."""
        return [
            unit
            for unit, is_made in values.items()
            if unit not in others
            and (standing is None or is_made or unit & VALUE in standing)
            and unit >> 32 not in self._changing
        ]

    def _named(self, fields: Collection[int]) -> str:
        """The names of *fields* for a sentence."""
        named = sorted(f"`{self._names.get(field, f'{field:06x}')}`" for field in fields)
        more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        return f"field {', '.join(named[:_NAMED])}{more}"


NO_ITEMS = Items({})


def items_in(visits: Iterable[Visit]) -> Items:
    """The values of items that the log has, by URL."""
    found: dict[str, list[PackedUnits]] = {}
    for visit in visits:
        if visit.items is not None and visit.items.whole:
            found.setdefault(visit.url, []).append(visit.items)
    if not found:
        return NO_ITEMS
    latest = {url: answers[-1] for url, answers in found.items()}
    again = [answers for answers in found.values() if len(answers) > 1]
    return Items(latest, {*_by_chance([*latest.values()]), *_changing_at_a_url(again)})


def _unpacked(packed: PackedUnits) -> tuple[_Values, Collection[int]]:
    """The values in *packed*, and the fields that may be chance."""
    values: dict[int, bool] = {}
    chance = set()
    units = unpack(packed) if is_sound(packed) else units_of(())
    for place, value in zip(units.places.tolist(), units.values.tolist(), strict=True):
        field, kind = place & _PATH, kind_of(place)
        if kind is CHANCE:
            chance.add(field)
        elif kind is not Kind.LINK:
            values[field << 32 | value] = kind is Kind.DATA
    return values, chance


def _leading(packed: PackedUnits) -> dict[int, set[int]]:
    """Where the requests lead that the spider made up, by their field."""
    found: dict[int, set[int]] = {}
    units = unpack(packed) if is_sound(packed) else units_of(())
    for place, value in zip(units.places.tolist(), units.values.tolist(), strict=True):
        if kind_of(place) is Kind.LINK:
            found.setdefault(place & _PATH, set()).add(value)
    return found


def _sampled(every: Sequence[_Any]) -> Sequence[_Any]:
    """An even sample of *every*."""
    return every[:: len(every) // _LOOKED_AT + 1]


def _by_chance(taken: Sequence[PackedUnits]) -> Collection[int]:
    """The fields whose values may be chance on more than a few pages."""
    chance, having = Counter[int](), Counter[int]()
    for packed in _sampled(taken):
        values, by_chance = _unpacked(packed)
        having.update({unit >> 32 for unit in values})
        chance.update(by_chance)
    return {field for field, count in chance.items() if count > _CHANCE * having[field]}


def _changing_at_a_url(taken: Sequence[Sequence[PackedUnits]]) -> Collection[int]:
    """The fields whose values differed between two fetches on most URLs that were fetched twice."""
    kept, changed = Counter[int](), Counter[int]()
    for answers in _sampled(taken):
        first, *later = (_unpacked(packed)[0] for packed in answers)
        fields = {unit >> 32 for unit in first}
        differ = {unit >> 32 for again in later for unit in first.keys() ^ again.keys()}
        changed.update(fields & differ)
        kept.update(fields - differ)
    return {field for field, count in changed.items() if count > kept[field]}


def _changing_between(
    same: Mapping[int, int], kinds: Mapping[tuple[int, frozenset[str]], int]
) -> Collection[int]:
    """The fields whose values differ between nearly all URLs of one page, whatever the difference of the URLs.
    *same*: by field, how many pairs of URLs agree. *kinds*: by field and kind of difference, how many do not.
    """
    differing, having = Counter[int](), Counter[int]()
    for (field, _), count in kinds.items():
        differing[field] += count
        having[field] += count >= _PAIRS
    return {
        field
        for field, count in differing.items()
        if having[field] >= _KINDS and same[field] <= _SAME * (count + same[field])
    }


def _difference(url: str, other: str) -> frozenset[str]:
    """The kind of difference between two URLs: the names of the parameters that differ, and whether paths or hosts do."""
    differ = set(pieces_of(url)) ^ set(pieces_of(other))
    return frozenset(piece.partition("=")[0] if "=" in piece else "" for piece in differ)

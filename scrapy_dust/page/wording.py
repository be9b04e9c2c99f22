"""The texts of a page word by word, to find what lasts in a text that changes at each fetch.

A unit says only whether a text is the same. Where a text changes, a part of it may last all the same: the price beside
a word that is drawn at each fetch, or a price that moves by a few cents. Such a part belongs to the page, and another
URL that shows another part there shows another page. What is noise says nothing about its page: two answers to one URL
are no more alike there than answers to different pages.

Logs have no words, so only answers that were fetched can be read like that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import NamedTuple

import numpy as np

from scrapy_dust.page.places import VALUE, Kind
from scrapy_dust.page.unitsets import (
    EMPTY,
    SHAPED,
    UnitSet,
    array_of,
    as_links,
    common_to,
    is_in,
    is_of,
    places_of,
    shapes_of,
    union_of,
    within,
    without,
)
from scrapy_dust.page.values import hash_of, pieces_of, value_of

#: Words of a page; of one with more no words are kept.
_MOST_WORDS = 20_000
#: Characters of a field that are looked at.
_MOST_CHARACTERS = 1000
#: Parts of a link's URL that are looked at.
_MOST_PARTS = 30
#: Numbers of a text that are compared.
_MOST_NUMBERS = 12
#: Numbers that last: between answers to one URL they differ by so little of what they differ by between pages.
_CLOSE = 0.05
_LINKS = (Kind.LINK, Kind.OWN_LINK)
_KEPT = 0xFFFFFFFF << 32 | VALUE
_NUMBER = re.compile(r"(?<!\w)[0-9]{1,15}(?:[.,][0-9]{1,15})*(?=[^\W\d_]{0,3}(?!\w))")
_DECIMALS = re.compile(r"[.,](?=[0-9]{1,2}$)")


class Said(NamedTuple):
    """The words of an answer."""

    texts: Sequence[tuple[int, str]]  #: each with its place
    fields: Sequence[tuple[int, str]]  #: each with its unit
    links: Sequence[
        tuple[int, int, Sequence[str]]
    ] = ()  #: the parts of each link's URL, with its unit and its end


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of one answer."""

    words: UnitSet = field(default_factory=EMPTY.copy)  #: as units: a place, and the hash of a word there
    owners: UnitSet = field(default_factory=EMPTY.copy)  #: for each of *words* the unit that it is a part of
    ends: UnitSet = field(
        default_factory=EMPTY.copy
    )  #: for each of *words* the end of its link; 0: of a text
    numbers: Mapping[int, tuple[float, ...]] = field(
        default_factory=dict
    )  #: by place and shape, as `shapes_of` has them
    lengths: Mapping[int, frozenset[int]] = field(default_factory=dict)  #: by place, of texts of one word


@dataclass(frozen=True, slots=True)
class Parts:
    """The changing texts of several answers to one URL: at places, and at shapes there."""

    read: UnitSet = field(default_factory=EMPTY.copy)  #: places of such texts
    kept: UnitSet = field(default_factory=EMPTY.copy)  #: those of them at which a part lasts
    shapes: UnitSet = field(default_factory=EMPTY.copy)  #: place and shape of texts whose numbers last
    veiled: UnitSet = field(default_factory=EMPTY.copy)  #: places at which the lengths of single words last
    by_chance: UnitSet = field(
        default_factory=EMPTY.copy
    )  #: those of `kept` at which words may last by chance


NOTHING_READ = Parts()


def wording_of(said: Said) -> Wording | None:
    """The `Wording` of what a page *said*; None if that is too long."""
    found, numbers = set[tuple[int, int, int]](), dict[int, tuple[float, ...]]()
    lengths = dict[int, frozenset[int]]()

    def add(unit: int, text: str) -> None:
        """Add the words and the numbers of *text*, which has the unit *unit*."""
        place, words = unit >> 32 << 32, text.split()
        found.update((place | hash_of(word) & 0xFFFFFFFF, unit & _KEPT, 0) for word in words)
        if len(words) == 1:
            lengths[unit >> 32] = lengths.get(unit >> 32, frozenset()) | {len(words[0])}
        if these := _NUMBER.findall(text):
            shape = int(shapes_of(np.array([unit], np.uint64))[0])
            numbers[shape] = (*numbers.get(shape, ()), *map(_number, these))

    for place, text in said.texts:
        for piece in pieces_of(unescape(text) if "&" in text else text):
            add(place << 32 | value_of(piece), piece)
        if len(found) > _MOST_WORDS:
            return None
    for unit, text in said.fields[:_MOST_WORDS]:
        add(unit, text[:_MOST_CHARACTERS])
    for unit, end, parts in said.links[:_MOST_WORDS]:
        place, owner = unit >> 32 << 32, unit & _KEPT
        found.update((place | hash_of(part) & 0xFFFFFFFF, owner, end) for part in parts[:_MOST_PARTS])
    if len(found) > _MOST_WORDS:
        return None
    every = np.array(sorted(found), np.uint64).reshape(-1, 3)
    return Wording(every[:, 0], every[:, 1], every[:, 2], numbers, lengths)


def _number(said: str) -> float:
    """The number that *said* writes, whatever signs separate its thousands and decimals."""
    return float(re.sub("[.,]", "", _DECIMALS.sub("p", said)).replace("p", "."))


def parts_of(
    answers: Sequence[UnitSet],
    wordings: Sequence[Wording],
    others: Sequence[Wording],
    known: UnitSet = EMPTY,
) -> Parts:
    """The parts that last in texts that change between several *answers* to one URL, with their *wordings*.

    Words that all *others*, pages of the site, have at the place are its template. *known*: the ends of links that say which
    page they lead to, and nothing else.
    """
    if len(wordings) < 2:
        return NOTHING_READ
    common = common_to([union_of((units, as_links(units))) for units in answers])
    changed = without(union_of(answers), common)
    changed = changed[is_of(changed, *SHAPED, *_LINKS)]
    read = np.unique(places_of(union_of((changed, as_links(changed)))))
    # Words of texts that stay, last; what counts is what lasts in those that change.
    changing = [
        np.unique(one.words[~is_in(one.owners, common) & ~is_in(one.ends, known)]) for one in wordings
    ]
    changing = [words[is_in(places_of(words), read)] for words in changing]
    there = [np.unique(one.words) for one in others if len(one.words)]
    lasting = _of_page(common_to(changing), there)
    kept = np.unique(places_of(lasting))
    chance = _places_of_chance(lasting, _of_page(common_to(changing[:-1]), there), there)
    shapes = without(np.unique(shapes_of(changed)), np.unique(shapes_of(common)))
    closely = array_of(shape for shape in shapes.tolist() if _are_close(shape, wordings, others))
    veiled = array_of(place for place in read.tolist() if _keeps_lengths(place, wordings, others))
    return Parts(read, kept, closely, veiled, chance)


def _keeps_lengths(place: int, wordings: Sequence[Wording], others: Sequence[Wording]) -> bool:
    """Whether single words at *place* are as long in all answers, and of other lengths on other pages. Such a word is
    the page's own, written in another way at each fetch, as an address that is hidden from robots.
    """
    lengths = wordings[0].lengths.get(place)
    if lengths is None or any(one.lengths.get(place) != lengths for one in wordings):
        return False
    return any(one.lengths.get(place, lengths) != lengths for one in others)


def _of_page(words: UnitSet, others: Sequence[UnitSet]) -> UnitSet:
    """The *words* of a page that are not the site's template, by *others*, the words of the site's other pages."""
    return array_of(word for word in words.tolist() if _is_of_page(word, others))


def _places_of_chance(lasting: UnitSet, before: UnitSet, others: Sequence[UnitSet]) -> UnitSet:
    """The places at which as many words last between answers to one URL as last if another page takes the place of the last
    answer: such words may last by chance, as names that are drawn at each fetch share words now and then.

    *lasting*: the words that all answers have; *before*: those that all but the last one have.
    """
    count = Counter(places_of(lasting).tolist())
    mixed = (Counter(places_of(within(before, other)).tolist()) for other in others)
    return array_of({place for one in mixed for place in one if 0 < count[place] <= one[place]})


def _is_of_page(word: int, others: Sequence[UnitSet]) -> bool:
    """Whether some of *others* have words at the place of *word*, but not *word* itself."""
    place, one = np.array([word >> 32], np.uint64), np.array([word], np.uint64)
    return any(bool(is_in(place, places_of(other))[0]) and not is_in(one, other)[0] for other in others)


def _are_close(shape: int, wordings: Sequence[Wording], others: Sequence[Wording]) -> bool:
    """Whether a number in texts of *shape* differs little between all answers, beside its differences between pages."""
    columns = _columns(shape, wordings)
    return any(
        max(column) - min(column) <= _CLOSE * max(abs(other - column[0]) for other in beside)
        for column, beside in zip(columns, _columns(shape, [wordings[0], *others], partly=True), strict=False)
        if len(set(column)) > 1
    )


def _columns(shape: int, wordings: Sequence[Wording], *, partly: bool = False) -> list[tuple[float, ...]]:
    """For each position in texts of *shape*, the numbers there in all *wordings*; none if some have more numbers than
    others. *partly*: only of wordings that have as many as the first one.
    """
    rows = [one.numbers.get(shape, ()) for one in wordings]
    if partly:
        rows = [row for row in rows if len(row) == len(rows[0])]
    if not rows[0] or len(rows[0]) > _MOST_NUMBERS or len(set(map(len, rows))) > 1:
        return []
    return list(zip(*rows, strict=True))


def lasting_words(here: Sequence[Wording], there: Sequence[Wording], places: UnitSet) -> UnitSet:
    """The words at *places* that all answers *here* have and no answer *there* has, as units."""
    # A link that lasts is compared by the page at its end.
    stay = common_to([np.unique(one.owners) for one in here])
    stay = stay[is_of(stay, *_LINKS)]
    words = common_to([np.unique(one.words[~is_in(one.owners, stay)]) for one in here])
    words = words[is_in(places_of(words), places)]
    return without(words, union_of(one.words for one in there))


def places_of_chance(here: Sequence[Wording], there: Sequence[Wording], places: UnitSet) -> UnitSet:
    """The *places* at which answers to one URL have no more words in common than answers to both URLs, mixed: the words
    that last there may last by chance, as in a text whose words are all drawn at each fetch.
    """
    lasting = _counted(here, there, places)
    found = set[int]()
    for number in range(min(2, len(there))):
        mixed_here = [there[number], *here[1:]]
        mixed_there = [here[0], *there[:number], *there[number + 1 :]]
        mixed = _counted(mixed_here, mixed_there, places)
        found.update(place for place, count in lasting.items() if mixed.get(place, 0) >= count)
    return array_of(found)


def _counted(here: Sequence[Wording], there: Sequence[Wording], places: UnitSet) -> Counter[int]:
    """How many words last on one of both sides alone, by place."""
    both = union_of((lasting_words(here, there, places), lasting_words(there, here, places)))
    return Counter(places_of(both).tolist())


def apart_in_numbers(
    here: Sequence[Wording], there: Sequence[Wording], shapes: Iterable[int]
) -> Iterator[int]:
    """The *shapes* with numbers that differ more between the answers *here* and those *there* than within either."""
    for shape in shapes:
        for one, other in zip(_columns(shape, here), _columns(shape, there), strict=False):
            gap = max(min(one) - max(other), min(other) - max(one))
            if gap > max(max(one) - min(one), max(other) - min(other)):
                yield shape
                break

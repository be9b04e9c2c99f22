"""Whether two answers show the same page: a spider can take nothing from one that the other does not show.

Each answer may come with controls, which are further answers to the same URL; a unit that is missing from some of
them is no part of the page. Set aside are the units of the site's template, units that change at each fetch, units
that repeat the page's own URL, and the spelling of links that lead to one key. If the answers cannot be judged, the
result is `Same.UNKNOWN`, never the same.

A place that changes on similar pages need not change on these: a difference there cannot be judged without controls,
and counts like any other with them.

Pages with nothing of their own are equal because they are empty, and so they are not judged either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain

import numpy as np

from scrapy_dust.page.knowledge import (
    NOTHING_KNOWN,
    SELF,
    Aside,
    Knowledge,
    LinkClasses,
    are_beside,
    are_canonical,
    as_own,
    of_one_frame,
    sifted,
    without_own_canonical,
)
from scrapy_dust.page.own import OwnUrl
from scrapy_dust.page.places import SHAPE_BITS, Kind, as_kind, kind_of, name_of
from scrapy_dust.page.units import Units, distinct, mixed
from scrapy_dust.page.unitsets import (
    CONTENT,
    EMPTY,
    SEEN,
    SHAPED,
    Mask,
    UnitSet,
    array_of,
    as_links,
    common_to,
    is_in,
    is_of,
    kinds_of,
    places_of,
    set_of,
    shapes_of,
    union_of,
    values_of,
    within,
    without,
)
from scrapy_dust.page.values import hash_of
from scrapy_dust.page.volatile import NO_PLACES, Places
from scrapy_dust.page.wording import Wording, apart_in_numbers, lasting_words, places_of_chance
from scrapy_dust.visits.pages import LEAST_OWN


class Same(StrEnum):
    """The result of a comparison."""

    SAME = "same"
    DIFFERENT = "different"
    UNKNOWN = "unknown"  #: nobody can tell


@dataclass(frozen=True, slots=True)
class Answer:
    """The units that one URL showed, with further answers as controls."""

    url: str
    units: Units
    names: Mapping[int, str] = field(default_factory=dict)  #: names of the places, for people
    canonical: str | None = None  #: absolute
    controls: Sequence[Units] = ()  #: other answers to the same URL
    links: Mapping[int, str] = field(
        default_factory=dict
    )  #: URLs of its links by value, where they are at hand
    wordings: Sequence[Wording] = ()  #: the words of answers to the URL, as far as they are known


@dataclass(frozen=True, slots=True)
class Difference:
    """A unit that only one of two answers has."""

    place: int
    kind: Kind
    value: int
    name: str  #: of the place, with its kind: ``text div.price``


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a comparison, with its reason and the differences."""

    same: Same
    why: str  #: one sentence, without its end: "differ in text `div.price`"
    only_a: tuple[Difference, ...] = ()
    only_b: tuple[Difference, ...] = ()
    set_aside: Mapping[Aside, int] = field(default_factory=dict)  #: units of both that did not count
    is_confirmed: bool = False  #: a difference that further answers to the same URL bear out
    nothing_a: bool = False  #: the answer has nothing of its own: a wall, an empty list, a shell
    nothing_b: bool = False
    #: Different only at places where other units change at each fetch, or in words that may last by chance.
    is_where_more_changes: bool = False
    is_unread: bool = (
        False  #: same but for texts that change and keep a part, of which the words are not known
    )

    @property
    def contains(self) -> str | None:
        """``a`` or ``b``, the one of two different answers that shows all of the other answer and more; None if neither does."""
        # What belongs together is said of parts that hold more on one page than on the other, too.
        more_a, more_b = (
            any(unit.kind is not Kind.GROUP for unit in only) for only in (self.only_a, self.only_b)
        )
        if self.same is not Same.DIFFERENT or more_a is more_b:
            return None
        return "a" if more_a else "b"


#: Places that a sentence names, and differences that a verdict keeps, of each side.
_NAMED, _KEPT = 3, 20
_LAST = np.uint64(0xFFFFFFFFFFFFFFFF)


def compare(a: Answer, b: Answer, knowledge: Knowledge = NOTHING_KNOWN) -> Verdict:
    """Whether *a* and *b* show the same page, by the *knowledge* of their site."""
    pair = _Pair(a, b, knowledge)
    only_a, only_b = pair.missing()
    if not len(only_a) and not len(only_b):
        return _equal(pair)
    if not any(map(len, pair.sure(only_a, only_b))):
        return pair.verdict(Same.UNKNOWN, f"cannot be told: {pair.told(only_a, only_b)}", only_a, only_b)
    if pair.nothing_a or pair.nothing_b:
        return pair.verdict(Same.UNKNOWN, _who_has_nothing(pair), only_a, only_b)
    return pair.verdict(Same.DIFFERENT, pair.told(only_a, only_b), only_a, only_b)


def _equal(pair: _Pair) -> Verdict:
    """The verdict on two answers of which none has a unit that the other lacks."""
    if pair.is_little:
        return pair.verdict(Same.UNKNOWN, "hardly anything of their own")
    if not pair.is_whole:
        return pair.verdict(Same.UNKNOWN, "too long to be compared in full")
    if len(unread := pair.unread):
        why = f"cannot be told: a part may last of what changes {pair.where(unread)}"
        return replace(pair.verdict(Same.UNKNOWN, why), is_unread=True)
    if len(pair.fleeting):
        return pair.verdict(
            Same.UNKNOWN, f"cannot be told: one of them shows at times more {pair.where(pair.fleeting)}"
        )
    return pair.verdict(Same.SAME, "nothing new on either")


def _who_has_nothing(pair: _Pair) -> str:
    """The words of a verdict for pages that have nothing of their own."""
    if pair.nothing_a and pair.nothing_b:
        return "nothing of their own"
    return f"nothing of its own on {pair.a.url if pair.nothing_a else pair.b.url}"


class _Pair:
    """Two answers, without the units that are set aside."""

    def __init__(self, a: Answer, b: Answer, knowledge: Knowledge) -> None:
        self.a, self.b = a, b
        self._likely = knowledge.places_for(a.url) | knowledge.places_for(b.url)
        knowledge = _where_links_say_the_same(a, b, knowledge, self._likely)
        self._knowledge = knowledge
        self.aside: Counter[Aside] = Counter()
        self._links = LinkClasses(knowledge, (a.url, b.url), {**b.links, **a.links}, _own_links(a, b))
        self.is_whole = _are_all_there(a, b)
        self._surely = knowledge.sure_places_for(a.url) | knowledge.sure_places_for(b.url)
        self._telling = knowledge.telling_places_for(a.url) | knowledge.telling_places_for(b.url)
        raw_a, raw_b = self._cut((a.units, *a.controls), (b.units, *b.controls))
        self._frame_a, self._frame_b = of_one_frame(raw_a, raw_b, knowledge)
        self._a, self._b = ([self._sift(one) for one in raw] for raw in (raw_a, raw_b))
        self._raw_a, self._raw_b = list(self._a), list(self._b)
        self._chance = EMPTY  #: words that may last by chance
        self._partly = self._set_changing_aside()
        self._all_a, self._all_b = union_of(self._a), union_of(self._b)
        self._stable_a = self._lasting(self._a, self._raw_b)
        self._stable_b = self._lasting(self._b, self._raw_a)
        self._own_a, self._own_b = self._own(self._stable_a), self._own(self._stable_b)
        self.nothing_a, self.nothing_b = not len(self._own_a), not len(self._own_b)

    def _cut(self, *sides: Sequence[Units]) -> list[list[UnitSet]]:
        """The units of all *sides*, cut alike. A log keeps only the units of least hash of a page that is too long,
        so only such units are compared.
        """
        every = [units for side in sides for units in side]
        self._has_all_links = all(units.has_all_links for units in every)
        rest = _end(set_of(units) for units in every if not units.whole)
        links = _end((set_of(units) for units in every if not units.has_all_links), of_links=True)
        return [[_up_to(set_of(units), rest, links) for units in side] for side in sides]

    def _sift(self, units: UnitSet) -> UnitSet:
        """The *units* that count, with each link replaced by its class. Counts the units set aside."""
        found = sifted(units, self._knowledge, NO_PLACES)
        self.aside.update(found.aside)
        return without_own_canonical(self._links.merged(found.units))

    def _set_changing_aside(self) -> UnitSet:
        """Leave out the places that change altogether between answers to one URL. Returns the places that change in
        part.
        """
        drawn = self._knowledge.drawn_places_for(self.a.url) | self._knowledge.drawn_places_for(self.b.url)
        changing, partly, self._touched = _changing(self._a, self._b, drawn)
        self._gone = EMPTY  # what changes altogether
        if changing:
            self._gone = union_of(units[changing.has(units)] for side in (self._a, self._b) for units in side)
            for side in (self._a, self._b):
                for number, units in enumerate(side):
                    side[number] = units[~changing.has(units)]
                    self.aside[Aside.VOLATILE] += len(units) - len(side[number])
        return partly

    def _lasting(self, answers: list[UnitSet], others: list[UnitSet]) -> UnitSet:
        """Units that all *answers* to one URL show and that surely do not change.

        Where numbers change, the words around them may last. Other pages cannot tell whether they last on these,
        unless the words change there too.
        """
        common = common_to(answers)
        if len(answers) > 1:
            return common
        shapes = union_of(map(_without_number, others))
        is_new = is_of(common, *SHAPED) & ~is_in(_without_number(common), shapes)
        is_new &= ~self._surely.change_in_words(common)
        kept: UnitSet = common[~self._surely.has(common) | is_new]
        self.aside[Aside.VOLATILE] += len(common) - len(kept)
        return kept

    def missing(self) -> tuple[UnitSet, UnitSet]:
        """The units of each side that all of its answers show and no answer of the other side does."""
        only_a, only_b = self._missing_units()
        in_part_a = _lasting_in_what_changes(self._raw_a, self._stable_a, self._raw_b)
        in_part_b = _lasting_in_what_changes(self._raw_b, self._stable_b, self._raw_a)
        return (
            union_of(
                (
                    only_a,
                    in_part_a,
                    self._lasting_parts(self.a, self.b),
                    self._of_frame(self._frame_a, self._frame_b, self._all_b),
                )
            ),
            union_of(
                (
                    only_b,
                    in_part_b,
                    self._lasting_parts(self.b, self.a),
                    self._of_frame(self._frame_b, self._frame_a, self._all_a),
                )
            ),
        )

    def _of_frame(self, units: UnitSet, other_frame: UnitSet, others: UnitSet) -> UnitSet:
        """The *units* of the site's frame that the other page lacks in every form. *other_frame*: the other page's
        units of the frame; *others*: all its other units.

        A page has no link to itself where other pages have one, and a link may be written otherwise.
        """
        found, others = self._links.merged(units), union_of((others, self._links.merged(other_frame)))
        found = found[~(is_of(found, Kind.LINK) & (values_of(found) == np.uint64(SELF)))]
        kept: UnitSet = _in_no_form_on(others, found[~self._surely.has(found)])
        return kept

    @property
    def _are_read(self) -> bool:
        """Whether the words of at least two answers are known on each side."""
        return min(len(self.a.wordings), len(self.b.wordings)) > 1

    def _lasting_parts(self, here: Answer, there: Answer) -> UnitSet:
        """The parts of changing texts that last in all answers *here* and that the answers *there* lack: words, and
        shapes of texts with numbers.
        """
        if not self._are_read:
            return EMPTY
        words = lasting_words(here.wordings, there.wordings, self._touched)
        if (of_links := _are_links(words)).any():
            words = words[~(of_links & is_in(values_of(words), _pieces_of(self.a.url, self.b.url)))]
        by_chance = places_of_chance(here.wordings, there.wordings, self._touched)
        self._chance = union_of((self._chance, words[is_in(places_of(words), by_chance)]))
        telling = self._gone[self._telling.has(self._gone)]
        shapes = np.unique(shapes_of(telling[is_of(telling, *SHAPED)])).tolist()
        apart = apart_in_numbers(here.wordings, there.wordings, shapes)
        return union_of((words, array_of(shape << 32 - SHAPE_BITS for shape in apart)))

    @property
    def unread(self) -> UnitSet:
        """The changing units of which a part may last though nobody can tell: their words are not known, or none of
        the words lasts.
        """
        if self._are_read:
            telling = self._gone[self._telling.has(self._gone)]
            return telling[~is_in(places_of(telling), self._readable)] if len(telling) else EMPTY
        moved = union_of(without(union_of(side), common_to(side)) for side in (self._a, self._b))
        moved = union_of((moved, self._gone))
        kept: UnitSet = moved[self._telling.has(moved)]
        return kept

    @property
    def _readable(self) -> UnitSet:
        """The places of texts in which words last, or that have numbers."""
        both = (self.a.wordings, self.b.wordings)
        words = [common_to([np.unique(one.words) for one in side]) for side in both]
        numbers = array_of(shape >> SHAPE_BITS for side in both for shape in side[0].numbers)
        return union_of((places_of(union_of(words)), numbers))

    def _missing_units(self) -> tuple[UnitSet, UnitSet]:
        """The whole units that each side alone has. Links to the page itself count only if they lead to other
        contents.
        """
        # A link for the one page itself may be a link like any other on the other page: it is on both.
        only_a = _in_no_form_on(self._all_b, self._stable_a)
        only_b = _in_no_form_on(self._all_a, self._stable_b)
        if not is_of(union_of((only_a, only_b)), Kind.LINK, Kind.OWN_LINK).any():
            return only_a, only_b
        only_a = without(without(self._stable_a, self._all_b), distinct(as_links(self._all_b)))
        only_b = without(without(self._stable_b, self._all_a), distinct(as_links(self._all_a)))
        chrome_a, chrome_b = is_of(only_a, Kind.OWN_LINK), is_of(only_b, Kind.OWN_LINK)
        if self._links.lead_elsewhere(values_of(only_a[chrome_a]), values_of(only_b[chrome_b])):
            return only_a, only_b
        self.aside[Aside.CHROME] += int(chrome_a.sum() + chrome_b.sum())
        return only_a[~chrome_a], only_b[~chrome_b]

    def sure(self, only_a: UnitSet, only_b: UnitSet) -> tuple[UnitSet, UnitSet]:
        """The units of both sides that prove a difference: they cannot be there by chance, and cannot be links that
        equal a link of the other side.
        """
        open_a, open_b = self._open(only_a), self._open(only_b)
        return (
            self._sure(only_a, self.a, open_a, int(open_b.sum())),
            self._sure(only_b, self.b, open_b, int(open_a.sum())),
        )

    def _open(self, only: UnitSet) -> Mask:
        """A mask over *only*, the units that one side alone has: links to URLs that the log does not have."""
        return is_of(only, Kind.LINK) & is_in(values_of(only), self._links.unknown())

    def _sure(self, only: UnitSet, side: Answer, unsure: Mask, open_there: int) -> UnitSet:
        """The units in *only* that prove a difference. *side*: the answer that alone has them; *unsure*: a mask of
        units that prove nothing; *open_there*: how many links of the other side lead to URLs that the log does not
        have.
        """
        links = is_of(only, Kind.LINK) & ~unsure
        # Each link of the other side that may lead anywhere may lead where one of these does.
        if int(links.sum()) <= open_there:
            unsure = unsure | links
        if not self._has_all_links:
            unsure = unsure | _are_links(only)
        unsure = unsure | is_in(only, self._chance)
        if not side.controls:
            unsure = (
                unsure
                | is_in(places_of(only), self._partly)
                | self._likely.has(only)
                | self._surely.has(only)
            )
        kept: UnitSet = only[~unsure]
        return kept

    @property
    def fleeting(self) -> UnitSet:
        """The units that some answers of one side show, at places where the other side shows nothing."""
        of_a, of_b = without(self._all_a, self._stable_a), without(self._all_b, self._stable_b)
        found = union_of((_where_nothing_is(of_a, self._all_b), _where_nothing_is(of_b, self._all_a)))
        kept: UnitSet = found[~self._surely.has(found)]
        return kept

    @property
    def is_little(self) -> bool:
        """Whether too little is left on the pages for their equality to mean anything."""
        own = min(_seen(self.a, self._own_a), _seen(self.b, self._own_b))
        is_enough = own >= LEAST_OWN or self._knowledge.of_items
        return own == 0 or (not is_enough and bool(self.aside))

    def _own(self, units: UnitSet) -> UnitSet:
        """The *units* that are not template: other pages of the site need not have them."""
        own = without(units, self._knowledge.common)
        chrome = is_of(own, Kind.OWN_LINK) & is_in(places_of(own), self._knowledge.chrome)
        kept: UnitSet = own[is_of(own, *CONTENT) & ~chrome & ~are_canonical(own)]
        return kept

    def where(self, units: UnitSet) -> str:
        """The places of *units* as text: "in text `div.price`"."""
        return _listed(dict.fromkeys(self._difference(unit).name for unit in units.tolist()))

    def told(self, only_a: UnitSet, only_b: UnitSet) -> str:
        """A sentence that says where the two sides differ."""
        return f"differ {self.where(union_of((only_a, only_b)))}"

    def verdict(
        self,
        same: Same,
        why: str,
        only_a: UnitSet | tuple[()] = (),
        only_b: UnitSet | tuple[()] = (),
    ) -> Verdict:
        """A `Verdict`: whether the pages are the *same*, *why*, and the units that only one side has."""
        return Verdict(
            same,
            why,
            tuple(self._difference(int(unit)) for unit in only_a[:_KEPT]),
            tuple(self._difference(int(unit)) for unit in only_b[:_KEPT]),
            {reason: count for reason, count in self.aside.items() if count},
            bool((len(only_a) and self.a.controls) or (len(only_b) and self.b.controls)),
            self.nothing_a,
            self.nothing_b,
            (same is Same.DIFFERENT and all(map(self._are_where_more_changes, (only_a, only_b))))
            or self._are_chance(only_a, only_b),
        )

    def _are_chance(self, *only: UnitSet | tuple[()]) -> bool:
        """Whether the units that *only* one side has are words that may last by chance."""
        found = union_of(np.asarray(units, np.uint64) for units in only)
        return len(found) > 0 and bool(is_in(found, self._chance).all())

    def _are_where_more_changes(self, units: UnitSet | tuple[()]) -> bool:
        """Whether all *units* stand at places that change between answers to one URL, or on similar pages."""
        found = np.asarray(units, np.uint64)
        return bool((is_in(places_of(found), self._touched) | self._likely.has(found)).all())

    def _difference(self, unit: int) -> Difference:
        """The *unit* as a `Difference`, which names its place."""
        place = unit >> 32
        name = self._name(place)
        return Difference(place, kind_of(place), unit & 0xFFFFFFFF, name)

    def _name(self, place: int) -> str:
        """The name of *place* for people, as an answer or the site's knowledge has it."""
        for names in (self.a.names, self.b.names, self._knowledge.names):
            if place in names:
                return names[place]
        if kind_of(place) is Kind.LINK:
            # A link to the page itself is called otherwise, and compared as a link.
            for names in (self.a.names, self.b.names, self._knowledge.names):
                if (own := as_kind(place, Kind.OWN_LINK)) in names:
                    return names[own].removeprefix("own_")
        return name_of(kind_of(place), f"{place:06x}")


def _end(sets: Iterable[UnitSet], *, of_links: bool = False) -> np.uint64:
    """The greatest hash up to which none of *sets* lacks a unit. Only links count if *of_links*, else only other
    units.
    """
    having = [units[_are_links(units) == of_links] for units in sets]
    return min((mixed(units).max() for units in having if len(units)), default=_LAST)


def _up_to(units: UnitSet, rest: np.uint64, links: np.uint64) -> UnitSet:
    """The *units* with small hashes: links up to the hash *links*, and other units up to *rest*."""
    kept: UnitSet = units[mixed(units) <= np.where(_are_links(units), links, rest)]
    return kept


def _where_links_say_the_same(a: Answer, b: Answer, knowledge: Knowledge, changing: Places) -> Knowledge:
    """*knowledge* without places of links to the page itself at which the links of *a* and *b* add different texts to
    the URLs.
    """
    here, there = (_beside(one, changing) for one in (a, b))
    both = within(distinct(places_of(here)), distinct(places_of(there)))
    differ = without(both, distinct(places_of(within(here, there))))
    if not len(differ):
        return knowledge
    said_at = as_own(knowledge.chrome)
    return replace(knowledge, chrome=knowledge.chrome[~is_in(said_at, differ)])


def _beside(answer: Answer, changing: Places) -> UnitSet:
    """The units of an answer and its controls that say what links to the page itself add to its URL, except at
    *changing* places.
    """
    units = union_of(set_of(one) for one in (answer.units, *answer.controls))
    units = units[are_beside(units)]
    kept: UnitSet = units[~changing.has(units)]
    return kept


def _pieces_of(*urls: str) -> UnitSet:
    """The values of words that stand in one of *urls*."""
    pieces = chain.from_iterable(OwnUrl(url).pieces for url in urls)
    return array_of(hash_of(piece) & 0xFFFFFFFF for piece in pieces)


def _own_links(*answers: Answer) -> UnitSet:
    """The values of links that each side has for the page itself."""
    units = union_of(map(set_of, (answer.units for answer in answers)))
    return distinct(values_of(units[is_of(units, Kind.OWN_LINK)]))


def _are_all_there(a: Answer, b: Answer) -> bool:
    """Whether no unit of *a* and *b* was left out of the comparison, or those left out are known to be equal."""
    if a.units.total == b.units.total or (a.units.whole and b.units.whole):
        return True
    has_all_links = a.units.has_all_links and b.units.has_all_links
    return has_all_links and a.units.total_of_rest == b.units.total_of_rest


def _are_links(units: UnitSet) -> Mask:
    return is_of(units, Kind.LINK, Kind.OWN_LINK)


def _seen(answer: Answer, own: UnitSet) -> int:
    """How many of the page's *own* units a reader of *answer* sees. In a page without text all units count."""
    has_text = bool((answer.units.kinds() == Kind.TEXT).any())
    return int(is_of(own, *SEEN).sum()) if has_text else len(own)


def _changing(a: list[UnitSet], b: list[UnitSet], drawn: Places) -> tuple[Places, UnitSet, UnitSet]:
    """The differences between answers to one URL: places and shapes of which nothing survives, places that change in
    part, and all units that change.

    Where units are *drawn* by lot, a few may survive by chance, if fewer than those that do not.
    """
    sides = a, b
    changed = union_of(without(union_of(side), common_to(side)) for side in sides)
    kept = union_of(common_to(side) for side in sides if len(side) > 1)
    kept = kept[~(drawn.has(kept) & _are_fewer(kept, changed))]
    places, survivors = distinct(places_of(changed)), distinct(places_of(kept))
    texts, kept_texts = (shapes_of(units[is_of(units, *SHAPED)]) for units in (changed, kept))
    changing = Places(without(places, survivors), without(distinct(texts), distinct(kept_texts)))
    rest = changed[~changing.has(changed)]
    return changing, distinct(places_of(rest)), distinct(places_of(changed))


def _are_fewer(units: UnitSet, others: UnitSet) -> Mask:
    """A mask over *units*: those at a place where *others* has more units than *units* has."""
    places, numbers = np.unique(places_of(others), return_counts=True)
    here, which, count = np.unique(places_of(units), return_inverse=True, return_counts=True)
    there = np.zeros(len(here), np.intp)
    known = is_in(here, places)
    there[known] = numbers[np.searchsorted(places, here[known])]
    found: Mask = (count < there)[which]
    return found


def _lasting_in_what_changes(
    answers: Sequence[UnitSet], stable: UnitSet, others: Sequence[UnitSet]
) -> UnitSet:
    """Units that change with each answer, except for a part that lasts and that *others* never show.

    The part may be the text around a number, ``# EUR``, or a text that stands at another place each time.
    """
    if len(answers) < 2:
        return EMPTY
    changing = without(answers[0], stable)
    changing = changing[is_of(changing, *CONTENT)]
    found = [
        changing[_whose_part_lasts(changing, part, answers, others)]
        for part in (_without_place, _without_number)
    ]
    return union_of(found)


def _whose_part_lasts(
    units: UnitSet, part: Callable[[UnitSet], UnitSet], answers: Sequence[UnitSet], others: Sequence[UnitSet]
) -> Mask:
    """A mask over *units*: those whose *part*, as that function has it, is in all *answers* and in none of *others*."""
    lasting = common_to([distinct(part(answer)) for answer in answers])
    return is_in(part(units), without(lasting, union_of(part(other) for other in others)))


def _without_place(units: UnitSet) -> UnitSet:
    """Kind and value of each unit, as one number."""
    return kinds_of(units) << np.uint64(32) | values_of(units)


def _without_number(units: UnitSet) -> UnitSet:
    """Place and shape of each unit, as one number; for kinds without shapes, a number that equals no other."""
    return np.where(is_of(units, *SHAPED), shapes_of(units), units)


def _in_no_form_on(others: UnitSet, units: UnitSet) -> UnitSet:
    """The *units* that are not among *others*, whether written as a link to the page itself or as any other link."""
    kept: UnitSet = units[~is_in(as_links(units), distinct(as_links(others)))]
    return kept


def _where_nothing_is(units: UnitSet, others: UnitSet) -> UnitSet:
    """The *units* at places where *others* has no unit."""
    found: UnitSet = units[~is_in(places_of(units), distinct(places_of(others)))]
    return found


def _listed(names: Mapping[str, object]) -> str:
    """Up to three of *names* as text: "in text `div.price` and media `img`"."""
    named = [_quoted(name) for name in names]
    shown, more = named[:_NAMED], len(named) - _NAMED
    if more > 0:
        return f"in {', '.join(shown)} and {more} more"
    return "in " + " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def _quoted(name: str) -> str:
    """The *name* of a place with its path in backticks."""
    kind, _, path = name.partition(" ")
    return f"{kind} `{path}`" if path else kind

"""Proposes edits: those that turn URLs which show one page into each other, and those that hold on every site.

For each content, pairs of its URLs are compared: the smallest with the others, and neighbours in order. A difference
has alternatives, from wide to narrow. For URLs that differ in several places, edits are made that take all of the
widest, all of the next, and so on, and edits of single places are made too: if one of them holds by itself, the pair
differs in less next time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise

from scrapy_dust.propose.edits.differences import differences, drop_numbered_operations, smallness
from scrapy_dust.propose.edits.rewrite_proposals import rewrites
from scrapy_dust.propose.edits.substitution_proposals import substitutions
from scrapy_dust.rules.operation import Operation
from scrapy_dust.rules.paths import CollapseRepeats, DropIndex, DropSlash
from scrapy_dust.rules.queries import DropEmpty, DropRepeated, SortParameters
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.spellings import Decode, DropFragment, DropWww, FoldCase, OneScheme, PlainHost
from scrapy_dust.url.parts import Parts, parts_of

#: What is looked at on every site: it needs no example to be thought of, only to be believed.
EVERYWHERE: tuple[Operation, ...] = (
    PlainHost(),
    OneScheme(),
    DropWww(),
    DropFragment(),
    SortParameters(),
    SortParameters(values=True),
    DropRepeated(),
    DropEmpty(),
    DropIndex(),
    DropSlash(),
    Decode(),
    FoldCase(),
    CollapseRepeats(),
)

_PAIRS = 24  #: of one content that are compared
_PLACES = 5  #: in which two URLs may differ


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed edit, and how many contents suggest it; None: it is proposed on every site."""

    edit: Rule
    contents: int | None


def declared_edits(redirects: Mapping[str, str]) -> list[Proposal]:
    """Edits read off a server's redirects: *redirects* from URLs of one form to URLs of another."""
    alike: dict[object, list[tuple[Parts, Parts, Hashable]]] = {}
    for url, target in sorted(redirects.items()):
        form = parts_of(url)
        alike.setdefault((len(form.path), form.path[1:2]), []).append((form, parts_of(target), url))
    return [
        Proposal(Rule((rule,)), 1) for of_form in alike.values() for rule in rewrites(of_form, directed=True)
    ]


@dataclass(frozen=True, slots=True)
class _Compared:
    """A group of forms under which one content is known, and the edits that pairs of them suggest, by number."""

    forms: Sequence[Parts]
    pairs: Sequence[tuple[Parts, Parts, Hashable]]
    edits: frozenset[int]


@dataclass(slots=True)
class Proposer:
    """Proposes edits for the contents of a site. Forms of a content that are the same as the last time are not compared again."""

    many: int  #: URLs that must show a content for it to suggest an edit alone
    _groups: dict[Hashable, _Compared] = field(default_factory=dict)
    _numbers: dict[Rule, int] = field(default_factory=dict)

    def proposals(self, groups: Mapping[Hashable, Sequence[Parts]]) -> list[Proposal]:
        """Edits that *groups* suggest, in a fixed order. A group: the forms under which one content is known, two or
        more.

        A single content proves nothing, unless many URLs show it.
        """
        self._groups = {content: self._compared(content, forms) for content, forms in groups.items()}
        counts: Counter[int] = Counter()
        of_many: set[int] = set()
        for group in self._groups.values():
            counts.update(group.edits)
            if len(group.forms) >= self.many:
                of_many.update(group.edits)
        edits = list(self._numbers)
        seen = {edits[one]: count for one, count in counts.items() if count > 1 or one in of_many}
        pairs = chain.from_iterable(group.pairs for group in self._groups.values())
        for rule in map(Rule.of, rewrites(pairs)):
            seen[rule] = seen.get(rule, 0) + 2
        everywhere = {Rule((operation,)) for operation in EVERYWHERE}
        found = [Proposal(edit, None) for edit in everywhere]
        found += [Proposal(edit, count) for edit, count in seen.items() if edit not in everywhere]
        return sorted(found, key=lambda one: one.edit.order)

    def _compared(self, content: Hashable, forms: Sequence[Parts]) -> _Compared:
        """The edits that pairs of *forms* suggest, all of which show *content*."""
        known = self._groups.get(content)
        if known is not None and known.forms == forms:
            return known
        pairs = list(pairs_of(forms))
        edits = {edit for one, other in pairs for edit in edits_between(one, other)}
        numbers = [self._numbers.setdefault(edit, len(self._numbers)) for edit in edits]
        return _Compared(forms, [(one, other, content) for one, other in pairs], frozenset(numbers))


def edits_of_canonicals(canonicals: Mapping[str, str]) -> list[Proposal]:
    """Edits read off pages that name a canonical URL. The contents decide whether these edits are true."""
    pairs = [(parts_of(url), parts_of(target), url) for url, target in sorted(canonicals.items())]
    seen = Counter(edit for one, other, _ in pairs for edit in set(edits_between(one, other)))
    seen.update({Rule((rule,)): 2 for rule in rewrites(pairs)})
    found = [Proposal(edit, None) for edit, count in seen.items() if count > 1]
    return sorted(found, key=lambda one: one.edit.order)


def pairs_of(forms: Sequence[Parts]) -> Iterator[tuple[Parts, Parts]]:
    """The pairs of *forms*, URLs of one content, to compare: the smallest with the others, and neighbours in order."""
    listed = sorted(forms, key=smallness)
    by_text = sorted(forms, key=lambda form: form.url)
    star = _evenly_taken([(listed[0], other) for other in listed[1:]], _PAIRS)
    chain = _evenly_taken(list(pairwise(by_text)), _PAIRS)
    yield from dict.fromkeys([*star, *chain])


def _evenly_taken(pairs: list[tuple[Parts, Parts]], most: int) -> list[tuple[Parts, Parts]]:
    """At most *most* of *pairs*, taken evenly from the whole list."""
    return pairs if len(pairs) <= most else [pairs[n * len(pairs) // most] for n in range(most)]


def edits_between(one: Parts, other: Parts) -> Iterable[Rule]:
    """The edits that could turn *one* into *other*, or both into one form; none if the two differ in too many places."""
    places = differences(one, other)
    if not places or len(places) > _PLACES:
        return
    for rule in (*substitutions(one, other), *drop_numbered_operations(one, other)):
        yield Rule((rule,))
    for alternatives in places:
        for operation in alternatives:
            yield Rule((operation,))
    if len(places) > 1:
        for level in range(max(map(len, places))):
            chosen = {alternatives[min(level, len(alternatives) - 1)] for alternatives in places}
            if len(chosen) > 1:
                yield Rule(tuple(sorted(chosen, key=lambda operation: (operation.rank, str(operation)))))

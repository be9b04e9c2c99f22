"""Learns the edits of a site from its log: propose, weigh, admit while the loss budget lasts, repeat.

Edits are admitted in the order of their risk per URL that they suppress: what may be lost for what is saved. All
edits together may be expected to lose no more than the budget. An edit that adds nothing to admitted ones saves
nothing and is left out.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from scrapy_dust.propose.edits.classes import Classes, Effect, classes_of
from scrapy_dust.propose.edits.edit_proposals import (
    EVERYWHERE,
    Proposal,
    Proposer,
    declared_edits,
    edits_of_canonicals,
)
from scrapy_dust.propose.edits.edit_weighing import COPIES, DECIDED, ONE_PAGE, Beliefs, Record
from scrapy_dust.propose.edits.narrowing import Truths, leaves, lone_guards, places_of
from scrapy_dust.propose.edits.pooling import NOTHING_POOLED, Kinds, Pool, Tallies, Tally, kinds_of
from scrapy_dust.rules.paths import DropIndex, DropLast
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.site_rules import SiteRules
from scrapy_dust.url.parts import parts_of

_ROUNDS = 12
#: URLs of one path that show one content, from which on that says something about the next of them.
_LONE = 8
#: How often an edit is looked at: others that were admitted may have changed what it does.
_LOOKS = 2
#: URLs of a site that say nothing against what every other site does, before that is believed of it.
_ENOUGH = 100
#: So often each URL is looked at, about, for edits that say equally much. Real sites take up to 77; sites with ten parameters that
#: stand together in any way have more and more such edits, the more URLs they have.
_MEANS = 100
#: So many times more contradictions than examples, and an edit is not looked at again.
_HOPELESS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class EditParams:
    """The parameters of learning edits."""

    budget: float = 1e-3  #: contents that may be lost, per URL of the log
    max_risk: float = 0.02  #: of one edit, whatever the budget
    rounds: int = _ROUNDS
    lone: bool = True  #: many URLs that show one content are evidence; not where contents may be mistaken


@dataclass(frozen=True, slots=True)
class LearnedEdit:
    """An edit that was admitted, with its evidence."""

    edit: Rule
    contents: int  #: that were seen under several URLs that it makes one
    saves: int  #: URLs of the log that it would have spared
    risk: float  #: expected share of them that are lost
    examples: tuple[tuple[str, str], ...]  #: form and key


@dataclass(frozen=True, slots=True)
class EditedSite:
    """The edits learned from one log."""

    function: SiteRules
    learned: tuple[LearnedEdit, ...] = ()
    tallies: Tallies = field(default_factory=dict)  #: what it says of edits of a kind, for other sites


@dataclass(slots=True)
class _Weighed:
    """A proposed edit, with all that its price depends on besides its effect."""

    edit: Rule
    slab: tuple[float, float] | None = None
    tries: int = 1
    found_by: int = 1  #: contents that suggested the edit, and so are no evidence for it
    lone: bool = False  #: about one path, all of whose URLs show one content
    kinds: Sequence[Kinds] = ()  #: of its operations


@dataclass(slots=True)
class _Search:
    """The search for the edits of one site: what is known so far, and the budget that is left."""

    classes: Classes
    beliefs: Beliefs
    params: EditParams
    left: float  #: of the budget
    urls: Sequence[str] = ()  #: of the log
    declared_edits: Sequence[Proposal] = ()  #: read off redirects
    edits_of_canonicals: Sequence[Proposal] = ()  #: read off ``rel=canonical``
    more: Sequence[Proposal] = ()  #: from elsewhere
    learned: list[LearnedEdit] = field(default_factory=list)
    truths: Truths = field(default_factory=Truths)
    proposer: Proposer = field(default_factory=lambda: Proposer(_LONE))
    looked_at: Counter[Rule] = field(default_factory=Counter)  #: how often an edit was looked at
    tallies: dict[str, Tally] = field(default_factory=dict)  #: what edits did when they were first looked at

    def record(self, weighed: _Weighed, effect: Effect) -> Record:
        """The record of an edit with this *effect*: how often it held and how often it failed."""
        seen = effect.contents
        # What a leaf of a tree shows is compared with its node, where pages lie together as in the leaf.
        if weighed.slab is None and not COPIES.keys().isdisjoint(weighed.edit.families):
            seen = min(seen, effect.apart)
        held = max(0, seen - weighed.found_by)
        return Record(held, len(effect.bad), weighed.slab, weighed.tries)

    def price(self, weighed: _Weighed, effect: Effect) -> float:
        """The risk for a URL to come: it shows a content for which the edit was seen to hold, or a new one.

        The share of new contents among the URLs so far estimates how often that is (Good and Turing).
        """
        record = self.record(weighed, effect)
        of_new = self.beliefs.risk(weighed.kinds, record)
        if record.failed or (effect.contents < 2 and not weighed.lone):
            return of_new
        known = effect.saves - effect.contents
        of_known = self.beliefs.risk(weighed.kinds, replace(record, held=max(0, known)))
        if effect.contents == 1:
            return of_known
        new = effect.contents / effect.saves
        return new * of_new + (1 - new) * min(of_new, of_known)

    def round(self) -> bool:
        """Propose, weigh and admit once. Returns whether any edit was admitted."""
        groups = self.classes.known_twice()
        if groups and self.params.lone and self._weigh_and_admit(self.declared_edits, lone=True):
            return True
        # What the site itself suggests was not thought of because of the contents that bear it out.
        every = (*self.more, *self.proposer.proposals(groups), *self.edits_of_canonicals) if groups else ()
        named = {one.edit: one for one in every}
        found = [one for one in named.values() if self.looked_at[one.edit] < _LOOKS]
        # What says less first: wide operations only where no other does anything, several at once after them.
        ranks = sorted({_width(one.edit) for one in found})
        return any(
            self._weigh_and_admit([one for one in found if _width(one.edit) == rank]) for rank in ranks
        )

    def _weigh_and_admit(self, found: Sequence[Proposal], *, lone: bool = False) -> bool:
        """Weigh the proposals in *found*, and admit edits. Returns whether any was admitted."""
        effects = self._weigh_within_work(found, lone)
        self._learn_families(effects)
        self._count_by_kind(effects)
        self.looked_at.update(one.edit for one, _ in effects)
        for one, effect in effects:
            if len(effect.bad) > _HOPELESS * (1 + len(effect.good)):
                self.looked_at[one.edit] = _LOOKS
        return self._admit(list(self._narrow(effects)))

    def _weigh_within_work(self, found: Sequence[Proposal], lone: bool) -> list[tuple[_Weighed, Effect]]:
        """Weigh the proposals in *found*, those that most contents suggest first, until the allowed work is done."""
        end = self.classes.work + _MEANS * len(self.urls)
        effects: dict[Rule, tuple[_Weighed, Effect]] = {}
        for one in sorted(found, key=lambda one: (one.contents is not None, -(one.contents or 0))):
            if self.classes.work >= end:
                break
            effects[one.edit] = self._weigh(one, lone)
        return [effects[one.edit] for one in found if one.edit in effects]

    def _weigh(self, found: Proposal, lone: bool) -> tuple[_Weighed, Effect]:
        """The edit of a proposal, with its effect on the log."""
        effect = self.classes.effect(found.edit)
        kinds = [kinds_of(operation, effect.moved) for operation in found.edit.operations]
        return _Weighed(
            found.edit, found_by=0 if found.contents is None else 1, lone=lone, kinds=kinds
        ), effect

    def _count_by_kind(self, effects: list[tuple[_Weighed, Effect]]) -> None:
        """Count, by kind, how single operations fared when they were first weighed."""
        for weighed, effect in effects:
            if len(weighed.edit.operations) == 1 and not weighed.lone and not self.looked_at[weighed.edit]:
                tally = _tally_of(self.record(weighed, effect), effect, len(self.urls))
                if tally is not None:
                    for kind in weighed.kinds[0]:
                        self.tallies[kind] = self.tallies.get(kind, Tally()) + tally

    def _learn_families(self, effects: list[tuple[_Weighed, Effect]]) -> None:
        """Learn from the edits with one operation how often edits of each family hold."""
        seen: set[frozenset[str]] = set()
        records: list[tuple[str, Record]] = []
        for weighed, effect in effects:
            if len(weighed.edit.operations) == 1 and effect.contents + len(effect.bad) > 1:
                what = frozenset(effect.moved)
                if what not in seen:
                    seen.add(what)
                    records.append((weighed.edit.family, self.record(weighed, effect)))
        if records:
            self.beliefs.learn(records)

    def _narrow(self, effects: list[tuple[_Weighed, Effect]]) -> Iterator[tuple[_Weighed, Effect]]:
        """The edits that are supported by the log, each with a guard for where it holds if it does not hold
        everywhere.
        """
        for weighed, effect in map(self._limit_to_name_seen, effects):
            if not effect.good or (weighed.lone and self._shows_more(effect)):
                continue
            if not effect.bad:
                yield from self._limit_to_parts_seen(weighed, effect)
            else:
                for leaf in leaves(effect, self.truths):
                    edit = Rule(weighed.edit.operations, leaf.guard)
                    yield self._with_effect(replace(weighed, edit=edit, slab=leaf.slab, tries=leaf.tries))
            if self.params.lone:
                for guard in lone_guards(effect, _LONE, self.classes.forms, self.truths):
                    edit = Rule(weighed.edit.operations, guard)
                    yield self._with_effect(_Weighed(edit, slab=(1.0, 1.0), lone=True, kinds=(ONE_PAGE,)))

    def _shows_more(self, effect: Effect) -> bool:
        """Whether only one page supports the edit, and the edit also changes URLs that show other pages. Such URLs contradict
        the edit even if their targets were never fetched.
        """
        borne_out = {content for merge in effect.good for content in merge.contents}
        return len(borne_out) == 1 and any(self.classes.contents[key] - borne_out for key in effect.moved)

    def _limit_to_name_seen(self, looked_at: tuple[_Weighed, Effect]) -> tuple[_Weighed, Effect]:
        """Limit an edit that removes any file name of a directory's page to the one name seen, unless there were two."""
        weighed, effect = looked_at
        name = _only_index_name(weighed.edit, effect)
        if name is None:
            return looked_at
        return self._with_effect(replace(weighed, edit=Rule((DropLast(name),))))

    def _limit_to_parts_seen(self, weighed: _Weighed, effect: Effect) -> Iterator[tuple[_Weighed, Effect]]:
        """The edit for the whole site if enough parts of the site support it; else for those parts only."""
        first = weighed.edit.operations[0]
        if first.is_of_one_part or _OF_HOSTS.issuperset(weighed.edit.families):
            yield weighed, effect
            return
        parts = places_of(effect)
        beyond = self.beliefs.risk(weighed.kinds, Record(max(0, len(parts) - weighed.found_by)))
        if beyond <= self.params.max_risk:
            yield weighed, effect
            return
        for guard in parts:
            yield self._with_effect(replace(weighed, edit=Rule(weighed.edit.operations, guard)))

    def _with_effect(self, weighed: _Weighed) -> tuple[_Weighed, Effect]:
        return weighed, self.classes.effect(weighed.edit)

    def _admit(self, ready: list[tuple[_Weighed, Effect]]) -> bool:
        """Admit edits that are *ready*, those of least price first, while the loss budget lasts. Returns whether any
        was admitted.
        """
        heap = [
            (self._rank(weighed, effect), number)
            for number, (weighed, effect) in enumerate(ready)
            if effect.good
        ]
        heapq.heapify(heap)
        admitted = False
        while heap:
            rank, number = heapq.heappop(heap)
            weighed = ready[number][0]
            effect = self.classes.effect(weighed.edit)
            if not effect.saves:
                continue
            now = self._rank(weighed, effect)
            if now > rank and heap and now > heap[0][0]:
                heapq.heappush(heap, (now, number))
                continue
            if not weighed.lone and not self.record(weighed, effect).held:
                continue  # only what made us think of it
            price = self.price(weighed, effect)
            cost = price * effect.saves
            if cost > self.left or price > self.params.max_risk:
                continue
            self.left -= cost
            examples = tuple((merge.moved[0], merge.key) for merge in effect.good[:3])
            self.learned.append(LearnedEdit(weighed.edit, effect.contents, effect.saves, price, examples))
            self.classes.accept(weighed.edit, effect)
            admitted = True
        return admitted

    def believe_others(self) -> None:
        """Admit edits of kinds that hold on every site, if other sites support them and this one does not contradict
        them.

        What such an edit would save here is not known; its risk is counted with what it saves on average.
        """
        for operation in EVERYWHERE if len(self.urls) >= _ENOUGH else ():
            edit = Rule((operation,))
            pool, kind = self.beliefs.pool, kinds_of(operation)[-1]
            risk = pool.risk_unseen(kind, self.params.max_risk)
            if risk is None or any(edit.operations == one.edit.operations for one in self.learned):
                continue
            effect = self.classes.effect(edit)
            if effect.bad or effect.endless:
                continue
            cost = pool.cost_unseen(kind, risk, len(self.urls), effect.saves, self.left)
            if cost is None:
                continue
            if self._count_keys([edit]) > self._count_keys():
                continue  # it makes of URLs what guards of other edits do not know
            self.left -= cost
            self.learned.append(LearnedEdit(edit, effect.contents, effect.saves, risk, ()))
            self.classes.accept(edit, effect)

    def _count_keys(self, more: Sequence[Rule] = ()) -> int:
        """How many different keys the URLs of the log have under the admitted edits and *more*."""
        function = SiteRules("", (*self.classes.function.rules, *more))
        return len({function.key(url) for url in self.urls})

    def _rank(self, weighed: _Weighed, effect: Effect) -> tuple[float, int, int, str]:
        """A sort key: edits of less risk come first, then edits that save more."""
        # Of edits with equal evidence, the one that touches fewest URLs of which nothing is known.
        silent = len(effect.moved) - effect.saves
        return self.price(weighed, effect), -effect.saves, silent, str(weighed.edit)


def _only_index_name(edit: Rule, effect: Effect) -> str | None:
    """The one file name that *edit*, which removes names of a directory's page, has removed; None if there are more,
    or for any other edit.
    """
    if edit.operations != (DropIndex(),):
        return None
    names = {parts_of(url).path[-1] for merge in effect.good for url in merge.moved}
    return names.pop() if len(names) == 1 else None


#: Families that have nothing to do with where in a site a page is.
_OF_HOSTS = frozenset(("host alias", "host spelling", "scheme", "www"))


def _tally_of(record: Record, effect: Effect, urls: int) -> Tally | None:
    """The evidence of one site about an edit, for the pool; None if it is too little to say whether the edit is a law."""
    good, bad = len(effect.good), record.failed
    if not good and not bad:
        return None
    accident = int(good > 0 and bad > 0)
    law = int(not bad and record.held >= DECIDED)
    return Tally(law, accident, accident * good / (good + bad), good, bad, effect.saves / urls)


#: Families by how much they say: parts of a URL, texts anywhere in it, whole places that do not matter.
_TEXTS = frozenset(("substring", "path substring"))
_WIDE = frozenset(("any segment", "any value", "cut value", "drop segment", "query"))


def _width(edit: Rule) -> int:
    """How wide an edit is by its kind, from 0 to 3: narrow edits are weighed first."""
    family = edit.operations[0].family
    if len(edit.operations) > 1 or family == "rewrite":
        return 3
    return 2 if family in _WIDE else int(family in _TEXTS)


def learn_edits(
    contents: Mapping[str, Hashable | None],
    params: EditParams,
    redirects: Mapping[str, str] | None = None,
    pool: Pool = NOTHING_POOLED,
    *,
    canonicals: Mapping[str, str] | None = None,
    before: Sequence[Rule] = (),
    more: Sequence[Proposal] = (),
) -> EditedSite:
    """Learn edits. *contents*: by URL, the content that it shows, None if unknown; the URLs in *redirects* are among
    them.

    *pool*: evidence of other sites. *canonicals*: by URL, the canonical URL that its page names. *before*: edits that
    are part of the result anyway. *more*: other proposals, which are believed as much as any.

    The result puts no two URLs under one key that are known to show different contents, unless the budget allows it.
    """
    known = {
        url: target for url, target in (redirects or {}).items() if url in contents and target in contents
    }
    search = _Search(
        classes_of(contents, before),
        Beliefs(pool=pool),
        params,
        params.budget * len(contents),
        tuple(contents),
        declared_edits(known),
        edits_of_canonicals(canonicals or {}),
        more,
    )
    for _ in range(params.rounds):
        if not search.round():
            break
    search.believe_others()
    return _consistent_edits(contents, search, before)


def _consistent_edits(
    contents: Mapping[str, Hashable | None], search: _Search, before: Sequence[Rule]
) -> EditedSite:
    """The learned edits, without those that act differently on the log's URLs than they did step by step.

    Each edit was weighed on forms that earlier edits had left; on the URLs themselves their order may differ. An edit
    that then merges different contents, or never comes to an end, is left out, the last learned first.
    """
    learned = list(search.learned)
    while learned:
        function = SiteRules("", (*before, *(one.edit for one in learned)))
        wrong = _first_url_with_wrong_key(contents, function, search.classes)
        if wrong is None:
            break
        culprits = function.touching(wrong)
        learned.remove(next((one for one in reversed(learned) if one.edit in culprits), learned[-1]))
    function = SiteRules("", (*before, *(one.edit for one in learned)))
    return EditedSite(function, tuple(learned), search.tallies)


def _first_url_with_wrong_key(
    contents: Mapping[str, Hashable | None], function: SiteRules, classes: Classes
) -> str | None:
    """The first URL for which *function* comes to no end, or to which it gives the key of another content."""
    together: dict[Hashable, set[str]] = {}
    for key, of_key in classes.contents.items():
        for content in of_key:
            together.setdefault(content, set()).add(key)
    first: dict[str, Hashable] = {}
    for url in sorted(contents):
        end = function.settle(url)
        if end is None:
            return url
        content = contents[url]
        if content is not None:
            other = first.setdefault(end, content)
            if other != content and together[other].isdisjoint(together[content]):
                return url
    return None

"""The URLs of a log by key, under rules that are accepted one after the other.

URLs with one key are a class. For each rule this module finds the URLs of the log that get one key by the rule and have
different keys without it. Thus all members of a class are evidence, and two rules that merge two pages only together
are seen doing so. A rule is tried only on URLs that have the rule's words. The *way* of a URL is the sequence of rules
that change it, up to its key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.validation import Pair
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.operation import ANY
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.site_rules import GROWTH, SiteRules
from scrapy_dust.rules.word_index import WordIndex
from scrapy_dust.stopping import Poll, never_stop
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.strata import in_strata

#: URLs that tell whether a rule says anything that those before it do not say. Where none of so many does, drawn at random,
#: it would spare next to nothing.
_FIRST = 100


def may_put_marks(rule: Rule) -> bool:
    """Whether *rule* may put a mark such as ``*`` in the place of a value, so that its keys are no URLs."""
    return not rule.leads_to_urls


class _ChangedForm(NamedTuple):
    """A form of a URL that a rule changes."""

    number: int  #: of the form on the URL's way
    form: str  #: what the rule makes of it
    times: int  #: how often all rules had been applied before


class _Walk(NamedTuple):
    """The rules that change a URL one after the other, and the forms that it takes, up to its key."""

    #: The rules that change something, by number, in turn; None: they come to no end.
    way: tuple[int, ...] | None
    forms: tuple[str, ...]  #: the URL and what each of these rules makes of it


#: Of a URL that no rule changes.
_STAYS = _Walk((), ())

#: A form, the place of the rule that has made it, and how often all rules had been asked before.
_State = tuple[str, int, int]


class _Numbers:
    """Numbers for rules, so that ways of URLs are compared and held as numbers."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []  #: by number
        self._of: dict[Rule, int] = {}
        self._ways: dict[tuple[int, ...], tuple[int, ...]] = {}

    def number_of(self, rule: Rule) -> int:
        """The number that stands for *rule*; a rule that has none gets the next one."""
        number = self._of.setdefault(rule, len(self.rules))
        if number == len(self.rules):
            self.rules.append(rule)
        return number

    def shared_tuple(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        """The one tuple that is kept for all tuples equal to *numbers*, so that each is in memory once."""
        return self._ways.setdefault(numbers, numbers)


class _AddedRule:
    """A rule that is added to the accepted ones, and its effects found so far.

    Rules are applied in their order, and again from the beginning, until all have been applied to one form. So a rule
    is applied to a form only if its place is between the rules before and after the form; and to the last form. If
    the rule changes none of these, nothing changes on the way. URLs that have a form in common go on alike.
    """

    def __init__(self, rule: Rule, canonizer: Canonizer) -> None:
        """The keys that URLs get when *rule* is added. *canonizer* has *rule* among its rules."""
        self.canonizer, self._rule = canonizer, rule
        self._ready: SiteRules | None = None
        self._place: dict[Rule, int] = {}
        self._changed: dict[str, str] = {}
        self._next: dict[_State, _State | None] = {}  #: a state that stays is its own next one
        self._turns: dict[tuple[int, ...], Sequence[tuple[int, int]]] = {(): ((0, 0),)}
        #: By the way up to the rule, and the places of the rules from there on.
        self._ways: dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[int, ...]] = {}

    def key(self, url: str, walk: _Walk | None, rules: Sequence[Rule]) -> str | None:
        """The key that *url* has once the rule is added; None if the rule changes nothing. *walk*: how *rules* change
        the URL so far.
        """
        if walk is not None and walk.way is None:
            return self.canonizer.canonize(url)
        turn = self._changed_form(url, walk, rules)
        if turn is None:
            return None
        states, ends = self._states(url, turn)
        return self.canonizer.key_from(url, states[-1][0] if ends else None)

    def steps_of(self, url: str, walk: _Walk | None, numbers: _Numbers) -> _Walk | None:
        """The steps at which rules change *url* once the rule is added; None if that is not known. *walk*: the steps as
        they are without it. *numbers*: of the rules.
        """
        before = _STAYS if walk is None else walk
        turn = None if before.way is None else self._changed_form(url, walk, numbers.rules)
        if turn is None or before.way is None or self._ready is None:
            return None
        states, ends = self._states(url, turn)
        if not ends:
            return None
        begun, then = before.way[: turn.number], tuple([place for _, place, _ in states])
        way = self._ways.get((begun, then))
        if way is None:
            further = [numbers.number_of(self._ready.rules[place]) for place in then]
            way = self._ways[begun, then] = numbers.shared_tuple((*begun, *further))
        return _Walk(way, (url, *before.forms[1 : turn.number + 1], *[form for form, _, _ in states]))

    def _changed_form(self, url: str, walk: _Walk | None, rules: Sequence[Rule]) -> _ChangedForm | None:
        """The form of *url* that the rule changes when its turn comes; None if there is none."""
        way, forms = ((), (url,)) if walk is None else (walk.way or (), walk.forms)
        for number, times in self._turns.get(way) or self._turns_of(way, rules, url):
            form = forms[number]
            changed = self._changed.get(form) or self._changed.setdefault(form, self._rule.apply(form))
            if changed != form:
                return _ChangedForm(number, changed, times)
        return None

    def _turns_of(self, way: tuple[int, ...], rules: Sequence[Rule], url: str) -> Sequence[tuple[int, int]]:
        """The result of `_turns` for the rule and the *way* of *url*, computed once for each way."""
        self._find_site_rules(url)
        place = self._place
        found = self._turns[way] = _turns(place[self._rule], [place[rules[number]] for number in way])
        return found

    def _states(self, url: str, turn: _ChangedForm) -> tuple[list[_State], bool]:
        """The forms of *url* from its *turn* on, each with the rule that made it, and whether they come to an end."""
        ready = self._ready or self._find_site_rules(url)
        if ready is None:
            return [], False
        state, longest = (turn.form, self._at, turn.times), 2 * len(url) + GROWTH
        passed = [state]
        while True:
            if state not in self._next:
                self._next[state] = ready.step(*state) if len(state[0]) <= longest else None
            then = self._next[state]
            if then is None or then == state:
                return passed, then is not None
            passed.append(then)
            state = then

    def _find_site_rules(self, url: str) -> SiteRules | None:
        """Find the rules of the site of *url*, and the place of the added rule among them."""
        self._ready = self.canonizer.site_rules_for(url)
        if self._ready is not None:
            self._place = {rule: number for number, rule in enumerate(self._ready.rules)}
            self._at = self._place[self._rule]
        return self._ready


def _turns(place: int, way: Sequence[int]) -> Sequence[tuple[int, int]]:
    """The forms of a URL that the rule at *place* is applied to: for each, its number on the URL's way, and how often
    all rules had been applied before. *way*: the places of the rules that change the URL, in turn.
    """
    found, last, times = [], -1, 0
    for number, then in enumerate(way):
        begins_anew = then <= last
        if place > last and (begins_anew or place < then):
            found.append((number, times))
        elif begins_anew and place < then:
            found.append((number, times + 1))
        last, times = then, times + begins_anew
    # Where all have been asked about the last form, it stays.
    return (*found, (len(way), times + (place < last)))


class _PairsQuestion(NamedTuple):
    """A question for pairs of URLs, and the state of the campaign when it was asked."""

    rule: Rule
    moved: dict[str, str]
    learned: int
    nothing: frozenset[str]
    marks: bool

    def is_like(self, other: _PairsQuestion) -> bool:
        # Dicts of many URLs: the very same one was asked for, or another one.
        """Whether *other* is the same question, about the very same URLs and their new keys."""
        return self.moved is other.moved and self._replace(moved={}) == other._replace(moved={})


class KeyedUrls:
    """The URLs of the log by key, under the rules accepted so far."""

    def __init__(
        self,
        evidence: LogEvidence,
        canonizer: Canonizer,
        index: WordIndex | None = None,
        poll: Poll = never_stop,
    ) -> None:
        """The log's URLs by the keys that *canonizer* gives them. *index*: an index of words of these URLs, to which
        more are added; entries for other rules do no harm.
        """
        self._poll = poll
        self._evidence = evidence
        self._index = WordIndex(evidence.urls) if index is None else index
        self._place = {url: place for place, url in enumerate(evidence.urls)}
        self._numbers = _Numbers()  #: of rules that stand in ways
        self._walks: dict[str, _Walk] = {}  #: of the URLs that rules change
        self._key: dict[str, str] = {url: url for url in evidence.urls}
        #: What `moved` was asked last, the URLs that take another way then, and where that leads.
        self._diverted: tuple[Rule, Sequence[str], _AddedRule] | None = None
        self._added: _AddedRule | None = None
        #: What `drawn` was asked last, and the pairs.
        self._drawn: tuple[_PairsQuestion, list[Pair]] | None = None
        for url in evidence.urls if canonizer else ():
            self._key[url], walk = self._key_and_steps(url, canonizer)
            if walk.way != ():
                self._walks[url] = walk
            self._index_forms(url, walk.forms[1:])
        self._members: dict[str, list[str]] = {}  #: URLs by key, in the order to draw them
        for url, key in self._key.items():
            self._members.setdefault(key, []).append(url)

    def __len__(self) -> int:
        """The number of different keys."""
        return len(self._members)

    def _index_forms(self, url: str, forms: Iterable[str]) -> None:
        """Add the words of *forms* to the index, so that rules with these words are tried on *url*."""
        for form in forms:
            self._index.add(url, form)

    def _key_and_steps(self, url: str, canonizer: Canonizer) -> tuple[str, _Walk]:
        """The key of *url* under the rules of *canonizer*, and the steps from the URL to its key."""
        walk = canonizer.walk(url)
        if not walk.steps and walk.ends:
            return walk.key, _Walk((), (url,))
        way = self._numbers.shared_tuple(tuple([self._numbers.number_of(rule) for rule, _, _ in walk.steps]))
        forms = (url, *[after for _, _, after in walk.steps])
        return walk.key, _Walk(way if walk.ends else None, forms)

    def _urls_with_words(self, rule: Rule) -> Iterator[tuple[str, Sequence[str]]]:
        """The log's URLs that have the words of *rule*, in the order to draw them, each with all forms that rules give it."""
        known = self._index.names_touched(rule)
        for url in self._key if known is None else sorted(known, key=self._place.__getitem__):
            self._poll()
            walk = self._walks.get(url)
            yield url, (url,) if walk is None else walk.forms

    def _touched_urls(self, rule: Rule) -> Iterator[str]:
        """The log's URLs of which *rule* changes some form, in the order in which pairs are drawn."""
        for url, forms in self._urls_with_words(rule):
            if any(rule.apply(form) != form for form in forms):
                yield url

    def says_something_new(self, rule: Rule, canonizer: Canonizer) -> bool:
        """Whether *rule*, a rule of *canonizer*, changes the key of one of the first URLs that it applies to."""
        added, urls = self._effects_of_adding(rule, canonizer), islice(self._touched_urls(rule), _FIRST)
        keys = ((url, added.key(url, self._walks.get(url), self._numbers.rules)) for url in urls)
        return any(key not in (None, self._key[url]) for url, key in keys)

    def moved_urls(self, rule: Rule, canonizer: Canonizer) -> dict[str, str]:
        """The URLs whose keys change when *rule*, a rule of *canonizer*, is added, with their new keys."""
        found, diverted, added = dict[str, str](), list[str](), self._effects_of_adding(rule, canonizer)
        for url, _ in self._urls_with_words(rule):
            key = added.key(url, self._walks.get(url), self._numbers.rules)
            if key is not None:
                diverted.append(url)
                if key != self._key[url]:
                    found[url] = key
        self._diverted = rule, diverted, added
        return found

    def _effects_of_adding(self, rule: Rule, canonizer: Canonizer) -> _AddedRule:
        """The effects of *rule*, a rule of *canonizer*, when it is added; kept while the questions are about the same
        rule.
        """
        if self._added is None or self._added.canonizer is not canonizer:
            self._added = _AddedRule(rule, canonizer)
        return self._added

    def pairs_to_test(self, rule: Rule, moved: dict[str, str], *, marks: bool) -> list[Pair]:
        """The pairs that *rule* merges when URLs move to the keys in *moved*, in the order in which they are to be
        tested.

        Pairs of which neither URL shows a page are left out. *marks*: rules put marks into keys; a key with a mark
        is no URL that a site could answer.
        """
        asked = _PairsQuestion(rule, moved, self._evidence.learned, self._evidence.nothing, marks)
        if self._drawn is None or not self._drawn[0].is_like(asked):
            pairs = (
                pair
                for pair in self.merged_pairs(moved)
                if (pair.looked_at or pair.known is not Outcome.UNKNOWN)
                and not (pair.made_up and marks and ANY in pair.target)
            )
            self._drawn = asked, in_strata(pairs, str(rule))
        return self._drawn[1]

    def merged_pairs(self, moved: dict[str, str]) -> list[Pair]:
        """A pair for each class whose URLs all get the key of another class, and for each new key that is no URL of the
        log.
        """
        pairs = []
        met: dict[str, str | None] = {}  # new key → the URL that the others are compared with
        done: set[tuple[str, str]] = set()
        for url, key in moved.items():
            old = self._key[url]
            if (old, key) in done:
                continue
            done.add((old, key))
            if key not in met:
                met[key] = self._class_member(key, moved)
            keeper = met[key]
            if keeper is None:
                keeper = met[key] = url
            if keeper != url:
                pairs.append(self._evidence.pair(url, keeper))
            elif self._evidence.page_of(key) is None:
                pairs.append(self._evidence.pair(url, key))
        return pairs

    def _class_member(self, key: str, moved: dict[str, str]) -> str | None:
        """A URL that has *key* already and keeps it; the key itself if it is a URL, since that needs no rule.

        Another URL may have the key by a mistake of another rule, for which this rule must not be blamed.
        """
        members = self._members.get(key, ())
        if self._key.get(key) == key and key not in moved:
            return key
        return next((one for one in members if one not in moved), None)

    def classes_saved(self, moved: dict[str, str]) -> int:
        """The number of fetches saved if URLs move to the keys in *moved*: how many keys fewer there are then."""
        gone = self._emptied_keys(moved)
        new = {key for key in moved.values() if key not in self._members or key in gone}
        return len(gone) - len(new)

    def _emptied_keys(self, moved: dict[str, str]) -> set[str]:
        """The keys that no URL would have any more if URLs moved as in *moved*."""
        leaving: dict[str, int] = {}
        for url in moved:
            leaving[self._key[url]] = leaving.get(self._key[url], 0) + 1
        return {key for key, count in leaving.items() if count == len(self._members[key])}

    def accept(self, rule: Rule, moved: dict[str, str], canonizer: Canonizer) -> None:
        """Accept *rule*, a rule of *canonizer*; *moved* is the result of `moved_urls` for it."""
        diverted, added = self._diverted_urls(rule, canonizer)
        for url in diverted:
            before = self._walks.get(url)
            known = (url,) if before is None else before.forms
            walk = added.steps_of(url, before, self._numbers)
            self._walks[url] = walk or self._key_and_steps(url, canonizer)[1]
            self._index_forms(url, (form for form in self._walks[url].forms if form not in known))
        for key in dict.fromkeys(self._key[url] for url in moved):
            staying = [one for one in self._members[key] if one not in moved]
            if staying:
                self._members[key] = staying
            else:
                del self._members[key]
        for url, key in moved.items():
            self._members.setdefault(key, []).append(url)
        for key in dict.fromkeys(moved.values()):
            self._members[key].sort(key=self._place.__getitem__)
        self._key.update(moved)
        self._diverted = self._drawn = self._added = None

    def _diverted_urls(self, rule: Rule, canonizer: Canonizer) -> tuple[Sequence[str], _AddedRule]:
        """The URLs that *rule* changes on their way to a key, and its effects, found by the last `moved_urls` or now."""
        if self._diverted is None or self._diverted[0] != rule:
            self.moved_urls(rule, canonizer)
        assert self._diverted is not None
        return self._diverted[1:]

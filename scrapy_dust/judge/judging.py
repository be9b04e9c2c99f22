"""Compares answers of one site by all that is known of the site, and recognises answers that are no pages.

`page/compare.py` says whether two pages are one. A judge adds the knowledge that only fetches give:

- the site's answer for a URL that cannot exist is no page: it proves nothing about a rule. Nor does one answer that the
  site suddenly gives where the log has different pages: a login, a consent page, a captcha;
- if the log has another page for a URL than a fetch, the fetch proves nothing: something may stand in front of the page;
- parts that change from one fetch of a URL to the next are volatile on all similar pages.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain

from scrapy_dust.judge.answers import Fetched, Known
from scrapy_dust.judge.then_and_now import ThenAndNow
from scrapy_dust.page.compare import Answer, Same, Verdict, compare
from scrapy_dust.page.knowledge import NOTHING_KNOWN, Knowledge, Linked, note_linked, sifted
from scrapy_dust.page.own import end_of
from scrapy_dust.page.places import Kind
from scrapy_dust.page.site_template import template_of_pages
from scrapy_dust.page.units import distinct
from scrapy_dust.page.unitsets import (
    EMPTY,
    UnitSet,
    array_of,
    as_links,
    common_to,
    is_in,
    is_of,
    places_of,
    set_of,
    union_of,
    within,
    without,
)
from scrapy_dust.page.volatile import NOTHING_VOLATILE, Group, learn_volatile
from scrapy_dust.page.wording import NOTHING_READ, Parts, Wording, parts_of
from scrapy_dust.visits.pages import LEAST_OWN
from scrapy_dust.visits.strata import template_of

#: Of a site's different pages so many must have a mark for it to be the template's.
_MARKED_PAGES, _MARKED_SHARE = 3, 0.5
#: Strange answers that are kept to see whether others are like them.
_STRANGE_KEPT = 64
#: URLs whose further answers are kept. What they have shown to change stays known.
_AGAIN_KEPT = 200
#: Answers to one of these URLs that are kept whole.
_EARLIER_KEPT = 2
#: Different answers to one URL that are kept.
_ANSWERS_KEPT = 6
#: Different pages from which the template is learned, each time as many have been fetched.
_TEMPLATE_AT = (8, 16, 32, 64)
#: Of what is the own of a page in the log so much is left on a page that has changed, and is not another one.
_LEAST_LEFT = 0.25
#: Seconds in which a page is not expected to become another one.
SAME_TIME = 3600.0
#: Pages whose words are kept, to see what the site's pages have in common, and answers to one URL.
_READ_KEPT, _WORDED_KEPT = 32, 5
_EMPTY, _MOVED = "empty", "moved"

Key = Callable[[str], str]


class Judge:
    """The judge of one site. *knowledge*: from the log, which has *urls*. *log_template*: hashes of sketches that all its
    pages have.
    """

    def __init__(
        self,
        knowledge: Knowledge = NOTHING_KNOWN,
        log_template: frozenset[int] = frozenset(),
        urls: Collection[str] = (),
    ) -> None:
        self.knowledge, self._urls = knowledge, urls
        self.learned = NOTHING_VOLATILE  #: what further fetches of one URL have shown
        self.names: dict[int, str] = {}  #: of the places that these fetches showed
        self._log_template = log_template
        # By URL, the latest; each answer with the total of its units. One that came before is not taken again.
        self._again: OrderedDict[str, list[tuple[int, UnitSet]]] = OrderedDict()
        self._earlier: OrderedDict[str, list[Fetched]] = OrderedDict()  #: by URL, some of its answers
        self._parts: dict[str, Parts] = {}  #: by URL, what lasts in its texts that change
        self._read: dict[str, Wording] = {}  #: by URL, the words of an answer
        #: By URL, the latest; the units and the words of its answers, by the total of the units.
        self._worded: OrderedDict[str, dict[int, tuple[UnitSet, Wording]]] = OrderedDict()
        self._controlled: set[tuple[str, int, int]] = set()  #: answers of which the log has a control
        # Different pages, by what they show; with path templates as long as the template is learned from them.
        self._seen: dict[int, tuple[str, Answer] | None] = {}
        self._marked: Counter[str] = Counter()
        self._linked: Linked = {}
        self._nothing: dict[int, Fetched] = {}
        self._strange: list[tuple[Fetched, Known]] = []
        self._then_and_now = ThenAndNow()
        self.trusts_log = True  #: False: the whole site is another one by now

    def learn(self, page: Fetched, known: Known | None = None) -> None:
        """Learn from *page*, one of the site's pages. Pages that show the same count once."""
        if not page.answered or page.shown is None:
            return
        if known is not None:
            self._then_and_now.note(page, known)
            if self.resembles(page, known) is not True:
                self._learn_strange(page, known)
        total = page.shown.units.total
        if len(self._read) < _READ_KEPT and page.shown.wordings:
            self._read.setdefault(page.url, page.shown.wordings[0])
        if total in self._seen or self.is_nothing(page):
            return
        is_learned_from = len(self._seen) < _TEMPLATE_AT[-1]
        self._seen[total] = (template_of(page.url), page.shown) if is_learned_from else None
        self._marked.update(page.marks)
        note_linked(self._linked, page.shown.links.values())
        if len(self._seen) in _TEMPLATE_AT:
            self._learn_template()

    def _learn_template(self) -> None:
        """Learn from fetched pages what all pages share, if the log did not show it."""
        knowledge = self.knowledge
        if not len(knowledge.template):
            sets = [(template, set_of(shown.units)) for template, shown in filter(None, self._seen.values())]
            found = template_of_pages(sets)
            knowledge = replace(knowledge, template=found.template, chrome=found.chrome, common=found.common)
        self.knowledge = knowledge

    def learn_again(self, *answers: Fetched) -> None:
        """Learn from several *answers* to one URL: parts that some of them lack change at each fetch."""
        shown = [one.shown for one in answers if one.answered and one.shown is not None]
        if len(shown) < 2 or any(map(self.is_nothing, answers)):
            return
        self._learn_answers(answers[0].url, shown)
        self._earlier[answers[0].url] = [one for one in answers if one.answered][-_EARLIER_KEPT:]
        if len(self._earlier) > _AGAIN_KEPT:
            self._earlier.popitem(last=False)

    def earlier(self, page: Fetched) -> list[Fetched]:
        """The answers to the URL of *page* that came to an earlier question.

        Where they differ from *page*, the page changes at each fetch. Where they do not, it may have changed since.
        """
        return [one for one in self._earlier.get(page.url, ()) if one is not page]

    def _learn_answers(self, url: str, shown: Sequence[Answer]) -> None:
        """Learn from several answers to *url* which parts change at each fetch, there and on similar pages."""
        known = self._again.setdefault(url, [])
        self._read_words(url, shown)
        before = {total for total, _ in known}
        new = [(one.units.total, set_of(one.units)) for one in shown if one.units.total not in before]
        known += new[: _ANSWERS_KEPT - len(known)]
        for one in shown:
            self.names.update(one.names)
        if len(self._again) > _AGAIN_KEPT:
            self._again.popitem(last=False)
        groups = (
            Group(template_of(url), [units for _, units in answers], self._parts.get(url, NOTHING_READ))
            for url, answers in self._again.items()
        )
        self.learned = self.learned.joined(learn_volatile(groups))
        self.knowledge = replace(self.knowledge, volatile=self.knowledge.volatile.joined(self.learned))

    def _read_words(self, url: str, shown: Sequence[Answer]) -> None:
        """Learn from several answers to *url* what lasts in the texts that change, if their words are at hand."""
        worded = self._worded.setdefault(url, {})
        self._worded.move_to_end(url)
        for one in shown:
            if one.wordings and len(worded) < _WORDED_KEPT:
                worded.setdefault(one.units.total, (set_of(one.units), one.wordings[0]))
        if len(self._worded) > _READ_KEPT:
            self._worded.popitem(last=False)
        if len(worded) > 1:
            others = [wording for other, wording in self._read.items() if other != url]
            units, wordings = zip(*worded.values(), strict=True)
            known = self._ends if any(one.ends.any() for one in wordings) else EMPTY
            self._parts[url] = parts_of(units, wordings, others, known)

    @cached_property
    def _ends(self) -> UnitSet:
        """The ends of links that lead to pages of the log."""
        return array_of(map(end_of, self._urls))

    def unsettled(self) -> Iterator[str]:
        """The URLs to fetch once more: their answers so far agree, in a unit or in a word, at a place that a site may fill at
        random, perhaps by chance.
        """
        for url, answers in self._again.items():
            if len(self._parts.get(url, NOTHING_READ).by_chance):
                yield url
                continue
            drawn = self.knowledge.volatile.perhaps_drawn(template_of(url))
            common = common_to([units for _, units in answers])
            if len({total for total, _ in answers}) > 1 and is_in(places_of(common), drawn).any():
                yield url

    def learn_kept(self, page: Fetched, known: Known) -> None:
        """Learn that what *page* shares with *known*, the log's answer of the same URL, does not change, even where
        similar pages change.
        """
        if page.shown is not None and known.shown is not None:
            self._learn_answers(page.url, [page.shown, known.shown])

    def is_control(self, page: Fetched, known: Known) -> bool:
        """Whether *known*, the log's answer of the same URL, is as good as one more fetch of *page*: as late, and
        different only where similar pages change.

        Other answers of the crawl may be meant for a visitor with the crawl's cookies.
        """
        if known.shown is None or page.shown is None or not known.shown.units.whole:
            return False
        if abs(page.at - known.at) > SAME_TIME or not self.trusts_log:
            return False
        # Links for the page itself change as other links do.
        here, there = (union_of((as_links(set_of(one.units)),)) for one in (page.shown, known.shown))
        changed = union_of((without(here, there), without(there, here)))
        changed = changed[~is_of(changed, Kind.OWN)]
        # The log has no words, by which parts of a text could be told that last.
        if self.knowledge.telling_places_for(page.url).has(changed).any():
            return False
        places = array_of(self.knowledge.volatile.changing(template_of(page.url)))
        return bool(is_in(places_of(changed), places).all())

    def take_up(self, knowledge: Knowledge) -> None:
        """Use *knowledge* of the site from now on, after the log was mined anew."""
        self.knowledge = replace(knowledge, volatile=knowledge.volatile.joined(self.learned))

    def _learn_strange(self, page: Fetched, known: Known) -> None:
        """Remember *page*, which is not what the log has of its URL (*known*). If it comes for two URLs with different
        pages in the log, it is no page.
        """
        if any(known.differs(other) and self.is_like(page, seen) for seen, other in self._strange):
            self.learn_nothing(page)
        elif len(self._strange) < _STRANGE_KEPT:
            self._strange.append((page, known))

    def learn_nothing(self, page: Fetched) -> None:
        """Remember *page* as no page: it is the site's answer for a URL that cannot exist, or for clients that it shuts
        out.
        """
        if page.answered and page.shown is not None:
            self._nothing.setdefault(page.shown.units.total, page)

    def is_nothing(self, page: Fetched) -> bool:
        """Whether *page* is the site's "not found" with a status of success, and so no page."""
        return page.shown is None or _EMPTY in page.marks or self.shows_nothing(page.shown)

    def shows_nothing(self, shown: Answer) -> bool:
        """Whether *shown* has no content, or the site shows the same for URLs that cannot exist."""
        if not len(shown.units) or shown.units.total in self._nothing:
            return True
        return any(
            self._show_the_same(shown, one.shown) for one in self._nothing.values() if one.shown is not None
        )

    @property
    def nothing_digests(self) -> frozenset[str]:
        """The digests of texts that are no pages."""
        return frozenset(page.text_digest for page in self._nothing.values())

    def is_like(self, page: Fetched, other: Fetched) -> bool:
        """Whether two answers show the same, be it little or much."""
        if page.shown is None or other.shown is None:
            return False
        return self._show_the_same(page.shown, other.shown)

    def _show_the_same(self, shown: Answer, other: Answer) -> bool:
        """Whether two answers show the same: whatever differs does not count, such as an advertisement. They may show
        little or much.
        """
        verdict = compare(shown, other, self.knowledge)
        return verdict.same is not Same.DIFFERENT and not verdict.only_a and not verdict.only_b

    def resembles(self, page: Fetched, known: Known | None) -> bool | None:
        """Whether *page* is *known*, the page that the log has of its URL, even if it has changed; None if that cannot
        be told.
        """
        if known is None or not self.trusts_log or page.shown is None:
            return None
        if known.shown is not None:
            return self._shows_most_of(page.shown, known.shown)
        if known.text_digest is not None and known.text_digest == page.text_digest:
            return True
        if not known.sketch or not page.sketch or len(known.sketch) != len(page.sketch):
            return None
        agreeing = {x for x, y in zip(known.sketch, page.sketch, strict=True) if x == y}
        return bool(agreeing - self._log_template)

    def _shows_most_of(self, page: Answer, known: Answer) -> bool | None:
        """Whether *page* has enough of the units (texts, links) that only *known* has on its site; None if these are
        too few to tell.
        """
        own = own_units(known, self.knowledge)
        if len(own) < LEAST_OWN:
            return None
        return len(within(own, own_units(page, self.knowledge))) >= _LEAST_LEFT * len(own)

    def is_known_page(self, page: Fetched, known: Known, key: Key | None = None) -> bool:
        """Whether *page* shows exactly what the log has in *known*."""
        if not self.trusts_log or page.shown is None:
            return False
        if known.shown is not None:
            return self._compare(page.shown, known.shown, key).same is Same.SAME
        return known.text_digest is not None and known.text_digest == page.text_digest

    def compare_known(
        self,
        page: Fetched,
        known: Known,
        key: Key | None,
        before: Known | None,
        again: Iterable[Fetched] = (),
    ) -> Verdict | None:
        """Compare *page*, with further answers to its URL, to *known*, the page that the log has of another URL; None if the
        log cannot tell.

        *before*: what the log has of the page's own URL.
        """
        if not self.trusts_log or page.shown is None or known.shown is None or self.is_nothing(page):
            return None
        return self._compare(
            _with_controls(page.shown, [*self.control(page, before), *again]), known.shown, key
        )

    def control(self, page: Fetched, before: Known | None) -> list[Fetched]:
        """The log's answer of the URL of *page* (*before*), if it is as good as one more fetch; else nothing."""
        if before is None or not self.is_control(page, before):
            return []
        assert page.shown is not None
        assert before.shown is not None
        control = replace(page, shown=before.shown)
        # A page is compared with many others, and its two answers teach the same each time.
        both = page.url, page.shown.units.total, before.shown.units.total
        if both not in self._controlled:
            self._controlled.add(both)
            self.learn_again(page, control)
        return [control]

    def contradicts(self, known: Known, known_target: Known, key: Key | None) -> Verdict | None:
        """The verdict that two pages of the log are different, if a fetch that shows one page must not overrule it;
        else None.
        """
        if not self.trusts_log or known.shown is None or known_target.shown is None:
            return None
        verdict = self._compare(known.shown, known_target.shown, key)
        if verdict.same is not Same.DIFFERENT:
            return None
        changing = {*self._changing_at(known.shown.url), *self._changing_at(known_target.shown.url)}
        only = (
            [one for one in side if one.place not in changing] for side in (verdict.only_a, verdict.only_b)
        )
        return None if self._then_and_now.explain(known, known_target, *only) else verdict

    def _changing_at(self, url: str) -> list[int]:
        """The places that differ between the answers to *url* which fetches have brought: they differ in the log in any case."""
        answers = [units for _, units in self._again.get(url, ())]
        return distinct(places_of(without(union_of(answers), common_to(answers)))).tolist() if answers else []

    def is_in_the_way(self, page: Fetched, known: Known | None) -> bool:
        """Whether *page* seems to stand in front of the page that was asked for, such as a login, or to have replaced
        it. *known*: what the log has of the URL.
        """
        resembles = self.resembles(page, known)
        return not resembles and (resembles is False or self.is_marked(page))

    def is_marked(self, page: Fetched) -> bool:
        """Whether *page* has a mark that few pages have, such as a password field, or redirects led to a login or a
        check.
        """
        seen = len(self._seen)
        return _MOVED in page.marks or any(
            seen < _MARKED_PAGES or self._marked[mark] < _MARKED_SHARE * seen
            for mark in page.marks - {_EMPTY}
        )

    def compare(
        self,
        url: Fetched,
        target: Fetched,
        again: Iterable[Fetched] = (),
        target_again: Iterable[Fetched] = (),
        *,
        key: Key | None = None,
    ) -> Verdict:
        """Compare two answers, each with further answers to its URL."""
        assert url.shown is not None
        assert target.shown is not None
        return self._compare(
            _with_controls(url.shown, again), _with_controls(target.shown, target_again), key
        )

    def _compare(self, a: Answer, b: Answer, key: Key | None) -> Verdict:
        """The verdict on two pages of the site. Links to URLs with one *key* count as one link."""
        if key is None:
            return compare(a, b, self.knowledge)
        return compare(a, b, replace(self.knowledge, key=key, linked=self._linked))


def own_units(shown: Answer, knowledge: Knowledge) -> UnitSet:
    """The units (texts, links, pictures) that are the page's own: not of the site's template, and not without meaning
    for the page.
    """
    units = sifted(set_of(shown.units), knowledge, knowledge.places_for(shown.url)).units
    units = units[~is_of(units, Kind.GROUP, Kind.OWN_LINK)]
    return without(units, knowledge.common)


def _with_controls(shown: Answer, again: Iterable[Fetched]) -> Answer:
    """*shown* with further answers to its URL, which show what changes at each fetch."""
    answers = [one.shown for one in again if one.shown is not None]
    return replace(
        shown,
        controls=(*shown.controls, *(one.units for one in answers)),
        wordings=(*shown.wordings, *chain.from_iterable(one.wordings for one in answers)),
    )

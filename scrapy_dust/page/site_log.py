"""The log of a site, prepared for mining: each page has a label for its content, if the log has its units.

Pages with units are compared with pages with units only. If a share of a site's pages has units, the others count for
nothing, since their words may be equal where their pictures differ. If hardly any page has units, all pages are
compared by their texts, as in older logs.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from operator import attrgetter

import numpy as np

from scrapy_dust.page.compare import Answer, Same, Verdict, compare
from scrapy_dust.page.contents import NOTHING_SHOWN, Content, Contents, Shown, contents_of
from scrapy_dust.page.item_veto import NO_ITEMS, Items, items_in
from scrapy_dust.page.knowledge import Aside, Knowledge
from scrapy_dust.page.places import VALUE, Kind, Names
from scrapy_dust.page.units import distinct, is_sound, unpack
from scrapy_dust.page.unitsets import is_of, set_of, values_of, within
from scrapy_dust.page.volatile import NOTHING_VOLATILE, Volatile
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.pages import PackedUnits, Page, SiteLog, Visit, merge_visits, page_behind

#: Share of a site's pages that must have units for pages to be compared by them.
LEAST_SHARE = 0.2
#: Close comparisons of one site, and different pages of one core that another is compared with.
_COMPARED, _KEPT_LABELS = 20_000, 4
#: Pairs of URLs by which fields of items are known that change in any case.
_LEARNED_FROM = 150
#: Answers to one URL that are compared with those to another.
_ANSWERS = 3

_OUTCOMES = {Same.SAME: Outcome.SAME, Same.DIFFERENT: Outcome.DIFFERENT, Same.UNKNOWN: Outcome.UNKNOWN}


def site_log(visits: Iterable[Visit], volatile: Volatile = NOTHING_VOLATILE, same: str = "page") -> SiteLog:
    """The log made of the *visits* of one site, with its pages compared by their units.

    Pages are in the order of their URLs, since the order in which a crawl came to them must decide nothing.

    *volatile*: places that are known to change at each fetch. *same*: if ``items``, pages are compared only by what
    the spider took from them.
    """
    visits = sorted(visits, key=attrgetter("url"))
    log = merge_visits(visits)
    if same == "items":
        return _compared(_without_contents(log), taken_in(visits), volatile, of_items=True)
    shown = shown_in(visits)
    if not shown or len({one.url for one in shown}) < LEAST_SHARE * len(log.pages):
        return log
    return _compared(log, shown, volatile, items=items_in(visits))


def comparison_of(log: SiteLog) -> LogComparison | None:
    """Compares pages of *log* by their units; None if *log* has none."""
    return log.comparing if isinstance(log.comparing, LogComparison) else None


def compared_anew(log: SiteLog, volatile: Volatile, nothing: Collection[str] = ()) -> SiteLog:
    """*log* compared again, when more places are known to change, and the URLs *nothing* are known to show no page."""
    comparison = comparison_of(log)
    if comparison is None:
        return log
    known = comparison.knowledge
    changing = known.volatile.joined(volatile)
    anew = _compared(
        log,
        comparison.shown(),
        changing,
        items=comparison.taken,
        of_items=known.of_items,
        nothing=nothing,
    )
    if (compared := comparison_of(anew)) is not None:
        compared.name(known.names)
    return anew


def compared_for_proposals(log: SiteLog) -> SiteLog:
    """*log* without parts that change on similar pages: for proposing rules, and no evidence."""
    comparison = comparison_of(log)
    if comparison is None or not comparison.knowledge.volatile:
        return log
    known = comparison.knowledge
    return _compared(
        log,
        comparison.shown(),
        known.volatile,
        items=comparison.taken,
        of_items=known.of_items,
        nothing=comparison.nothing,
        likely=True,
    )


def _without_contents(log: SiteLog) -> SiteLog:
    """*log* without everything on its pages that the spider did not take."""
    pages = [
        replace(page, size=None, sketch=None, title=None, simhash=None, volatile=False) for page in log.pages
    ]
    return replace(log, pages=pages)


def _compared(
    log: SiteLog,
    shown: Sequence[Shown],
    volatile: Volatile,
    *,
    items: Items = NO_ITEMS,
    of_items: bool = False,
    nothing: Collection[str] = (),
    likely: bool = False,
) -> SiteLog:
    """*log* with new labels for its pages, found by comparing the units of *shown*. *nothing*: URLs known to show no
    page; *of_items*, *likely*: as in `contents_of`.
    """
    contents = _contents(log, shown, volatile, of_items, nothing, likely)
    comparison = LogComparison(shown, contents, items, nothing)
    labels = _labels(contents, comparison)
    if items:
        labels = {url: content.label or "" for url, content in contents.by_url.items()} | labels
        comparison.learn_items(labels)
        labels |= _labels_by_items(labels, comparison)
    pages = tuple(_in_units(page, contents.by_url.get(page.url), labels.get(page.url)) for page in log.pages)
    return replace(log, pages=pages, comparing=comparison)


def _labels(contents: Contents, comparison: LogComparison) -> dict[str, str]:
    """Labels of URLs that, by a close comparison, show what another URL shows.

    Labels alone tell pages apart that link to URLs which the log does not know. A close comparison can ignore such
    links.
    """
    by_core: dict[str, dict[str, list[str]]] = {}
    for url, content in contents.by_url.items():
        if content.label is not None and not content.is_volatile:
            by_core.setdefault(content.core, {}).setdefault(content.label, []).append(url)
    found, left = {}, _COMPARED
    for by_label in by_core.values():
        kept: list[tuple[str, str]] = []  # the labels that are different, each with a URL
        for label, urls in by_label.items() if len(by_label) > 1 else ():
            same = None
            for known, url in kept[:_KEPT_LABELS]:
                left -= 1
                if left >= 0 and comparison.compare(url, urls[0])[0] is Outcome.SAME:
                    same = known
                    break
            if same is None:
                kept.append((label, urls[0]))
            else:
                found.update(dict.fromkeys(urls, same))
    return found


def _labels_by_items(labels: Mapping[str, str], comparison: LogComparison) -> dict[str, str]:
    """New labels of URLs that show what another URL shows, while the spider took other items from them."""
    by_label: dict[str, list[str]] = {}
    for url in sorted(comparison.items.urls):
        if label := labels.get(url):
            by_label.setdefault(label, []).append(url)
    found = {}
    for label, urls in by_label.items():
        kept: list[str] = []
        for url in urls:
            apart = [comparison.veto(known, url) is not None for known in kept]
            at = apart.index(False) if False in apart else len(kept)
            if at == len(kept) and at < _KEPT_LABELS:
                kept.append(url)
            if at:
                found[url] = f"{label}.{at}"
    return found


def shown_in(visits: Iterable[Visit]) -> list[Shown]:
    """The answers among *visits* whose units can be read."""
    sound: dict[int, bool] = {}  # by identity: what several pages show is one object
    return [
        Shown(visit.url, units, visit.fetched_at)
        for visit in visits
        if (units := visit.units) is not None
        and visit.is_page
        and (sound.get(id(units)) or sound.setdefault(id(units), is_sound(units)))
    ]


def taken_in(visits: Iterable[Visit]) -> list[Shown]:
    """The items and requests that the spider took from pages, as units, as far as the log has them."""
    return [
        Shown(visit.url, visit.taken)
        for visit in visits
        if visit.taken is not None and visit.is_page and is_sound(visit.taken)
    ]


def _contents(
    log: SiteLog,
    shown: Sequence[Shown],
    volatile: Volatile,
    of_items: bool,
    nothing: Collection[str],
    likely: bool,
) -> Contents:
    """The contents that *shown* has of the pages of *log*. The arguments are those of `_compared`."""
    pages = {page.url: page for page in log.pages}

    def behind(url: str) -> str | None:
        page = page_behind(url, pages, log.redirects)
        return None if page is None else page.url

    # What is no page has no part in what pages have in common.
    of_pages = [one for one in shown if one.url not in nothing]
    found = contents_of(of_pages, behind, list(log.redirects), volatile, of_items=of_items, likely=likely)
    return replace(found, by_url={**found.by_url, **dict.fromkeys(nothing, NOTHING_SHOWN)})


def _in_units(page: Page, content: Content | None, label: str | None) -> Page:
    """*page* as its units show it: with *content*, and with *label* if given. Without content it counts as unknown."""
    if content is None:
        return replace(page, text_digest=None)
    return page.showing(
        label or content.label, content.core, content.own, content.total, volatile=content.is_volatile
    )


class LogComparison:
    """Compares what two URLs of a log showed, unit by unit."""

    def __init__(
        self, shown: Sequence[Shown], contents: Contents, items: Items, nothing: Collection[str] = ()
    ) -> None:
        self.nothing = nothing  #: URLs that show no page
        self.taken = items  #: what the spider took
        self.items = items  #: the values in `taken` without fields that change in any case
        self._units: dict[str, list[PackedUnits]] = {}
        self._times: dict[str, str | None] = {}  #: when the first answer came
        for one in shown:
            known = self._units.setdefault(one.url, [])
            if len(known) < _ANSWERS:
                known.append(one.units)
            self._times.setdefault(one.url, one.fetched_at)
        self.places = contents.places  #: where units stand
        self.knowledge = Knowledge(
            template=contents.template.template,
            common=contents.template.common,
            chrome=contents.template.chrome,
            volatile=contents.volatile,
            shown=contents.shown,
            alike=contents.alike,
            of_items=contents.of_items,
        )

    def shown(self) -> list[Shown]:
        """The answers that the log has, of each URL the first ones."""
        return [
            Shown(url, units, self._times[url]) for url, answers in self._units.items() for units in answers
        ]

    def totals(self, url: str) -> list[int]:
        """For each answer of *url*, one number that stands for all of its units."""
        return [units.total for units in self._units.get(url, ())]

    def name(self, names: Names) -> None:
        """Take *names* of places, to be used in sentences that say where pages differ."""
        of_site = {place: names[place] for place in self.places if place in names}
        self.knowledge = replace(self.knowledge, names=of_site)
        self.items.name(names)

    def compare(self, url: str, other: str) -> tuple[Outcome, str]:
        """Whether *url* and *other* showed the same page, and why in one sentence."""
        a, b = self.answer(url), self.answer(other)
        if a is None or b is None:
            return Outcome.UNKNOWN, "the log has nothing to compare them by"
        verdict = compare(a, b, self.knowledge)
        vetoed = self._vetoed(a, b, verdict)
        return (_OUTCOMES[verdict.same], verdict.why) if vetoed is None else (Outcome.DIFFERENT, vetoed)

    def veto(self, url: str, other: str) -> str | None:
        """The reason for which *url* and *other* are not one page, though they showed the same: the spider took other items."""
        if self._items_veto(url, other) is None:
            return None
        a, b = self.answer(url), self.answer(other)
        return None if a is None or b is None else self._vetoed(a, b, compare(a, b, self.knowledge))

    def _vetoed(self, a: Answer, b: Answer, verdict: Verdict) -> str | None:
        """The reason for which the items of two pages contradict *verdict*; None if they do not."""
        if verdict.same is Same.DIFFERENT or self._items_veto(a.url, b.url) is None:
            return None
        template = self.knowledge.template
        frame, other = (within(set_of(one.units), template) for one in (a, b))
        is_plain = verdict.same is Same.SAME and Aside.VOLATILE not in verdict.set_aside
        if is_plain and np.array_equal(frame, other):
            return self._items_veto(a.url, b.url)
        of_a, of_b = (values_of(units[is_of(units, Kind.TEXT)]) for units in map(set_of, (a.units, b.units)))
        return self._items_veto(
            a.url, b.url, {value & VALUE for value in within(distinct(of_a), distinct(of_b)).tolist()}
        )

    def _items_veto(self, url: str, other: str, standing: Container[int] | None = None) -> str | None:
        return self.items.veto(url, other, self.knowledge.shown, standing=standing)

    def learn_items(self, labels: Mapping[str, str]) -> None:
        """Learn which fields of items change in any case. *labels*: by URL, equal ones show the same."""
        in_order, taken_from = sorted(labels), self.items.urls
        pairs = [
            (url, other)
            for url, other in pairwise(in_order)
            if (url in taken_from or other in taken_from)
            and ((labels[url] and labels[url] == labels[other]) or url.split("?")[0] == other.split("?")[0])
        ]
        few = pairs[:: len(pairs) // _LEARNED_FROM + 1]
        self.items = self.taken.learned(
            (url, other)
            for url, other in few
            if (labels[url] and labels[url] == labels[other]) or self._may_be_one(url, other)
        )

    def _may_be_one(self, url: str, other: str) -> bool:
        """Whether the answers of *url* and *other* are known, and do not differ."""
        a, b = self.answer(url), self.answer(other)
        return a is not None and b is not None and compare(a, b, self.knowledge).same is not Same.DIFFERENT

    def answer(self, url: str) -> Answer | None:
        """The answer of *url*; None if the log has no units of it."""
        packed = self._units.get(url)
        if packed is None:
            return None
        first, *controls = map(unpack, packed)
        return Answer(url, first, controls=controls)

    def seconds(self, url: str) -> float:
        """The time that the answers of *url* came, in seconds; 0 if the log does not say."""
        said = self._times.get(url)
        try:
            return 0.0 if said is None else datetime.fromisoformat(said).timestamp()
        except ValueError:
            return 0.0

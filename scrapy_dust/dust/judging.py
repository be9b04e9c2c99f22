"""Whether two fetched pages show the same content.

The papers compare sketches. That is what phase 1 does; a verdict needs more, since templates make different
pages alike and a site's "not found" with status 200 is like every other:

- shingles that many different pages of the site have are its template, and say nothing;
- what the site answers for a URL that cannot exist is no content: it proves nothing about a rule. Nor does what
  it suddenly shows where the log has different pages: a login, a consent page, a captcha;
- a page that the log knows and that is not what it was says nothing: something may stand in front of it;
- where hardly anything but template is left, only equal text is proof of sameness;
- of a short page a few words are much, and a change of a few words in one place is no other page: it neither
  proves nor refutes, unless the site itself says by rel=canonical that the two are one.

Deviation: resemblance is exact (Jaccard of the shingle sets), not estimated from four min-hashes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from scrapy_dust.dust.outcomes import Outcome as Outcome  # noqa: PLC0414  For those who judge.

Shingles = npt.NDArray[np.uint64]


#: Of a longer text only so many shingles are kept, the least ones.
MOST_SHINGLES = 4096


@dataclass(frozen=True, slots=True)
class Fetched:
    """A URL's answer, as far as it matters."""

    url: str  #: what was asked for
    final_url: str  #: where redirects ended
    status: int | None  #: None: no answer
    text_digest: str = ""
    title: str | None = None
    shingles: Shingles = field(default_factory=lambda: np.empty(0, dtype=np.uint64))  #: ascending
    sketch: tuple[int, ...] | None = None  #: as the log has it
    marks: frozenset[str] = frozenset()  #: hints that it is not the page that was asked for: `text/marks.py`
    at: float = 0.0  #: when it came, in seconds
    canonical: str | None = None  #: what the page says is its URL

    @property
    def answered(self) -> bool:
        return self.status is not None and self.status < 300

    @property
    def is_refusal(self) -> bool:
        """The server said something about us or about itself, not about the page."""
        return self.status is None or self.status in (401, 403, 407, 408, 429) or self.status >= 500

    @property
    def own_url(self) -> str:
        return self.canonical or self.final_url


@dataclass(frozen=True, slots=True)
class Known:
    """What the log says that a URL showed."""

    text_digest: str | None = None
    sketch: tuple[int, ...] | None = None
    size: tuple[int, int] | None = None

    def differs(self, other: Known) -> bool:
        """Whether the log shows that the two were different pages."""
        if self.text_digest is not None and other.text_digest is not None:
            return self.text_digest != other.text_digest
        if self.size is None or other.size is None:
            return False
        return max(self.size[0], other.size[0]) > 1.1 * min(self.size[1], other.size[1])


#: Pages to have seen before shingles are called template, and the share of them that must have it.
_TEMPLATE_PAGES = 8
_TEMPLATE_SHARE = 0.2
#: Fewer shingles than this beside the template are too little to tell near-duplicates by.
_LITTLE = 10
#: Resemblance from which on two pages are the same: with equal titles, and whatever the titles.
_ALIKE, _ALIKE_UNTITLED = 0.9, 0.98
#: From which on two pages have their content in common, though not the whole of it.
_AKIN = 0.5
#: So many shingles of ten words are others where up to eleven words in a row are.
_ONE_PLACE = 20
#: Of a site's different pages so many must have a mark for it to be the template's.
_MARKED_PAGES, _MARKED_SHARE = 3, 0.5
#: Strange answers that are kept to see whether others are like them.
_STRANGE_KEPT = 64
_EMPTY = "empty"
#: Seconds in which a page is not expected to become another one.
_SAME_TIME = 3600.0


class Judge:
    """What is known of a site's template, and of what it answers where it has no page to show.

    *template*: hashes of the log's sketches that come from the site's template.
    """

    def __init__(self, template: frozenset[int] = frozenset()) -> None:
        self._log_template = template
        self._seen: set[str] = set()
        self._frequency: Counter[int] = Counter()
        self._marked: Counter[str] = Counter()
        self._titles: dict[str, set[str | None]] = {}  # of the pages that say they are this URL
        self._template: Shingles = np.empty(0, dtype=np.uint64)
        self._nothing: list[Fetched] = []
        self._nothing_digests: set[str] = set()
        self._strange: list[tuple[Fetched, Known]] = []
        self.trusts_log = True  #: False: the log's sketches are not ours, or the whole site is another by now

    def learn(self, page: Fetched, known: Known | None = None) -> None:
        """Take *page* into account as one of the site's. Pages of equal text count once."""
        if not page.answered:
            return
        if known is not None and self.resembles(page, known) is not True:
            self._learn_strange(page, known)
        if page.text_digest in self._seen or self.is_nothing(page):
            return
        self._seen.add(page.text_digest)
        self._marked.update(page.marks)
        if page.canonical is not None:
            self._titles.setdefault(page.canonical, set()).add(page.title)
        self._frequency.update(page.shingles.tolist())
        if len(self._seen) >= _TEMPLATE_PAGES:
            least = max(3.0, _TEMPLATE_SHARE * len(self._seen))
            common = [shingle for shingle, count in self._frequency.items() if count >= least]
            self._template = np.array(sorted(common), dtype=np.uint64)

    def _learn_strange(self, page: Fetched, known: Known) -> None:
        """One answer where the log has two pages is nobody's: what a site shows to those it does not let in."""
        if any(known.differs(other) and is_like(page, seen) for seen, other in self._strange):
            self.learn_nothing(page)
        elif len(self._strange) < _STRANGE_KEPT:
            self._strange.append((page, known))

    def learn_nothing(self, page: Fetched) -> None:
        """*page* is what the site answers for a URL that cannot exist, or to those it does not let in."""
        if page.answered and page.text_digest not in self._nothing_digests:
            self._nothing.append(page)
            self._nothing_digests.add(page.text_digest)

    def is_nothing(self, page: Fetched) -> bool:
        """Whether *page* is no content, but the site's way to say so with a status of success."""
        return (
            _EMPTY in page.marks
            or page.text_digest in self._nothing_digests
            or any(is_like(page, nothing) for nothing in self._nothing)
        )

    @property
    def nothing_digests(self) -> frozenset[str]:
        return frozenset(self._nothing_digests)

    def resembles(self, page: Fetched, known: Known | None) -> bool | None:
        """Whether *page* is what the log has of its URL; None where that cannot be told."""
        if known is None or not self.trusts_log:
            return None
        if known.text_digest is not None and known.text_digest == page.text_digest:
            return True
        if not known.sketch or not page.sketch or len(known.sketch) != len(page.sketch):
            return None
        agreeing = {x for x, y in zip(known.sketch, page.sketch, strict=True) if x == y}
        return bool(agreeing - self._log_template)

    def is_in_the_way(self, page: Fetched, known: Known | None) -> bool:
        """Whether something seems to stand in front of the page that was asked for, or in its place by now."""
        resembles = self.resembles(page, known)
        return not resembles and (resembles is False or self.is_marked(page))

    def is_marked(self, page: Fetched) -> bool:
        """Whether *page* has a mark that the site's pages do not have in general."""
        seen = len(self._seen)
        return any(
            seen < _MARKED_PAGES or self._marked[mark] < _MARKED_SHARE * seen
            for mark in page.marks - {_EMPTY}
        )

    def compare(self, url: Fetched, target: Fetched) -> Outcome:
        """One comparison of two answers; a difference is not yet known to be stable."""
        if self.is_nothing(url):
            return Outcome.UNKNOWN
        if self.is_nothing(target):
            return Outcome.UNFETCHABLE
        if url.text_digest == target.text_digest:
            return Outcome.SAME
        own, other = self._content(url), self._content(target)
        titles_agree = url.title == target.title
        alike = titles_agree and _resemblance(url, target) >= _ALIKE
        if min(len(own), len(other)) < _LITTLE:
            return Outcome.UNKNOWN if alike else Outcome.DIFFERENT
        resemblance = _jaccard(own, other, _least(url, target))
        if resemblance >= (_ALIKE if titles_agree else _ALIKE_UNTITLED):
            return Outcome.SAME
        if not titles_agree or resemblance < _AKIN:
            return Outcome.DIFFERENT
        if alike and url.url != target.url and self._say_they_are_one(url, target):
            return Outcome.SAME
        return Outcome.UNKNOWN if _differ_in_one_place(own, other) else Outcome.DIFFERENT

    def _say_they_are_one(self, url: Fetched, target: Fetched) -> bool:
        """Not where pages of other titles say that they are that URL, too: then it is the site's way with all."""
        return url.own_url == target.own_url and len(self._titles.get(url.own_url, ())) <= 1

    def _content(self, page: Fetched) -> Shingles:
        if not len(self._template):
            return page.shingles
        content: Shingles = page.shingles[~np.isin(page.shingles, self._template, assume_unique=True)]
        return content


@dataclass(frozen=True, slots=True)
class Ask:
    """A page that an inquiry wants."""

    url: str
    again: bool = False  #: a new fetch, even if the page is at hand
    beside: bool = False  #: not this page, but what the site answers beside it where nothing can be


def inquire(
    url: str,
    target: str,
    judge: Judge,
    known: Known | None = None,
    known_target: Known | None = None,
    *,
    both_linked: bool = False,
    thorough: bool = False,
) -> Generator[Ask, Fetched, Outcome]:
    """Find out what the pair says, with as few fetches as it takes: one where the log knows *url*'s text.

    A difference counts only when the log or a control fetch shows that *url* is not different from itself, and when the
    site does not answer likewise for what cannot exist beside a target that a rule made up.
    *both_linked*: a crawl meets both. Then a page and a "not found" with status 200 are different: the page
    would be lost if the other were fetched first, for nobody sees it fail.
    *thorough*: so much speaks for the two being one page that *target* is to be no other at a second look, either.
    """
    there = yield Ask(target)
    if not there.answered:
        return Outcome.UNKNOWN if there.is_refusal and there.status != 500 else Outcome.UNFETCHABLE
    if judge.is_in_the_way(there, known_target):
        return Outcome.UNKNOWN
    if there.final_url == url and target != url and not judge.is_nothing(there):
        return Outcome.SAME
    if known is not None and known.text_digest == there.text_digest and not judge.is_nothing(there):
        return Outcome.SAME
    here = yield Ask(url)
    if not here.answered or judge.is_in_the_way(here, known):
        return Outcome.UNKNOWN
    if both_linked and judge.is_nothing(here) is not judge.is_nothing(there):
        return Outcome.DIFFERENT
    outcome = judge.compare(here, there)
    if outcome is not Outcome.DIFFERENT:
        return outcome
    return (yield from _confirm(here, there, judge, known, known_target, both_linked, thorough))


def _confirm(
    here: Fetched,
    there: Fetched,
    judge: Judge,
    known: Known | None,
    known_target: Known | None,
    both_linked: bool,
    thorough: bool,
) -> Generator[Ask, Fetched, Outcome]:
    """What stays of a difference when its pages are looked at again."""
    url, target = here.url, there.url
    # Where the crawl has seen the very same text, that is the control; but not for a target fetched on another day.
    seen_before = _is_what_was_seen(here, known) and here.at >= there.at - _SAME_TIME
    control = here if seen_before else (yield Ask(url, again=True))
    if not control.answered or judge.compare(here, control) is not Outcome.SAME:
        return Outcome.UNKNOWN
    if not both_linked and is_like(there, (yield Ask(target, beside=True))):
        # Either a "not found" of this part of the site alone, or a page that any name leads to.
        return Outcome.UNKNOWN
    if thorough and not _is_what_was_seen(there, known_target):
        again = yield Ask(target, again=True)
        if not again.answered or judge.compare(there, again) is not Outcome.SAME:
            return Outcome.UNKNOWN
    return judge.compare(control, there)


def _is_what_was_seen(page: Fetched, known: Known | None) -> bool:
    return known is not None and known.text_digest == page.text_digest


def is_like(page: Fetched, other: Fetched) -> bool:
    """Whether two answers are alike, templates and all."""
    if not page.answered or not other.answered:
        return False
    return page.text_digest == other.text_digest or (
        page.title == other.title and _resemblance(page, other) >= _ALIKE
    )


def _resemblance(page: Fetched, other: Fetched) -> float:
    return _jaccard(page.shingles, other.shingles, _least(page, other))


def _differ_in_one_place(a: Shingles, b: Shingles) -> bool:
    """Whether the difference is one that a few words make in a text of any length."""
    return max(len(np.setdiff1d(a, b, True)), len(np.setdiff1d(b, a, True))) <= _ONE_PLACE


def _least(page: Fetched, other: Fetched) -> np.uint64 | None:
    """Of a long text only the least shingles are there: beyond these the other's are not counted either."""
    cut = [one.shingles[-1] for one in (page, other) if len(one.shingles) >= MOST_SHINGLES]
    return min(cut, default=None)


def _jaccard(a: Shingles, b: Shingles, least: np.uint64 | None = None) -> float:
    if least is not None:
        a, b = a[a <= least], b[b <= least]
    if not len(a) or not len(b):
        return 0.0
    shared = len(np.intersect1d(a, b, assume_unique=True))
    return shared / (len(a) + len(b) - shared)

"""Whether two fetched pages show the same content.

The papers compare sketches. That is what phase 1 does; a verdict needs more, since templates make different
pages alike and a site's "not found" with status 200 is like every other:

- shingles that many different pages of the site have are its template, and say nothing. A few pages of one title
  count once: where a page's parameters are on trial its variants are among the pages, and what they share is it;
- what the site answers for a URL that cannot exist is no content: it proves nothing about a rule. Nor does what
  it suddenly shows where the log has different pages: a login, a consent page, a captcha;
- a page that the log knows and that is not what it was says nothing: something may stand in front of it;
- where hardly anything but template is left, only equal text is proof of sameness;
- what the site itself says to be one page by rel=canonical is one, if title and text do not contradict;
- of a short page a few words are much. Where many pairs like it are the same, a few words in one place refute nothing.

Deviation: resemblance is exact (Jaccard of the shingle sets), not estimated from four min-hashes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
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
#: Up to so many pages of one title may all be one page.
_VARIANTS = 6
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


@dataclass(slots=True)
class _Kind:
    """The pages of one title."""

    pages: int = 0
    _having: Counter[int] = field(default_factory=Counter)  #: pages by shingle

    def take(self, shingles: Iterable[int]) -> dict[int, int]:
        """One page more. Gives what it adds to the pages counted, by shingle."""
        self.pages += 1
        added = {}
        for shingle in shingles:
            self._having[shingle] = having = self._having[shingle] + 1
            added[shingle] = _counted(having) - _counted(having - 1)
        return added


def _counted(pages: int) -> int:
    return min(pages, 1) if pages <= _VARIANTS else pages


class Judge:
    """What is known of a site's template, and of what it answers where it has no page to show.

    *template*: hashes of the log's sketches that come from the site's template.
    """

    def __init__(self, template: frozenset[int] = frozenset()) -> None:
        self._log_template = template
        self._seen: set[str] = set()
        self._kinds: dict[str | None, _Kind] = {}  # by title
        self._frequency: Counter[int] = Counter()  # pages by shingle, those of a kind as `_Kind` counts them
        self._marked: Counter[str] = Counter()
        self._say_they_are: dict[str, set[str | None]] = {}  # URL → titles of the pages that say they are it
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
            self._say_they_are.setdefault(page.canonical, set()).add(page.title)
        self._learn_template(page)

    def _learn_template(self, page: Fetched) -> None:
        kind = self._kinds.setdefault(page.title, _Kind())
        self._frequency.update(kind.take(page.shingles.tolist()))
        pages = sum(_counted(kind.pages) for kind in self._kinds.values())
        if pages >= _TEMPLATE_PAGES:
            least = max(3.0, _TEMPLATE_SHARE * pages)
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
        said = alike and resemblance >= _AKIN and self._say_they_are_one(url, target)
        return Outcome.SAME if said else Outcome.DIFFERENT

    def differ_in_one_place(self, url: Fetched, target: Fetched) -> bool:
        """Whether all that is different is as much as a few words are, in pages that have most in common."""
        own, other = self._content(url), self._content(target)
        if url.title != target.title or _jaccard(own, other, _least(url, target)) < _AKIN:
            return False
        return max(len(np.setdiff1d(own, other)), len(np.setdiff1d(other, own))) <= _ONE_PLACE

    def _say_they_are_one(self, url: Fetched, target: Fetched) -> bool:
        """Not where pages of other titles say that they are that URL, too: then it is the site's way with all."""
        if url.url == target.url or url.own_url != target.own_url:
            return False
        return len(self._say_they_are.get(url.own_url, ())) <= 1

    def _content(self, page: Fetched) -> Shingles:
        if not len(self._template):
            return page.shingles
        content: Shingles = page.shingles[~np.isin(page.shingles, self._template, assume_unique=True)]
        return content


def is_like(page: Fetched, other: Fetched) -> bool:
    """Whether two answers are alike, templates and all."""
    if not page.answered or not other.answered:
        return False
    return page.text_digest == other.text_digest or (
        page.title == other.title and _resemblance(page, other) >= _ALIKE
    )


def _resemblance(page: Fetched, other: Fetched) -> float:
    return _jaccard(page.shingles, other.shingles, _least(page, other))


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

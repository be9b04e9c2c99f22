"""Whether two fetched pages show the same content.

The papers compare sketches. That is what phase 1 does; a verdict needs more, since templates make different
pages alike and a site's "not found" with status 200 is like every other:

- shingles that many different pages of the site have are its template, and say nothing;
- what the site answers for a URL that cannot exist is no content: it proves nothing about a rule;
- where hardly anything but template is left, only equal text is proof of sameness.

Deviation: resemblance is exact (Jaccard of the shingle sets), not estimated from four min-hashes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt

Shingles = npt.NDArray[np.uint64]


class Outcome(StrEnum):
    """What one pair of URLs says about a rule."""

    SAME = "same"
    DIFFERENT = "different"  #: both answer, with different pages that are each stable: a page would be lost
    UNFETCHABLE = "unfetchable"  #: the target does not answer
    UNKNOWN = "unknown"  #: proves nothing


@dataclass(frozen=True, slots=True)
class Fetched:
    """A URL's answer, as far as it matters."""

    url: str  #: what was asked for
    final_url: str  #: where redirects ended
    status: int | None  #: None: no answer
    text_digest: str = ""
    title: str | None = None
    shingles: Shingles = field(default_factory=lambda: np.empty(0, dtype=np.uint64))

    @property
    def answered(self) -> bool:
        return self.status is not None and self.status < 300

    @property
    def is_refusal(self) -> bool:
        """The server said something about us or about itself, not about the page."""
        return self.status is None or self.status in (401, 403, 407, 408, 429) or self.status >= 500


#: Pages to have seen before shingles are called template, and the share of them that must have it.
_TEMPLATE_PAGES = 8
_TEMPLATE_SHARE = 0.2
#: Fewer shingles than this beside the template are too little to tell near-duplicates by.
_LITTLE = 10
#: Resemblance from which on two pages are the same: with equal titles, and whatever the titles.
_ALIKE, _ALIKE_UNTITLED = 0.9, 0.98


class Judge:
    """What is known of a site's template and of its answers to nonsense."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._frequency: Counter[int] = Counter()
        self._template: Shingles = np.empty(0, dtype=np.uint64)
        self._nothing: list[Fetched] = []

    def learn(self, page: Fetched) -> None:
        """Take *page* into account as one of the site's. Pages of equal text count once."""
        if not page.answered or page.text_digest in self._seen or self.is_nothing(page):
            return
        self._seen.add(page.text_digest)
        self._frequency.update(page.shingles.tolist())
        if len(self._seen) >= _TEMPLATE_PAGES:
            least = max(3.0, _TEMPLATE_SHARE * len(self._seen))
            common = [shingle for shingle, count in self._frequency.items() if count >= least]
            self._template = np.array(sorted(common), dtype=np.uint64)

    def learn_nothing(self, page: Fetched) -> None:
        """*page* is what the site answers for a URL that cannot exist."""
        if page.answered:
            self._nothing.append(page)

    def is_nothing(self, page: Fetched) -> bool:
        """Whether *page* is no content, but the site's way to say so with a status of success."""
        return any(
            page.text_digest == nothing.text_digest
            or (page.title == nothing.title and _jaccard(page.shingles, nothing.shingles) >= _ALIKE)
            for nothing in self._nothing
        )

    @property
    def nothing_digests(self) -> frozenset[str]:
        return frozenset(page.text_digest for page in self._nothing)

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
        if min(len(own), len(other)) < _LITTLE:
            alike = _jaccard(url.shingles, target.shingles) >= _ALIKE
            return Outcome.UNKNOWN if alike and titles_agree else Outcome.DIFFERENT
        resemblance = _jaccard(own, other)
        same = resemblance >= (_ALIKE if titles_agree else _ALIKE_UNTITLED)
        return Outcome.SAME if same else Outcome.DIFFERENT

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


def inquire(
    url: str, target: str, known_digest: str | None, judge: Judge, *, both_linked: bool = False
) -> Generator[Ask, Fetched, Outcome]:
    """Find out what the pair says, with as few fetches as it takes: one where the log knows *url*'s text.

    A difference counts only when a control fetch shows that *url* is not different from itself.
    *both_linked*: a crawl meets both. Then a page and a "not found" with status 200 are different: the page
    would be lost if the other were fetched first, for nobody sees it fail.
    """
    there = yield Ask(target)
    if not there.answered:
        return Outcome.UNKNOWN if there.is_refusal and there.status != 500 else Outcome.UNFETCHABLE
    if there.final_url == url and target != url and not judge.is_nothing(there):
        return Outcome.SAME
    if known_digest is not None and known_digest == there.text_digest and not judge.is_nothing(there):
        return Outcome.SAME
    here = yield Ask(url)
    if not here.answered:
        return Outcome.UNKNOWN
    if both_linked and judge.is_nothing(here) is not judge.is_nothing(there):
        return Outcome.DIFFERENT
    outcome = judge.compare(here, there)
    if outcome is not Outcome.DIFFERENT:
        return outcome
    control = yield Ask(url, again=True)
    if not control.answered or judge.compare(here, control) is not Outcome.SAME:
        return Outcome.UNKNOWN
    return judge.compare(control, there)


def _jaccard(a: Shingles, b: Shingles) -> float:
    if not len(a) or not len(b):
        return 0.0
    shared = len(np.intersect1d(a, b, assume_unique=True))
    return shared / (len(a) + len(b) - shared)

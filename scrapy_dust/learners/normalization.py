"""Measures how good a normalization of URLs is, as Kim, Jeong and Lee do (ICCSA 2006).

The measures judge a normalization that is applied to all URLs of a list, fetched or not: how many URLs it changes,
how many fewer URLs there are afterwards, and how often a changed URL shows the same page. A URL that shows different
pages at different times is left out of the last measure.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping
from dataclasses import dataclass

from scrapy_dust.visits.pages import Visit


@dataclass(frozen=True, slots=True)
class Normalization:
    """The counts behind the measures for one list of URLs. Counts of several sites can be added."""

    urls: int  #: different ones
    forms: int  #: different ones when normalized
    changed: int
    judged: int  #: changed, consistent, and what the normalized URL shows is known
    same: int  #: of these, the normalized URL shows the same page

    @property
    def applying_rate(self) -> float:
        """The share of URLs that the normalization changes."""
        return self.changed / self.urls if self.urls else 0.0

    @property
    def reduction_rate(self) -> float:
        """The share by which the normalization reduces the number of URLs."""
        return (self.urls - self.forms) / self.urls if self.urls else 0.0

    @property
    def true_positive_rate(self) -> float | None:
        """The share of changed URLs that show the same page; None if no changed URL could be judged."""
        return self.same / self.judged if self.judged else None

    def __add__(self, other: Normalization) -> Normalization:
        return Normalization(
            self.urls + other.urls,
            self.forms + other.forms,
            self.changed + other.changed,
            self.judged + other.judged,
            self.same + other.same,
        )


NOTHING = Normalization(0, 0, 0, 0, 0)


def normalization_of(
    forms: Mapping[str, str], pages: Mapping[str, Hashable], inconsistent: Container[str] = frozenset()
) -> Normalization:
    """The measures of a normalization. *forms*: each URL normalized; *pages*: the page that a URL shows, where known;
    *inconsistent*: URLs that show different pages at different times.

    Deviation: a form need not be a URL that was fetched. Such a form counts as showing what the first URL of that
    form shows, which is what a crawler would have instead.
    """
    first: dict[str, str] = {}
    for url, form in forms.items():
        first.setdefault(form, url)
    judged = same = 0
    for url, form in forms.items():
        instead = form if form in pages else first[form]
        if url in (form, instead) or not {url, instead} <= pages.keys():
            continue
        if url not in inconsistent and instead not in inconsistent:
            judged += 1
            same += pages[url] == pages[instead]
    changed = sum(url != form for url, form in forms.items())
    return Normalization(len(forms), len(first), changed, judged, same)


@dataclass(frozen=True, slots=True)
class Consistency:
    """How many URLs a log has more than once, and how many of them showed the same each time."""

    repeated: int
    inconsistent: frozenset[str]  #: those that showed different pages

    @property
    def rate(self) -> float | None:
        """URL consistency: the share of repeated URLs that showed the same; None if no URL was fetched twice."""
        return 1 - len(self.inconsistent) / self.repeated if self.repeated else None


def consistency_of(visits: Iterable[Visit]) -> Consistency:
    """How many URLs of a log were fetched more than once, and which of them showed different pages."""
    shown: dict[str, set[str]] = {}
    repeated: set[str] = set()
    for visit in visits:
        digest = visit.text_digest or visit.digest
        if not visit.is_page or digest is None:
            continue
        if visit.url in shown:
            repeated.add(visit.url)
        shown.setdefault(visit.url, set()).add(digest)
    return Consistency(len(repeated), frozenset(url for url in repeated if len(shown[url]) > 1))

"""What is fetched twice all the same, and why: the classes of the thesis' figure 6.6.

A URL is left when it is crawled although its content has been. What tells the classes apart is what a log tells:
an image by its type, a soft error by being the answer to many URLs that have nothing in common with one another,
a rule by being needed for several contents, a copy by bearing its original's name in another directory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from enum import StrEnum

from scrapy_dust.dust.edits.anatomy import anatomy_of
from scrapy_dust.dust.edits.candidates import edits_between


class Left(StrEnum):
    """Why a duplicate was not told by its URL."""

    IMAGE = "images"
    ERROR = "soft errors"  #: one answer to whatever is asked for
    RULE = "rules"  #: one edit would tell it, and others
    COPY = "copies"
    OTHER = "others"


#: URLs that one content is left under, from which on it is an answer to whatever is asked for.
MANY = 8
#: Contents that an edit must tell to be a rule.
_CONTENTS = 3


def leftovers(
    urls: Iterable[str],
    truth: Mapping[str, Hashable],
    key: Callable[[str], str],
    images: Collection[str] = (),
) -> Counter[Left]:
    """The URLs that a crawl of *urls* fetches in vain, by why."""
    keys: dict[str, str] = {}
    for url in urls:
        keys.setdefault(key(url), url)
    by_content: dict[Hashable, list[str]] = {}
    for url in keys.values():
        by_content.setdefault(truth[url], []).append(url)
    again = {content: found for content, found in by_content.items() if len(found) > 1}
    needed = _needed({content: found for content, found in again.items() if len(found) < MANY})
    counts: Counter[Left] = Counter()
    for first, *others in again.values():
        for url in others:
            counts[_why(first, url, len(others) + 1, needed, images)] += 1
    return counts


def _needed(again: Mapping[Hashable, list[str]]) -> Counter[str]:
    """By how many contents each edit is called for."""
    needed: Counter[str] = Counter()
    for first, *others in again.values():
        needed.update({name for url in others for name in _edits(first, url)})
    return needed


def _edits(one: str, other: str) -> set[str]:
    return {str(edit) for edit in edits_between(anatomy_of(one), anatomy_of(other))}


def _why(first: str, url: str, found: int, needed: Mapping[str, int], images: Collection[str]) -> Left:
    if url in images:
        return Left.IMAGE
    if found >= MANY:
        return Left.ERROR
    if any(needed.get(name, 0) >= _CONTENTS for name in _edits(first, url)):
        return Left.RULE
    here, there = anatomy_of(first).path, anatomy_of(url).path
    return Left.COPY if here[-1] == there[-1] and here[:-1] != there[:-1] else Left.OTHER

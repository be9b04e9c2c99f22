"""Sorts the duplicates that are fetched in spite of the rules by cause: the classes of the thesis' figure 6.6.

A URL is left if it is fetched although its content was fetched before. The log decides the class: an image by its
type; an error page with status 200 by being the answer to many URLs that have nothing in common; a missing rule by
being needed for several contents and merging few that differ; a copy by its original's name in another directory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from enum import StrEnum

from scrapy_dust.propose.edits.classes import classes_of
from scrapy_dust.propose.edits.edit_proposals import edits_between
from scrapy_dust.rules.rule import Rule
from scrapy_dust.url.parts import parts_of


class Left(StrEnum):
    """The causes for which a duplicate was not told by its URL."""

    IMAGE = "images"
    ERROR = "soft errors"  #: one answer to whatever is asked for
    RULE = "rules"  #: one edit would tell it and others, and be right more often than not
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
    """The number of URLs that a crawl of *urls* fetches in vain, by cause."""
    keys: dict[str, str] = {}
    for url in urls:
        keys.setdefault(key(url), url)
    by_content: dict[Hashable, list[str]] = {}
    for url in keys.values():
        by_content.setdefault(truth[url], []).append(url)
    again = {content: found for content, found in by_content.items() if len(found) > 1}
    few = {content: found for content, found in again.items() if len(found) < MANY}
    rules = _true_edits(_contents_explained(few), {url: truth[url] for url in keys.values()})
    counts: Counter[Left] = Counter()
    for first, *others in again.values():
        for url in others:
            counts[_cause(first, url, len(others) + 1, rules, images)] += 1
    return counts


def _contents_explained(again: Mapping[Hashable, list[str]]) -> Counter[Rule]:
    """For each edit, how many contents of *again* it would explain."""
    needed: Counter[Rule] = Counter()
    for first, *others in again.values():
        needed.update({edit for url in others for edit in _edits_from_urls(first, url)})
    return needed


def _true_edits(needed: Mapping[Rule, int], contents: Mapping[str, Hashable]) -> set[Rule]:
    """The edits of *needed* that hold on *contents* more often than not."""
    classes = classes_of(contents)
    often = (edit for edit, count in needed.items() if count >= _CONTENTS)
    effects = ((edit, classes.effect(edit)) for edit in often)
    return {edit for edit, effect in effects if effect.contents > len(effect.bad)}


def _edits_from_urls(one: str, other: str) -> set[Rule]:
    """The edits that could turn one of the two URLs into the other."""
    return set(edits_between(parts_of(one), parts_of(other)))


def _cause(first: str, url: str, found: int, rules: Collection[Rule], images: Collection[str]) -> Left:
    """The reason why *url* is fetched although *first* has its content. *found*: URLs with the content; *rules*:
    edits that hold.
    """
    if url in images:
        return Left.IMAGE
    if found >= MANY:
        return Left.ERROR
    if not _edits_from_urls(first, url).isdisjoint(rules):
        return Left.RULE
    here, there = parts_of(first).path, parts_of(url).path
    return Left.COPY if here[-1] == there[-1] and here[:-1] != there[:-1] else Left.OTHER

"""Chooses the part of a long log from which edits are learned, since candidates grow faster than the log.

Contents with several URLs suggest edits, and other pages of the same directories contradict them. So these are taken
first, by a hash: the same part of a log in every run, whatever its order. Edits learned from a part are tried on the
whole log, as all rules are (`campaign.py`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T", bound=Hashable)

#: URLs of a site that edits are learned from, at most: some seconds of work.
MOST_URLS = 10_000
#: Of one content; of its URLs two dozen pairs are compared.
_OF_ONE = 100


def sample(contents: Mapping[str, Hashable | None], most: int = MOST_URLS) -> dict[str, Hashable | None]:
    """*contents*, or a part of it with *most* URLs, up to two thirds of which share their content with another URL."""
    if len(contents) <= most:
        return dict(contents)
    groups: dict[Hashable, list[str]] = {}
    for url, content in contents.items():
        groups.setdefault(("", url) if content is None else content, []).append(url)
    several = {content: urls for content, urls in groups.items() if len(urls) > 1}
    taken: dict[str, None] = {}
    for content in _in_hash_order(several):
        urls = _in_hash_order(several[content])[:_OF_ONE]
        if len(taken) + len(urls) <= most * 2 // 3:
            taken.update(dict.fromkeys(urls))
    around = {_directory(url) for url in taken}
    others = _in_hash_order(urls[0] for urls in groups.values() if len(urls) == 1)
    near = [url for url in others if _directory(url) in around]
    taken.update(dict.fromkeys([*near, *others][: most - len(taken)]))
    return {url: contents[url] for url in taken}


def _directory(url: str) -> str:
    return url.partition("?")[0].rpartition("/")[0]


def _in_hash_order(values: Iterable[T]) -> list[T]:
    return sorted(values, key=_hash)


def _hash(value: Hashable) -> bytes:
    return blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=8).digest()

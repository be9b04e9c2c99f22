"""Messy sites that are functions: ten parameters of which three matter together, sort orders, facets, ids, sessions.

A site answers any URL. Its log is a crawl that met each page under several of its URLs.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b

from scrapy_dust.url.parts import parts_of
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.pages import Visit

HOST = "messy.example"
_SORTS = ("", "price", "name", "rating", "new")
_TRACKING = ("utm_source", "ref", "sid")


@dataclass(frozen=True, slots=True)
class MessySite:
    """So many *pages* (URLs of the log); *silent* is the share of fetches that say nothing."""

    pages: int
    seed: int = 0
    silent: float = 0.0

    def log(self) -> Iterator[Visit]:
        """What a crawl recorded of *pages* URLs, all of them different."""
        chance, seen = random.Random(self.seed), set[str]()
        while len(seen) < self.pages:
            url = self._url(chance)
            if url not in seen:
                seen.add(url)
                yield _visit(url, self.content(url))

    def _url(self, chance: random.Random) -> str:
        number = int(self.pages**0.75 * chance.random() ** 2)
        make = chance.choices((_list, _item, _report), (5, 4, 1))[0]
        return f"http://{HOST}{make(chance, number)}"

    def content(self, url: str) -> str | None:
        """What *url* shows; None: there is no such page."""
        form = parts_of(url)
        values = {name: value or "" for name, value, _ in form.query or ()}
        match form.path[1:]:
            case ("list",):
                return _of_list(values)
            case ("item", number):
                return f"item {number} {values.get('lang', 'en')}"
            case ("item", number, "print"):
                return f"item {number} {values.get('lang', 'en')}"
            case ("report",):
                # The three matter only together: without one of them the others are not looked at.
                three = [values.get(name, "") for name in ("from", "to", "unit")]
                return f"report {values.get('id', '')} {' '.join(three) if all(three) else 'whole'}"
        return None

    def outcome(self, url: str, target: str) -> Outcome:
        """What fetching both tells: always the same of the same pair."""
        if _share_of(f"{self.seed} {url} {target}") < self.silent:
            return Outcome.UNKNOWN
        here, there = self.content(url), self.content(target)
        if there is None:
            return Outcome.UNFETCHABLE
        return Outcome.SAME if here == there else Outcome.DIFFERENT


def _of_list(values: Mapping[str, str]) -> str:
    category = values.get("cat", "0")
    items = int(_share_of(category) ** 2 * 60)
    page, facet = values.get("page", "1"), values.get("color", "")
    if facet:
        items //= 4
    if items <= 1:  # any order of a list of one is the same, and it has no second page
        return f"list {category} {facet if items else ''}"
    return f"list {category} {facet} {page} {values.get('sort', '')}"


def _list(chance: random.Random, number: int) -> str:
    query = [f"cat={number // 8}"]
    query += _maybe(chance, "page", ("1", "2", "3"), 0.5)
    query += _maybe(chance, "sort", _SORTS[1:], 0.5)
    query += _maybe(chance, "color", ("red", "blue"), 0.3)
    return "/list?" + "&".join(_mixed(chance, [*query, *_noise(chance)]))


def _item(chance: random.Random, number: int) -> str:
    query = [*_maybe(chance, "lang", ("en", "de"), 0.3), *_noise(chance)]
    end = "/print" if chance.random() < 0.2 else ""
    return f"/item/{number}{end}" + ("?" + "&".join(_mixed(chance, query)) if query else "")


def _report(chance: random.Random, number: int) -> str:
    query = [f"id={number // 4}"]
    for name, values in (("from", "12"), ("to", "34"), ("unit", "ab")):
        query += _maybe(chance, name, tuple(values), 0.5)
    return "/report?" + "&".join(_mixed(chance, [*query, *_noise(chance)]))


def _noise(chance: random.Random) -> list[str]:
    found = [f"{name}={chance.randrange(40)}x" for name in _TRACKING if chance.random() < 0.3]
    return found + _maybe(chance, "view", ("grid", "rows"), 0.2)


def _maybe(chance: random.Random, name: str, values: tuple[str, ...], share: float) -> list[str]:
    return [f"{name}={chance.choice(values)}"] if chance.random() < share else []


def _mixed(chance: random.Random, query: list[str]) -> list[str]:
    if chance.random() < 0.2:
        chance.shuffle(query)
    return query


def _visit(url: str, content: str | None) -> Visit:
    digest = blake2b((content or "").encode(), digest_size=16).digest()
    sketch = tuple(int.from_bytes(digest[at : at + 4]) for at in range(0, 16, 4))
    return Visit(url, 200, (2000, 2000), sketch, digest.hex(), digest.hex(), title=content)


def _share_of(text: str) -> float:
    return int.from_bytes(blake2b(text.encode(), digest_size=6).digest()) / 2**48


@dataclass(frozen=True, slots=True)
class StubbornSite:
    """Many rules pass their trials and few can be admitted: most pages change at each fetch, so that fetches say nothing.

    Each of *folders* has a second name, by which the log has all its pages, and of some of them it knows the text.
    """

    folders: int = 120
    in_each: int = 24
    known: int = 8
    silent: float = 0.7

    def log(self) -> Iterator[Visit]:
        for folder in range(self.folders):
            for page in range(self.in_each):
                for name in (f"f{folder}", f"alias{folder}"):
                    url = f"http://{HOST}/{name}/{page}"
                    yield (
                        _visit(url, self.content(url)) if page < self.known else Visit(url, 200, (2000, 2000))
                    )

    def content(self, url: str) -> str:
        return url.replace("/alias", "/f")

    def outcome(self, url: str, target: str) -> Outcome:
        """What fetching both tells: always the same of the same pair."""
        if _share_of(f"{url} {target}") < self.silent:
            return Outcome.UNKNOWN
        return Outcome.SAME if self.content(url) == self.content(target) else Outcome.DIFFERENT

"""Whether a URL shows anything that a crawl has not got: answers of a plain client, compared in full.

Each URL is fetched twice, since much of the web changes at each fetch: a spot of a page that two answers to one URL fill
differently is left out. Nothing here uses scrapy_dust, because scrapy_dust is what is judged.
"""

from __future__ import annotations

import re
import time
import urllib.request
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from benchmarks.live.holdings import Unit, units_of

#: What Scrapy sends, so that the client is answered as a crawl is.
_HEADERS = {
    "User-Agent": "Scrapy/2.19 (+https://scrapy.org)",
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Language": "en",
}
_SELF = "‹self›"
_PARAMETER = re.compile(f"[?&;]{_SELF}")
#: Kinds in which a page repeats its own address without showing it.
_WIRED = {"link", "field", "data"}
#: Kinds whose values are URLs.
_TARGETS = {"link", "media"}


class Level(StrEnum):
    """What a URL has beside another one; the first that holds."""

    SAME = "same"  #: nothing
    OWN_ADDRESS = "own address"  #: links, fields and data that differ in parts of the two URLs only
    LINKS = "links"  #: links and media under other URLs of the classes that the other page has
    ELSEWHERE = "elsewhere"  #: nothing that the crawl has not got from other pages
    NEW_LINKS = "new links"  #: nothing but links that the crawl has neither followed nor seen
    LOST = "LOST"
    GONE = "gone"  #: one of the two cannot be fetched any more


_ORDER = [
    Level.GONE,
    Level.SAME,
    Level.OWN_ADDRESS,
    Level.LINKS,
    Level.ELSEWHERE,
    Level.NEW_LINKS,
    Level.LOST,
]


@dataclass(frozen=True)
class Looks:
    """The answers to one URL."""

    url: str
    answers: Sequence[Sequence[Unit]]

    @property
    def stable(self) -> list[Unit]:
        """Units that all answers have."""
        common = set.intersection(*({unit.what for unit in one} for one in self.answers))
        return [unit for unit in self.answers[0] if unit.what in common]

    @property
    def unstable(self) -> frozenset[str]:
        """Spots that the answers fill differently."""
        first = {(unit.spot, unit.what) for unit in self.answers[0]}
        changed: set[tuple[str, tuple[str, str]]] = set()
        for other in self.answers[1:]:
            changed |= first ^ {(unit.spot, unit.what) for unit in other}
        return frozenset(spot for spot, _ in changed)


@dataclass(frozen=True)
class Finding:
    """What *url* shows that *keeper*, which stood for it, does not."""

    url: str
    keeper: str
    level: Level
    new: Sequence[Unit] = ()


class Client:
    """A plain client: no cookies, no Referer; what was fetched is remembered. After its time it fetches nothing more."""

    def __init__(self, seconds: float, times: int = 2) -> None:
        self.until, self.times = time.monotonic() + seconds, times
        self.known: dict[str, Looks | None] = {}

    def fetch_all(self, urls: Iterable[str]) -> None:
        new = [url for url in dict.fromkeys(urls) if url not in self.known]
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(self._fetch, new))

    def _fetch(self, url: str) -> None:
        if time.monotonic() < self.until:
            answers = [_answer(url) for _ in range(self.times)]
            self.known[url] = (
                None if None in answers else Looks(url, [one for one in answers if one is not None])
            )


def _answer(url: str) -> list[Unit] | None:
    try:
        safe = quote(url, safe="%/:=&?~#+!$,;'@()*[]")
        with urllib.request.urlopen(urllib.request.Request(safe, headers=_HEADERS), timeout=30) as came:
            return units_of(came.read(), came.headers.get("Content-Type", ""), came.geturl())
    except (OSError, ValueError):
        return None


@dataclass(frozen=True)
class Got:
    """What a crawl has got, and which URLs its rules take for one."""

    whats: Collection[str]  #: hashes of kind and value
    hashed: Callable[..., str]
    keys: Mapping[str, str]
    known: Collection[str]  #: keys of the URLs that it has fetched or wanted to

    def key(self, url: str) -> str:
        return self.keys.get(url, url)

    def has(self, unit: Unit) -> bool:
        if unit.kind == "link" and self.key(unit.value) in self.known:
            return True
        return self.hashed(*unit.what) in self.whats


def beside(client: Client, url: str, keeper: str | None, got: Got) -> Finding:
    """What *url* shows that *keeper* does not, and how much that is."""
    of_url, of_keeper = client.known.get(url), client.known.get(keeper or url)
    if of_url is None or of_keeper is None:
        return Finding(url, keeper or "", Level.GONE)
    if keeper is None:
        of_keeper = Looks(url, [[]])
    left_out = of_url.unstable | of_keeper.unstable
    shown = _Shown(of_keeper, got)
    levels = {
        unit: shown.level(unit, of_url.url)
        for unit in of_url.stable
        if unit.spot not in left_out and unit.what not in shown.whats
    }
    worst = max(levels.values(), key=_ORDER.index, default=Level.SAME)
    return Finding(url, keeper or "", worst, [unit for unit, level in levels.items() if level is worst])


def differ(client: Client, one: str, other: str, got: Got) -> Finding:
    """The worse of both directions."""
    both = beside(client, one, other, got), beside(client, other, one, got)
    return max(both, key=lambda finding: _ORDER.index(finding.level))


class _Shown:
    """What one page shows, in the ways in which a unit of another page may be found on it."""

    def __init__(self, looks: Looks, got: Got) -> None:
        units = {unit for answer in looks.answers for unit in answer}
        self.got = got
        self.whats = {unit.what for unit in units}
        self.without_address = {
            (unit.kind, _without(unit.value, looks.url)) for unit in units if unit.kind in _WIRED
        }
        self.keys = {(unit.kind, got.key(unit.value)) for unit in units if unit.kind in _TARGETS}

    def level(self, unit: Unit, url: str) -> Level:
        without_address = _without(unit.value, url) if unit.kind in _WIRED else unit.value
        if without_address == _SELF or (unit.kind, without_address) in self.without_address:
            return Level.OWN_ADDRESS
        if unit.kind in _TARGETS and (unit.kind, self.got.key(unit.value)) in self.keys:
            return Level.LINKS
        if self.got.has(unit):
            return Level.ELSEWHERE
        return Level.NEW_LINKS if unit.kind == "link" else Level.LOST


def _without(value: str, url: str) -> str:
    """*value* with all that stands in *url* too made one and the same; longest parts first."""
    for _ in range(3):
        value = unquote(value)
    if value == url:
        return _SELF
    for part in _parts(url):
        if len(part) > 2 or part.isdigit():
            value = _whole(part).sub(_SELF, value)
        elif value.endswith(part):
            value = value.removesuffix(part) + _SELF
    # A parameter that the other URL lacks, the other page lacks in its links.
    return _PARAMETER.sub("", value).replace(_SELF + _SELF, _SELF)


@lru_cache(maxsize=512)
def _whole(part: str) -> re.Pattern[str]:
    """*part*, where it is no part of a longer word."""
    before = "(?<![0-9A-Za-z])" if part[0].isalnum() else ""
    after = "(?![0-9A-Za-z])" if part[-1].isalnum() else ""
    return re.compile(before + re.escape(part) + after)


@lru_cache(maxsize=64)
def _parts(url: str) -> tuple[str, ...]:
    split = urlsplit(url)
    # The address of the front page begins all addresses of its host.
    found = [
        url if split.path.strip("/") or split.query else "",
        f"{split.path}?{split.query}",
        split.path,
        split.query,
    ]
    found += [f"{name}={value}" for name, value in parse_qsl(split.query, keep_blank_values=True)]
    found += [one for pair in parse_qsl(split.query) for one in pair]
    every = {part for one in found for part in (one, unquote(one), unquote(unquote(one)))}
    return tuple(sorted(filter(None, every), key=lambda part: (-len(part), part)))

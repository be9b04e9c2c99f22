"""Recognises units that only repeat the page's own URL: fields, values of scripts, and links that add to the URL."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Container, Iterable, Sequence
from itertools import accumulate, chain
from urllib.parse import parse_qsl, unquote, urlsplit

from scrapy_dust.page.values import hash_of
from scrapy_dust.url.value_classes import may_be_token

#: How many times a text is decoded, to find URLs that stand in other URLs.
_ROUNDS = 3
#: Characters of a session id at the least.
_TOKEN = 8
#: Links for the page itself that a place holds at most; more of them are a list.
MOST_OWN_LINKS = 3
#: Parameters of the page's URL that are looked for, the first ones.
_MAX_PARAMETERS = 20

_HOST = re.compile(r"\Ahttps?://[^/?#]*+")
_PIECE = re.compile(r"[^/?&;]+")
#: The scheme of a URL that stands in another.
_SCHEME = re.compile(r"\bhttps?:/", re.IGNORECASE)


class OwnUrl:
    """The URL of a page, and the texts that may repeat it."""

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url)
            pairs = parse_qsl(parts.query, keep_blank_values=False)[:_MAX_PARAMETERS]
        except ValueError:
            parts, pairs = urlsplit(""), []
        self.url = url.partition("#")[0]
        path = parts.path
        whole = {self.url, path, f"{path}?{parts.query}"} if path not in ("", "/") else {self.url}
        if parts.query:
            whole.add(f"{path}?{parts.query}")
        self.addresses = frozenset(map(decoded, whole))
        self.values = frozenset(decoded(value) for _, value in pairs)
        self.repeated = self.addresses | frozenset(filter(_is_address_or_token, self.values))
        self._inside = [decoded(path)] if path not in ("", "/") else []
        self._inside += [f"{name}={decoded(value)}" for name, value in pairs]

        self.pieces = frozenset(map(decoded, pieces_of(self.url)))

    def on_host(self, url: str) -> str:
        """*url*, absolute, with the scheme and the host of the page's own URL."""
        return self.url.removesuffix(_HOST.sub("", self.url)) + _HOST.sub("", url)

    def is_path_of(self, url: str) -> bool:
        """Whether *url* has the same path on the same host."""
        return url.partition("?")[0] == self.url.partition("?")[0]

    def beside(self, urls: Sequence[str]) -> list[str]:
        """For each of *urls*, the pieces that it has and the page's own URL has not. Hosts do not count."""
        split = [[piece for piece in pieces_of(url)[1:] if decoded(piece) not in self.pieces] for url in urls]
        pieces = list(dict.fromkeys(chain.from_iterable(split)))
        held = _holding([f"&{piece}" for piece in pieces], self._inside, self.repeated) if pieces else ()
        own = {pieces[at] for at in held}
        return ["/".join(piece for piece in found if piece not in own) for found in split]

    def parts_beside(self, url: str) -> list[str]:
        """The segments and parameters of *url*, and of the URLs in it, that the page's own URL lacks; empty if none
        of them may be a token. Hosts do not count.
        """
        parts = [part for part in _parts_of(url) if part not in self.pieces]
        return parts if any(map(may_be_token, parts)) else []

    def repeated_in(self, urls: list[str]) -> Collection[int]:
        """The indexes of those *urls* that contain the page's path, one of its parameters or one of their values.

        All *urls* are searched as one text, which takes a hundredth of the time.
        """
        return _holding(urls, self._inside, self.values) if urls else ()


def end_of(url: str) -> int:
    """A hash of *url* without parts that may be tokens: links with equal hashes lead to one page. A URL of nothing
    but tokens has a hash of its own.
    """
    host = url.partition("://")[2].partition("/")[0].removeprefix("www.")
    parts = _parts_of(url)
    left = [part for part in parts if not may_be_token(part)]
    return hash_of("\n".join((host, *(left or parts))))


def _parts_of(url: str) -> list[str]:
    """The segments and parameters of *url*, and of URLs in it, decoded."""
    return _PIECE.findall(_SCHEME.sub("/", decoded(_HOST.sub("", url.partition("#")[0]))))


def pieces_of(url: str) -> list[str]:
    """The host, the segments of the path, and the parameters of a URL."""
    return _PIECE.findall(url.partition("#")[0].partition("://")[2])


def rest_of(url: str, own: Container[str]) -> str:
    """The part of a link that the page's own URL does not have. *own*: the pieces of the page's URL."""
    return "/".join(piece for piece in pieces_of(url) if piece not in own)


def _is_address_or_token(value: str) -> bool:
    """Whether a parameter's value is a URL or a meaningless token; a colour or a number would say what a page is about."""
    return "/" in value or (len(value) >= _TOKEN and any(map(str.isdigit, value)) and not value.isdigit())


def decoded(said: str) -> str:
    """*said* with all percent-codes undone, also where text was encoded several times over."""
    for _ in range(_ROUNDS):
        if "%" not in said:
            return said
        said = unquote(said)
    return said


def _holding(urls: list[str], inside: Iterable[str], values: Iterable[str]) -> set[int]:
    """The indexes of those *urls* that hold one of the texts *inside*, or one of *values* as a whole part."""
    joined = "\n".join(urls)
    if "%" in joined:
        joined = "\n".join(url.replace("%0A", "").replace("%0a", "") if "%" in url else url for url in urls)
        for _ in range(_ROUNDS):
            if "%" in joined:
                joined = unquote(joined.replace("%0A", "").replace("%0a", ""))
    found = [re.compile(rf"{re.escape(said)}(?![0-9A-Za-z])") for said in inside if said in joined]
    found += [
        re.compile(rf"(?<=[/?&=;,+]){re.escape(said)}(?=[/?&=;,+#\n]|\Z)")
        for said in values
        if said in joined
    ]
    holding: set[int] = set()
    if not found:
        return holding
    begins = list(accumulate((len(line) + 1 for line in joined.split("\n")), initial=0))[:-1]
    for pattern in found:
        match = pattern.search(joined)
        while match:
            at = bisect_right(begins, match.start())
            holding.add(at - 1)
            # One is enough of each line.
            match = pattern.search(joined, begins[at]) if at < len(begins) else None
    return holding

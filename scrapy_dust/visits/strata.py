"""Draws pairs so that each part of a site has its share of any sample: by path template.

A template is a URL without its probable values: digits, and the values of query parameters. Within one template, the
order is the one given (shuffle it before); between templates, the n-th of m stands at (n + shift)/m, with a shift for
each template, so that each pair is as likely as any other to stand before a given place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy_dust.believe.validation import Pair

_VALUE = re.compile(r"(?<==)[^&;#]*|\d+")
#: Path segments that tell one part of a site from another.
_DEPTH = 3


def template_of(url: str) -> str:
    """The path template of *url*: the beginning of its path with 0 for any number, how it ends, and its parameters."""
    front, question, query = url.partition("#")[0].partition("?")
    parts = _VALUE.sub("0", front).split("/")
    # The last segment of a path is a page's own name, but for how it ends.
    kind = parts[-1].rpartition(".")[2] if len(parts) > 3 and "." in parts[-1] else ""
    folder = "/".join(parts[: 3 + _DEPTH][: max(3, len(parts) - 1)])
    return f"{folder}/.{kind}{question}{_VALUE.sub('', query)}"


def in_strata(pairs: Iterable[Pair], salt: str = "") -> list[Pair]:
    """*pairs* in an order in which each beginning has its share of every path template. *salt* changes the order."""
    strata: dict[str, list[Pair]] = {}
    for pair in pairs:
        strata.setdefault(template_of(pair.url), []).append(pair)
    placed = [
        ((number + _shift(salt, template)) / len(members), pair)
        for template, members in strata.items()
        for number, pair in enumerate(members)
    ]
    return [pair for _, pair in sorted(placed, key=lambda one: one[0])]


def _shift(salt: str, template: str) -> float:
    """A number from 0 to 1 that looks random and depends on *salt* and *template* alone."""
    said = f"{salt} {template}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(said, digest_size=6).digest()) / 2**48

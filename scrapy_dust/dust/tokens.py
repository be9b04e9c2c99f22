"""URL ⇄ tokens, lossless.

A token is a run of ASCII letters and digits, or any other single character (WWW'07, section 3). Every URL
is preceded by the anchor ``^`` and followed by ``$``. The anchors are ids of their own, never text: a
literal ``^`` in a URL is another token.

Arrays of token ids are what the phases work on; strings are made again only for what a person reads.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ids = npt.NDArray[np.int32]

TOKEN = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9]", re.DOTALL)

_LISTED = 1_000_000

#: Ids of the two anchors in every `Tokens`.
START, END = 0, 1


def tokenize(url: str) -> list[str]:
    """The tokens of *url*, without anchors; ``"".join`` gives *url* back."""
    return TOKEN.findall(url)


def is_token_boundary(left: str, right: str) -> bool:
    """Whether a token can end after the character *left* and another begin with *right*.

    Either may be empty: the end of the URL.
    """
    return not (left.isalnum() and right.isalnum() and left.isascii() and right.isascii())


@dataclass(frozen=True, slots=True)
class Tokens:
    """The token ids of many URLs in one flat array, anchors included."""

    ids: Ids  #: all ids, URL after URL
    offsets: npt.NDArray[np.int64]  #: URL *i* is ``ids[offsets[i]:offsets[i + 1]]``
    vocabulary: list[str]  #: id → text; the anchors' text is empty

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def lengths(self) -> npt.NDArray[np.int64]:
        return self.offsets[1:] - self.offsets[:-1]


class _Numbers(dict[str, int]):
    """Token → id, given where one is asked for that is new."""

    def __missing__(self, token: str) -> int:
        number = self[token] = len(self) + 2
        return number


def tokens_of(urls: Iterable[str]) -> Tokens:
    """Tokenize *urls* into one array."""
    # A crawl applies rules, for which it needs no arrays, and spares itself their 12 MB.
    import numpy as np  # noqa: PLC0415

    numbers = _Numbers()
    number_of, find = numbers.__getitem__, TOKEN.findall
    parts, flat, offsets, before = [], [], array("q", [0]), 0
    for url in urls:
        flat.append(START)
        flat.extend(map(number_of, find(url)))
        flat.append(END)
        offsets.append(before + len(flat))
        # A list of numbers takes twice as much as an array.
        if len(flat) > _LISTED:
            parts.append(np.array(flat, dtype=np.int32))
            flat, before = [], offsets[-1]
    parts.append(np.array(flat, dtype=np.int32))
    return Tokens(
        ids=np.concatenate(parts),
        offsets=np.array(offsets, dtype=np.int64),
        vocabulary=["", "", *numbers],
    )

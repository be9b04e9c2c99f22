"""Turns URLs into arrays of tokens and back, without loss.

A token is a run of ASCII letters and digits, or any other single character (WWW'07, section 3). Every URL is preceded
by the anchor ``^`` and followed by ``$``. The anchors are ids of their own, never text: a literal ``^`` in a URL is
another token.

Arrays of token ids are what the phases work on; strings are made again only for what a person reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from scrapy_dust.url.tokens import TOKEN

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ids = npt.NDArray[np.int32]
    Counts = npt.NDArray[np.int64]

#: URLs read at a time; and so many are worth being read all at once.
_TOGETHER, _FEW = 20_000, 100

#: Ids of the two anchors in every `Tokens`.
START, END = 0, 1


@dataclass(frozen=True, slots=True)
class Tokens:
    """The token ids of many URLs in one flat array, anchors included."""

    ids: Ids  #: all ids, URL after URL
    offsets: npt.NDArray[np.int64]  #: URL *i* is ``ids[offsets[i]:offsets[i + 1]]``
    vocabulary: list[str]  #: id → text; the anchors' text is empty

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of tokens of each URL."""
        return self.offsets[1:] - self.offsets[:-1]

    def reordered(self, order: npt.NDArray[np.int64]) -> Tokens:
        """The tokens of the same URLs in another *order*."""
        import numpy as np  # noqa: PLC0415

        counts = self.lengths()[order]
        offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))
        ids = np.empty_like(self.ids)
        for begin in range(0, len(order), _TOGETHER):
            some = slice(begin, begin + _TOGETHER)
            left, right = int(offsets[begin]), int(offsets[min(begin + _TOGETHER, len(order))])
            places = np.arange(left, right)
            places += np.repeat(self.offsets[order[some]] - offsets[:-1][some], counts[some])
            ids[left:right] = self.ids[places]
        return Tokens(ids, offsets, self.vocabulary)


class _Numbers(dict[str, int]):
    """The id of each token; a new token gets the next id."""

    def __missing__(self, token: str) -> int:
        number = self[token] = len(self) + 2
        return number


def tokens_of(urls: Iterable[str]) -> Tokens:
    """Tokenize *urls* into one array."""
    # A crawl applies rules, for which it needs no arrays, and spares itself their 12 MB.
    import numpy as np  # noqa: PLC0415

    numbers = _Numbers()
    ids, lengths = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int64)]
    remaining = iter(urls)
    while some := list(islice(remaining, _TOGETHER)):
        read = _read_ascii_tokens if len(some) >= _FEW and all(map(str.isascii, some)) else _read_tokens
        of_some, counts = read(some, numbers)
        ids.append(of_some)
        lengths.append(counts)
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), *lengths))
    return Tokens(np.concatenate(ids), np.cumsum(offsets), ["", "", *numbers])


def _read_tokens(urls: Sequence[str], numbers: _Numbers) -> tuple[Ids, Counts]:
    """The token ids of *urls*, with anchors, and the count of each URL. New tokens get the next of *numbers*."""
    import numpy as np  # noqa: PLC0415

    number_of, find = numbers.__getitem__, TOKEN.findall
    flat: list[int] = []
    ends = [0]
    for url in urls:
        flat.append(START)
        flat.extend(map(number_of, find(url)))
        flat.append(END)
        ends.append(len(flat))
    offsets: Counts = np.array(ends, dtype=np.int64)
    return np.array(flat, dtype=np.int32), offsets[1:] - offsets[:-1]


def _read_ascii_tokens(urls: Sequence[str], numbers: _Numbers) -> tuple[Ids, Counts]:
    """The same as `_read_tokens` for URLs in ASCII, all at once."""
    # Loaded with the arrays that only those want who mine.
    from scrapy_dust.propose.dustbuster.tokenizing import token_ids_of  # noqa: PLC0415

    return token_ids_of(urls, numbers.__getitem__)

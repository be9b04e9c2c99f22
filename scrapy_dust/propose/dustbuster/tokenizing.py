"""Splits many ASCII URLs into tokens at once.

The bytes of all URLs in a row show where tokens begin and end. A number made of its first eight bytes, and of all
bytes of a longer token, identifies a token; tokens with equal numbers are compared, and only one of each is turned
into text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from scrapy_dust.propose.dustbuster.sorting import edges_of, sorted_with_order

Array = npt.NDArray[np.int64]
Ids = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]

_WIDTH = 8
_ONES = 2**64 - 1
#: Masks that leave of eight bytes the first 0, 1, 2… of them.
_MASKS = np.array([_ONES >> (64 - 8 * count) if count else 0 for count in range(_WIDTH + 1)], dtype=np.uint64)
_MIXED = np.uint64(0x9E3779B97F4A7C15)
_IS_ALNUM = np.array([chr(code).isalnum() and code < 128 for code in range(256)])


def token_ids_of(urls: Sequence[str], number_of: Callable[[str], int]) -> tuple[Ids, Array]:
    """The ids of all tokens, with 0 before and 1 after those of each URL; and how many ids each URL has."""
    text = "".join(urls)
    data = text.encode("ascii")
    codes = np.frombuffer(data, dtype=np.uint8)
    ends = np.cumsum(np.fromiter(map(len, urls), dtype=np.int64, count=len(urls)))
    begins = np.concatenate(([0], ends[:-1]))
    is_alnum = _IS_ALNUM[codes]
    is_first = ~is_alnum
    is_first[1:] |= ~is_alnum[:-1]
    is_first[begins[begins < ends]] = True
    first = np.flatnonzero(is_first)
    length = np.diff(first, append=len(codes))
    before = np.searchsorted(first, begins)
    counts = np.diff(before, append=len(first))
    ids = np.empty(len(first) + 2 * len(urls), dtype=np.int32)
    place = np.arange(len(first)) + 2 * np.repeat(np.arange(len(urls)), counts) + 1
    ids[place] = _token_numbers(text, data, first, length, number_of)
    counts = counts + 2
    after = np.cumsum(counts)
    ids[after - counts], ids[after - 1] = 0, 1
    return ids, counts


def _token_numbers(
    text: str, data: bytes, first: Array, length: Array, number_of: Callable[[str], int]
) -> Array:
    """The number of each token in *text*, where tokens begin at *first* and have this *length*."""
    eight = np.ndarray(len(data), dtype="<u8", buffer=data + bytes(_WIDTH), strides=(1,))
    key = eight[first] & _MASKS[np.minimum(length, _WIDTH)]
    number = np.empty(len(first), dtype=np.int64)
    # Half of all tokens have one byte, and few of them differ.
    of_byte = np.zeros(256, dtype=np.int64)
    single = np.flatnonzero(length == 1)
    code = key[single].astype(np.uint8)
    for one in np.flatnonzero(np.bincount(code, minlength=256)).tolist():
        of_byte[one] = number_of(chr(one))
    number[single] = of_byte[code]
    rows = np.flatnonzero(length > 1)
    if len(rows):
        some = eight, first[rows], length[rows]
        number[rows] = _numbers_by_key(_token_hashes(key[rows], *some), text, *some, number_of)
    return number


def _token_hashes(key: Words, eight: Words, first: Array, length: Array) -> Words:
    """A hash of each token's bytes, made of *key*, the number of its first eight bytes, and of the other bytes."""
    rows, at = np.flatnonzero(length > _WIDTH), _WIDTH
    key[rows] = key[rows] * _MIXED + length[rows].astype(np.uint64)
    while len(rows := rows[length[rows] > at]):
        left = np.minimum(length[rows] - at, _WIDTH)
        key[rows] = (
            key[rows] ^ (key[rows] >> np.uint64(29)) ^ (eight[first[rows] + at] & _MASKS[left])
        ) * _MIXED
        at += _WIDTH
    return key


def _numbers_by_key(
    key: Words, text: str, eight: Words, first: Array, length: Array, number_of: Callable[[str], int]
) -> Array:
    """The numbers of tokens. Hardly any two different tokens have one *key*."""
    bits = np.uint64(len(key).bit_length() + 1)
    mixed, order = sorted_with_order(((key * _MIXED) >> bits).astype(np.int64))
    edges = edges_of(mixed)
    one = order[edges[:-1]]
    begin, end = first[one], first[one] + length[one]
    texts = [text[i:j] for i, j in zip(begin.tolist(), end.tolist(), strict=True)]
    numbers = np.fromiter(map(number_of, texts), dtype=np.int64, count=len(texts))
    found, group = np.empty(len(key), dtype=np.int64), np.empty(len(key), dtype=np.int64)
    found[order], group[order] = np.repeat(numbers, np.diff(edges)), np.repeat(one, np.diff(edges))
    for row in np.flatnonzero(_differ(eight, first, length, group)).tolist():
        found[row] = number_of(text[first[row] : first[row] + length[row]])
    return found


def _differ(eight: Words, first: Array, length: Array, group: Array) -> npt.NDArray[np.bool_]:
    """Whether each token differs in its bytes from the first token of its *group*."""
    differ = length != length[group]
    rows, at = np.flatnonzero(~differ), 0
    while len(rows := rows[length[rows] > at]):
        mask = _MASKS[np.minimum(length[rows] - at, _WIDTH)]
        differ[rows] |= ((eight[first[rows] + at] ^ eight[first[group[rows]] + at]) & mask) != 0
        at += _WIDTH
    found: npt.NDArray[np.bool_] = differ
    return found

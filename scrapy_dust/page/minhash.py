"""A MinHash of 128 values to estimate the resemblance of two texts: the one that datasketch 2 computes from the same
shingles.

The lower 32 bits of a shingle are its hash value, and `minhash_of` equals ``MinHash(NUM_PERM, seed=1)``:
MurmurHash3's 32-bit finalizer stirs the value, and each permutation is ``a·h + b`` modulo 2**32 with odd ``a``. That
is datasketch's scheme "affine32", its default since 2.0; the older one, modulo a Mersenne prime, overestimates the
resemblance of long texts and takes four times as long.

The estimate's standard error is ``sqrt(J·(1 − J) / NUM_PERM)``: 6 % at most, 4 % at 0.9. Twice as many hashes would
make the log a third longer and the error 0.7 of that.
"""

from __future__ import annotations

from base64 import b64decode, b64encode

import numpy as np
import numpy.typing as npt

MinHashes = npt.NDArray[np.uint32]

NUM_PERM = 64
#: What datasketch seeds with unless told otherwise.
SEED = 1
#: What numpy's `RandomState` draws with it, whose stream never changes: all a, then all b. Written down, since numpy's random
#: numbers bring OpenSSL, and with it 7 MB of the process beside a crawl.
_DRAWN = (
    "S+iD1dcBj/4ZX85wkSh43f/9DgATh5lBl1XLmgs9gv+fliNLgafgeCEBRy8DoQzLmX9dX488nMbbVe2w+fPoVg0bJcsz+v7eZcnf"
    "EymqT7H9qaDWy2JloCUX1V6pk5EMF/etaPlBDOPVm5jBOSWLdTu/BQ4ds54RZYRHV4nU8tOv+ajVr78W6tOXDB7jhYTc78vgR71b"
    "1eDBjm1lrQiJjhsx+5nTr5NuE/u/7w8IA5t/Inmge5aDLy0ceGJzSksJAxS2wAHv47p54gnKo/GFqBHqiiuxxcGoG/3+E+c0zYtf"
    "A/RW1R9VHvPkm8GRc09XPYRaMo9Ipi8Ha5vXjQvjV5U/OPUx7mppOYV9iAOykjLE2x6xGCslSvGhxVAr/GEkTIa+rxpMh8g0B6rV"
    "UCWcaW2KrgRzc78IKXUJwNJtwJ8PACb9QGwfqcTIh78ZMGpMby3LR+LeNXLXNQ7KhyfdOBoFbRqZ/scSaCapchYEIHgJt5now76e"
    "GOdLKkt+REPnF6WrSX3tlh5kjUkhm0BZhqU79QQ5UWgVUyrIraZst+qIQi02ICUT6aLd+kMKr4ZMF73XfY+GmpXvKqkNV5zfkBlf"
    "+ZLHDyud8wCQJVyF3/RKutyWvoTPQi5dI7Og0yM72JYyGpcUkIi3kv9pQSUv83E1xLFNJzl+A6cHaoDLZIo="
)
_A, _B = np.frombuffer(b64decode(_DRAWN), "<u4").astype(np.uint32).reshape(2, NUM_PERM, 1)
#: Shingles at a time: as many as, 64 times, fit a processor's cache.
_BLOCK = 1024
_LEAST_BUFFER = 16
_16, _13 = np.array([16, 13], np.uint32)
_FIRST_FACTOR, _SECOND_FACTOR = np.array([0x85EBCA6B, 0xC2B2AE35], np.uint32)


def minhash_of(shingles: npt.NDArray[np.uint64]) -> MinHashes:
    """The MinHash of *shingles*."""
    stirred = _stirred(shingles.astype(np.uint32))
    least = np.full(NUM_PERM, np.iinfo(np.uint32).max, np.uint32)
    permuted = np.empty((NUM_PERM, min(_BLOCK, len(stirred))), np.uint32)
    with np.errstate():
        # Otherwise numpy copies what is used for a whole row, to make one row of several.
        np.setbufsize(_LEAST_BUFFER)
        for start in range(0, len(stirred), _BLOCK):
            block = stirred[start : start + _BLOCK]
            values = permuted[:, : len(block)]
            np.multiply(_A, block, out=values)
            values += _B
            np.minimum(least, values.min(axis=1), out=least)
    return least


def to_text(minhash: MinHashes) -> str:
    """*minhash* as a log keeps it: Base64 of the values, four bytes each, the least significant one first."""
    return b64encode(minhash.astype("<u4").tobytes()).decode("ascii")


def from_text(text: str) -> MinHashes:
    """The MinHash that `to_text` has written. Raises `ValueError` for other text."""
    return np.frombuffer(b64decode(text, validate=True), "<u4").astype(np.uint32)


def _stirred(hashes: MinHashes) -> MinHashes:
    """*hashes*, each scrambled by MurmurHash3's finalizer."""
    hashes = hashes ^ (hashes >> _16)
    hashes *= _FIRST_FACTOR
    hashes ^= hashes >> _13
    hashes *= _SECOND_FACTOR
    hashes ^= hashes >> _16
    return hashes

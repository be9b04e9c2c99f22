"""Turns words into shingles, and shingles into a sketch; the numbers are the same on every platform.

Thesis §6.3: all sequences of 10 words are hashed; for each of four hash functions the least value is kept: the
sketch. A page with fewer words is one shingle.

The hashes: a word's is XXH3 of its UTF-8 bytes; a shingle's is the polynomial of its words' with base `_BASE` modulo
2**64, stirred by splitmix64's finalizer; the four functions are the shingle's hash xor `_SHIFTS[i]` times
`_FACTORS[i]`, and a sketch keeps their upper 63 bits. All of it wraps around at 2**64, as numpy's unsigned arrays do.
A change of any of this must raise `SKETCH_VERSION`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest

from scrapy_dust.page.units import distinct, stirred

Hashes = npt.NDArray[np.uint64]
Sketch = tuple[int, int, int, int]

#: Words in a shingle: 10 in the paper.
WIDTH = 10

# Odd, so that multiplying loses nothing. The first is 2**64 by the golden ratio; the factors are those of
# splitmix64, MurmurHash3's finalizer and PCG, chosen for nothing but being well mixed.
_BASE = np.uint64(0x9E3779B97F4A7C15)
_SHIFTS = np.array(
    [[0x243F6A8885A308D3], [0x13198A2E03707344], [0xA4093822299F31D0], [0x082EFA98EC4E6C89]], np.uint64
)
_FACTORS = np.array(
    [[0xBF58476D1CE4E5B9], [0x94D049BB133111EB], [0xFF51AFD7ED558CCD], [0x5851F42D4C957F2D]], np.uint64
)
_1 = np.uint64(1)


def hashes_of(words: Sequence[bytes]) -> Hashes:
    """The hash of each of *words*."""
    return np.fromiter(map(xxh3_64_intdigest, words), np.uint64, len(words))


def shingles_of(words: Hashes, width: int = WIDTH) -> Hashes:
    """The distinct shingles of *words*, ascending. *words* must not be empty."""
    return distinct(stirred(_runs(words, min(width, len(words)))))


def sketch_of(shingles: Hashes) -> Sketch:
    """The sketch of a page with these *shingles*."""
    hashes = shingles ^ _SHIFTS
    hashes *= _FACTORS
    a, b, c, d = (hashes.min(axis=1) >> _1).tolist()
    return a, b, c, d


def simhash_of(shingles: Hashes) -> str:
    """Charikar's SimHash as 16 hexadecimal digits: each of its 64 bits is the one that most shingles have there."""
    count = len(shingles)
    # No more of them in a sum than a byte can count.
    rows = max(1, min(255, math.isqrt(count)))
    padded = np.concatenate((shingles, np.zeros(-count % rows, np.uint64)))
    bits = np.unpackbits(padded.astype("<u8", copy=False).view(np.uint8))
    sums = bits.reshape(rows, -1).sum(axis=0, dtype=np.uint8)
    ones = sums.reshape(-1, 8, 8).sum(axis=0, dtype=np.int64)
    return np.packbits(ones[::-1] * 2 > count).tobytes().hex()


def sketch_of_bytes(digest: bytes) -> tuple[Sketch, Hashes]:
    """The sketch of a body without words: equal for equal digests, and different in every part for different ones."""
    a, b, c, d = (xxh3_64_intdigest(digest, seed=seed) >> 1 for seed in (1, 2, 3, 4))
    return (a, b, c, d), np.array([xxh3_64_intdigest(digest, seed=5)], np.uint64)


def _runs(words: Hashes, length: int) -> Hashes:
    """A polynomial hash of every *length* words in a row, computed from the hashes of half the length."""
    if length == 1:
        return words
    half = length // 2
    runs = _runs(words, half)
    runs = runs[:-half] * np.uint64(pow(int(_BASE), half, 1 << 64)) + runs[half:]
    return runs if length % 2 == 0 else runs[:-1] * _BASE + words[length - 1 :]

"""The larger MinHash: datasketch's, and as near to the exact resemblance as theory has it."""

from __future__ import annotations

import math
import random
from html import escape
from pydoc_data.topics import topics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.page import minhash
from scrapy_dust.page.minhash import NUM_PERM, from_text, minhash_of, to_text
from scrapy_dust.page.shingles import hashes_of, shingles_of
from scrapy_dust.page.sketch import describe

some_shingles = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=200, unique=True)


def array(values):
    return np.array(sorted(values), np.uint64)


def estimate(a, b):
    return float(np.mean(minhash_of(a) == minhash_of(b)))


def exact(a, b):
    both = len(np.intersect1d(a, b, assume_unique=True))
    return both / (len(a) + len(b) - both)


def test_what_is_written_down_is_what_numpy_draws():
    drawn = np.random.RandomState(minhash.SEED)
    assert (minhash._A[:, 0] == drawn.randint(0, 1 << 31, NUM_PERM, np.uint32) * np.uint32(2) + 1).all()
    assert (minhash._B[:, 0] == drawn.randint(0, 1 << 32, NUM_PERM, np.uint32)).all()


@pytest.mark.once
@given(some_shingles, some_shingles)
def test_datasketch_computes_and_loads_the_same(one, other):
    datasketch = pytest.importorskip("datasketch", reason="datasketch is not installed")
    theirs = []
    for shingles in (one, other):
        theirs.append(datasketch.MinHash(NUM_PERM, hashfunc=lambda shingle: shingle & 0xFFFFFFFF))
        theirs[-1].update_batch(shingles)
    ours = [minhash_of(array(shingles)) for shingles in (one, other)]
    assert [found.tolist() for found in ours] == [found.hashvalues.tolist() for found in theirs]
    scheme = theirs[0].scheme
    lean = [datasketch.LeanMinHash(seed=1, hashvalues=found, scheme=scheme) for found in ours]
    full = [datasketch.MinHash(hashvalues=found, scheme=scheme) for found in ours]
    said = theirs[0].jaccard(theirs[1])
    assert lean[0].jaccard(lean[1]) == full[0].jaccard(full[1]) == lean[0].jaccard(theirs[1]) == said
    assert said == float(np.mean(ours[0] == ours[1]))


#: The first and the last of datasketch's with 64 permutations and seed 1.
PERMUTATIONS = (3582191691, 4114104213), (1474497421, 2321861504)


def literal(shingles):
    """The module's docstring, in plain integers."""
    found = []
    for a, b in PERMUTATIONS:
        values = []
        for shingle in shingles:
            h = shingle & 0xFFFFFFFF
            h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
            h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
            values.append(((h ^ h >> 16) * a + b) & 0xFFFFFFFF)
        found.append(min(values))
    return found


@given(some_shingles)
def test_the_values_are_what_the_docstring_says(shingles):
    found = minhash_of(array(shingles))
    assert [found[0], found[-1]] == literal(shingles)


def test_many_shingles_are_no_other_than_few():
    rng = random.Random(4)
    shingles = array({rng.getrandbits(64) for _ in range(5000)})
    parts = [minhash_of(shingles[start : start + 700]) for start in range(0, 5000, 700)]
    assert minhash_of(shingles).tolist() == np.minimum.reduce(parts).tolist()


@given(some_shingles)
def test_a_log_has_it_as_text_that_gives_it_back(shingles):
    text = to_text(minhash_of(array(shingles)))
    assert len(text) == 344
    assert from_text(text).tolist() == minhash_of(array(shingles)).tolist()


@pytest.mark.parametrize("text", ["a", "AAAAA===", "AAAA", "ä", "AA AA"])
def test_what_is_no_such_text_is_refused(text):
    with pytest.raises(ValueError):  # noqa: PT011 - numpy and base64 word it each in their own way
        from_text(text)


def test_pages_without_words_resemble_each_other_only_where_they_are_equal():
    a, same, b = (describe(body, "image/png", None, "http://a.test/") for body in (b"a", b"a", b"b"))
    assert a.minhash.tolist() == same.minhash.tolist()
    assert not np.any(a.minhash == b.minhash)


# Pages of real documentation that every Python has.
PAGES = [page.split() for _, page in sorted(topics.items()) if len(page.split()) >= 40]


def edited(rng, words):
    """What editors do: words changed, sections moved, dropped and added."""
    words = list(words)
    for _ in range(rng.randrange(1, 40)):
        at, run = rng.randrange(len(words)), rng.randrange(1, 25)
        words[at : at + run] = rng.choice(([], [f"new{rng.randrange(500)}"], rng.choice(PAGES)[:run]))
        words = words or ["x"]
    if rng.random() < 0.3:
        half = len(words) // 2
        words = words[half:] + words[:half]
    return words


def described(words):
    body = f"<title>t</title><h1>t</h1><p>{escape(' '.join(words))}".encode()
    return describe(body, "text/html; charset=utf-8", None, "http://a.test/")


@pytest.mark.once
def test_estimates_are_as_near_to_the_exact_resemblance_as_theory_has_it():
    rng = random.Random(20070508)
    beyond = {1: 0, 2: 0, 3: 0}
    errors, spread = [], 0.0
    pairs = 600
    for _ in range(pairs):
        words = rng.choice(PAGES)[:1500]
        a, b = described(words), described(edited(rng, words))
        resemblance = exact(a.shingles, b.shingles)
        error = float(np.mean(a.minhash == b.minhash)) - resemblance
        errors.append(error)
        variance = resemblance * (1 - resemblance) / NUM_PERM
        spread += variance
        for times in beyond:
            # Half a hash: estimates are multiples of 1/64.
            beyond[times] += abs(error) > times * math.sqrt(variance) + 0.5 / NUM_PERM
    # 32 %, 5 % and 0.3 % of a normal distribution.
    assert beyond[1] < 0.34 * pairs
    assert beyond[2] < 0.06 * pairs
    assert beyond[3] < 0.01 * pairs
    # Neither too high nor too low on the whole.
    assert abs(sum(errors)) < 3.5 * math.sqrt(spread)


def test_each_permutation_agrees_as_often_as_the_pages_resemble_each_other():
    rng = random.Random(11)
    agreeing, expected, variance = np.zeros(NUM_PERM), 0.0, 0.0
    for _ in range(300):
        words = [f"w{rng.randrange(10**9)}".encode() for _ in range(rng.randrange(30, 400))]
        other = [word if rng.random() < 0.97 else b"x" for word in words]
        a, b = shingles_of(hashes_of(words)), shingles_of(hashes_of(other))
        agreeing += minhash_of(a) == minhash_of(b)
        expected += exact(a, b)
        variance += exact(a, b) * (1 - exact(a, b))
    assert np.all(np.abs(agreeing - expected) < 4.5 * math.sqrt(variance))

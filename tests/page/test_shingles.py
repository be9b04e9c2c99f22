"""The sketch against a slow literal one, against its theory, and against itself in other processes."""

from __future__ import annotations

import math
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from scrapy_dust.page.shingles import hashes_of, shingles_of, simhash_of, sketch_of, sketch_of_bytes

_MASK = 2**64 - 1


def literal_shingles(words):
    """The module's docstring, in plain integers."""
    width = min(10, len(words))
    found = set()
    for start in range(len(words) - width + 1):
        value = 0
        for word in words[start : start + width]:
            value = (value * 0x9E3779B97F4A7C15 + xxh3_64_intdigest(word)) & _MASK
        value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & _MASK
        value = ((value ^ value >> 27) * 0x94D049BB133111EB) & _MASK
        found.add(value ^ value >> 31)
    return found


def literal_sketch(shingles):
    shifts = (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89)
    factors = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xFF51AFD7ED558CCD, 0x5851F42D4C957F2D)
    return tuple(
        min(((one ^ shift) * factor) & _MASK for one in shingles) >> 1
        for shift, factor in zip(shifts, factors, strict=True)
    )


def literal_simhash(shingles):
    ones = (sum(one >> bit & 1 for one in shingles) * 2 > len(shingles) for bit in range(63, -1, -1))
    return f"{int(''.join('01'[one] for one in ones), 2):016x}"


words = st.lists(st.sampled_from([b"a", b"b", b"c", b"dd", "é".encode()]), min_size=1, max_size=40)


@given(words)
def test_shingles_sketch_and_simhash_are_what_the_docstring_says(text):
    shingles = shingles_of(hashes_of(text))
    expected = literal_shingles(text)
    assert shingles.tolist() == sorted(expected)
    assert sketch_of(shingles) == literal_sketch(expected)
    assert simhash_of(shingles) == literal_simhash(expected)


def test_the_values_never_change_within_a_version():
    shingles = shingles_of(hashes_of(b"to be or not to be that is the question whether tis nobler".split()))
    assert sketch_of(shingles) == (
        132204906020694727,
        1219533995477533283,
        3349991854531611866,
        868949611830209689,
    )
    assert simhash_of(shingles) == "401808156a109154"
    assert sketch_of_bytes(b"digest")[0] == (
        2442877547109402032,
        8170050468833296187,
        1486538986044906442,
        8239066272342896869,
    )


def test_every_process_computes_the_same_whatever_its_hash_seed():
    program = (
        "from scrapy_dust.page.sketch import describe\n"
        "page = describe('<title>ü</title>one two three four five six seven eight nine ten 漢字'.encode(),"
        " 'text/html', None, 'http://a.test/')\n"
        "print(page, page.shingles.tolist())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(outputs) == 1


def test_few_words_are_one_shingle_and_order_counts():
    one, other = (shingles_of(hashes_of(text)) for text in ([b"a", b"b"], [b"b", b"a"]))
    assert len(one) == len(other) == 1
    assert one != other


def random_words(rng, count):
    return [f"w{rng.randrange(10**9)}".encode() for _ in range(count)]


def edited(rng, text, changes):
    """*text* with some runs of words replaced."""
    text = list(text)
    for _ in range(changes):
        start = rng.randrange(len(text))
        text[start : start + rng.randrange(1, 30)] = random_words(rng, rng.randrange(0, 30))
    return text


def pairs(seed, count):
    """Pages, each with an edited copy: (exact resemblance, hashes that agree)."""
    rng = random.Random(seed)
    for _ in range(count):
        text = random_words(rng, rng.randrange(30, 600))
        a, b = (
            shingles_of(hashes_of(words)) for words in (text, edited(rng, text, rng.randrange(1, 12)) or text)
        )
        both = len(np.intersect1d(a, b, assume_unique=True))
        yield (
            both / (len(a) + len(b) - both),
            [x == y for x, y in zip(sketch_of(a), sketch_of(b), strict=True)],
        )


@pytest.mark.once
def test_each_hash_agrees_as_often_as_the_pages_resemble_each_other():
    # Thesis §6.3: the probability that two least values are equal is the resemblance.
    found = list(pairs(seed=20070508, count=1500))
    spread = math.sqrt(sum(r * (1 - r) for r, _ in found))
    for which in range(4):
        assert abs(sum(agree[which] - r for r, agree in found)) < 3.5 * spread


@pytest.mark.once
def test_the_four_hashes_agree_independently_of_each_other():
    found = [(r, agree) for r, agree in pairs(seed=11, count=1500) if 0 < r < 1]
    for i in range(4):
        for j in range(i):
            products = [(agree[i] - r) * (agree[j] - r) for r, agree in found]
            spread = math.sqrt(sum((r * (1 - r)) ** 2 for r, _ in found))
            assert abs(sum(products)) < 3.5 * spread


def test_pages_that_differ_in_one_word_of_thousands_nearly_always_have_equal_sketches():
    rng = random.Random(3)
    same = 0
    for _ in range(100):
        text = random_words(rng, 4000)
        other = list(text)
        other[rng.randrange(4000)] = b"other"
        same += sketch_of(shingles_of(hashes_of(text))) == sketch_of(shingles_of(hashes_of(other)))
    # 20 of 8,000 shingles are not in both: (1 - 20/4010)**4 is 98 %.
    assert same >= 92


def test_pages_without_a_common_shingle_share_no_hash():
    rng = random.Random(5)
    for _ in range(50):
        a, b = (sketch_of(shingles_of(hashes_of(random_words(rng, 300)))) for _ in range(2))
        assert not set(a) & set(b)


@given(st.binary(min_size=1), st.binary(min_size=1))
def test_the_sketch_of_bytes_is_equal_in_each_part_or_in_none(a, b):
    agreeing = [x == y for x, y in zip(sketch_of_bytes(a)[0], sketch_of_bytes(b)[0], strict=True)]
    assert agreeing == [a == b] * 4


@pytest.mark.parametrize("count", [1, 9, 10, 11, 500])
def test_sketches_fit_a_signed_64_bit_column(count):
    rng = random.Random(count)
    assert all(0 <= part < 2**63 for part in sketch_of(shingles_of(hashes_of(random_words(rng, count)))))

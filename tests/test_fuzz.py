"""What campaigns (`python -m fuzz`) look at for hours, looked at shortly: their corpus, and bytes made of it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.__main__ import CORPUS, NAMES, replay
from fuzz.targets import TARGETS

#: What parsers stumble over.
_PIECES = (
    b"\0",
    b"\xff",
    b"\n",
    b'"',
    b"[",
    b"{",
    b"<",
    b"%",
    b"&",
    b"=",
    b"\xe2\x80\xae",
    b"1e400",
    b"9" * 30,
    b"a" * 99,
)


def test_each_target_has_its_name_and_inputs():
    assert set(NAMES) == set(TARGETS)
    assert {folder.name for folder in CORPUS.iterdir()} == set(NAMES)


@pytest.mark.parametrize("target", NAMES)
def test_nothing_in_the_corpus_makes_a_target_fail(target):
    assert replay(target) > 0


@pytest.mark.once
# PDFium takes its time over what is damaged; see tests/page/test_pdf.py.
@pytest.mark.parametrize("target", [name for name in NAMES if name != "pdf"])
@given(chance=st.randoms(use_true_random=False), most=st.integers(1, 6))
def test_nothing_made_of_the_corpus_makes_a_target_fail(target, chance, most):
    data = bytearray(chance.choice(_inputs(target)))
    for _ in range(most):
        _spoil(data, chance)
    TARGETS[target](bytes(data))


def _inputs(target: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((CORPUS / target).iterdir())]


def _spoil(data: bytearray, chance: random.Random) -> None:
    at, upto = sorted(chance.randint(0, len(data)) for _ in range(2))
    match chance.randrange(4):
        case 0 if data:
            data[min(at, len(data) - 1)] ^= 1 << chance.randrange(8)
        case 1:
            del data[at : min(upto, at + 40)]
        case 2:
            data[at:at] = data[at : min(upto, at + 200)] * chance.randint(1, 3)
        case _:
            data[at:at] = chance.choice(_PIECES)

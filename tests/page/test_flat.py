from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.page.flat import flat_of
from scrapy_dust.page.places import ALPHABET
from scrapy_dust.page.units import is_sound, pack, units_of, unpack
from scrapy_dust.page.unitsets import set_of
from scrapy_dust.visits.pages import PackedUnits

pages = st.lists(st.lists(st.integers(0, 2**56 - 1), max_size=30).map(units_of).map(pack), max_size=9)


@given(pages)
def test_many_pages_at_once_are_what_each_is_by_itself(packed: list[PackedUnits]) -> None:
    flat = flat_of(packed)
    assert len(flat) == len(packed)
    for number, one in enumerate(packed):
        assert np.unique(flat.part(number, number + 1).units).tolist() == set_of(unpack(one)).tolist()


@given(st.binary(max_size=40) | st.text(ALPHABET.decode(), max_size=40).map(str.encode))
def test_what_is_sound_can_be_read_and_nothing_else(content: bytes) -> None:
    packed = PackedUnits(content, 1)
    if is_sound(packed):
        assert len(flat_of([packed]).units) == len(unpack(packed))
    else:
        with pytest.raises((ValueError, IndexError)):
            unpack(packed)

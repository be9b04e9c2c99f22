"""What a crawl remembers of classes takes little room and is what was put in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.crawl import compact_classes, keepers
from scrapy_dust.crawl.compact_classes import Classes
from scrapy_dust.crawl.keepers import Keepers
from scrapy_dust.crawl.life import UNKNOWN, Class, State

NAMES = st.integers(0, 9).map(lambda number: b"class %d" % number)
SMALL, LARGE = st.integers(0, 3), st.integers(0, 1 << 30)
CLASSES = st.builds(
    Class,
    st.sampled_from(State),
    st.lists(st.integers(0, 0xFFFF), max_size=2).map(tuple),
    SMALL | LARGE,
    st.booleans(),
    st.none() | st.just(b"there"),
    SMALL | LARGE | st.integers(-5, -1),
    SMALL | LARGE,
    SMALL | LARGE,
)


@given(st.lists(st.tuples(NAMES, CLASSES), max_size=60), st.integers(1, 9))
def test_a_class_is_what_it_was_last_and_once_settled_its_depth_and_its_keeper(changes, opened):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compact_classes, "_OPEN", opened)
        patch.setattr(compact_classes, "_SHARED", 2)
        classes, known = Classes(), {}
        for of, after in changes:
            classes.put(of, classes.get(of), after)
            is_settled = after.state is State.SETTLED
            known[of] = Class(State.SETTLED, depth=after.depth, keeper=after.keeper) if is_settled else after
            assert {one: classes.get(one) for one in known} == known
            assert classes.waiting == sum(one.waiting > 0 for one in known.values())
            assert classes.requests == sum(one.waiting for one in known.values())
    assert classes.get(b"another") is UNKNOWN


KEPT = st.lists(
    st.tuples(NAMES, st.text(st.characters(exclude_characters="\n"), min_size=1), st.integers(0, 3)),
    max_size=60,
)


@given(KEPT, st.integers(1, 9), st.integers(1, 9))
def test_the_keeper_of_a_class_is_found_where_it_was_written(kept, in_block, together):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keepers, "_IN_BLOCK", in_block)
        patch.setattr(keepers, "_TOGETHER", together)
        found, written = Keepers(), {}
        for of, url, rules in kept:
            written[of, found.add(of, url, rules)] = url, rules
        for (of, block), (url, rules) in written.items():
            assert (found.keeper_url(of, block), found.rules_number(block)) == (url, rules)
        assert {(of, block): url for of, url, block in found} == {at: url for at, (url, _) in written.items()}
        assert all(found.keeper_url(b"another", block) is None for _, block in written)


def test_where_no_file_can_be_written_old_keepers_are_unknown_and_new_ones_known(monkeypatch):
    monkeypatch.setattr(keepers.tempfile, "tempdir", "/nowhere/at/all")
    monkeypatch.setattr(keepers, "_TOGETHER", 2)
    found = Keepers()
    blocks = [found.add(b"%d" % number, f"http://a.test/{number}", 7) for number in range(3)]
    assert [found.keeper_url(b"%d" % number, block) for number, block in enumerate(blocks)] == [
        None,
        None,
        "http://a.test/2",
    ]
    assert {found.rules_number(block) for block in blocks} == {7}

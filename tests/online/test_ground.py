"""Where a rule was seen to hold, and where it has still to show itself."""

from __future__ import annotations

from scrapy_dust.dust.canonization import Canonizer
from scrapy_dust.dust.rules import ParameterRule
from scrapy_dust.online.extent import ANY_VALUE, ONE_VALUE
from scrapy_dust.online.ground import Ground, held_by
from scrapy_dust.sites import site_of

SID = ParameterRule("sid")


def url(part: str, number: int, sid: int) -> str:
    return f"http://s.test/{part}/{number}?sid={sid}"


def held(parts: int, contents: int) -> Ground:
    ground = Ground()
    shown = {
        url(f"part{chr(97 + part)}", n, sid): f"{part} {n}"
        for part in range(parts)
        for n in range(contents)
        for sid in (1, 2)
    }
    ground.learned(held_by(shown, Canonizer({"s.test": [SID]}, site_of)))
    return ground


def test_where_a_rule_was_seen_to_hold_nothing_is_looked_at() -> None:
    assert not held(1, ONE_VALUE).is_new(url("parta", 99, 7), [SID])


def test_in_another_part_the_first_ones_are() -> None:
    ground = held(1, ONE_VALUE)
    looked_at = [ground.is_new(url("other", n, 7), [SID]) for n in range(10)]
    assert looked_at == [True] * ONE_VALUE + [False] * (10 - ONE_VALUE)


def test_a_rule_that_holds_in_many_parts_is_believed_in_the_next() -> None:
    assert not held(ANY_VALUE, 1).is_new(url("other", 1, 7), [SID])


def test_urls_that_show_different_pages_bear_nothing_out() -> None:
    shown = {url("parta", n, sid): f"{n} {sid}" for n in range(9) for sid in (1, 2)}
    assert held_by(shown, Canonizer({"s.test": [SID]}, site_of)) == {}

"""A rule about any value reaches as far as values were seen."""

from __future__ import annotations

from scrapy_dust.online.extent import ANY_VALUE, limited_to_seen
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.sites import site_of


def reached(contents: dict[str, str]) -> list[Rule]:
    rule = Rule.of(DropParameter("sid"))
    return limited_to_seen([rule], contents, Canonizer({"s.test": [rule]}, site_of))


def pages(values: int, each: int) -> dict[str, str]:
    bare = {f"http://s.test/{n}": str(n) for n in range(values * each)}
    return bare | {f"http://s.test/{n}?sid={n % values}": str(n) for n in range(values * each)}


def test_many_values_stand_for_all() -> None:
    assert reached(pages(ANY_VALUE, 1)) == [Rule.of(DropParameter("sid"))]


def test_few_values_stand_for_themselves() -> None:
    found = reached(pages(2, 5))
    canonizer = Canonizer({"s.test": found}, site_of)
    assert canonizer.canonize("http://s.test/new?sid=1") == "http://s.test/new"
    assert canonizer.canonize("http://s.test/new?sid=7") == "http://s.test/new?sid=7"


def test_values_in_the_path_stand_for_themselves_too() -> None:
    rule = Rule.of(DropParameter("sid"))
    bare = {f"http://s.test/{n}": str(n) for n in range(10)}
    contents = bare | {f"http://s.test/{n};sid={n % 2}": str(n) for n in range(10)}
    found = limited_to_seen([rule], contents, Canonizer({"s.test": [rule]}, site_of))
    assert found == [Rule.of(DropParameter("sid", "0")), Rule.of(DropParameter("sid", "1"))]
    canonizer = Canonizer({"s.test": found}, site_of)
    assert canonizer.canonize("http://s.test/new;sid=1") == "http://s.test/new"
    assert canonizer.canonize("http://s.test/new;sid=7") == "http://s.test/new;sid=7"


def test_a_value_that_was_seen_once_is_not_enough() -> None:
    assert reached(pages(3, 1)) == []

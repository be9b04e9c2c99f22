"""Parameters that stand together and do not matter are left out by one rule."""

from __future__ import annotations

from itertools import product

from scrapy_dust.propose.edits.joined_rules import joined_rules
from scrapy_dust.rules.guards import Condition
from scrapy_dust.rules.parameters import DropParameter, MapValue
from scrapy_dust.rules.paths import MapSegments
from scrapy_dust.rules.rule import Rule

_FOUND = (Rule((MapValue("O", "D", "A"),)), Rule((DropParameter("C"),)))
_ORDERS = [f"?C={column};O={order}" for column, order in product("NMSD", "AD")]
_LISTS = [f"http://s.example/{name}/" for name in ("tea", "pots", "cups")]
_COMPLETE: dict[str, str | None] = {f"{path}{order}": path for path in _LISTS for order in ("", *_ORDERS)}


def test_the_orders_of_complete_lists_are_said_in_one_rule() -> None:
    ((rule, contents, saves),) = joined_rules(_COMPLETE, _FOUND)

    assert (contents, saves) == (3, 24)
    assert {rule.apply(url) for url in _COMPLETE} == set(_LISTS)


def test_the_rule_says_nothing_of_one_of_them_alone() -> None:
    ((rule, _, _),) = joined_rules(_COMPLETE, _FOUND)

    assert rule.apply("http://s.example/posts/?O=D") == "http://s.example/posts/?O=D"
    assert rule.apply("http://s.example/posts/?C=3;O=D") == "http://s.example/posts/?C=3;O=D"


def test_where_one_order_shows_something_else_nothing_is_proposed() -> None:
    assert not joined_rules({**_COMPLETE, f"{_LISTS[0]}?C=N;O=D": "the last ten"}, _FOUND)


def test_what_was_not_found_to_be_without_meaning_is_not_left_out() -> None:
    assert not joined_rules(_COMPLETE, _FOUND[:1])
    pages = {
        f"{url}&page={n}": f"{shown} {n}" for url, shown in _COMPLETE.items() if "?" in url for n in "12"
    }
    ((rule, contents, _),) = joined_rules(pages, _FOUND)
    assert contents == 6
    assert rule.apply("http://s.example/tea/?C=N;O=D&page=2") == "http://s.example/tea/?page=2"


def test_what_was_seen_in_one_folder_is_said_of_that_folder() -> None:
    moved = {url.replace("/s.example/", "/s.example/shop/"): shown for url, shown in _COMPLETE.items()}
    ((rule, _, _),) = joined_rules(moved, _FOUND)

    assert rule.apply("http://s.example/shop/jars/?C=N;O=D") == "http://s.example/shop/jars/"
    assert rule.apply("http://s.example/news/jars/?C=N;O=D") == "http://s.example/news/jars/?C=N;O=D"


_PAGES: dict[str, str | None] = {
    **{f"http://s.example/{name}/page/{n}/": f"{name} {n}" for name in ("tea", "pots") for n in range(1, 5)},
    **{
        f"http://s.example/{name}/page/{n}/?paged={m}": f"{name} {m}"
        for name in ("tea", "pots")
        for n in range(1, 5)
        for m in range(1, 5)
    },
}
_WHERE = (Condition("?paged"),)


def test_a_segment_of_which_several_values_do_not_matter_does_not_matter() -> None:
    found = [Rule((MapSegments((one,), (other,)),), _WHERE) for one, other in (("1", "2"), ("2", "3"))]
    ((rule, contents, _),) = joined_rules(_PAGES, found)

    assert contents == 8
    assert len({rule.apply(url) for url in _PAGES}) == 8 + 8
    assert rule.apply("http://s.example/tea/page/9/?paged=7") == "http://s.example/tea/page/*/?paged=7"
    assert rule.apply("http://s.example/tea/page/9/") == "http://s.example/tea/page/9/"


def test_a_segment_that_matters_elsewhere_matters() -> None:
    found = [Rule((MapSegments((one,), (other,)),), _WHERE) for one, other in (("1", "2"), ("2", "3"))]
    assert not joined_rules({**_PAGES, "http://s.example/tea/page/9/?paged=1": "another page"}, found)
    assert not joined_rules(_PAGES, found[:1])

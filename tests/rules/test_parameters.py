from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.propose.edits.classes import classes_of
from scrapy_dust.propose.edits.edit_proposals import edits_between
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.guards import Condition
from scrapy_dust.rules.parameters import (
    AnyValue,
    CutValue,
    DropNumbered,
    DropParameter,
    MapValue,
    SetParameter,
    ShortenValue,
)
from scrapy_dust.rules.queries import DropEmpty, DropQuery, DropRepeated, KeepParameters, SortParameters
from scrapy_dust.rules.rule import Rule
from scrapy_dust.sites import site_of
from scrapy_dust.url.parts import parts_of
from tests.strategies import any_urls, parameter_rules, rules

OMIT, SET = Rule.of(DropParameter("a")), Rule.of(SetParameter("a", "0"))


@pytest.mark.parametrize(
    ("url", "omitted", "fixed"),
    [
        ("/x", "/x", "/x"),
        ("/x?a=1", "/x", "/x?a=0"),
        ("/x?a=", "/x", "/x?a=0"),
        ("/x?a", "/x", "/x?a"),
        ("/x?a&b=2", "/x?b=2", "/x?a&b=2"),
        ("/x?b=2&a", "/x?b=2", "/x?b=2&a"),
        ("/x?a=1&b=2", "/x?b=2", "/x?a=0&b=2"),
        ("/x?b=2&a=1", "/x?b=2", "/x?b=2&a=0"),
        ("/x?b=2&a=1&c=3", "/x?b=2&c=3", "/x?b=2&a=0&c=3"),
        ("/x?a=1&a=2", "/x", "/x?a=0&a=0"),
        ("/x?a=1&b=2&a=3", "/x?b=2", "/x?a=0&b=2&a=0"),
        ("/x?a=1=2&b=3", "/x?b=3", "/x?a=0&b=3"),
        ("/x?ba=1", "/x?ba=1", "/x?ba=1"),
        ("/x?A=1", "/x?A=1", "/x?A=1"),
        ("/x?b=a=1", "/x?b=a=1", "/x?b=a=1"),
        ("/x?a=1&", "/x?", "/x?a=0&"),
        ("/x?&a=1", "/x?", "/x?&a=0"),
        ("/x?a=1#f", "/x#f", "/x?a=0#f"),
        ("/x?b=2#a=1", "/x?b=2#a=1", "/x?b=2#a=1"),
        ("/x#?a=1", "/x#?a=1", "/x#?a=1"),
        ("/x?a=http://y/?b=2", "/x", "/x?a=0"),
        ("/x?u=http://y/?a=2", "/x?u=http://y/?a=2", "/x?u=http://y/?a=2"),
        # Apache's directory listings: ; between parameters.
        ("/x/?a=N;O=D", "/x/?O=D", "/x/?a=0;O=D"),
        ("/x/?C=N;a=D", "/x/?C=N", "/x/?C=N;a=0"),
        ("/x/?C=N;a=D;b=1", "/x/?C=N;b=1", "/x/?C=N;a=0;b=1"),
        # A ; that no name= follows is part of the value.
        ("/x?a=1;2&b=3", "/x?b=3", "/x?a=0&b=3"),
        ("/x?b=1;2&a=3", "/x?b=1;2", "/x?b=1;2&a=0"),
        # Path parameters.
        ("/x;a=1", "/x", "/x;a=0"),
        ("/x;a=1/y", "/x/y", "/x;a=0/y"),
        ("/x;a=1;b=2/y", "/x;b=2/y", "/x;a=0;b=2/y"),
        ("/x;b=2;a=1?a=3&c=4", "/x;b=2?c=4", "/x;b=2;a=0?a=0&c=4"),
        ("/x;a", "/x;a", "/x;a"),
        ("/x;ba=1", "/x;ba=1", "/x;ba=1"),
        ("/a=1/x", "/a=1/x", "/a=1/x"),
        ("/x;a=1#f", "/x#f", "/x;a=0#f"),
    ],
)
def test_a_parameter_is_left_out_or_set(url, omitted, fixed):
    assert OMIT.apply(url) == omitted
    assert SET.apply(url) == fixed


@pytest.mark.parametrize(
    "url", ["http://a.example/p?a&b=2", "http://a.example/p;a=1", "http://a.example/?a=1;b=2"]
)
def test_what_is_learned_of_a_parameter_is_what_a_crawl_does(url):
    """The learner weighs an edit between two URLs; the canonizer obeys the rule; one function does both."""
    without = OMIT.apply(url)
    assert without != url
    assert OMIT in edits_between(parts_of(url), parts_of(without))
    moved = classes_of({url: "page", without: "page"}).effect(OMIT).moved
    assert moved == {url: without}
    assert Canonizer({"a.example": [OMIT]}, site_of).canonize(url) == without


def test_a_value_that_is_not_there_is_empty():
    empty = Rule.of(DropParameter("a", ""))
    assert [empty.apply(f"/x{rest}") for rest in ("?a", "?a=", ";a=", "?a=1")] == ["/x", "/x", "/x", "/x?a=1"]


def test_a_rule_about_any_value_is_narrowed_to_one():
    of_value = OMIT.for_value("7")
    assert of_value.apply("http://a.example/x;a=7/y?a=8") == "http://a.example/x/y?a=8"
    assert Rule.of(CutValue("a", "-")).for_value("7-1") == Rule.of(
        CutValue("a", "-"), where=(Condition("?a", "7-1"),)
    )
    assert of_value.for_value("7") is None
    assert Rule.of(DropQuery()).for_value("a=7") is None


@pytest.mark.parametrize(
    ("operation", "url", "changed"),
    [
        (AnyValue("a"), "/x;a=1?b&a=2;c=3", "/x;a=*?b&a=*;c=3"),
        (CutValue("a", "-"), "/x;a=1-2/y?a=3-4", "/x;a=1/y?a=3"),
        (MapValue("a", "1", "2"), "/x;a=1?a=1;b=1", "/x;a=2?a=2;b=1"),
        (SortParameters(), "/x?O=D;C=N", "/x?C=N;O=D"),
        (SortParameters(), "/x?c=1&b;a=2", "/x?a=2&b&c=1"),
        (DropRepeated(), "/x?a=1;a=1&b=2", "/x?a=1&b=2"),
        (DropEmpty(), "/x?a=;b=1&c", "/x?b=1"),
        (KeepParameters(frozenset("b")), "/x?a=1;b=2;c=3", "/x?b=2"),
    ],
)
def test_parameters_keep_their_separators(operation, url, changed):
    assert Rule.of(operation).apply(url) == changed


def test_names_are_taken_literally():
    assert Rule.of(DropParameter("a[]")).apply("/?a[]=1&b=2&a=3") == "/?b=2&a=3"
    assert Rule.of(DropParameter("a.b")).apply("/?axb=1&a.b=2") == "/?axb=1"


@pytest.mark.parametrize(
    ("url", "changed"),
    [
        ("/x?afg38_page_id=2&b=1", "/x?b=1"),
        ("/x;afg3_page_id=1?afg4_page_id", "/x"),
        ("/x?afg_page_id=2&afg1_2_page_id=3&xafg1_page_id=4&afg1page_id=5", None),
    ],
)
def test_a_parameter_with_any_number_in_its_name_is_left_out(url, changed):
    assert Rule.of(DropNumbered.like("afg7_page_id")).apply(url) == (changed or url)


def test_only_a_name_with_one_number_and_something_else_is_like_others():
    assert DropNumbered.like("p2") == DropNumbered("p", "")
    assert DropNumbered.like("2p") == DropNumbered("", "p")
    assert [DropNumbered.like(name) for name in ("page", "38", "a1b2")] == [None, None, None]


def test_an_id_is_cut_and_nothing_else():
    rule = Rule.of(ShortenValue("rev", 8))
    assert rule.apply("/?rev=7d216248a0b8&id=7d216248a0b8") == "/?rev=7d216248&id=7d216248a0b8"
    for value in ("7d216248", "123456789012", "deadbeefcafe", "7d216248a0b8.txt"):
        assert rule.apply(f"/?rev={value}") == f"/?rev={value}"


@given(parameter_rules(), any_urls())
def test_a_parameter_left_out_is_gone_and_one_set_has_the_value(rule, url):
    changed = rule.apply(url)
    values = set(parts_of(changed).values(rule.operations[0].name)) - {None}
    assert values <= (set() if rule.fixed_value_operation is None else {rule.fixed_value_operation.value})
    assert rule.apply(changed) == changed


@given(parameter_rules(), any_urls())
def test_the_other_parameters_stay_as_they_are(rule, url):
    def others(of: str) -> list[tuple[str, str | None]]:
        found = parts_of(of).parameters
        return [(name, value) for name, value in found if name and name != rule.operations[0].name]

    assert others(rule.apply(url)) == others(url)


@given(parameter_rules(), rules())
def test_a_parameter_rule_is_refined_by_itself_only(rule, other):
    assert rule.refines(other) == (rule == other)
    assert other.refines(rule) == (rule == other)


@given(st.sampled_from("ab"), st.text("ab?&;=#/", max_size=16))
def test_what_is_left_out_at_once_is_left_out_one_by_one(name, text):
    rule, url = Rule.of(DropParameter(name)), f"/?{text}"
    one_by_one = url
    for value in dict.fromkeys(parts_of(url).values(name)):
        one_by_one = Rule.of(DropParameter(name, value or "")).apply(one_by_one)
    assert rule.apply(url) == one_by_one

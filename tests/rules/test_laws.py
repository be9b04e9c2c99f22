"""What holds for all URLs and edits."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.propose.edits.differences import differences
from scrapy_dust.rules.guards import Condition, attribute, attributes, holds, required_texts, without_implied
from scrapy_dust.rules.parameters import DropParameter, MapValue, SetParameter
from scrapy_dust.rules.path_rewriting import Rewrite
from scrapy_dust.rules.paths import AnySegment, DropSlash, MapSegments
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.site_rules import SiteRules
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.rules.url_words import words_of
from scrapy_dust.url.parts import parts_of
from tests.rules.strategies import any_text, conditions, operations, urls


@given(url=urls, operation=operations)
def test_an_operation_that_does_nothing_gives_the_same_object_and_one_that_does_something_has_its_needle(
    url, operation
):
    anatomy = parts_of(url)
    edited = operation.apply(anatomy)
    assert (edited is anatomy) == (edited == anatomy)
    assert edited is anatomy or operation.needle in url
    if edited is not anatomy:
        assert all(text in url for text, _ in operation.needs)
        assert all(word in words_of(url) for _, words in operation.needs for word in words)


@given(url=urls | any_text, operation=operations)
def test_a_text_is_changed_as_its_parts_are(url, operation):
    assert operation.in_text(url) == operation.apply(parts_of(url)).url


@given(
    url=urls | any_text,
    made=st.lists(operations, min_size=1, max_size=3),
    guard=st.lists(conditions, max_size=2),
)
def test_several_operations_under_a_guard_change_a_text_as_they_change_its_parts(url, made, guard):
    rule = Rule(tuple(made), tuple(guard))
    assert rule.apply(url) == rule.change(parts_of(url)).url


@given(url=urls, operation=operations)
def test_an_operation_made_again_changes_nothing_more(url, operation):
    once = SiteRules("", [Rule.of(operation)]).settle(url)
    assert once is None or operation.apply(parts_of(once)).url == once


@given(url=urls)
def test_all_that_can_be_a_condition_is_true_of_its_url(url):
    anatomy = parts_of(url)
    assert all(attribute(anatomy, name) == value for name, value in attributes(anatomy).items())


@given(one=urls, other=urls)
def test_differences_do_not_depend_on_which_url_comes_first(one, other):
    a, b = parts_of(one), parts_of(other)
    assert differences(a, b) == differences(b, a)
    assert differences(a, a) == []


@given(url=urls, operation=operations)
def test_the_widest_edits_that_a_pair_suggests_bring_it_together_where_it_differs_in_one_place(
    url, operation
):
    """The languages of candidates and of operations fit each other, for what is dropped or spelled otherwise."""
    anatomy = parts_of(url)
    edited = operation.apply(anatomy)
    places = differences(anatomy, edited)
    if len(places) == 1 and operation.family in ("fragment", "slash", "www", "scheme", "parameter", "order"):
        assert any(
            SiteRules("", [Rule.of(one)]).key(url) == SiteRules("", [Rule.of(one)]).key(edited.url)
            for one in places[0]
        )


def test_an_edit_that_puts_a_mark_into_a_url_leads_to_no_url():
    to_mark = Rewrite(("/a/", 0), ("/*/", 0), ("word",))
    assert not Rule((to_mark,)).leads_to_urls
    assert not Rule((AnySegment(1),)).leads_to_urls
    assert Rule((Rewrite(("/*/", 0), ("/a/", 0), ("word",)),)).leads_to_urls
    assert Rule((MapValue("a", "1", "2"),)).leads_to_urls


@given(url=urls)
def test_a_url_has_the_text_and_the_words_that_a_condition_asks_for_where_it_is_true(url):
    for name, value in attributes(parts_of(url)).items():
        for text in (*required_texts(Condition(name)), *required_texts(Condition(name, value))):
            assert text in url
            assert {*words_of(text)} <= {*words_of(url)}
            assert {*pairwise(words_of(text))} <= {*pairwise(words_of(url))}


@given(url=urls, guard=st.lists(conditions, max_size=5))
def test_the_shortest_guard_holds_where_all_conditions_do(url, guard):
    assert holds(without_implied(guard), parts_of(url)) == holds(tuple(guard), parts_of(url))


def test_a_condition_that_another_one_implies_is_left_out():
    of_format = (Condition("?format"), Condition("?format", "rss"), Condition("?format", "csv", holds=False))
    assert without_implied(of_format) == (Condition("?format", "rss"),)


def test_a_rule_about_one_commit_names_an_id_and_a_rule_about_any_commit_does_not():
    assert Rule.of(MapSegments(("41e4f24430a2",), ("tip",))).names_an_id
    assert Rule.of(Substitute("?rev=7d216248a0b8", "")).names_an_id
    assert Rule.of(DropSlash(), where=(Condition("/2", "65d3e8301586"),)).names_an_id
    for one in (
        DropParameter("rev"),
        SetParameter("page", "1"),
        Substitute("/41e4f24430a2/index", "/41e4f24430a2/"),
    ):
        assert not Rule.of(one).names_an_id

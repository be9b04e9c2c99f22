"""What holds for all URLs and edits."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.dust.edits.anatomy import anatomy_of
from scrapy_dust.dust.edits.differences import differences
from scrapy_dust.dust.edits.edit import Edit, KeyFunction
from scrapy_dust.dust.edits.guards import attribute, attributes
from scrapy_dust.dust.edits.paths import AnySegment
from scrapy_dust.dust.edits.queries import MapValue
from scrapy_dust.dust.edits.rewriting import Rewrite
from tests.dust.edits.strategies import any_text, edits, operations, urls


@given(url=urls | any_text)
def test_taking_a_string_apart_loses_nothing(url):
    assert anatomy_of(url).url == url


@given(url=urls, operation=operations)
def test_an_operation_that_does_nothing_gives_the_same_object_and_one_that_does_something_has_its_needle(
    url, operation
):
    anatomy = anatomy_of(url)
    edited = operation.apply(anatomy)
    assert (edited is anatomy) == (edited == anatomy)
    assert edited is anatomy or operation.needle in url


@given(url=urls | any_text, rules=st.lists(edits, max_size=4))
def test_a_key_is_its_own_key(url, rules):
    function = KeyFunction(rules)
    assert function(function(url)) == function(url)


@given(
    url=urls,
    rules=st.lists(edits, max_size=4).flatmap(
        lambda found: st.tuples(st.just(found), st.permutations(found))
    ),
)
def test_the_order_in_which_edits_were_learned_does_not_matter(url, rules):
    assert KeyFunction(rules[0])(url) == KeyFunction(rules[1])(url)


@given(url=urls, rules=st.lists(edits, max_size=4))
def test_the_last_step_that_is_explained_is_the_key(url, rules):
    function = KeyFunction(rules)
    steps = function.explain(url)
    assert (steps[-1].after if steps else url) == function(url)
    for before, after in pairwise(steps):
        assert before.after == after.before


@given(url=urls | any_text)
def test_no_edits_no_change(url):
    assert KeyFunction(())(url) == url


def test_edits_that_feed_each_other_leave_a_url_alone():
    there = Edit((MapValue("a", "1", "2"),))
    back = Edit((MapValue("a", "2", "1"),))
    assert KeyFunction([there, back])("http://a.example/?a=1") == "http://a.example/?a=1"
    assert KeyFunction([there])("http://a.example/?a=1") == "http://a.example/?a=2"


@given(url=urls)
def test_all_that_can_be_a_condition_is_true_of_its_url(url):
    anatomy = anatomy_of(url)
    assert all(attribute(anatomy, name) == value for name, value in attributes(anatomy).items())


@given(one=urls, other=urls)
def test_differences_do_not_depend_on_which_url_comes_first(one, other):
    a, b = anatomy_of(one), anatomy_of(other)
    assert differences(a, b) == differences(b, a)
    assert differences(a, a) == []


@given(url=urls, operation=operations)
def test_the_widest_edits_that_a_pair_suggests_bring_it_together_where_it_differs_in_one_place(
    url, operation
):
    """The languages of candidates and of operations fit each other, for what is dropped or spelled otherwise."""
    anatomy = anatomy_of(url)
    edited = operation.apply(anatomy)
    places = differences(anatomy, edited)
    if len(places) == 1 and operation.family in ("fragment", "slash", "www", "scheme", "parameter", "order"):
        assert any(
            KeyFunction([Edit((one,))])(url) == KeyFunction([Edit((one,))])(edited.url) for one in places[0]
        )


def test_an_edit_that_puts_a_mark_into_a_url_leads_to_no_url():
    to_mark = Rewrite(("/a/", 0), ("/*/", 0), ("word",))
    assert not Edit((to_mark,)).leads_to_urls
    assert not Edit((AnySegment(1),)).leads_to_urls
    assert Edit((Rewrite(("/*/", 0), ("/a/", 0), ("word",)),)).leads_to_urls
    assert Edit((MapValue("a", "1", "2"),)).leads_to_urls

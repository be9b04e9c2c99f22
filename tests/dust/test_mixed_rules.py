"""Plain rules and edits of one site, made one key function."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dust.dust.canonization import Canonizer, Step
from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.edits.guards import Condition
from scrapy_dust.dust.edits.paths import CollapseRepeats, DropLast
from scrapy_dust.dust.edits.queries import AnyValue, DropParameter, MapValue, SortParameters
from scrapy_dust.dust.edits.rewriting import Rewrite
from scrapy_dust.dust.edits.spellings import FoldCase, MapHost
from scrapy_dust.dust.rules import ParameterRule, Rule, SubstringRule
from scrapy_dust.dust.sought_words import SoughtWords
from scrapy_dust.sites import site_of
from tests import strategies as plain
from tests.dust.edits import strategies as edited

SITE = "a.example"

some_rules = st.lists(st.one_of(edited.edits, plain.rules()), max_size=6)
some_urls = edited.urls | plain.urls()
passes = st.integers(0, 4)


def literally(of_site: Sequence[Rule], url: str, passes: int) -> tuple[list[Step], bool]:
    """Every rule on every form: parameters, substrings, then edits, until nothing changes."""
    kinds = [
        [rule for rule in of_site if isinstance(rule, ParameterRule)]
        + [rule for rule in of_site if isinstance(rule, SubstringRule)],
        sorted((rule for rule in of_site if isinstance(rule, Edit)), key=lambda edit: edit.order),
    ]
    steps: list[Step] = []
    form = url
    for _ in range(passes):
        form, is_settled = rested(kinds[0], form, passes, steps)
        if not is_settled:
            return steps, False
        edited_form, is_settled = rested(kinds[1], form, passes, steps)
        if edited_form == form or not is_settled:
            return steps, is_settled and (form == url or site_of(form) == SITE)
        form = edited_form
    return steps, False


def rested(rules: Sequence[Rule], form: str, passes: int, steps: list[Step]) -> tuple[str, bool]:
    for _ in range(passes):
        before = form
        for rule in rules:
            after = rule.apply(form)
            if after != form:
                steps.append(Step(rule, form, after))
                form = after
        if form == before:
            return form, True
    return form, False


def canonizer(of_site: Sequence[Rule], passes: int = 10) -> Canonizer:
    return Canonizer({SITE: of_site}, site_of, passes)


@pytest.mark.once
@settings(max_examples=300)
@given(some_rules, st.lists(some_urls, min_size=1, max_size=4), passes)
def test_rules_of_all_kinds_made_ready_do_what_they_do_one_by_one(of_site, several, passes):
    ready = canonizer(of_site, passes)
    for url in several:
        if site_of(url) != SITE:
            continue
        steps, taken = literally(of_site, url, passes)
        final = steps[-1].after if steps and taken else url
        assert ready.canonize(url) == final
        assert ready.explain(url) == (tuple(steps) if final != url else ())


@given(some_rules, some_urls | edited.any_text, passes)
def test_a_key_is_its_own_key(of_site, url, passes):
    ready = canonizer(of_site, passes)
    assert ready.canonize(ready.canonize(url)) == ready.canonize(url)


@given(some_rules, some_urls, passes)
def test_what_explains_a_key_leads_there_step_by_step(of_site, url, passes):
    ready, form = canonizer(of_site, passes), url
    for step in ready.explain(url):
        assert step.before == form
        assert step.rule in of_site
        assert step.after == step.rule.apply(form) != form
        form = step.after
    assert form == ready.canonize(url)


@given(some_rules, some_urls)
def test_a_site_without_rules_is_not_touched_by_those_of_others(of_site, url):
    of_others = {"other.example": of_site, "b.test": of_site}
    assert Canonizer(of_others, site_of).canonize(url) is url
    alone = canonizer(of_site).canonize(url)
    assert Canonizer({**of_others, SITE: of_site}, site_of).canonize(url) == alone


@given(some_rules.flatmap(lambda found: st.tuples(st.just(found), st.permutations(found))), some_urls)
def test_the_order_of_edits_in_a_book_does_not_matter(rules, url):
    plain_rules = [rule for rule in rules[0] if not isinstance(rule, Edit)]
    orders = [[*plain_rules, *(rule for rule in order if isinstance(rule, Edit))] for order in rules]
    assert canonizer(orders[0]).canonize(url) == canonizer(orders[1]).canonize(url)


@given(st.lists(plain.rules(), max_size=4), some_urls)
def test_an_edit_that_has_nothing_to_do_with_a_url_leaves_it_to_the_plain_rules(of_site, url):
    idle = Edit((DropParameter("no_such_parameter"),))
    assert canonizer([idle, *of_site]).canonize(url) == canonizer(of_site).canonize(url)


@pytest.mark.once
@settings(max_examples=500)
@given(
    st.lists(edited.edits, min_size=1, max_size=6),
    st.lists(edited.urls | edited.any_text, min_size=1, max_size=4),
)
def test_an_edit_that_changes_a_url_is_among_those_that_its_words_are_looked_up_for(edits, several):
    words = SoughtWords(SITE, edits)
    for url in several:
        asked = words.places(url)
        assert list(asked) == sorted(set(asked))
        assert {place for place, edit in enumerate(edits) if edit.apply(url) != url} <= set(asked)


def test_how_many_edits_are_asked_for_a_url_does_not_grow_with_their_number():
    def edits(count):
        for number in range(count // 4):
            yield Edit((DropParameter(f"p{number}"),))
            yield Edit((DropLast(f"index{number}.html"),), (Condition("host", "a.example"),))
            yield Edit((Rewrite((f"/print{number}.pl?sid=", 0), (f"/news{number}/", 0), ("numbers",)),))
            yield Edit((AnyValue("id"),), (Condition("path", f"/shop{number}/list"),))

    url = "http://a.example/shop7/index5.html?p3=1&id=2"
    few, many = (len(SoughtWords(SITE, list(edits(count))).places(url)) for count in (100, 10_000))
    assert few == many <= 4


def test_plain_rules_go_first_and_have_another_go_at_what_edits_make():
    ready = canonizer(
        [
            Edit((SortParameters(),)),
            SubstringRule("?id=1&page=2", "/one", end=True),
            ParameterRule("sid"),
            Edit((DropLast("index.html"),)),
        ]
    )
    assert ready.canonize("http://a.example/s?id=1&page=2") == "http://a.example/s/one"
    assert ready.canonize("http://a.example/s?page=2&sid=7&id=1") == "http://a.example/s/one"
    assert ready.canonize("http://a.example/index.html?sid=7") == "http://a.example/"


def test_what_stands_in_two_places_moves_at_once():
    story = Edit((Rewrite(("/print.pl?sid=", 0), ("/newsvac/", 0, ".shtml"), ("numbers",)),))
    ready = canonizer([story, ParameterRule("from")])
    assert ready.canonize("http://a.example/print.pl?sid=06/06/27/2&from=rss") == (
        "http://a.example/newsvac/06/06/27/2.shtml"
    )


def test_edits_that_feed_each_other_or_leave_the_site_change_nothing():
    there, back = Edit((MapValue("a", "1", "2"),)), Edit((MapValue("a", "2", "1"),))
    assert canonizer([there, back]).canonize("http://a.example/?a=1") == "http://a.example/?a=1"
    feeding = SubstringRule("?a=2", "?a=1")
    assert canonizer([there, feeding]).canonize("http://a.example/?a=1") == "http://a.example/?a=1"
    away = Edit((MapHost("a.example", "b.test"),))
    assert canonizer([away]).canonize("http://a.example/x") == "http://a.example/x"
    assert canonizer([away]).explain("http://a.example/x") == ()


def test_long_urls_are_done_with_as_fast_as_short_ones():
    """In proportion: what a rule tries must not grow with a power of the length."""
    captures = Rewrite(("/", 0, "/", 1, "/", 2, "x"), ("/", 0), ("path", "path", "path"))
    ready = canonizer([Edit((captures,)), Edit((CollapseRepeats(),)), Edit((FoldCase(),))])
    url = "http://a.example" + "/A/b/c" * 300
    assert ready.canonize(url) == "http://a.example/a/b/c"

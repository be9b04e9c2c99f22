from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_dust.dust.rules import (
    ParameterRule,
    SubstringRule,
    anchored,
    pair_refines,
    parameters,
    refines,
    shrinking,
)
from tests import oracle
from tests.strategies import any_urls, parameter_rules, rules, scraps, substring_rules, urls


def sides(rule: SubstringRule) -> tuple[oracle.Tokens, oracle.Tokens]:
    """Both sides of *rule* as strings over tokens."""
    head, tail = (oracle.START,) * rule.start, (oracle.END,) * rule.end
    return (*head, *oracle.tokens_of(rule.alpha), *tail), (*head, *oracle.tokens_of(rule.beta), *tail)


# --- applying -------------------------------------------------------------------------------------------------


@given(substring_rules("ab1/.", 3), scraps("ab1/.", 10))
@example(SubstringRule("1", "2"), "12/1")
@example(SubstringRule("a", ""), "1/a1/b")
@example(SubstringRule("a.a", "a"), "a.a.a")
@example(SubstringRule("", "a", start=True), "b")
@example(SubstringRule("", "/", start=True, end=True), "")
def test_applying_replaces_the_first_occurrence_of_whole_tokens(rule, url):
    assert rule.apply(url) == oracle.apply_rule(*sides(rule), url)


@given(substring_rules(), any_urls())
def test_applying_is_the_same_on_any_url(rule, url):
    assert rule.apply(url) == oracle.apply_rule(*sides(rule), url)


@given(st.data())
def test_a_rule_made_from_a_url_changes_it_as_the_paper_says(data):
    url = data.draw(urls())
    tokens = oracle.tokens_of(url)
    begin = data.draw(st.integers(0, len(tokens)))
    end = data.draw(st.integers(begin, len(tokens)))
    alpha, beta = "".join(tokens[begin:end]), data.draw(scraps(max_size=3))
    rule = SubstringRule(alpha, beta, start=begin == 0, end=end == len(tokens))
    assert rule.apply(url) == oracle.apply_rule(*sides(rule), url)


@given(substring_rules("ab1/.", 3), scraps("ab1/.", 8))
def test_what_a_rule_makes_of_a_url_is_an_instance_of_it(rule, url):
    changed = rule.apply(url)
    assert changed == url or oracle.is_instance(url, changed, *sides(rule))


@pytest.mark.parametrize(
    ("rule", "url", "changed"),
    [
        (SubstringRule("/index.html", "", end=True), "http://a/b/index.html", "http://a/b"),
        (SubstringRule("/index.html", "", end=True), "http://a/b/index.html?x", "http://a/b/index.html?x"),
        (SubstringRule("story?id=", "story_"), "http://a/story?id=7", "http://a/story_7"),
        (SubstringRule("1", "2"), "http://a/12/1/1", "http://a/12/2/1"),
        (SubstringRule("http://www.", "http://", start=True), "http://www.a/", "http://a/"),
        (SubstringRule("http://www.", "http://", start=True), "https://a/?u=http://www.b", None),
        (SubstringRule("/", "", end=True), "http://a/b/", "http://a/b"),
        (SubstringRule("/", "", start=True, end=True), "/", ""),
        (SubstringRule("", "x"), "http://a/", None),
        (SubstringRule("-", ""), "a-b", None),
        (SubstringRule("-", ""), "a-b/-", "a-b/"),
        (SubstringRule("^", "!", start=True), "^a", "!a"),
        (SubstringRule("$", "", end=True), "a$$", "a$"),
        (SubstringRule(".", "x"), "a.b c.", None),
        (SubstringRule("é", "e"), "/é/", "/e/"),
        (SubstringRule("é", "e"), "/caé", None),
    ],
)
def test_applying_a_substring_rule(rule, url, changed):
    assert rule.apply(url) == (url if changed is None else changed)


@given(substring_rules(), any_urls())
def test_a_substring_rule_that_does_not_apply_gives_the_very_same_url(rule, url):
    changed = rule.apply(url)
    assert changed is url or changed != url


# --- parameters -----------------------------------------------------------------------------------------------

OMIT, SET = ParameterRule("a"), ParameterRule("a", "0")


@pytest.mark.parametrize(
    ("url", "omitted", "fixed"),
    [
        ("/x", "/x", "/x"),
        ("/x?a=1", "/x", "/x?a=0"),
        ("/x?a=", "/x", "/x?a=0"),
        ("/x?a", "/x?a", "/x?a"),
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


def test_names_are_taken_literally():
    assert ParameterRule("a[]").apply("/?a[]=1&b=2&a=3") == "/?b=2&a=3"
    assert ParameterRule("a.b").apply("/?axb=1&a.b=2") == "/?axb=1"


@given(parameter_rules(), any_urls())
def test_a_parameter_left_out_is_gone_and_one_set_has_the_value(rule, url):
    changed = rule.apply(url)
    values = {changed[p.value_begin : p.end] for p in parameters(changed) if p.name == rule.name}
    assert values <= (set() if rule.value is None else {rule.value})
    assert rule.apply(changed) == changed


@given(parameter_rules(), any_urls())
def test_the_other_parameters_stay_as_they_are(rule, url):
    def others(of: str) -> list[tuple[str, str]]:
        return [(p.name, of[p.value_begin : p.end]) for p in parameters(of) if p.name != rule.name]

    assert others(rule.apply(url)) == others(url)


def one_by_one(rule: ParameterRule, url: str) -> str:
    """The URL written anew for each parameter, the last first."""
    for found in reversed([found for found in parameters(url) if found.name == rule.name]):
        rest = url[found.end :]
        if rule.value is not None:
            url = url[: found.value_begin] + rule.value + rest
        elif url[found.begin - 1] == "?" and rest[:1] in ("&", ";"):
            url = url[: found.begin] + rest[1:]
        else:
            url = url[: found.begin - 1] + rest
    return url


@given(st.sampled_from("ab"), st.sampled_from([None, "", "1"]), scraps("ab?&;=#/", 16))
def test_all_parameters_at_once_are_one_after_the_other(name, value, text):
    rule, url = ParameterRule(name, value), f"/?{text}"
    assert rule.apply(url) == one_by_one(rule, url)


@given(any_urls())
def test_parameters_do_not_overlap_and_lie_where_they_say(url):
    end = 0
    for parameter in parameters(url):
        assert end <= parameter.begin < parameter.value_begin <= parameter.end <= len(url)
        assert url[parameter.begin : parameter.value_begin] == parameter.name + "="
        end = parameter.end


# --- order, refinement ----------------------------------------------------------------------------------------


@given(substring_rules())
def test_of_a_pair_the_shrinking_rule_has_more_tokens_or_is_later_in_order(rule):
    assert sides(shrinking(rule)) == oracle.shrinking(*sides(rule))
    assert shrinking(rule) == shrinking(rule.reversed())
    assert shrinking(shrinking(rule)) == shrinking(rule)


@given(substring_rules())
def test_rules_are_sorted_with_their_anchors(rule):
    assert anchored(rule) == (*(oracle.text_of(side) for side in sides(rule)), rule.start, rule.end)


@st.composite
def rules_with_context(draw: st.DrawFn) -> tuple[SubstringRule, SubstringRule]:
    """A rule with some context around it, and the rule; a refinement, but where a token was cut in two."""
    wide = draw(substring_rules("a/.", 3))
    head = "" if wide.start else draw(scraps("a/.", 2))
    tail = "" if wide.end else draw(scraps("a/.", 2))
    start, end = wide.start or draw(st.booleans()), wide.end or draw(st.booleans())
    return SubstringRule(head + wide.alpha + tail, head + wide.beta + tail, start, end), wide


pairs_of_rules = rules_with_context() | st.tuples(substring_rules("a/.", 4), substring_rules("a/.", 2))


@given(pairs_of_rules)
def test_refinement_is_that_of_lemma_5_3(pair):
    narrow, wide = pair
    assert refines(narrow, wide) == oracle.rule_refines(sides(narrow), sides(wide))
    assert pair_refines(narrow, wide) == oracle.pair_refines(
        oracle.Pair(*sides(narrow), 0), oracle.Pair(*sides(wide), 0)
    )


@given(pairs_of_rules, st.lists(st.tuples(scraps("a/.", 3), scraps("a/.", 3)), max_size=5))
def test_refining_means_that_every_instance_is_one_of_the_wider_rule_too(pair, envelopes):
    """Definition 5.2. In an envelope of characters that are in no rule, only the rules can be the reason."""
    narrow, wide = pair
    contained = []
    for before, after in [("!", "?"), *envelopes]:
        p, s = "" if narrow.start else before, "" if narrow.end else after
        one, other = p + narrow.alpha + s, p + narrow.beta + s
        if oracle.is_instance(one, other, *sides(narrow)):
            contained.append(oracle.is_instance(one, other, *sides(wide)))
    if refines(narrow, wide):
        assert all(contained)
    else:
        assert not contained[0]


@given(substring_rules("a/.", 3))
def test_every_rule_refines_itself(rule):
    assert refines(rule, rule)
    assert pair_refines(rule, rule.reversed())


@given(parameter_rules(), rules())
def test_a_parameter_rule_is_refined_by_itself_only(rule, other):
    assert refines(rule, other) == (rule == other)
    assert refines(other, rule) == (rule == other)


def test_refinement_looks_at_every_occurrence():
    wide = SubstringRule("a", "b")
    for head, tail in itertools.product(("a/", "b/a/", ""), ("/a", "")):
        assert refines(SubstringRule(f"{head}a{tail}", f"{head}b{tail}"), wide)
    assert not refines(SubstringRule("a/a", "b/b"), wide)
    assert not refines(SubstringRule("aa", "ab"), wide)

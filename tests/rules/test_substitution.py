from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_dust.rules.substitution import Substitute, anchored, pair_refines, refines, shrinking
from tests import oracle
from tests.strategies import any_urls, scraps, substitutions, urls


def sides(rule: Substitute) -> tuple[oracle.Tokens, oracle.Tokens]:
    """Both sides of *rule* as strings over tokens."""
    head, tail = (oracle.START,) * rule.start, (oracle.END,) * rule.end
    return (*head, *oracle.tokens_of(rule.alpha), *tail), (*head, *oracle.tokens_of(rule.beta), *tail)


# --- applying -------------------------------------------------------------------------------------------------


@given(substitutions("ab1/.", 3), scraps("ab1/.", 10))
@example(Substitute("1", "2"), "12/1")
@example(Substitute("a", ""), "1/a1/b")
@example(Substitute("a.a", "a"), "a.a.a")
@example(Substitute("", "a", start=True), "b")
@example(Substitute("", "/", start=True, end=True), "")
def test_applying_replaces_the_first_occurrence_of_whole_tokens(rule, url):
    assert rule.in_text(url) == oracle.apply_rule(*sides(rule), url)


@given(substitutions(), any_urls())
def test_applying_is_the_same_on_any_url(rule, url):
    assert rule.in_text(url) == oracle.apply_rule(*sides(rule), url)


@given(st.data())
def test_a_rule_made_from_a_url_changes_it_as_the_paper_says(data):
    url = data.draw(urls())
    tokens = oracle.tokens_of(url)
    begin = data.draw(st.integers(0, len(tokens)))
    end = data.draw(st.integers(begin, len(tokens)))
    alpha, beta = "".join(tokens[begin:end]), data.draw(scraps(max_size=3))
    rule = Substitute(alpha, beta, start=begin == 0, end=end == len(tokens))
    assert rule.in_text(url) == oracle.apply_rule(*sides(rule), url)


@given(substitutions("ab1/.", 3), scraps("ab1/.", 8))
def test_what_a_rule_makes_of_a_url_is_an_instance_of_it(rule, url):
    changed = rule.in_text(url)
    assert changed == url or oracle.is_instance(url, changed, *sides(rule))


@pytest.mark.parametrize(
    ("rule", "url", "changed"),
    [
        (Substitute("/index.html", "", end=True), "http://a/b/index.html", "http://a/b"),
        (
            Substitute("/index.html", "", end=True),
            "http://a/b/index.html?x",
            "http://a/b/index.html?x",
        ),
        (Substitute("story?id=", "story_"), "http://a/story?id=7", "http://a/story_7"),
        (Substitute("1", "2"), "http://a/12/1/1", "http://a/12/2/1"),
        (Substitute("http://www.", "http://", start=True), "http://www.a/", "http://a/"),
        (Substitute("http://www.", "http://", start=True), "https://a/?u=http://www.b", None),
        (Substitute("/", "", end=True), "http://a/b/", "http://a/b"),
        (Substitute("/", "", start=True, end=True), "/", ""),
        (Substitute("", "x"), "http://a/", None),
        (Substitute("-", ""), "a-b", None),
        (Substitute("-", ""), "a-b/-", "a-b/"),
        (Substitute("^", "!", start=True), "^a", "!a"),
        (Substitute("$", "", end=True), "a$$", "a$"),
        (Substitute(".", "x"), "a.b c.", None),
        (Substitute("é", "e"), "/é/", "/e/"),
        (Substitute("é", "e"), "/caé", None),
    ],
)
def test_applying_a_substring_rule(rule, url, changed):
    assert rule.in_text(url) == (url if changed is None else changed)


@given(substitutions(), any_urls())
def test_a_substring_rule_that_does_not_apply_gives_the_very_same_url(rule, url):
    changed = rule.in_text(url)
    assert changed is url or changed != url


# --- order, refinement ----------------------------------------------------------------------------------------


@given(substitutions())
def test_of_a_pair_the_shrinking_rule_has_more_tokens_or_is_later_in_order(rule):
    assert sides(shrinking(rule)) == oracle.shrinking(*sides(rule))
    assert shrinking(rule) == shrinking(rule.reversed())
    assert shrinking(shrinking(rule)) == shrinking(rule)


@given(substitutions())
def test_rules_are_sorted_with_their_anchors(rule):
    assert anchored(rule) == (*(oracle.text_of(side) for side in sides(rule)), rule.start, rule.end)


@st.composite
def rules_with_context(draw: st.DrawFn) -> tuple[Substitute, Substitute]:
    """A rule with some context around it, and the rule; a refinement, but where a token was cut in two."""
    wide = draw(substitutions("a/.", 3))
    head = "" if wide.start else draw(scraps("a/.", 2))
    tail = "" if wide.end else draw(scraps("a/.", 2))
    start, end = wide.start or draw(st.booleans()), wide.end or draw(st.booleans())
    return Substitute(head + wide.alpha + tail, head + wide.beta + tail, start, end), wide


pairs_of_rules = rules_with_context() | st.tuples(substitutions("a/.", 4), substitutions("a/.", 2))


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


@given(substitutions("a/.", 3))
def test_every_rule_refines_itself(rule):
    assert refines(rule, rule)
    assert pair_refines(rule, rule.reversed())


def test_refinement_looks_at_every_occurrence():
    wide = Substitute("a", "b")
    for head, tail in itertools.product(("a/", "b/a/", ""), ("/a", "")):
        assert refines(Substitute(f"{head}a{tail}", f"{head}b{tail}"), wide)
    assert not refines(Substitute("a/a", "b/b"), wide)
    assert not refines(Substitute("aa", "ab"), wide)

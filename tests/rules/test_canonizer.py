from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from scrapy_dust.rules.canonizer import Canonizer, Step
from scrapy_dust.rules.guards import Condition
from scrapy_dust.rules.parameters import AnyValue, DropParameter, MapValue
from scrapy_dust.rules.path_rewriting import Rewrite
from scrapy_dust.rules.paths import CollapseRepeats, DropLast
from scrapy_dust.rules.queries import SortParameters
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.site_rules import SiteRules, in_order
from scrapy_dust.rules.spellings import FoldCase, MapHost
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.rules.text_index import TextIndex
from scrapy_dust.sites import site_of
from tests import oracle
from tests.rules import strategies as language
from tests.rules.test_substitution import sides
from tests.strategies import any_urls, rules, scraps, substring_rules, urls

SITE = "a.example"

of_papers = st.lists(rules(), max_size=4)
any_rules = language.rules | rules()
few_rules = st.lists(any_rules, max_size=5)
many_rules = st.lists(any_rules | substring_rules("ab1/.", 3), max_size=12)
some_urls = language.urls | urls()
passes = st.integers(0, 4)


def literally(
    of_site: Sequence[Rule], url: str, passes: int, *, anywhere: bool = False
) -> tuple[list[Step], bool]:
    """Every rule on every form, in the rules' order: the steps, and whether the form is taken."""
    steps, form = [], url
    for _ in range(passes):
        before = form
        for rule in in_order(of_site):
            after = rule.apply(form)
            if after != form:
                steps.append(Step(rule, form, after))
                form = after
        if form == before:
            return steps, form == url or anywhere or site_of(form) == SITE
    return steps, False


def sides_of(of_site: Sequence[Rule]) -> list[tuple[oracle.Tokens, oracle.Tokens]]:
    return [sides(rule.substitution) for rule in in_order(of_site) if rule.substitution is not None]


def canonizer(of_site: Sequence[Rule], passes: int = 10) -> Canonizer:
    return Canonizer({SITE: of_site}, site_of, passes)


@given(few_rules, some_urls | language.any_text, passes)
def test_canonize_is_idempotent(of_site, url, passes):
    form = canonizer(of_site, passes).canonize(url)
    assert canonizer(of_site, passes).canonize(form) == form


@settings(max_examples=300)
@given(many_rules, st.lists(some_urls, min_size=1, max_size=4), passes)
def test_rules_made_ready_do_what_all_of_them_do_one_by_one(of_site, several, passes):
    ready = canonizer(of_site, passes)
    for url in several:
        if site_of(url) != SITE:
            continue
        steps, taken = literally(of_site, url, passes)
        final = steps[-1].after if steps and taken else url
        assert ready.canonize(url) == final
        assert ready.forms(url) == (url, *(step.after for step in steps))
        assert ready.explain(url) == (tuple(steps) if final != url else ())


@settings(max_examples=300)
@given(many_rules, some_urls, passes)
@example([Rule((CollapseRepeats(),)), Rule((Substitute("", "/", False, True),))], "http://a.example", 2)
def test_step_by_step_a_form_comes_to_what_it_comes_to_at_once(of_site, url, passes):
    ready = SiteRules(SITE, of_site, passes=passes)
    steps: list[tuple[Rule, str, str]] = []
    end = ready.settle(url, steps=steps)
    if not steps:
        return
    rule, _, form = steps[0]
    state, then = None, (form, ready.rules.index(rule), 0)
    while then is not None and then != state:
        state = then
        then = ready.step(*state)
    forms = [form, *(after for _, _, after in steps[1:])]
    undo_each_other = len(set(forms)) < len(forms)
    assert (then and then[0]) == end or (undo_each_other and then is None)


crowd = st.lists(substring_rules("ab/", 5) | rules(), min_size=6, max_size=60, unique=True)


@settings(max_examples=100, suppress_health_check=[HealthCheck.data_too_large, HealthCheck.too_slow])
@given(crowd, st.lists(scraps("ab/", 12), min_size=1, max_size=4), passes)
def test_so_do_many_rules_that_share_their_words(of_site, texts, passes):
    ready = Canonizer({SITE: of_site}, lambda _: SITE, passes)
    for text in texts:
        steps, taken = literally(of_site, text, passes, anywhere=True)
        assert ready.canonize(text) == (steps[-1].after if steps and taken else text)
        assert ready.forms(text) == (text, *(step.after for step in steps))


@settings(max_examples=100, suppress_health_check=[HealthCheck.data_too_large, HealthCheck.too_slow])
@given(crowd, scraps("ab/", 12), st.integers(1, 12), passes)
def test_so_do_they_where_a_url_repeats_its_words(of_site, text, times, passes):
    url = f"{text}/a/b/" * times * 4
    steps, taken = literally(of_site, url, passes, anywhere=True)
    ready = Canonizer({SITE: of_site}, lambda _: SITE, passes)
    assert ready.canonize(url) == (steps[-1].after if steps and taken else url)


@settings(max_examples=100, suppress_health_check=[HealthCheck.data_too_large, HealthCheck.too_slow])
@given(st.lists(crowd, min_size=2, max_size=4), st.lists(scraps("ab/", 12), min_size=1, max_size=4), passes)
def test_many_rules_of_several_sites_are_kept_apart(of_sites, texts, passes):
    """What sites share to look words up does not pass over a rule of one, in whatever order they are met."""
    asked = ""
    ready = Canonizer({str(site): of_site for site, of_site in enumerate(of_sites)}, lambda _: asked, passes)
    for text in texts:
        for site, of_site in enumerate(of_sites):
            asked = str(site)
            steps, taken = literally(of_site, text, passes, anywhere=True)
            assert ready.canonize(text) == (steps[-1].after if steps and taken else text)


@given(st.lists(st.lists(scraps("ab/?=", 5), max_size=12), min_size=1, max_size=4), scraps("ab/?=", 12))
def test_a_site_is_asked_for_every_word_whose_rules_have_their_text_in_the_url(of_sites, url):
    shared = TextIndex()
    literals = [f"{text[:2]}/a/{text[2:]}" for of_site in of_sites for text in of_site]
    for of_site in of_sites:
        shared.add(b"a", [f"{text[:2]}/a/{text[2:]}" for text in of_site])
    url += "/a/" + url
    _, first, others = shared.of_key(b"a") or (b"", "/a/", ())
    assert all("a" in text for text in (first, *others))
    assert any(text in url for text in (first, *others)) or not any(literal in url for literal in literals)


@given(st.lists(substring_rules(), max_size=4), urls(), passes)
def test_canonize_is_figure_5_5_where_its_passes_suffice_and_the_site_stays(of_site, url, passes):
    form, settled = oracle.canonize(url, sides_of(of_site), passes)
    finished = settled and (form == url or site_of(form) == SITE)
    assert canonizer(of_site, passes).canonize(url) == (form if finished else url)


@given(st.lists(substring_rules("ab1/", 3), max_size=4), scraps("ab1/", 8), passes)
def test_canonize_is_figure_5_5_on_short_texts_too(of_site, text, passes):
    everywhere = Canonizer({"site": of_site}, lambda _: "site", passes)
    form, settled = oracle.canonize(text, sides_of(of_site), passes)
    assert everywhere.canonize(text) == (form if settled else text)


@given(any_urls(), passes)
def test_canonize_is_the_identity_without_rules(url, passes):
    for none in (Canonizer({}, site_of, passes), canonizer([], passes)):
        assert not none
        assert none.canonize(url) is url
        assert none.explain(url) == ()


@given(st.lists(rules(), min_size=1, max_size=4), any_urls())
def test_urls_of_other_sites_stay_as_they_are(of_site, url):
    elsewhere = Canonizer({"other.example": of_site}, site_of)
    assert elsewhere
    assert elsewhere.canonize(url) is url


@given(few_rules, any_urls())
def test_canonize_never_leaves_the_site(of_site, url):
    assert site_of(canonizer(of_site).canonize(url)) == site_of(url)


@given(few_rules, some_urls, passes)
def test_explain_leads_from_the_url_to_its_canonical_form_step_by_step(of_site, url, passes):
    ready = canonizer(of_site, passes)
    form, steps = url, ready.explain(url)
    for step in steps:
        assert step.before == form
        assert step.rule in of_site
        assert step.after == step.rule.apply(form) != form
        form = step.after
    assert form == ready.canonize(url)


def test_rules_that_feed_each_other_leave_the_url_as_it_is():
    growing = Rule.of(Substitute("/x", "/x/x"))
    assert canonizer([growing]).canonize("http://a.example/x") == "http://a.example/x"
    there, back = Rule.of(Substitute("/x/", "/y/")), Rule.of(Substitute("/y/", "/z/x/"))
    assert canonizer([there, back]).canonize("http://a.example/x/") == "http://a.example/x/"


def test_rules_that_undo_each_other_still_give_one_form():
    there, back = Rule.of(Substitute("/x", "/y")), Rule.of(Substitute("/y", "/x"))
    for of_site in ([there, back], [back, there]):
        assert canonizer(of_site).canonize("http://a.example/x") == "http://a.example/x"
        assert canonizer(of_site).canonize("http://a.example/y") == "http://a.example/x"


def test_parameters_come_before_what_makes_paths_of_queries():
    story = Rule.of(Substitute("story?id=", "story_"))
    orders: list[list[Rule]] = [
        [story, Rule.of(DropParameter("sid"))],
        [Rule.of(DropParameter("sid")), story],
    ]
    for of_site in orders:
        assert canonizer(of_site).canonize("http://a.example/story?id=7&sid=1") == "http://a.example/story_7"


def test_a_form_on_another_site_is_not_taken():
    away = Rule.of(Substitute("a.example", "b.test"))
    assert canonizer([away]).canonize("http://a.example/x") == "http://a.example/x"
    broken = Rule.of(Substitute("http", "htp", start=True))
    assert canonizer([broken]).canonize("http://a.example/x") == "http://a.example/x"
    assert canonizer([broken]).explain("http://a.example/x") == ()


def test_several_rules_work_together():
    ready = canonizer(
        [
            Rule.of(DropParameter("sid")),
            Rule.of(Substitute("/index.html", "/", end=True)),
            Rule.of(Substitute("http://www.", "http://", start=True)),
        ]
    )
    url = "http://www.a.example/d/index.html?sid=7"
    assert ready.canonize(url) == "http://a.example/d/"
    assert [step.after for step in ready.explain(url)] == [
        "http://www.a.example/d/index.html",
        "http://www.a.example/d/",
        "http://a.example/d/",
    ]


@given(few_rules.flatmap(lambda found: st.tuples(st.just(found), st.permutations(found))), some_urls)
def test_the_order_in_which_rules_were_found_does_not_matter(rules, url):
    assert canonizer(rules[0]).canonize(url) == canonizer(rules[1]).canonize(url)


@given(few_rules, some_urls)
def test_a_site_is_not_touched_by_the_rules_of_others(of_site, url):
    of_others = {"other.example": of_site, "b.test": of_site}
    assert Canonizer(of_others, site_of).canonize(url) is url
    alone = canonizer(of_site).canonize(url)
    assert Canonizer({**of_others, SITE: of_site}, site_of).canonize(url) == alone


@pytest.mark.once
@settings(max_examples=500)
@given(
    st.lists(language.rules, min_size=1, max_size=6),
    st.lists(language.urls | language.any_text, min_size=1, max_size=4),
)
def test_a_rule_that_changes_a_url_is_among_those_that_its_words_are_looked_up_for(of_site, several):
    ready = SiteRules(SITE, of_site)
    for url in several:
        asked = ready.places(url)
        assert list(asked) == sorted(set(asked))
        assert {place for place, rule in enumerate(ready.rules) if rule.apply(url) != url} <= set(asked)


@given(few_rules, language.rules, some_urls)
def test_one_rule_more_does_what_it_does_among_the_others(of_site, more, url):
    assert SiteRules(SITE, of_site).with_rule(more).settle(url) == SiteRules(SITE, [*of_site, more]).settle(
        url
    )


@given(many_rules, st.lists(some_urls, min_size=1, max_size=4))
def test_rules_added_one_by_one_are_the_rules_that_are_there_from_the_start(of_site, several):
    at_once, one_by_one, first = SiteRules(SITE, of_site), SiteRules(SITE, ()), SiteRules(SITE, of_site[:1])
    for rule in of_site:
        one_by_one = one_by_one.with_rule(rule)
    assert one_by_one.rules == at_once.rules
    for url in several:
        steps, others = [], []
        assert one_by_one.settle(url, steps=steps) == at_once.settle(url, steps=others)
        assert steps == others
        assert {place for place, rule in enumerate(at_once.rules) if rule.apply(url) != url} <= set(
            one_by_one.places(url)
        )
    for rule in of_site:
        first.with_rule(rule)  # and those that it was added to stay as they were
    assert first.rules == SiteRules(SITE, of_site[:1]).rules


def test_to_add_a_rule_makes_the_index_of_the_others_anew_only_now_and_then(monkeypatch):
    made = []
    real = SiteRules._make_index
    monkeypatch.setattr(SiteRules, "_make_index", lambda self: (made.append(len(self.rules)), real(self)))
    ready = SiteRules(SITE, ())
    for number in range(1000):
        ready = ready.with_rule(Rule.of(DropParameter(f"p{number}")))
        ready.with_rule(Rule.of(DropParameter("another")))
    assert sum(made) < 25 * 1000
    assert len(ready.places("http://a.example/?p3=1")) == 1


def test_how_many_rules_are_asked_for_a_url_does_not_grow_with_their_number():
    def some(count):
        for number in range(count // 4):
            yield Rule.of(DropParameter(f"p{number}"))
            yield Rule((DropLast(f"index{number}.html"),), (Condition("host", "a.example"),))
            yield Rule.of(Rewrite((f"/print{number}.pl?sid=", 0), (f"/news{number}/", 0), ("numbers",)))
            yield Rule((AnyValue("id"),), (Condition("path", f"/shop{number}/list"),))

    url = "http://a.example/shop7/index5.html?p3=1&id=2"
    few, many = (len(SiteRules(SITE, some(count)).places(url)) for count in (100, 10_000))
    assert few == many <= 4


def test_the_papers_rules_go_first_and_have_another_go_at_what_others_make():
    ready = canonizer(
        [
            Rule.of(SortParameters()),
            Rule.of(Substitute("?id=1&page=2", "/one", end=True)),
            Rule.of(DropParameter("sid")),
            Rule.of(DropLast("index.html")),
        ]
    )
    assert ready.canonize("http://a.example/s?id=1&page=2") == "http://a.example/s/one"
    assert ready.canonize("http://a.example/s?page=2&sid=7&id=1") == "http://a.example/s/one"
    assert ready.canonize("http://a.example/index.html?sid=7") == "http://a.example/"
    assert ready.canonize("http://a.example/index.html;sid=7") == "http://a.example/"


def test_what_stands_in_two_places_moves_at_once():
    story = Rule.of(Rewrite(("/print.pl?sid=", 0), ("/newsvac/", 0, ".shtml"), ("numbers",)))
    ready = canonizer([story, Rule.of(DropParameter("from"))])
    assert ready.canonize("http://a.example/print.pl?sid=06/06/27/2&from=rss") == (
        "http://a.example/newsvac/06/06/27/2.shtml"
    )


def test_rules_that_feed_each_other_have_one_form_and_what_leaves_the_site_is_not_taken():
    there = Rule.of(MapValue("a", "1", "2"))
    for back in (MapValue("a", "2", "1"), Substitute("?a=2", "?a=1")):
        ready = canonizer([there, Rule.of(back)])
        assert ready.canonize("http://a.example/?a=1") == ready.canonize("http://a.example/?a=2")
    round_about = [Rule.of(MapValue("a", value, other)) for value, other in ("12", "23", "31")]
    assert canonizer(round_about, 2).canonize("http://a.example/?a=1") == "http://a.example/?a=1"
    away = Rule.of(MapHost("a.example", "b.test"))
    assert canonizer([away]).canonize("http://a.example/x") == "http://a.example/x"
    assert canonizer([away]).explain("http://a.example/x") == ()


def test_long_urls_are_done_with_as_fast_as_short_ones():
    """In proportion: what a rule tries must not grow with a power of the length."""
    captures = Rewrite(("/", 0, "/", 1, "/", 2, "x"), ("/", 0), ("path", "path", "path"))
    ready = canonizer([Rule.of(captures), Rule.of(CollapseRepeats()), Rule.of(FoldCase())])
    url = "http://a.example" + "/A/b/c" * 300
    assert ready.canonize(url) == "http://a.example/a/b/c"

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrapy_dust.dust.canonization import Canonizer, Step
from scrapy_dust.dust.rules import ParameterRule, Rule, SubstringRule
from scrapy_dust.dust.site_rules import Texts
from scrapy_dust.sites import site_of
from tests import oracle
from tests.dust.test_rules import sides
from tests.strategies import any_urls, rules, scraps, substring_rules, urls

SITE = "a.example"

few_rules = st.lists(rules(), max_size=4)
many_rules = st.lists(rules() | substring_rules("ab1/.", 3), max_size=12)
passes = st.integers(0, 4)


def literally(
    of_site: Sequence[Rule], url: str, passes: int, *, anywhere: bool = False
) -> tuple[list[Step], bool]:
    """Every rule on every form, parameters first: the steps, and whether the form is taken."""
    ordered = [rule for rule in of_site if isinstance(rule, ParameterRule)]
    ordered += [rule for rule in of_site if isinstance(rule, SubstringRule)]
    steps, form = [], url
    for _ in range(passes):
        before = form
        for rule in ordered:
            after = rule.apply(form)
            if after != form:
                steps.append(Step(rule, form, after))
                form = after
        if form == before:
            return steps, form == url or anywhere or site_of(form) == SITE
    return steps, False


def canonizer(of_site: Sequence[Rule], passes: int = 10) -> Canonizer:
    return Canonizer({SITE: of_site}, site_of, passes)


@given(few_rules, urls(), passes)
def test_canonize_is_idempotent(of_site, url, passes):
    form = canonizer(of_site, passes).canonize(url)
    assert canonizer(of_site, passes).canonize(form) == form


@settings(max_examples=300)
@given(many_rules, st.lists(urls(), min_size=1, max_size=4), passes)
def test_rules_made_ready_do_what_all_of_them_do_one_by_one(of_site, several, passes):
    ready = canonizer(of_site, passes)
    for url in several:
        steps, taken = literally(of_site, url, passes)
        final = steps[-1].after if steps and taken else url
        assert ready.canonize(url) == final
        assert ready.forms(url) == (url, *(step.after for step in steps))
        assert ready.explain(url) == (tuple(steps) if final != url else ())


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
    shared = Texts()
    literals = [f"{text[:2]}/a/{text[2:]}" for of_site in of_sites for text in of_site]
    for of_site in of_sites:
        shared.add(b"a", [f"{text[:2]}/a/{text[2:]}" for text in of_site])
    url += "/a/" + url
    _, first, others = shared.of_key(b"a") or (b"", "/a/", ())
    assert all("a" in text for text in (first, *others))
    assert any(text in url for text in (first, *others)) or not any(literal in url for literal in literals)


def test_a_rule_of_a_kind_that_is_not_known_here_is_tried_on_every_url():
    class Lowercase:
        def apply(self, url: str) -> str:
            return url.lower()

    ready = canonizer([SubstringRule("/index", "/"), Lowercase()])  # type: ignore[list-item]
    assert ready.canonize("http://a.example/X/INDEX") == "http://a.example/x/"
    assert ready.canonize("http://a.example/x") == "http://a.example/x"


@given(st.lists(substring_rules(), max_size=4), urls(), passes)
def test_canonize_is_figure_5_5_where_its_passes_suffice_and_the_site_stays(of_site, url, passes):
    form, settled = oracle.canonize(url, [sides(rule) for rule in of_site], passes)
    finished = settled and (form == url or site_of(form) == SITE)
    assert canonizer(of_site, passes).canonize(url) == (form if finished else url)


@given(st.lists(substring_rules("ab1/", 3), max_size=4), scraps("ab1/", 8), passes)
def test_canonize_is_figure_5_5_on_short_texts_too(of_site, text, passes):
    everywhere = Canonizer({"site": of_site}, lambda _: "site", passes)
    form, settled = oracle.canonize(text, [sides(rule) for rule in of_site], passes)
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


@given(few_rules, urls(), passes)
def test_explain_leads_from_the_url_to_its_canonical_form_step_by_step(of_site, url, passes):
    ready = canonizer(of_site, passes)
    form, steps = url, ready.explain(url)
    for step in steps:
        assert step.before == form
        assert step.rule in of_site
        assert step.after == step.rule.apply(form) != form
        form = step.after
    assert form == ready.canonize(url)


@given(st.lists(rules(), min_size=1, max_size=4), urls(), passes)
def test_canonize_ends_within_its_passes(of_site, url, passes):
    applied: list[str] = []

    class Counted:
        def apply(self, form: str) -> str:
            applied.append(form)
            rule: Rule = of_site[(len(applied) - 1) % len(of_site)]
            return rule.apply(form)

    canonizer([Counted()] * len(of_site), passes).canonize(url)  # type: ignore[list-item]
    # Once more than the passes: a first look tells URLs apart that no rule changes.
    assert len(applied) <= (passes + 1) * len(of_site)


def test_rules_that_feed_each_other_leave_the_url_as_it_is():
    growing = SubstringRule("/x", "/x/x")
    assert canonizer([growing]).canonize("http://a.example/x") == "http://a.example/x"
    there, back = SubstringRule("/x/", "/y/"), SubstringRule("/y/", "/z/x/")
    assert canonizer([there, back]).canonize("http://a.example/x/") == "http://a.example/x/"


def test_rules_that_undo_each_other_still_give_one_form():
    there, back = SubstringRule("/x", "/y"), SubstringRule("/y", "/x")
    assert canonizer([there, back]).canonize("http://a.example/x") == "http://a.example/x"
    assert canonizer([there, back]).canonize("http://a.example/y") == "http://a.example/x"


def test_parameters_come_before_what_makes_paths_of_queries():
    story = SubstringRule("story?id=", "story_")
    orders: list[list[Rule]] = [[story, ParameterRule("sid")], [ParameterRule("sid"), story]]
    for of_site in orders:
        assert canonizer(of_site).canonize("http://a.example/story?id=7&sid=1") == "http://a.example/story_7"


def test_a_form_on_another_site_is_not_taken():
    away = SubstringRule("a.example", "b.test")
    assert canonizer([away]).canonize("http://a.example/x") == "http://a.example/x"
    broken = SubstringRule("http", "htp", start=True)
    assert canonizer([broken]).canonize("http://a.example/x") == "http://a.example/x"
    assert canonizer([broken]).explain("http://a.example/x") == ()


def test_several_rules_work_together():
    ready = canonizer(
        [
            ParameterRule("sid"),
            SubstringRule("/index.html", "/", end=True),
            SubstringRule("http://www.", "http://", start=True),
        ]
    )
    url = "http://www.a.example/d/index.html?sid=7"
    assert ready.canonize(url) == "http://a.example/d/"
    assert [step.after for step in ready.explain(url)] == [
        "http://www.a.example/d/index.html",
        "http://www.a.example/d/",
        "http://a.example/d/",
    ]

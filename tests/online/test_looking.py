"""A look at a site believes what is proved, and takes no wall in front of it for its pages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.believe.validation import Verdict
from scrapy_dust.online.looking import LED, Looked, look
from scrapy_dust.settings import DustSettings
from scrapy_dust.visits.pages import Visit, merge_visits


def rules_of(shown: dict[str, str]) -> list[str]:
    visits = [
        Visit(url, status=200, text_digest=text, sketch=(hash(text), 1, 2, 3)) for url, text in shown.items()
    ]
    return [str(rule) for rule in look("s.test", merge_visits(visits), DustSettings()).rules]


PAGES = {f"http://s.test/a{n}/b": f"page {n}" for n in range(10)}


def test_many_urls_of_one_page_that_no_other_url_shows_are_a_rule() -> None:
    login = {f"http://s.test/login?next={n}": "log in" for n in range(60)}
    assert any("next" in rule for rule in rules_of(PAGES | login))


def test_what_is_shown_in_other_places_too_may_be_a_captcha() -> None:
    wall = {f"http://s.test/item?id={n}": "are you human" for n in range(60)}
    assert not rules_of(
        PAGES | wall | {"http://s.test/": "are you human", "http://s.test/about": "are you human"}
    )


@given(contents=st.integers(3, 60), values=st.integers(2, 3))
def test_what_a_rule_in_force_may_lose_of_unseen_pages_is_within_what_may_be_risked(contents, values):
    shown = {f"http://s.test/{n}?v=w{v}": f"page {n}" for n in range(contents) for v in range(values)}
    pages = [Visit(url, status=200, text_digest=text) for url, text in shown.items()]
    found = look("s.test", merge_visits(pages), DustSettings())
    proved = [one for one in found.decisions if one.verdict is Verdict.VALID]
    assert all(one.bounds.unseen <= DustSettings().max_risk for one in proved)
    assert bool(found.rules) == bool(proved)
    assert found.rules or contents < 50


def likely(redirects: int, answering: int = 0) -> Looked:
    """A look at comments, of which each answers with a redirect to a login form that nobody has fetched, or by itself."""
    visits = [Visit(url, status=200, text_digest=text) for url, text in PAGES.items()]
    for number in range(redirects + answering):
        url = f"http://s.test/comment/{number}/reply/"
        leads = {"redirect_to": f"http://s.test/login/?next=/comment/{number}/reply/"}
        own = {"text_digest": f"reply {number}"}
        visits.append(
            Visit(url, status=302, **leads) if number < redirects else Visit(url, status=200, **own)
        )
    return look("s.test", merge_visits(visits), DustSettings())


@given(redirects=st.integers(LED, 20))
def test_redirects_of_one_form_make_a_rule_likely_and_put_none_into_force(redirects):
    found = likely(redirects)
    assert any(
        rule.apply("http://s.test/comment/99/reply/").startswith("http://s.test/login/")
        for rule in found.likely
    )
    assert set(found.led) <= set(found.likely)
    assert not found.rules


@given(redirects=st.integers(0, 20), answering=st.integers(1, 5))
def test_a_page_that_answers_by_itself_speaks_against_what_redirects_declare(redirects, answering):
    assert not likely(redirects, answering).led


@given(redirects=st.integers(0, LED - 1))
def test_a_few_redirects_declare_nothing(redirects):
    assert not likely(redirects).led

"""What every learner promises, whatever it has learned."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.learners.registry import LEARNERS
from scrapy_dust.learners.url_components import components_of, parts_of, url_of
from scrapy_dust.visits.pages import SiteLog, Visit, merge_visits
from tests.learners.logs import SITE, log_of, page

UNLEARNED = {"standard", "surt", "scrapy", "dust-crawl"}
DUSTY = log_of(
    *(
        [
            f"http://a.example/story?id={n}&sid={n * 7 + 1}",
            f"http://a.example/story?id={n}&sid={n * 7 + 2}",
            f"http://a.example/story?id={n}",
            f"http://www.a.example/story_{n}",
        ]
        for n in range(40)
    ),
    *([f"http://a.example/list?page={n}"] for n in range(40)),
)
LEARNED = {name: make().learn(SITE, DUSTY) for name, make in LEARNERS.items()}
IN_PIECES = [
    "http://a.example",
    "//",
    "/story",
    "_",
    "7",
    "?",
    "id=7",
    "&sid=3",
    "#",
    "%",
    "[",
    "é",
    "\0",
    "\n",
    "",
]
ANY_URL = st.lists(st.sampled_from(IN_PIECES), max_size=8).map("".join) | st.text(max_size=30)


@pytest.mark.parametrize("name", LEARNERS)
@given(url=ANY_URL)
def test_a_key_function_answers_for_any_string_and_always_the_same(name, url):
    key = LEARNED[name].key(url)
    assert isinstance(key, str)
    assert LEARNED[name].key(url) == key


@pytest.mark.parametrize("name", [name for name in LEARNERS if name not in UNLEARNED])
@given(url=ANY_URL)
def test_who_has_learned_nothing_changes_nothing(name, url):
    learned = LEARNERS[name]().learn(SITE, SiteLog(pages=()))
    assert learned.rules == ()
    assert learned.key(url) == url


@pytest.mark.parametrize("name", [name for name in LEARNERS if name not in UNLEARNED])
def test_a_site_without_duplicates_teaches_no_merging(name):
    urls = [f"http://a.example/d{n % 7}/page_{n}.html?v={n * 3}" for n in range(120)]
    learned = LEARNERS[name]().learn(SITE, log_of(*([url] for url in urls)))
    assert len({learned.key(url) for url in urls}) == len(urls)


@pytest.mark.parametrize("name", LEARNERS)
def test_learning_twice_teaches_the_same(name):
    again = LEARNERS[name]().learn(SITE, DUSTY)
    urls = [page.url for page in DUSTY.pages]
    assert again.rules == LEARNED[name].rules
    assert [again.key(url) for url in urls] == [LEARNED[name].key(url) for url in urls]


@pytest.mark.parametrize("name", LEARNERS)
def test_errors_and_bare_urls_are_no_hindrance(name):
    visits = [
        Visit("http://a.example/", status=200),
        Visit("http://a.example/gone", status=404),
        Visit("http://a.example/old", status=301, redirect_to="http://a.example/"),
        Visit("http://a.example/lost", status=301, redirect_to="http://a.example/gone"),
        page("http://a.example/x?", 1),
    ]
    learned = LEARNERS[name]().learn(SITE, merge_visits(visits))
    assert len({learned.key(visit.url) for visit in visits}) == len(visits)


@given(url=ANY_URL)
def test_the_parts_of_any_string_make_it_again(url):
    assert str(parts_of(url)) == url


@given(
    segments=st.lists(st.text(alphabet="ab%.", max_size=3), min_size=1, max_size=3),
    parameters=st.dictionaries(
        st.text(alphabet="ab", min_size=1, max_size=2), st.text(alphabet="12", max_size=2)
    ),
    fragment=st.none() | st.just("top"),
)
def test_a_url_with_sorted_parameters_comes_back_from_its_components(segments, parameters, fragment):
    url = "http://a.example/" + "/".join(segments)
    if parameters:
        url += "?" + "&".join(f"{name}={value}" for name, value in sorted(parameters.items()))
    url += "" if fragment is None else "#" + fragment
    assert url_of(components_of(url)) == url


@given(path=st.lists(st.sampled_from(IN_PIECES[2:]), max_size=6).map("".join))
def test_what_ours_learned_of_one_site_says_nothing_about_another(path):
    url = f"http://b.example{path}"
    assert LEARNED["dust"].rules
    assert LEARNED["dust"].key(url) == url

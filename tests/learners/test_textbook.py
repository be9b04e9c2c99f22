"""Each learner learns the example its paper gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.learners.deep_tokens import deep_tokens
from scrapy_dust.learners.registry import LEARNERS
from scrapy_dust.learners.url_components import components_of, url_of
from tests.learners.logs import SITE, log_of

ANY_PATH = st.lists(st.sampled_from(["", "a", "a_1.html", "a_2.html", "b-3", "x.y.z"]), max_size=5).map(
    lambda path: "http://a.example" + "".join(f"/{one}" for one in path)
)


def learned(name, *groups):
    return LEARNERS[name]().learn(SITE, log_of(*groups)).key


STANDARD_PAIRS = [
    ("http://a.example/x#top", "http://a.example/x"),
    ("https://a.example/x", "http://a.example/x"),
    ("http://www.a.example/x", "http://a.example/x"),
    ("http://a.example:80/x/", "http://A.example/x"),
    ("http://a.example/x?b=1&a=2", "http://a.example/x?a=2&b=1"),
]


@pytest.mark.parametrize("name", ["standard", "surt"])
@pytest.mark.parametrize(("a", "b"), STANDARD_PAIRS)
def test_hand_made_keys_know_what_is_the_same_everywhere(name, a, b):
    key = learned(name)
    assert key(a) == key(b)


def test_standard_normalization_takes_no_case_of_paths_for_equal_and_surt_does():
    a, b = "http://a.example/Wiki", "http://a.example/wiki"
    assert learned("standard")(a) != learned("standard")(b)
    assert learned("surt")(a) == learned("surt")(b) == "example,a)/wiki"


def test_surt_knows_session_ids():
    key = learned("surt")
    assert key("http://a.example/x?phpsessid=0123456789abcdef0123456789abcdef&b=1") == "example,a)/x?b=1"


@pytest.mark.parametrize("name", ["dustbuster", "dustbuster-size", "dustmine", "dust"])
def test_dustbuster_learns_a_substitution(name):
    key = learned(
        name,
        *([f"http://a.example/story?id={n}", f"http://a.example/story_{n}"] for n in range(30)),
    )
    assert key("http://a.example/story?id=99") == key("http://a.example/story_99")


@pytest.mark.parametrize("name", ["dustbuster", "dustmine", "dust"])
def test_a_substitution_that_shows_other_pages_is_not_learned(name):
    key = learned(
        name,
        *([f"http://a.example/{n}/view"] for n in range(30)),
        *([f"http://a.example/{n}/edit"] for n in range(30)),
    )
    assert key("http://a.example/99/view") != key("http://a.example/99/edit")


def test_ra_learns_that_a_parameter_is_left_out_although_every_page_has_session_ids_of_its_own():
    key = learned(
        "ra",
        *(
            [f"http://a.example/story?id={n}&sid={2 * n}", f"http://a.example/story?id={n}"]
            for n in range(30)
        ),
    )
    assert key("http://a.example/story?id=99&sid=zzz") == key("http://a.example/story?id=99")
    assert key("http://a.example/story?id=98&sid=zzz") != key("http://a.example/story?id=99&sid=zzz")


def test_ra_copies_a_value_from_the_query_to_the_path():
    key = learned(
        "ra",
        *([f"http://a.example/wiki/T{n}", f"http://a.example/index.php?title=T{n}"] for n in range(30)),
    )
    assert key("http://a.example/wiki/T99") == key("http://a.example/index.php?title=T99")


def test_ra_needs_as_many_values_as_its_fanout():
    key = learned(
        "ra",
        *([f"http://a.example/story?id={n}&sid={2 * n}", f"http://a.example/story?id={n}"] for n in range(9)),
    )
    assert key("http://a.example/story?id=99&sid=1") != key("http://a.example/story?id=99")


def test_ra_maps_what_redirects_to_one_page_to_one_form():
    """SIGIR'17, table 3, case 4."""
    key = learned(
        "ra", [f"http://a.example/message/set/{n}" for n in range(30)], ["http://a.example/message/x"]
    )
    assert key("http://a.example/message/set/yovav") == key("http://a.example/message/set/anzer")


def test_dta_rewrites_a_part_of_a_component():
    """WSDM'10's deep tokens, which RA has not."""
    groups = [[f"http://a.example/d/story_{n}.html", f"http://a.example/d/story?id={n}"] for n in range(30)]
    key, of_ra = learned("dta", *groups), learned("ra", *groups)
    assert key("http://a.example/d/story_99.html") == key("http://a.example/d/story?id=99")
    assert of_ra("http://a.example/d/story_99.html") != of_ra("http://a.example/d/story?id=99")


def test_dta_tells_the_context_in_which_a_parameter_does_not_matter():
    key = learned(
        "dta",
        *([f"http://a.example/story?id={n}&sort=a", f"http://a.example/story?id={n}"] for n in range(30)),
        *([f"http://a.example/list?id={n}&sort=a"] for n in range(30)),
        *([f"http://a.example/list?id={n}"] for n in range(30)),
    )
    assert key("http://a.example/story?id=99&sort=a") == key("http://a.example/story?id=99")
    assert key("http://a.example/list?id=99&sort=a") != key("http://a.example/list?id=99")


@given(urls=st.lists(ANY_PATH, min_size=1, max_size=12))
def test_a_url_comes_back_from_its_deep_tokens(urls):
    tokens = deep_tokens(urls)
    for url in urls:
        assert tokens.url(tokens.keys(url)) == url_of(components_of(url))


def test_duster_learns_several_edits_at_once():
    """Two hosts, an optional part and a suffix, of which pairs show now the one, now the other."""
    key = learned(
        "duster",
        *(
            [
                f"http://www.a.example/node{n}/view.html",
                f"http://a.example/node{n}/view.htm",
                f"http://a.example/node{n}/view.html?print=1",
            ]
            for n in range(30)
        ),
    )
    forms = ["http://www.a.example/node99/view.htm", "http://a.example/node99/view.html?print=1"]
    assert len({key(url) for url in [*forms, "http://www.a.example/node99/view.html?print=1"]}) == 1
    assert key("http://a.example/node98/view.htm") != key(forms[0])


def test_duster_believes_no_rule_that_merges_different_pages():
    key = learned(
        "duster",
        *([f"http://a.example/{n}/list?page=1", f"http://a.example/{n}/list"] for n in range(15)),
        *([f"http://a.example/x{n}/list?page=1"] for n in range(15)),
        *([f"http://a.example/x{n}/list"] for n in range(15)),
    )
    assert key("http://a.example/x99/list?page=1") != key("http://a.example/x99/list")


def of_parameters(idle: int) -> list[list[str]]:
    """Pages told apart by ``id``, each under *idle* values of ``sort``."""
    return [[f"http://a.example/story?id={n}&sort={s}" for s in range(idle)] for n in range(30)]


@pytest.mark.parametrize(
    "name", ["entropy", "maybedont", "ra", "patterntree", "dustbuster", "dustmine", "dust"]
)
def test_a_parameter_that_does_not_matter_is_left_out_and_one_that_does_stays(name):
    key = learned(name, *of_parameters(idle=6))
    assert key("http://a.example/story?id=99&sort=1") == key("http://a.example/story?id=99&sort=2")
    assert key("http://a.example/story?id=98&sort=1") != key("http://a.example/story?id=99&sort=1")


def test_entropy_misses_what_is_new_on_every_page():
    """Its second condition: the values of a session id that is never used twice say which page it is."""
    key = learned(
        "entropy", *([f"http://a.example/s?id={n}&sid={10 * n + s}" for s in range(6)] for n in range(30))
    )
    assert key("http://a.example/s?id=1&sid=1") != key("http://a.example/s?id=1&sid=2")


def test_maybedont_believes_nothing_before_some_two_hundred_observations_without_a_failure():
    few = learned("maybedont", *of_parameters(idle=6)[:9])
    assert few("http://a.example/story?id=1&sort=1") != few("http://a.example/story?id=1&sort=2")


def test_maybedont_knows_values_that_change_nothing():
    key = learned(
        "maybedont",
        *([f"http://a.example/p{n}?view=full", f"http://a.example/p{n}"] for n in range(300)),
        *([f"http://a.example/p{n}?view=short"] for n in range(300)),
    )
    assert key("http://a.example/p999?view=full") == key("http://a.example/p999")
    assert key("http://a.example/p999?view=short") != key("http://a.example/p999")


def test_the_pattern_tree_relates_parts_that_show_the_same_pages():
    """A host alias, and a value that moves from the query to the path."""
    key = learned(
        "patterntree",
        *([f"http://www.a.example/wiki/T{n}", f"http://a.example/wiki/T{n}"] for n in range(30)),
        *([f"http://a.example/story/{n}", f"http://a.example/show?id={n}"] for n in range(30)),
    )
    assert key("http://www.a.example/wiki/T99") == key("http://a.example/wiki/T99")
    assert key("http://a.example/story/99") == key("http://a.example/show?id=99")
    assert key("http://a.example/story/98") != key("http://a.example/show?id=99")


def test_the_pattern_tree_keeps_parts_apart_that_show_different_pages():
    key = learned("patterntree", *([f"http://h{n % 2}.a.example/wiki/T{n // 2}"] for n in range(60)))
    assert key("http://h0.a.example/wiki/T99") != key("http://h1.a.example/wiki/T99")

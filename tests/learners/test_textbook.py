"""Each learner learns the example its paper gives."""

from __future__ import annotations

import pytest

from scrapy_dust.learners.registry import LEARNERS
from tests.learners.logs import SITE, log_of


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


@pytest.mark.parametrize("name", ["dustbuster", "dustbuster-size", "dust"])
def test_dustbuster_learns_a_substitution(name):
    key = learned(
        name,
        *([f"http://a.example/story?id={n}", f"http://a.example/story_{n}"] for n in range(30)),
    )
    assert key("http://a.example/story?id=99") == key("http://a.example/story_99")


@pytest.mark.parametrize("name", ["dustbuster", "dust"])
def test_a_substitution_that_shows_other_pages_is_not_learned(name):
    key = learned(
        name,
        *([f"http://a.example/{n}/view"] for n in range(30)),
        *([f"http://a.example/{n}/edit"] for n in range(30)),
    )
    assert key("http://a.example/99/view") != key("http://a.example/99/edit")
